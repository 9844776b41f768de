"""No two processes share a remainder, and no user sees a lock."""

import json
import os
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from accounting.errors import BudgetRefused
from accounting.ledger import Ledger, sql
from tests.accounting.ledger.support import allot, ask, open_rows, reserve


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_p15_eight_processes_get_exactly_what_fits(kind, url_of):
    program = [sys.executable, "-m", "tests.accounting.ledger.racing", url_of(kind), "8", "50"]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert [racer["errors"] for racer in found["seen"]] == [[]] * 8
    assert sum(racer["granted"] for racer in found["seen"]) == 137
    assert sum(racer["refused"] for racer in found["seen"]) == 8 * 50 - 137
    assert found["granted"] == "137/100"
    assert found["size"] == 2 + 137


def test_threads_share_one_ledger(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1/2")
    granted = []

    def run(name):
        for request in range(5):
            try:
                granted.append(reserve(account, f"{name}-{request}", "1/20").amount)
            except BudgetRefused:
                return

    threads = [threading.Thread(target=run, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == Fraction(1, 2)
    ledger.verify()


def test_a_child_leaves_the_parents_connections_alone(tmp_path, monkeypatch):
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db")
    open_rows(ledger)
    engine, pool = ledger._store._engine, ledger._store._engine.pool
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert ledger.datasets() == ("rand",)
    assert engine.pool is not pool
    sql._disconnect(engine, [1])
    assert engine.pool.checkedin() == 1
    sql._disconnect(engine, [-1])
    assert engine.pool.checkedin() == 0


def test_a_ledger_goes_on_in_parent_and_child_after_a_fork(sql_url):
    ledger = Ledger.open(sql_url)
    open_rows(ledger)
    account = allot(ledger)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ask(account, "child", "1/8")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    ask(account, "parent", "1/8")
    assert ledger.dataset("rand").settled == Fraction(1, 4)
    ledger.verify()
