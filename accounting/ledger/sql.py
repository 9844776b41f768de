"""The SQL store: tables to which rows are only ever added, the same for SQLite and PostgreSQL."""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from accounting.canonical import Json
from accounting.errors import LedgerError
from accounting.ledger.content import check_body, from_line, to_line
from accounting.ledger.dialects import Dialect, dialect_for
from accounting.ledger.store import (
    Dataset,
    Draft,
    Question,
    Release,
    ReleaseTotals,
    Salt,
    body_of,
    dataset_from,
    question_from,
    release_from,
    release_totals_from,
    today,
)
from accounting.ledger.values import Entry

SCHEMA_VERSION = 1
"""The version of the tables; an older ledger is brought up to it when opened, a newer one is refused."""

_TABLES = MetaData()
_VERSIONS = Table(
    "dprelease_versions",
    _TABLES,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("identity", Text, nullable=False),
)
_ENTRIES = Table(
    "dprelease_entries",
    _TABLES,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("label", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("release", Text),
    Column("request", Text),
    Column("line", LargeBinary, nullable=False),
    Index("dprelease_entries_by_label", "label", "number"),
    Index("dprelease_entries_by_subject", "label", "subject", "number"),
    Index("dprelease_entries_by_release", "release", "number"),
    Index("dprelease_entries_by_request", "release", "request", "number"),
)
_ANSWERS = Table(
    "dprelease_answers",
    _TABLES,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("answer", LargeBinary, nullable=False),
)
_SALTS = Table(
    "dprelease_salts",
    _TABLES,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("label", Text, nullable=False),
    Column("release", Text, nullable=False),
    Column("commitment", Text, nullable=False),
    Column("salt", LargeBinary, nullable=False),
)

_LINE = select(_ENTRIES.c.line)
_NUMBER = _ENTRIES.c.number


def open_store(url: str, *, must_exist: bool = False) -> "SqlStore":
    """Open the store at a URL; its tables are made where there are none."""
    return SqlStore(dialect_for(url, must_exist=must_exist))


class SqlStore:
    """A store in an SQL database; safe to share between threads and to use after a fork."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._engine = dialect.engine()
        self._process = os.getpid()
        with self._transaction(writing=True) as connection:
            self.identity = _prepare(connection, dialect)

    @contextmanager
    def read(self) -> Iterator["SqlView"]:
        """Open a consistent view."""
        with self._transaction(writing=False) as connection:
            yield SqlView(connection)

    @contextmanager
    def write(self) -> Iterator["SqlView"]:
        """Open a transaction; leaving it commits durably, an exception leaves nothing behind."""
        with self._transaction(writing=True) as connection:
            yield SqlView(connection)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._process = os.getpid()
        try:
            with self._engine.connect() as connection, self._dialect.transaction(connection, writing=writing):
                yield connection
        except SQLAlchemyError as error:
            raise self._dialect.explain(error) from error


class SqlView:
    """One transaction's view of the store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def dataset(self, label: str) -> Dataset | None:
        """Return a dataset, or None when the label was never opened."""
        about = _LINE.where(_ENTRIES.c.label == label, _ENTRIES.c.subject == "dataset")
        last = self._body(about.order_by(_NUMBER.desc()))
        return None if last is None else dataset_from(self._sure(about.order_by(_NUMBER)), last)

    def release(self, release_id: str) -> Release | None:
        """Return a release, or None when it was never allotted."""
        about = _LINE.where(_ENTRIES.c.release == release_id)
        last = self._body(about.order_by(_NUMBER.desc()))
        return None if last is None else release_from(self._sure(about.order_by(_NUMBER)), last)

    def releases(self, label: str) -> list[Release]:
        """Return a dataset's releases in order of allotment."""
        ends = (
            select(func.min(_NUMBER).label("first"), func.max(_NUMBER).label("last"))
            .where(_ENTRIES.c.label == label, _ENTRIES.c.release.is_not(None))
            .group_by(_ENTRIES.c.release)
            .subquery()
        )
        first, last = _ENTRIES.alias(), _ENTRIES.alias()
        pairs = (
            select(first.c.line, last.c.line)
            .select_from(ends)
            .join(first, first.c.number == ends.c.first)
            .join(last, last.c.number == ends.c.last)
            .order_by(ends.c.first)
        )
        rows = self._connection.execute(pairs).all()
        return [release_from(from_line(allotted), from_line(latest)) for allotted, latest in rows]

    def totals(self, release_id: str) -> ReleaseTotals:
        """Return the totals of a release that exists."""
        about = _LINE.where(_ENTRIES.c.release == release_id)
        return release_totals_from(self._sure(about.order_by(_NUMBER.desc())))

    def question(self, release_id: str, request_id: str) -> Question | None:
        """Return a question's state, or None when the request id was never used."""
        about = _LINE.where(_ENTRIES.c.release == release_id, _ENTRIES.c.request == request_id)
        last = self._body(about.order_by(_NUMBER.desc()))
        return None if last is None else question_from(last)

    def answer(self, entry: int) -> bytes | None:
        """Return the answer stored with a ``settled`` entry."""
        found = self._connection.execute(select(_ANSWERS.c.answer).where(_ANSWERS.c.number == entry))
        return cast("bytes | None", found.scalar_one_or_none())

    def salts(self) -> list[Salt]:
        """Return every salt, in order of allotment."""
        columns = select(_SALTS.c.label, _SALTS.c.release, _SALTS.c.commitment, _SALTS.c.salt)
        return [Salt(*row) for row in self._connection.execute(columns.order_by(_SALTS.c.number))]

    def labels(self) -> tuple[str, ...]:
        """Return the labels in order of opening."""
        first = select(_ENTRIES.c.label).group_by(_ENTRIES.c.label).order_by(func.min(_NUMBER))
        return tuple(self._connection.execute(first).scalars())

    def head(self, label: str) -> str:
        """Return the SHA-256 of the last entry of a dataset that exists."""
        return hashlib.sha256(cast("bytes", self._last_line(label))).hexdigest()

    def entries(self, label: str | None) -> Iterator[Entry]:
        """Return the entries in order, of one dataset or of all."""
        rows = select(_NUMBER, _ENTRIES.c.line).order_by(_NUMBER)
        if label is not None:
            rows = rows.where(_ENTRIES.c.label == label)
        for number, line in self._connection.execute(rows, execution_options={"yield_per": 1000}):
            yield Entry(number, line)

    def answers(self) -> Iterator[tuple[int, bytes]]:
        """Return every stored answer with the number of its entry, in order."""
        rows = select(_ANSWERS.c.number, _ANSWERS.c.answer).order_by(_ANSWERS.c.number)
        for row in self._connection.execute(rows, execution_options={"yield_per": 100}):
            yield row.number, row.answer

    def append(self, draft: Draft) -> int:
        """Append an entry and return its number."""
        number = cast("int", self._connection.execute(select(func.coalesce(func.max(_NUMBER), -1))).scalar_one()) + 1
        last = self._last_line(draft.label)
        body = body_of(draft, number, None if last is None else hashlib.sha256(last).hexdigest(), today())
        check_body(body)
        row = {"number": number, **_keys(body), "line": to_line(body)}
        self._connection.execute(insert(_ENTRIES), row)
        return number

    def keep_answer(self, entry: int, answer: bytes) -> None:
        """Store the answer of a ``settled`` entry."""
        self._connection.execute(insert(_ANSWERS), {"number": entry, "answer": answer})

    def keep_salt(self, salt: Salt) -> None:
        """Store a salt; the salts are never exported."""
        count = self._connection.execute(select(func.count()).select_from(_SALTS)).scalar_one()
        row = {"label": salt.label, "release": salt.release_id, "commitment": salt.commitment, "salt": salt.salt}
        self._connection.execute(insert(_SALTS), {"number": count, **row})

    def _last_line(self, label: str) -> bytes | None:
        about = _LINE.where(_ENTRIES.c.label == label).order_by(_NUMBER.desc()).limit(1)
        return cast("bytes | None", self._connection.execute(about).scalar_one_or_none())

    def _body(self, query: Select[Any]) -> dict[str, Json] | None:
        line = self._connection.execute(query.limit(1)).scalar_one_or_none()
        return None if line is None else from_line(line)

    def _sure(self, query: Select[Any]) -> dict[str, Json]:
        return from_line(self._connection.execute(query.limit(1)).scalar_one())


def _keys(body: dict[str, Json]) -> dict[str, Json]:
    subject = "dataset" if "dataset" in body else "question"
    return {"label": body["label"], "subject": subject, "release": body.get("release"), "request": body.get("request")}


def _prepare(connection: Connection, dialect: Dialect) -> str:
    if not inspect(connection).has_table(_VERSIONS.name):
        _TABLES.create_all(connection)
        for table in _TABLES.sorted_tables:
            for statement in dialect.guards(table):
                connection.exec_driver_sql(statement)
        connection.execute(insert(_VERSIONS), {"number": SCHEMA_VERSION, "identity": secrets.token_hex(32)})
    found = connection.execute(select(_VERSIONS).order_by(_VERSIONS.c.number.desc()).limit(1)).one()
    if found.number > SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger was written by a newer program (version {found.number} of its tables; this one knows "
            f"{SCHEMA_VERSION}); install a newer dprelease"
        )
    return str(found.identity)
