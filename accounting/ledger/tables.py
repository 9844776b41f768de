"""The tables of the SQL store, their version, and the steps that bring an older ledger up to date."""

import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    insert,
    inspect,
    select,
)

from accounting.errors import LedgerError
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.dialects import Dialect
from accounting.ledger.merkle import Reader, completed, leaf_hash, stored

_TABLES = MetaData()
_T = TypeVar("_T", int, str, bytes)


class _Strict(TypeDecorator[_T]):
    """A column's type whose values are what was written and nothing else; SQLite keeps any value in any column."""

    kind: type[_T]

    def process_result_value(self, value: Any | None, dialect: object) -> _T | None:  # noqa: ANN401, ARG002  # SQLAlchemy's
        """Refuse a value of another type."""
        if value is not None and type(value) is not self.kind:
            raise LedgerDamaged(
                Damage.EDITED, "the database holds a value of another type than was written; something else changed it"
            )
        return value


class _Number(_Strict[int]):
    impl = BigInteger
    kind = int
    cache_ok = True


class _Words(_Strict[str]):
    impl = Text
    kind = str
    cache_ok = True


class _Bytes(_Strict[bytes]):
    impl = LargeBinary
    kind = bytes
    cache_ok = True


def _numbered(name: str, *columns: Column[object] | Index) -> Table:
    return Table(name, _TABLES, Column("number", _Number, primary_key=True, autoincrement=False), *columns)


VERSIONS = _numbered("dprelease_versions", Column("identity", _Words, nullable=False))
ENTRIES = _numbered(
    "dprelease_entries",
    Column("label", _Words, nullable=False),
    Column("subject", _Words, nullable=False),
    Column("release", _Words),
    Column("request", _Words),
    Column("line", _Bytes, nullable=False),
    Index("dprelease_entries_by_label", "label", "number"),
    Index("dprelease_entries_by_subject", "label", "subject", "number"),
    Index("dprelease_entries_by_release", "release", "number"),
    Index("dprelease_entries_by_request", "release", "request", "number"),
)
ANSWERS = _numbered("dprelease_answers", Column("answer", _Bytes, nullable=False))
SALTS = _numbered(
    "dprelease_salts",
    Column("label", _Words, nullable=False),
    Column("release", _Words, nullable=False),
    Column("commitment", _Words, nullable=False),
    Column("salt", _Bytes, nullable=False),
)
HASHES = _numbered("dprelease_hashes", Column("hash", _Bytes, nullable=False))
CHECKPOINTS = _numbered(
    "dprelease_checkpoints", Column("size", _Number, nullable=False), Column("note", _Words, nullable=False)
)
_ADD_HASH = insert(HASHES)


def prepare(connection: Connection, dialect: Dialect, *, must_exist: bool) -> str:
    """Make the tables or bring them up to date, inside a writer's transaction; return the ledger's identity.

    Raises:
        ConfigError, LedgerError: there are no tables and there must be.
        LedgerError: the tables were made by a newer program.
    """
    version, identity = 0, secrets.token_hex(32)
    if inspect(connection).has_table(VERSIONS.name):
        version, identity = connection.execute(select(VERSIONS).order_by(VERSIONS.c.number.desc()).limit(1)).one()
    elif must_exist:
        raise dialect.no_ledger()
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger was written by a newer program (version {version} of its tables; this one knows "
            f"{SCHEMA_VERSION}); install a newer dprelease"
        )
    for step in range(version + 1, SCHEMA_VERSION + 1):
        _STEPS[step](connection, dialect)
        connection.execute(insert(VERSIONS), {"number": step, "identity": identity})
    return str(identity)


def keep_hashes(connection: Connection, number: int, line: bytes, read: Reader) -> None:
    """Store the Merkle hashes that an entry completes."""
    rows = [
        {"number": stored(number) + height, "hash": found}
        for height, found in enumerate(completed(number, leaf_hash(line), read))
    ]
    connection.execute(_ADD_HASH, rows)


def _make(connection: Connection, dialect: Dialect, *tables: Table) -> None:
    _TABLES.create_all(connection, tables=tables, checkfirst=False)
    for table in tables:
        for statement in dialect.guards(table.name):
            connection.exec_driver_sql(statement)


def _first_tables(connection: Connection, dialect: Dialect) -> None:
    _make(connection, dialect, VERSIONS, ENTRIES, ANSWERS, SALTS)


def _add_the_tree(connection: Connection, dialect: Dialect) -> None:
    _make(connection, dialect, HASHES, CHECKPOINTS)
    hashes: list[bytes] = []
    for number, line in connection.execute(select(ENTRIES.c.number, ENTRIES.c.line).order_by(ENTRIES.c.number)).all():
        keep_hashes(connection, number, line, hashes.__getitem__)
        hashes += completed(number, leaf_hash(line), hashes.__getitem__)


_STEPS: Mapping[int, Callable[[Connection, Dialect], None]] = MappingProxyType({1: _first_tables, 2: _add_the_tree})

SCHEMA_VERSION = len(_STEPS)
"""The version of the tables; an older ledger is brought up to it when opened, a newer one is refused."""
