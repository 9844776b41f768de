"""The SQL store: tables to which rows are only ever added, the same for SQLite and PostgreSQL."""

import hashlib
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, bindparam, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.ledger.content import check_body, from_line, to_line
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.dialects import Dialect, dialect_for
from accounting.ledger.entries import (
    body_of,
    dataset_from,
    keys_of,
    question_from,
    release_from,
    release_totals_from,
    standing_from,
    today,
)
from accounting.ledger.store import Dataset, Draft, Question, Release, ReleaseTotals, Row, Salt, Standing
from accounting.ledger.tables import ANSWERS, CHECKPOINTS, ENTRIES, HASHES, SALTS, keep_hashes, prepare
from accounting.ledger.values import Entry

_T = TypeVar("_T")
_NUMBER = ENTRIES.c.number
_OF_LABEL = ENTRIES.c.label == bindparam("label")
_OF_DATASET = _OF_LABEL & (ENTRIES.c.subject == "dataset")
_OF_RELEASE = ENTRIES.c.release == bindparam("release")
_OF_REQUEST = _OF_RELEASE & (ENTRIES.c.request == bindparam("request"))


def _first(condition: ColumnElement[bool]) -> Select[bytes]:
    return select(ENTRIES.c.line).where(condition).order_by(_NUMBER).limit(1)


def _last(condition: ColumnElement[bool]) -> Select[bytes]:
    return select(ENTRIES.c.line).where(condition).order_by(_NUMBER.desc()).limit(1)


def _all(condition: ColumnElement[bool]) -> Select[bytes]:
    return select(ENTRIES.c.line).where(condition).order_by(_NUMBER)


_FIRST_OF_DATASET, _LAST_OF_DATASET = _first(_OF_DATASET), _last(_OF_DATASET)
_FIRST_OF_RELEASE, _LAST_OF_RELEASE = _first(_OF_RELEASE), _last(_OF_RELEASE)
_LAST_OF_REQUEST, _LAST_OF_LABEL = _last(_OF_REQUEST), _last(_OF_LABEL)
_QUESTIONS = _all(_OF_RELEASE & ENTRIES.c.request.is_not(None))
_STANDINGS = _all(_OF_LABEL & (ENTRIES.c.subject == "standing"))
_SIZE = select(func.coalesce(func.max(_NUMBER) + 1, 0))
_ENDS = select(_SIZE.scalar_subquery(), _LAST_OF_LABEL.scalar_subquery())
_STEP = select(*_ENDS.selected_columns, _LAST_OF_RELEASE.scalar_subquery(), _LAST_OF_REQUEST.scalar_subquery())
_LAST_BEFORE = select(func.max(_NUMBER)).where(_OF_LABEL, bindparam("size") > _NUMBER)
_AFTER = bindparam("after") < _NUMBER
_PAGE = select(_NUMBER, ENTRIES.c.line).where(_AFTER).order_by(_NUMBER).limit(1000)
_PAGE_OF_LABEL = select(_NUMBER, ENTRIES.c.line).where(_AFTER, _OF_LABEL).order_by(_NUMBER).limit(1000)
_PAGE_OF_ROWS = select(ENTRIES).where(_AFTER).order_by(_NUMBER).limit(1000)
_PAGE_OF_ANSWERS = select(ANSWERS).where(ANSWERS.c.number > bindparam("after")).order_by(ANSWERS.c.number).limit(50)
_HASHES = select(HASHES.c.hash).order_by(HASHES.c.number)
_ANSWER = select(ANSWERS.c.answer).where(ANSWERS.c.number == bindparam("entry"))
_HASH = select(HASHES.c.hash).where(HASHES.c.number == bindparam("place"))
_ADD_ENTRY, _ADD_ANSWER, _ADD_SALT = insert(ENTRIES), insert(ANSWERS), insert(SALTS)


def open_store(url: str, *, must_exist: bool = False) -> "SqlStore":
    """Open the store at a URL; its tables are made where there are none."""
    return SqlStore(dialect_for(url, must_exist=must_exist), must_exist=must_exist)


class SqlStore:
    """A store in an SQL database; safe to share between threads and to use after a fork."""

    def __init__(self, dialect: Dialect, *, must_exist: bool) -> None:
        self._dialect = dialect
        self._engine = dialect.engine()
        self._process = [os.getpid()]
        weakref.finalize(self, _disconnect, self._engine, self._process)
        with self._transaction(writing=True) as connection:
            self.identity = prepare(connection, dialect, must_exist=must_exist)

    @contextmanager
    def read(self) -> Iterator["SqlView"]:
        """Open a consistent view."""
        with self._transaction(writing=False) as connection:
            yield SqlView(connection, self._dialect)

    @contextmanager
    def write(self) -> Iterator["SqlView"]:
        """Open a transaction; leaving it commits durably, an exception leaves nothing behind."""
        with self._transaction(writing=True) as connection:
            yield SqlView(connection, self._dialect)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        if self._process[0] != os.getpid():
            self._engine.dispose(close=False)
            self._process[0] = os.getpid()
        try:
            with self._engine.connect() as connection, self._dialect.transaction(connection, writing=writing):
                yield connection
        except SQLAlchemyError as error:
            raise self._dialect.explain(error) from error


def _disconnect(engine: Engine, process: list[int]) -> None:
    if process[0] == os.getpid():  # after a fork the connections are the parent's
        engine.dispose()


class SqlView:
    """One transaction's view of the store."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect
        self._end: tuple[str, int, bytes | None] | None = None

    def dataset(self, label: str) -> Dataset | None:
        """Return a dataset, or None when the label was never opened."""
        last = self._line(_LAST_OF_DATASET, label=label)
        return None if last is None else _understood(dataset_from, self._line(_FIRST_OF_DATASET, label=label), last)

    def release(self, release_id: str) -> Release | None:
        """Return a release, or None when it was never allotted."""
        last = self._line(_LAST_OF_RELEASE, release=release_id)
        return (
            None if last is None else _understood(release_from, self._line(_FIRST_OF_RELEASE, release=release_id), last)
        )

    def releases(self, label: str) -> list[Release]:
        """Return a dataset's releases in order of allotment."""
        ends = (
            select(func.min(_NUMBER).label("first"), func.max(_NUMBER).label("last"))
            .where(ENTRIES.c.label == label, ENTRIES.c.release.is_not(None))
            .group_by(ENTRIES.c.release)
            .subquery()
        )
        first, last = ENTRIES.alias(), ENTRIES.alias()
        pairs = (
            select(first.c.line, last.c.line)
            .select_from(ends)
            .join(first, first.c.number == ends.c.first)
            .join(last, last.c.number == ends.c.last)
            .order_by(ends.c.first)
        )
        rows = self._connection.execute(pairs).all()
        return [_understood(release_from, allotted, latest) for allotted, latest in rows]

    def totals(self, release_id: str) -> ReleaseTotals:
        """Return the totals of a release that exists."""
        return _understood(release_totals_from, self._line(_LAST_OF_RELEASE, release=release_id))

    def step(self, label: str, release_id: str, request_id: str) -> tuple[ReleaseTotals, Question | None]:
        """Return the totals of a release that exists, and a question's state or None when its id was never used."""
        keys = {"label": label, "release": release_id, "request": request_id}
        row = self._connection.execute(_STEP, keys).one()
        self._end = (label, row[0], row[1])
        of_release, of_request = row[2], row[3]
        totals = _understood(release_totals_from, of_release)
        return totals, None if of_request is None else _understood(question_from, of_request)

    def questions(self, release_id: str) -> dict[str, Question]:
        """Return the state of every question of a release by its request id, in order of asking."""
        lines = self._connection.execute(_QUESTIONS, {"release": release_id}).scalars()
        return dict(_understood(_requested, line) for line in lines)

    def standings(self, label: str) -> list[Standing]:
        """Return what was said about a dataset's releases and people, in order."""
        lines = self._connection.execute(_STANDINGS, {"label": label}).scalars()
        return [_understood(standing_from, line) for line in lines]

    def answer(self, entry: int) -> bytes | None:
        """Return the answer stored with a ``settled`` entry."""
        return self._connection.execute(_ANSWER, {"entry": entry}).scalar_one_or_none()

    def salts(self) -> list[Salt]:
        """Return every salt, in order of allotment."""
        columns = select(SALTS.c.label, SALTS.c.release, SALTS.c.commitment, SALTS.c.salt)
        return [Salt(*row) for row in self._connection.execute(columns.order_by(SALTS.c.number))]

    def labels(self) -> tuple[str, ...]:
        """Return the labels in order of opening."""
        first = select(ENTRIES.c.label).group_by(ENTRIES.c.label).order_by(func.min(_NUMBER))
        return tuple(self._connection.execute(first).scalars())

    def head(self, label: str) -> str:
        """Return the SHA-256 of the last entry of a dataset that exists."""
        return hashlib.sha256(self._connection.execute(_LAST_OF_LABEL, {"label": label}).scalar_one()).hexdigest()

    def size(self) -> int:
        """Return the number of entries."""
        return int(self._connection.execute(_SIZE).scalar_one())

    def entries(self, label: str | None, after: int) -> list[Entry]:
        """Return the next entries after a number in order, of one dataset or of all; a page of them, or none."""
        query = _PAGE if label is None else _PAGE_OF_LABEL
        rows = self._connection.execute(query, {"label": label, "after": after})
        return [Entry(number, line) for number, line in rows]

    def rows(self, after: int) -> list[Row]:
        """Return the next entries after a number with their keys, in order; a page of them, or none."""
        rows = self._connection.execute(_PAGE_OF_ROWS, {"after": after})
        return [
            Row(number, line, (label, subject, release, request))
            for number, label, subject, release, request, line in rows
        ]

    def last_before(self, label: str, size: int) -> int | None:
        """Return the number of a dataset's last entry among the first ``size``, or None."""
        found = self._connection.execute(_LAST_BEFORE, {"label": label, "size": size}).scalar_one()
        return None if found is None else int(found)

    def hash_at(self, place: int) -> bytes:
        """Return one stored hash of the Merkle tree."""
        found = self._connection.execute(_HASH, {"place": place}).scalar_one_or_none()
        if found is None:
            raise LedgerDamaged(Damage.TREE, "a hash of the Merkle tree is missing; verify the ledger")
        return cast("bytes", found)

    def hashes(self) -> list[bytes]:
        """Return every stored hash of the Merkle tree, in order."""
        return list(self._connection.execute(_HASHES).scalars())

    def damage(self) -> str | None:
        """Return what the database itself finds damaged, or None."""
        return self._dialect.damage(self._connection)

    def checkpoints(self) -> list[tuple[int, str]]:
        """Return the sizes and notes of the checkpoints that were signed here, in order."""
        columns = select(CHECKPOINTS.c.size, CHECKPOINTS.c.note).order_by(CHECKPOINTS.c.number)
        return [(size, note) for size, note in self._connection.execute(columns)]

    def answers(self, after: int) -> list[tuple[int, bytes]]:
        """Return the next stored answers after an entry's number with their numbers; a page of them, or none."""
        return [(entry, answer) for entry, answer in self._connection.execute(_PAGE_OF_ANSWERS, {"after": after})]

    def append(self, draft: Draft) -> int:
        """Append an entry and return its number."""
        number, last = self._end_of(draft.label)
        body = body_of(draft, number, None if last is None else hashlib.sha256(last).hexdigest(), today())
        check_body(body)
        line = to_line(body)
        label, subject, release, request = keys_of(body)
        keys = {"label": label, "subject": subject, "release": release, "request": request}
        self._connection.execute(_ADD_ENTRY, {"number": number, **keys, "line": line})
        keep_hashes(self._connection, number, line, self.hash_at)
        self._end = (draft.label, number + 1, line)
        return number

    def keep_answer(self, entry: int, answer: bytes) -> None:
        """Store the answer of a ``settled`` entry."""
        self._connection.execute(_ADD_ANSWER, {"number": entry, "answer": answer})

    def keep_salt(self, salt: Salt) -> None:
        """Store a salt; the salts are never exported."""
        row = {"label": salt.label, "release": salt.release_id, "commitment": salt.commitment, "salt": salt.salt}
        self._connection.execute(_ADD_SALT, {"number": self._count(SALTS), **row})

    def keep_checkpoint(self, size: int, note: str) -> None:
        """Store a signed checkpoint."""
        row = {"number": self._count(CHECKPOINTS), "size": size, "note": note}
        self._connection.execute(insert(CHECKPOINTS), row)

    def _count(self, table: Table) -> int:
        return int(self._connection.execute(select(func.count()).select_from(table)).scalar_one())

    def _end_of(self, label: str) -> tuple[int, bytes | None]:
        """Return the next number and the dataset's last line; what this transaction read before is still so."""
        if self._end is None or self._end[0] != label:
            row = self._connection.execute(_ENDS, {"label": label}).one()
            self._end = (label, row[0], row[1])
        return self._end[1:]

    def _line(self, query: Select[bytes], **keys: str) -> bytes | None:
        return self._connection.execute(query, keys).scalar_one_or_none()


def _understood(read: Callable[..., _T], *lines: bytes | None) -> _T:
    """Read a state from entries; whatever is not in them is damage, since only such entries are ever filed there."""
    try:
        return read(*(from_line(line) for line in lines if line is not None))
    except (KeyError, TypeError, ValueError, ConfigError):
        raise LedgerDamaged(
            Damage.EDITED, "an entry is filed under other keys than it has; verify the ledger"
        ) from None


def _requested(body: dict[str, Json]) -> tuple[str, Question]:
    return str(body["request"]), question_from(body)
