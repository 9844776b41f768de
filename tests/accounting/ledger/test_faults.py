"""Faults of comparable systems that the ledger makes impossible, each by its name."""

import hashlib
import itertools
import random
from fractions import Fraction

import pytest

from accounting.budget import Cap, Law, Mu, Rho
from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError, QueryRefused
from accounting.events import GaussianEvent, SelectionEvent, price
from accounting.ledger import Ledger, Stored
from accounting.unit import RowUnit
from tests.accounting.ledger.support import allot, ask, described, digest_of, open_rows, reserve, rows


def test_p03_what_is_settled_is_the_sum_of_what_was_asked(ledger):
    """Any mix of questions, voided and lost ones included, adds up to what the entries say one by one."""
    open_rows(ledger)
    account = allot(ledger, cap="1")
    chance = random.Random(3)
    settled = granted = Fraction(0)
    for request in range(12):
        amount = Fraction(chance.randint(1, 9), chance.choice([128, 243, 1000]))
        grant = reserve(account, request, amount)
        fate = chance.choice(["void", "lost", "reserved", "settled", "settled"])
        granted += amount if fate != "void" else 0
        if fate == "void":
            account.void(grant)
        elif fate != "reserved":
            account.start(grant)
            if fate == "settled":
                account.settle(grant, b"")
                settled += amount
    state = ledger.dataset("rand")
    assert (state.settled, state.in_flight) == (settled, granted - settled)
    entries = [entry.body for entry in ledger.entries(kind="settled")]
    assert sum(Fraction(body["amount"]) for body in entries) == settled
    account.close()
    assert ledger.dataset("rand").allotted == granted


def test_p07_fitting_twice_costs_twice_whatever_object_asks(sql_url):
    open_rows(Ledger.open(sql_url))
    for number in range(2):
        fresh = Ledger.open(sql_url)
        account = allot(fresh, release=f"fit-{number}", cap="1/2")
        ask(account, 1, "1/2")
        account.close()
    with pytest.raises(BudgetRefused):
        allot(Ledger.open(sql_url), release="fit-3", cap="1/1000000")
    assert Ledger.open(sql_url).dataset("rand").settled == 1


def test_p09_nothing_is_granted_after_the_end(ledger):
    open_rows(ledger)
    account = allot(ledger)
    grant = reserve(account, 1, "1/8")
    account.close()
    with pytest.raises(BudgetRefused):
        reserve(account, 2, "1/8")
    with pytest.raises(LedgerError):
        account.start(grant)
    with pytest.raises(BudgetRefused):
        reserve(ledger.resume("r1"), 2, "1/8")
    ledger.close_dataset("rand")
    with pytest.raises(BudgetRefused):
        allot(ledger, release="r2", cap="1/8")
    assert ledger.dataset("rand").in_flight == Fraction(1, 8)


@pytest.mark.parametrize("law", list(Law))
def test_p13_less_noise_costs_more(law):
    costs = [price(GaussianEvent(Fraction(1), Fraction(variance, 7)), law) for variance in range(1, 50)]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs)
    costs = [price(SelectionEvent(Fraction(epsilon, 7)), law) for epsilon in range(1, 50)]
    assert costs == sorted(set(costs))


def test_p13_the_order_of_questions_changes_nothing():
    prices = [Fraction(1, 8), Fraction(1, 9), Fraction(1, 10), Fraction(1, 11)]
    spent = set()
    for order in itertools.permutations(prices):
        ledger = Ledger.in_memory()
        open_rows(ledger)
        account = allot(ledger)
        for request, amount in enumerate(order):
            ask(account, request, amount)
        spent.add((ledger.dataset("rand").settled, account.remaining))
    assert len(spent) == 1


def test_p14_there_is_no_tolerance(ledger):
    open_rows(ledger, cap="1/3")
    over = Fraction(1, 3) + Fraction(1, 2**200)
    with pytest.raises(BudgetRefused):
        allot(ledger, cap=over)
    account = allot(ledger, cap="1/3")
    with pytest.raises(BudgetRefused) as refused:
        reserve(account, 1, over)
    assert refused.value.asked - refused.value.left == Fraction(1, 2**200)
    reserve(account, 1, "1/3")
    with pytest.raises(BudgetRefused):
        reserve(account, 2, Fraction(1, 2**200))


def test_p16_resuming_needs_the_ledger_that_granted(sql_url):
    ledger = Ledger.open(sql_url)
    open_rows(ledger)
    account = allot(ledger, cap="1/4")
    entry = ask(account, 1, "1/8", b"round one")
    resumed = Ledger.open(sql_url).resume("r1")
    assert reserve(resumed, 1, "1/8") == Stored(entry, b"round one")
    assert resumed.remaining == Fraction(1, 8)
    with pytest.raises(BudgetRefused):
        reserve(resumed, 2, "1/4")
    with pytest.raises(ConfigError, match="not in this ledger"):
        Ledger.in_memory().resume("r1")


def test_p43_the_cap_is_the_guarantee_and_the_spend_is_not(ledger):
    opened = open_rows(ledger)
    account = allot(ledger, cap="1/2")
    ask(account, 1, "1/16")
    state = ledger.dataset("rand")
    assert state.cap == opened.cap == Cap(Rho(Fraction(1)))
    assert state.releases[0].cap == account.cap == Cap(Rho(Fraction(1, 2)))
    assert state.settled == Fraction(1, 16)
    account.close()
    state = ledger.dataset("rand")
    assert (state.cap, state.releases[0].cap) == (opened.cap, account.cap)


def test_p44_a_commitment_never_shows_whether_rows_changed(ledger):
    open_rows(ledger)
    for number in range(3):
        allot(ledger, release=f"r{number}", cap="1/8", commitment=rows("the same rows"))
    public = b"".join(ledger.export())
    entries = [entry.body for entry in ledger.entries(kind="allotted")]
    assert len({body["commitment"] for body in entries}) == 3
    assert len({body["salt_digest"] for body in entries}) == 3
    with ledger._store.read() as view:
        salts = view.salts()
    assert len({salt.salt for salt in salts}) == 3
    for salt in salts:
        assert len(salt.salt) == 32
        assert salt.salt.hex().encode() not in public
        assert hashlib.sha256(salt.salt + b"the same rows").hexdigest() == salt.commitment
    for guess in (b"the same rows", bytes(32) + b"the same rows"):
        assert hashlib.sha256(guess).hexdigest().encode() not in public


def test_p47_an_id_is_bound_to_one_question(ledger):
    open_rows(ledger)
    account = allot(ledger)
    entry = ask(account, 1, "1/8", b"9")
    account.start(reserve(account, 2, "1/8"))
    size = ledger.verify().size
    assert reserve(account, 1, "1/8") == Stored(entry, b"9")
    with pytest.raises(AnswerLost):
        reserve(account, 2, "1/8")
    for request in (1, 2):
        with pytest.raises(QueryRefused, match="bound to another question"):
            reserve(account, request, "1/8", question="another")
    assert ledger.verify().size == size
    assert account.remaining == Fraction(1, 4)


def test_f05_asking_what_is_left_changes_nothing(ledger):
    open_rows(ledger)
    account = allot(ledger)
    ask(account, 1, "1/8")
    before = b"".join(ledger.export())
    assert ledger.dataset("rand") == ledger.dataset("rand")
    assert account.remaining == account.remaining == Fraction(3, 8)
    assert ledger.verify() == ledger.verify()
    assert ledger.in_flight("rand") == ()
    assert b"".join(ledger.export()) == before


def test_f13_a_tenth_and_nine_tenths_are_one(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1")
    reserve(account, 1, "1/10")
    reserve(account, 2, "9/10")
    assert account.remaining == 0


def test_f14_eleven_elevenths_fit_and_twelve_do_not(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1")
    for request in range(11):
        reserve(account, request, "1/11")
    assert account.remaining == 0
    with pytest.raises(BudgetRefused) as refused:
        reserve(account, 11, "1/11")
    assert (refused.value.asked, refused.value.left) == (Fraction(1, 11), 0)


def test_h05_the_ledger_is_the_only_memory_of_a_run(sql_url):
    ledger = Ledger.open(sql_url)
    ledger.open_dataset("g", unit=RowUnit(), cap=Cap(Mu(Fraction(1))))
    account = ledger.allot(
        "g", "r1", Cap(Mu(Fraction(1, 2))), purpose="release", noise="os", context={}, commitment=rows("g")
    )
    event = GaussianEvent(Fraction(1), Fraction(8))
    grant = account.authorise("1", digest_of("q"), event, described(event))
    account.start(grant)
    account.settle(grant, b"1")
    del account, grant, ledger
    again = Ledger.open(sql_url).resume("r1")
    assert (again.law, again.remaining) == (Law.GDP, Fraction(3, 8))
    assert again.authorise("1", digest_of("q"), event, described(event)) == Stored(4, b"1")
