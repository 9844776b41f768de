"""Addresses, waiting, and errors of the two databases: sentences for people, never a stored value."""

import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy.exc import OperationalError

from accounting.errors import ConfigError, LedgerError
from accounting.ledger import Ledger, dialects
from tests.accounting.ledger.support import allot, open_rows, reserve


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ledger.db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        "sqlite+aiosqlite:///x.db",
        "postgresql://localhost/x",
        "postgresql+psycopg2://localhost/x",
        "postgresql+psycopg://localhost",
        "mysql://localhost/x",
    ],
)
def test_other_addresses_are_refused(url):
    with pytest.raises(ConfigError, match="a ledger URL is sqlite:///PATH or postgresql"):
        Ledger.open(url)


def test_a_ledger_that_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="there is no ledger at"):
        Ledger.open(f"sqlite:///{tmp_path}/none.db", must_exist=True)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match=r"no ledger can be made at .*: No such file or directory"):
        Ledger.open(f"sqlite:///{tmp_path}/no/folder/none.db")
    Ledger.open(f"sqlite:///{tmp_path}/one.db")
    Ledger.open(f"sqlite:///{tmp_path}/one.db", must_exist=True)


def test_a_server_without_a_ledger(url_of):
    url = url_of("postgresql")
    for _ in range(2):
        with pytest.raises(ConfigError, match="there is no ledger in this database"):
            Ledger.open(url, must_exist=True)
    assert Ledger.open(url).datasets() == ()


def test_a_file_that_holds_no_ledger(tmp_path):
    empty, other = tmp_path / "empty.db", tmp_path / "other.db"
    empty.touch()
    with pytest.raises(LedgerError, match="is empty: it was cut off"):
        Ledger.open(f"sqlite:///{empty}", must_exist=True)
    assert empty.stat().st_size == 0
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE x (y)")
    connection.close()
    with pytest.raises(LedgerError, match="holds no ledger: its tables are missing"):
        Ledger.open(f"sqlite:///{other}", must_exist=True)
    with pytest.raises(LedgerError, match="is a folder and no ledger's file"):
        Ledger.open(f"sqlite:///{tmp_path}")
    assert Ledger.open(f"sqlite:///{empty}").datasets() == ()


def test_importing_the_ledger_loads_no_database():
    code = "import sys, accounting.ledger; print({'sqlalchemy', 'psycopg', 'pydantic', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def hold(path, seconds):
    """Hold SQLite's write lock in a thread for a while."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")

    def release():
        time.sleep(seconds)
        connection.execute("ROLLBACK")
        connection.close()

    thread = threading.Thread(target=release)
    thread.start()
    return thread


def test_a_writer_waits_for_another(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db")
    open_rows(ledger)
    thread = hold(tmp_path / "ledger.db", 0.3)
    allot(ledger)
    thread.join()
    assert ledger.verify().size == 2


def test_a_writer_that_waits_too_long_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 0.05)
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db")
    open_rows(ledger)
    account = allot(ledger)
    thread = hold(tmp_path / "ledger.db", 0.5)
    with pytest.raises(LedgerError, match="was in use by another process for") as refused:
        reserve(account, 1, "1/8")
    assert "locked" not in str(refused.value)
    thread.join()
    assert reserve(account, 1, "1/8").entry == 2


def test_a_first_opening_waits_for_another(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("CREATE TABLE x (y)")
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 0.05)
    with pytest.raises(LedgerError, match="was in use by another process for"):
        Ledger.open(f"sqlite:///{path}")
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 30)

    def release():
        time.sleep(0.2)
        connection.execute("ROLLBACK")
        connection.close()

    thread = threading.Thread(target=release)
    thread.start()
    assert Ledger.open(f"sqlite:///{path}").datasets() == ()
    thread.join()


class Driver:
    """A driver's connection whose first steps find the file busy, as when several processes make it at once."""

    OperationalError = sqlite3.OperationalError

    def __init__(self, busy):
        self.busy = busy
        self.seen = []

    def cursor(self):
        return self

    def close(self):
        self.seen.append("closed")

    def execute(self, statement):
        self.seen.append(statement)
        if self.busy:
            self.busy -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = 5
            raise error


def test_switching_a_new_file_to_wal_waits_for_others(monkeypatch):
    driver = Driver(3)
    dialects._set_up_sqlite(driver, None)
    assert driver.seen[:4] == ["PRAGMA journal_mode = WAL"] * 4
    assert driver.seen[4:] == [
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",
        "PRAGMA checkpoint_fullfsync = ON",
        "PRAGMA trusted_schema = OFF",
        "closed",
    ]
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 0)
    with pytest.raises(sqlite3.OperationalError):
        dialects._set_up_sqlite(Driver(100), None)


def test_a_transaction_that_sqlite_ended_itself_is_not_ended_again(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db")

    def end_it_inside():
        with ledger._store.write() as view:
            view._connection.exec_driver_sql("ROLLBACK")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        end_it_inside()
    open_rows(ledger)


def test_a_step_that_is_not_busy_is_not_repeated():
    calls = []

    def step():
        calls.append(1)
        raise OperationalError("BEGIN", {}, sqlite3.OperationalError("disk I/O error"))

    with pytest.raises(OperationalError):
        dialects._patiently(step)
    assert calls == [1]


def test_a_busy_step_is_repeated(monkeypatch):
    calls = []

    def busy():
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = 5
        raise OperationalError("BEGIN", {}, error)

    def step():
        calls.append(1)
        if len(calls) < 3:
            busy()

    dialects._patiently(step)
    assert calls == [1, 1, 1]
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 0)
    with pytest.raises(OperationalError):
        dialects._patiently(busy)


def test_a_full_disk_gives_a_sentence_and_spends_nothing(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db")
    open_rows(ledger)
    account = allot(ledger)
    with ledger._store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="cannot be used: database or disk is full"):
        fill(account)
    with ledger._store._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    assert ledger.verify().size < 60


def fill(account):
    for request in range(60):
        reserve(account, request, "1/1000")


def test_a_server_that_is_not_there_gives_a_sentence_without_the_password():
    with pytest.raises(LedgerError, match="cannot be used: ") as refused:
        Ledger.open("postgresql+psycopg://somebody:secret@127.0.0.1:1/ledger?connect_timeout=1")
    assert "secret" not in str(refused.value)
    assert "somebody" not in str(refused.value)
    assert "127.0.0.1:1/ledger" in str(refused.value)


def test_a_postgresql_writer_that_waits_too_long_gets_a_sentence(url_of, monkeypatch):
    url = url_of("postgresql")
    monkeypatch.setattr(dialects, "WAIT_SECONDS", 0.1)
    first, second = Ledger.open(url), Ledger.open(url)
    open_rows(first)
    with first._store.write(), pytest.raises(LedgerError, match=r"was in use by another process for 0\.1 s"):
        allot(second)
    assert allot(second).remaining > 0


def test_a_server_that_is_not_durable_is_refused(url_of, monkeypatch):
    url = url_of("postgresql")
    seen = []

    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def execute(self, statement):
            seen.append(statement)

        def fetchone(self):
            return Cursor.settings

    class Connection:
        def cursor(self):
            return Cursor()

        def commit(self):
            seen.append("commit")

    Cursor.settings = ("off", "on")
    with pytest.raises(LedgerError, match="fsync off"):
        dialects._set_up_postgresql(Connection(), None)
    Cursor.settings = ("on", "off")
    dialects._set_up_postgresql(Connection(), None)
    assert "SET synchronous_commit = on" in seen
    assert seen[-1] == "commit"
    Ledger.open(f"{url}%20-csynchronous_commit%3Doff")
