"""The ledger's first way through, in memory and on SQLite."""

import hashlib
from fractions import Fraction

import pytest

from accounting.budget import Cap, Rho
from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError, QueryRefused
from accounting.events import GaussianEvent
from accounting.ledger import Grant, Ledger, Stored
from accounting.unit import RowUnit

DIGEST = hashlib.sha256(b"question").hexdigest()
TENTH = GaussianEvent(Fraction(1), Fraction(5))
TOTAL = {"question": "total", "variance": "5/1"}


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return Ledger.in_memory() if request.param == "memory" else Ledger.open(f"sqlite:///{tmp_path}/ledger.db")


def test_the_whole_way(ledger):
    ledger.open_dataset("rand", unit=RowUnit(), cap=Cap(Rho(Fraction(1))))
    with pytest.raises(ConfigError, match="has a budget already"):
        ledger.open_dataset("rand", unit=RowUnit(), cap=Cap(Rho(Fraction(1))))
    account = ledger.allot(
        "rand", "r1", Cap(Rho(Fraction(1, 4))), purpose="test", noise="seeded", context={}, commitment=None
    )
    with pytest.raises(BudgetRefused):
        ledger.allot("rand", "r2", Cap(Rho(Fraction(1))), purpose="test", noise="seeded", context={}, commitment=None)
    first = account.authorise("1", DIGEST, TENTH, TOTAL)
    assert isinstance(first, Grant)
    with pytest.raises(AnswerLost):
        account.authorise("1", DIGEST, TENTH, TOTAL)
    account.start(first)
    with pytest.raises(LedgerError):
        account.void(first)
    entry = account.settle(first, b"42")
    assert account.authorise("1", DIGEST, TENTH, TOTAL) == Stored(entry, b"42")
    with pytest.raises(QueryRefused):
        account.authorise("1", "0" * 64, TENTH, TOTAL)
    second = account.authorise("2", DIGEST, TENTH, TOTAL)
    account.void(second)
    assert account.remaining == Fraction(3, 20)
    account.close()
    state = ledger.dataset("rand")
    assert (state.allotted, state.settled, state.in_flight, state.left) == (
        Fraction(1, 10),
        Fraction(1, 10),
        0,
        Fraction(9, 10),
    )
    assert ledger.verify().size == 8
