"""What differs between SQLite and PostgreSQL: how to connect, begin, wait and keep rows from being changed."""

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from accounting.errors import ConfigError, DpReleaseError, LedgerError

WAIT_SECONDS = 60
"""How long a transaction waits for another process before it gives up; a transaction takes milliseconds."""

_BUSY = (5, 6)
"""SQLite's primary result codes for a database or table that another connection holds."""


class Dialect(Protocol):
    """One kind of database."""

    def engine(self) -> Engine:
        """Make the engine with every setting that durability needs."""
        ...

    def transaction(self, connection: Connection, *, writing: bool) -> AbstractContextManager[None]:
        """Run a transaction: a writer alone, durable when left; a reader on one consistent snapshot."""
        ...

    def guards(self, name: str) -> list[str]:
        """Return the statements that make a table append-only and its numbers gapless."""
        ...

    def damage(self, connection: Connection) -> str | None:
        """Return what the database itself finds damaged, or None."""
        ...

    def no_ledger(self) -> DpReleaseError:
        """Say that the database holds no ledger where there must be one."""
        ...

    def explain(self, error: SQLAlchemyError) -> LedgerError:
        """Turn a database error into a sentence without any stored value."""
        ...


def dialect_for(url: str, *, must_exist: bool) -> Dialect:
    """Choose the dialect of a URL.

    Raises:
        ConfigError: not a URL of a supported kind.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigError(f"a ledger URL {_KINDS}") from None
    if parsed.drivername == "sqlite" and parsed.database and ":memory:" not in parsed.database and not parsed.query:
        return SQLite(Path(parsed.database), must_exist=must_exist)
    if parsed.drivername == "postgresql+psycopg" and parsed.database:
        return PostgreSQL(parsed)
    raise ConfigError(f"a ledger URL {_KINDS}")


_KINDS = "is sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE"


class SQLite:
    """A file in WAL mode, synced at every commit."""

    def __init__(self, path: Path, *, must_exist: bool) -> None:
        self._path = path
        if path.is_dir():
            raise LedgerError(f"{path} is a folder and no ledger's file")
        if path.exists():
            if must_exist and path.stat().st_size == 0:
                raise LedgerError(
                    f"the ledger {path} is empty: it was cut off, or making it was interrupted before its first "
                    "budget. Put a backup back, and delete it only if no budget was ever opened in it"
                )
            return
        if must_exist:
            raise ConfigError(f"there is no ledger at {path}")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            folder = os.open(path.parent, os.O_RDONLY)
        except OSError as error:
            raise ConfigError(f"no ledger can be made at {path}: {error.strerror}") from None
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def engine(self) -> Engine:
        """Make the engine with every setting that durability needs."""
        url = URL.create("sqlite", database=str(self._path))
        engine = create_engine(
            url,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            connect_args={"timeout": WAIT_SECONDS, "check_same_thread": False},
        )
        event.listen(engine, "connect", _set_up_sqlite)
        return engine

    @contextmanager
    def transaction(self, connection: Connection, *, writing: bool) -> Iterator[None]:
        """Run a transaction: a writer alone, durable when left; a reader on one consistent snapshot."""
        begin = "BEGIN IMMEDIATE" if writing else "BEGIN"
        _patiently(lambda: connection.exec_driver_sql(begin))
        try:
            yield
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            if connection.connection.driver_connection.in_transaction:  # type: ignore[union-attr]  # an sqlite3 one
                connection.exec_driver_sql("ROLLBACK")
            raise

    def guards(self, name: str) -> list[str]:
        """Return the statements that make a table append-only and its numbers gapless."""
        earlier = f"NEW.number <= (SELECT max(number) FROM {name})"  # noqa: S608  # a constant name
        abort = f"BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
        return [
            f"CREATE TRIGGER {name}_no_update BEFORE UPDATE ON {name} {abort}",
            f"CREATE TRIGGER {name}_no_delete BEFORE DELETE ON {name} {abort}",
            f"CREATE TRIGGER {name}_no_replace BEFORE INSERT ON {name} WHEN {earlier} {abort}",
        ]

    def damage(self, connection: Connection) -> str | None:
        """Return what the database itself finds damaged, or None."""
        finding = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
        return None if finding == "ok" else finding

    def no_ledger(self) -> DpReleaseError:
        """Say that the database holds no ledger where there must be one."""
        return LedgerError(
            f"{self._path} holds no ledger: its tables are missing, so it is another program's file or was damaged"
        )

    def explain(self, error: SQLAlchemyError) -> LedgerError:
        """Turn a database error into a sentence without any stored value."""
        if _is_busy(error):
            return LedgerError(f"the ledger {self._path} was in use by another process for {WAIT_SECONDS} s; try again")
        return LedgerError(f"the ledger {self._path} cannot be used: {_first_line(error)}")


class PostgreSQL:
    """A server; writers queue at an advisory lock, so the numbers have no gaps and no transaction can deadlock."""

    def __init__(self, url: URL) -> None:
        self._url = url

    def engine(self) -> Engine:
        """Make the engine with every setting that durability needs."""
        engine = create_engine(self._url, hide_parameters=True, pool_pre_ping=True)
        event.listen(engine, "connect", _set_up_postgresql)
        return engine

    @contextmanager
    def transaction(self, connection: Connection, *, writing: bool) -> Iterator[None]:
        """Run a transaction: a writer alone, durable when left; a reader on one consistent snapshot."""
        with connection.begin():
            if writing:
                connection.exec_driver_sql(
                    "SELECT pg_advisory_xact_lock(hashtext('dprelease ledger'), hashtext(current_schema()))"
                )
            else:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def guards(self, name: str) -> list[str]:
        """Return the statements that make a table append-only and its numbers gapless."""
        refusal = f"BEGIN RAISE EXCEPTION '{name} is append-only'; END"
        change = f"BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} FOR EACH STATEMENT"
        return [
            f"CREATE FUNCTION {name}_guard() RETURNS trigger LANGUAGE plpgsql AS $$ {refusal} $$",
            f"CREATE TRIGGER {name}_no_change {change} EXECUTE FUNCTION {name}_guard()",
        ]

    def damage(self, connection: Connection) -> str | None:  # noqa: ARG002  # the server checks its own pages
        """Return what the database itself finds damaged, or None."""
        return None

    def no_ledger(self) -> DpReleaseError:
        """Say that the database holds no ledger where there must be one."""
        return ConfigError("there is no ledger in this database; open a dataset's budget to make one")

    def explain(self, error: SQLAlchemyError) -> LedgerError:
        """Turn a database error into a sentence without any stored value."""
        place = f"at {self._url.host}:{self._url.port or 5432}/{self._url.database}"
        if "lock timeout" in str(error):
            return LedgerError(f"the ledger {place} was in use by another process for {WAIT_SECONDS} s; try again")
        return LedgerError(f"the ledger {place} cannot be used: {_first_line(error)}")


def _set_up_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401  # the driver's own type
    cursor = connection.cursor()
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            break
        except connection.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    for setting in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "trusted_schema = OFF"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _set_up_postgresql(connection: Any, _: object) -> None:  # noqa: ANN401  # the driver's own type
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
        fsync, synchronous = cursor.fetchone()
        if fsync != "on":
            raise LedgerError("the PostgreSQL server runs with fsync off; a ledger needs a durable server")
        if synchronous == "off":
            cursor.execute("SET synchronous_commit = on")
        cursor.execute("SET default_transaction_isolation = 'read committed'")  # or the lock would come too late
        cursor.execute(f"SET lock_timeout = '{WAIT_SECONDS}s'")
    connection.commit()


def _patiently(step: Any) -> None:  # noqa: ANN401  # any call
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            step()
        except OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _is_busy(error: SQLAlchemyError) -> bool:
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0)
    return code & 0xFF in _BUSY


def _first_line(error: SQLAlchemyError) -> str:
    message = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
    return "it holds text that is not valid" if "decode to UTF-8" in message else message  # sqlite3 quotes the text
