"""The database itself: append-only by its own rules, versions that are told apart, and the way from the first one."""

import sqlite3
import stat
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from accounting.errors import LedgerError
from accounting.ledger import Ledger, sql, tables
from accounting.ledger.tables import SCHEMA_VERSION
from tests.accounting.ledger.story import KEY, every_kind
from tests.accounting.ledger.support import allot, ask, open_rows

FIRST_VERSION = Path(__file__).parent / "version-1.sql"
NAMES = ("entries", "answers", "salts", "hashes", "checkpoints", "versions")


def run(url, statement):
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            return connection.execute(text(statement)).rowcount
    finally:
        engine.dispose()


def attempts(name, *, sqlite):
    """Return statements that change, delete or replace rows of a table."""
    least = f"(SELECT min(number) FROM {name})"
    common = [
        f"UPDATE {name} SET number = number + 1000",
        f"DELETE FROM {name}",
        f"DELETE FROM {name} WHERE number = {least}",
    ]
    if sqlite:
        replace = f"INSERT OR REPLACE INTO {name} SELECT * FROM {name} WHERE number = {least}"
        return [*common, replace, f"REPLACE INTO {name} SELECT * FROM {name}"]
    upsert = f"INSERT INTO {name} SELECT * FROM {name} ON CONFLICT (number) DO UPDATE SET number = excluded.number"
    return [*common, f"TRUNCATE {name}", upsert]


def test_the_database_refuses_to_change_or_delete(sql_url):
    ledger = Ledger.open(sql_url)
    every_kind(ledger)
    for table in NAMES:
        name = f"dprelease_{table}"
        for attempt in attempts(name, sqlite=sql_url.startswith("sqlite")):
            with pytest.raises(DBAPIError, match=f"{name} is append-only"):
                run(sql_url, attempt)
    ledger.verify()


def test_a_newer_ledger_is_refused_with_a_sentence(sql_url):
    Ledger.open(sql_url)
    run(sql_url, f"INSERT INTO dprelease_versions VALUES ({SCHEMA_VERSION + 1}, 'x')")
    with pytest.raises(LedgerError, match=f"newer program .version {SCHEMA_VERSION + 1} of its tables; this one knows"):
        Ledger.open(sql_url)


def test_a_ledger_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "ledger.db"
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_VERSION.read_text())
    connection.close()
    ledger = Ledger.open(f"sqlite:///{path}")
    head = ledger.verify()
    assert head.size == 8
    assert head.root == "d635835d6d9f05c19748d8fc267a2d6fa4e92d324370b8347f8a0c9ba420c87d"
    assert ledger.dataset("rand").settled > 0
    note = ledger.checkpoint([KEY])
    ask(allot(ledger, "rand", "r2", "1/8"), 1, "1/8")
    again = Ledger.open(f"sqlite:///{path}")
    again.verify(checkpoints=[note], keys=[KEY.public_key()])
    assert again.identity == head.ledger


def test_the_way_from_the_first_version_on_both_stores(sql_url, monkeypatch):
    def first_hashes(*_):
        return None

    with monkeypatch.context() as patch:
        patch.setattr(tables, "SCHEMA_VERSION", 1)
        patch.setattr("accounting.ledger.sql.keep_hashes", first_hashes)
        old = Ledger.open(sql_url)
        open_rows(old)
        ask(allot(old), 1, "1/8")
    ledger = Ledger.open(sql_url)
    assert ledger.identity == old.identity
    assert ledger.verify().size == 5
    ask(ledger.resume("r1"), 2, "1/8")
    assert Ledger.open(sql_url).verify().size == 8


def test_a_step_that_fails_leaves_the_old_version(sql_url, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(tables, "SCHEMA_VERSION", 1)
        Ledger.open(sql_url)

    def fail(connection, dialect):
        tables._add_the_tree(connection, dialect)
        raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(tables, "_STEPS", {2: fail})
        with pytest.raises(RuntimeError, match="power cut"):
            Ledger.open(sql_url)
    assert Ledger.open(sql_url).verify().size == 0


def test_an_sqlite_ledger_is_durable_and_private(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(f"sqlite:///{path}")
    open_rows(ledger)
    with ledger._store._engine.connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "fullfsync", "trusted_schema")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "trusted_schema": 0}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in tmp_path.iterdir())


def test_a_role_that_may_only_add_is_enough(server, url_of):
    url = url_of("postgresql")
    schema = url.rpartition("%3D")[2]
    open_rows(Ledger.open(url))
    for statement in (
        f"CREATE ROLE {schema}_app LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {schema}_app",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO {schema}_app",
    ):
        run(url, statement)
    limited = url.replace("//ledger@", f"//{schema}_app@")
    ledger = Ledger.open(limited)
    ask(allot(ledger), 1, "1/8")
    ledger.checkpoint([KEY])
    ledger.verify()
    for statement in ("UPDATE dprelease_entries SET number = 9", "ALTER TABLE dprelease_entries DISABLE TRIGGER ALL"):
        with pytest.raises(DBAPIError, match=r"permission denied|must be owner"):
            run(limited, statement)


def test_long_ledgers_are_read_page_by_page(sql_url, monkeypatch):
    ledger = Ledger.open(sql_url)
    every_kind(ledger)
    for name in ("_PAGE", "_PAGE_OF_LABEL", "_PAGE_OF_ROWS", "_PAGE_OF_ANSWERS"):
        monkeypatch.setattr(sql, name, getattr(sql, name).limit(2))
    assert ledger.verify().size == 26
    assert [entry.number for entry in ledger.entries()] == list(range(26))
    assert len(list(ledger.export("visits"))) == 5
