"""A process killed at any write point leaves a ledger that opens, counts no less, and says what was in flight."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from accounting.ledger import Ledger, Stored
from tests.accounting.ledger.support import allot, ask, open_rows, reserve


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_two_hundred_statements_and_at_random_moments(kind, url_of):
    program = [sys.executable, "-m", "tests.accounting.ledger.crashing", url_of(kind), "3", "5"]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["failures"] == []
    assert found["points"] >= 300
    assert found["deaths"] >= 105  # more than 200 on the two stores together


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_every_statement_and_at_many_random_moments(kind, url_of):
    program = [sys.executable, "-m", "tests.accounting.ledger.crashing", url_of(kind), "1", "200"]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["failures"] == []
    assert found["deaths"] >= 450


def test_what_was_committed_survives_a_crash_of_the_server(server, url_of):
    url = url_of("postgresql")
    ledger = Ledger.open(url)
    open_rows(ledger)
    account = allot(ledger)
    entry = ask(account, 1, "1/8", b"7")
    account.start(reserve(account, 2, "1/8"))
    server.crash()
    server.start()
    again = Ledger.open(url, must_exist=True)
    assert again.verify().size == 7
    assert again.dataset("rand").in_flight == Fraction(1, 8)
    assert reserve(account, 1, "1/8") == Stored(entry, b"7")
