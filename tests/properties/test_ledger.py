"""Whatever is asked in whatever order, the ledger agrees with plain addition, and its replay agrees with it."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError
from accounting.ledger import Ledger, Stored
from tests.accounting.ledger.support import allot, open_rows, reserve

AMOUNTS = st.builds(Fraction, st.integers(1, 12), st.sampled_from([16, 27, 100, 97]))


class Life(RuleBasedStateMachine):
    """A dataset with cap 1, up to four releases, and a model that only adds."""

    def __init__(self):
        super().__init__()
        self.ledger = Ledger.in_memory()
        self.releases = []
        self.closed = False

    @initialize()
    def open(self):
        open_rows(self.ledger)

    def taken(self):
        return sum(
            sum(q["amount"] for q in release["questions"].values() if q["status"] != "voided")
            if release["closed"]
            else release["cap"]
            for release in self.releases
        )

    @precondition(lambda self: len(self.releases) < 4)
    @rule(cap=AMOUNTS)
    def allot(self, cap):
        name = f"r{len(self.releases)}"
        if self.closed or self.taken() + cap > 1:
            with pytest.raises(BudgetRefused):
                allot(self.ledger, release=name, cap=cap)
        else:
            account = allot(self.ledger, release=name, cap=cap)
            self.releases.append({"account": account, "cap": cap, "closed": False, "questions": {}})

    @precondition(lambda self: self.releases)
    @rule(data=st.data(), amount=AMOUNTS, request=st.integers(1, 4))
    def authorise(self, data, amount, request):
        release = data.draw(st.sampled_from(self.releases))
        known = release["questions"].get(request)
        account = release["account"]
        if known is not None and known["status"] != "voided":
            if known["status"] == "settled":
                assert reserve(account, request, known["amount"]) == Stored(known["entry"], b"answer")
            else:
                with pytest.raises(AnswerLost):
                    reserve(account, request, known["amount"])
            return
        granted = sum(q["amount"] for q in release["questions"].values() if q["status"] != "voided")
        if release["closed"] or granted + amount > release["cap"]:
            with pytest.raises(BudgetRefused):
                reserve(account, request, amount)
            return
        grant = reserve(account, request, amount)
        release["questions"][request] = {"status": "reserved", "grant": grant, "amount": amount}

    @precondition(lambda self: any(release["questions"] for release in self.releases))
    @rule(data=st.data(), step=st.sampled_from(["start", "settle", "void"]))
    def move(self, data, step):
        release = data.draw(st.sampled_from([release for release in self.releases if release["questions"]]))
        question = data.draw(st.sampled_from(list(release["questions"].values())))
        account, grant = release["account"], question["grant"]
        needed = "started" if step == "settle" else "reserved"
        call = {"start": account.start, "void": account.void, "settle": lambda used: account.settle(used, b"answer")}
        if release["closed"] or question["status"] != needed:
            with pytest.raises(LedgerError):
                call[step](grant)
            return
        question["entry"] = call[step](grant)
        question["status"] = {"start": "started", "settle": "settled", "void": "voided"}[step]

    @precondition(lambda self: self.releases)
    @rule(data=st.data())
    def close(self, data):
        release = data.draw(st.sampled_from(self.releases))
        release["account"].close()
        release["closed"] = True

    @precondition(lambda self: self.releases)
    @rule(data=st.data())
    def recover(self, data):
        number = data.draw(st.integers(0, len(self.releases) - 1))
        release = self.releases[number]
        if release["closed"]:
            with pytest.raises(ConfigError):
                self.ledger.recover(f"r{number}")
            return
        lost = {q["grant"].request_id for q in release["questions"].values() if q["status"] in ("reserved", "started")}
        assert {found.request_id for found in self.ledger.recover(f"r{number}").in_flight} == lost
        release["closed"] = True

    @rule()
    def close_dataset(self):
        self.ledger.close_dataset("rand")
        self.closed = True
        for release in self.releases:
            release["closed"] = True

    @invariant()
    def adds_up(self):
        if self.ledger.datasets():
            state = self.ledger.dataset("rand")
            questions = [q for release in self.releases for q in release["questions"].values()]
            assert state.allotted == self.taken()
            assert state.allotted <= 1
            assert state.settled == sum(q["amount"] for q in questions if q["status"] == "settled")
            assert state.in_flight == sum(q["amount"] for q in questions if q["status"] in ("reserved", "started"))

    def teardown(self):
        self.ledger.verify()


Life.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_any_life = Life.TestCase


@given(prices=st.lists(AMOUNTS, min_size=1, max_size=15), cap=AMOUNTS)
@settings(max_examples=60, deadline=None)
def test_exactly_what_fits_is_granted(prices, cap):
    ledger = Ledger.in_memory()
    open_rows(ledger)
    account = allot(ledger, cap=cap)
    spent = Fraction(0)
    for request, amount in enumerate(prices):
        if spent + amount <= cap:
            reserve(account, request, amount)
            spent += amount
        else:
            with pytest.raises(BudgetRefused):
                reserve(account, request, amount)
    assert account.remaining == cap - spent


@given(
    value=st.one_of(
        st.floats(), st.booleans(), st.none(), st.text(max_size=5), st.integers(max_value=0), st.complex_numbers()
    )
)
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_only_exact_positive_numbers_are_amounts(value):
    from accounting.budget import Cap, Rho
    from accounting.events import GaussianEvent, SelectionEvent

    for build in (
        lambda: Cap(Rho(value)),
        lambda: GaussianEvent(value, 1),
        lambda: GaussianEvent(1, value),
        lambda: SelectionEvent(value),
    ):
        try:
            build()
        except ConfigError:
            continue
        assert isinstance(value, str)
        assert Fraction(value) > 0
