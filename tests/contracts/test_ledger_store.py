"""One suite for every ledger store: memory, SQLite, PostgreSQL."""
# ruff: noqa: F811  # a test names the fixtures that it takes

from fractions import Fraction

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho
from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError, QueryRefused
from accounting.events import GaussianEvent, SelectionEvent
from accounting.ledger import Grant, InFlight, Ledger, Stored
from accounting.unit import PersonUnit, RowUnit
from tests.accounting.ledger.postgres import server  # noqa: F401  # a fixture
from tests.accounting.ledger.support import (
    allot,
    ask,
    described,
    digest_of,
    event_of,
    ledger,  # noqa: F401  # a fixture
    open_rows,
    reserve,
    rows,
    sql_url,  # noqa: F401  # a fixture
    url_of,  # noqa: F401  # a fixture
)


@pytest.fixture
def key():
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def test_a_dataset_states_its_unit_law_cap_and_statement(ledger):
    statement = EpsilonDelta(Fraction(3), Fraction(1, 10**6))
    cap = Cap(Mu(Fraction(1, 3)), Fraction(1, 1000))
    opened = ledger.open_dataset("rand-hie", unit=PersonUnit("zper", 5), cap=cap, statement=statement)
    assert opened == ledger.dataset("rand-hie")
    assert (opened.unit, opened.law, opened.cap) == (PersonUnit("zper", 5), Law.GDP, cap)
    assert (opened.statement, opened.left, opened.delta_left) == (statement, Fraction(1, 3), Fraction(1, 1000))
    assert (opened.releases, opened.looks, opened.purpose, opened.closed, opened.raised) == ((), 0, None, False, None)
    open_rows(ledger, "second")
    assert ledger.datasets() == ("rand-hie", "second")
    assert ledger.verify().size == 2


def test_a_label_has_one_budget_for_ever(ledger):
    open_rows(ledger)
    ledger.close_dataset("rand")
    with pytest.raises(ConfigError, match="has a budget already"):
        open_rows(ledger)
    assert ledger.dataset("rand").cap == Cap(Rho(Fraction(1)))


def test_an_unknown_label_or_release_is_refused(ledger):
    for call in (ledger.dataset, ledger.in_flight, ledger.close_dataset, ledger.change_law):
        with pytest.raises(ConfigError, match="no dataset 'nowhere' is open"):
            call("nowhere")
    for call in (ledger.resume, ledger.recover, ledger.withdraw):
        with pytest.raises(ConfigError, match="release 'nothing' is not in this ledger"):
            call("nothing")
    with pytest.raises(ConfigError, match="no dataset"):
        allot(ledger)
    assert ledger.verify().size == 0


def test_the_three_levels(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1/2")
    assert (account.label, account.release_id, account.law) == ("rand", "r1", Law.ZCDP)
    assert (account.cap, account.unit) == (Cap(Rho(Fraction(1, 2))), RowUnit())
    assert (account.purpose, account.noise, account.remaining) == ("release", "os", Fraction(1, 2))
    grant = reserve(account, 1, "1/8")
    assert isinstance(grant, Grant)
    assert (grant.amount, grant.delta, grant.request_id) == (Fraction(1, 8), 0, "1")
    assert account.remaining == Fraction(3, 8)
    state = ledger.dataset("rand")
    assert (state.allotted, state.settled, state.in_flight) == (Fraction(1, 2), 0, Fraction(1, 8))
    assert state.releases[0].in_flight == Fraction(1, 8)
    account.start(grant)
    entry = account.settle(grant, b"17")
    state = ledger.dataset("rand")
    assert (state.settled, state.in_flight, state.left) == (Fraction(1, 8), 0, Fraction(1, 2))
    assert reserve(account, 1, "1/8") == Stored(entry, b"17")
    account.close()
    assert account.remaining == 0
    state = ledger.dataset("rand")
    assert (state.allotted, state.left, state.releases[0].allotted) == (Fraction(1, 8), Fraction(7, 8), Fraction(1, 8))
    ledger.verify()


def test_an_allotment_must_fit_into_what_is_left(ledger):
    open_rows(ledger, cap=1, delta="1/100")
    allot(ledger, release="r1", cap="2/3", delta="1/200")
    with pytest.raises(BudgetRefused) as refused:
        allot(ledger, release="r2", cap="1/2")
    assert (refused.value.asked, refused.value.left, refused.value.unit) == (Fraction(1, 2), Fraction(1, 3), "rho")
    with pytest.raises(BudgetRefused) as refused:
        allot(ledger, release="r2", cap="1/3", delta="1/100")
    assert refused.value.unit == "delta"
    assert allot(ledger, release="r2", cap="1/3", delta="1/200").remaining == Fraction(1, 3)
    assert ledger.dataset("rand").left == 0
    assert ledger.dataset("rand").delta_left == 0


def test_a_refused_question_spends_nothing_and_leaves_the_ledger_open(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1/2")
    size = ledger.verify().size
    with pytest.raises(BudgetRefused) as refused:
        reserve(account, 1, "2/3")
    assert (refused.value.asked, refused.value.left) == (Fraction(2, 3), Fraction(1, 2))
    assert ledger.verify().size == size
    assert ask(account, 1, "1/2") > 0


def test_a_question_that_is_started_at_once_is_two_entries_of_one_transaction(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1/2")
    grant = reserve(account, 1, "1/8", start=True)
    assert [entry.body["kind"] for entry in ledger.entries()][2:] == ["reserved", "started"]
    for step in (account.start, account.void):
        with pytest.raises(LedgerError, match="is started, not reserved"):
            step(grant)
    assert ledger.dataset("rand").in_flight == Fraction(1, 8)
    entry = account.settle(grant, b"17")
    assert reserve(account, 1, "1/8", start=True) == Stored(entry, b"17")
    size = ledger.verify().size
    with pytest.raises(BudgetRefused):
        reserve(account, 2, "1/2", start=True)
    assert ledger.verify().size == size


def test_a_question_is_reserved_started_settled_in_this_order_once(ledger):
    open_rows(ledger)
    account = allot(ledger)
    grant = reserve(account, 1, "1/8")
    with pytest.raises(LedgerError, match="is reserved, not started"):
        account.settle(grant, b"")
    account.start(grant)
    for step in (account.start, account.void):
        with pytest.raises(LedgerError, match="is started, not reserved"):
            step(grant)
    account.settle(grant, b"")
    for step in (account.start, account.void, lambda used: account.settle(used, b"")):
        with pytest.raises(LedgerError, match="is settled, not"):
            step(grant)
    with pytest.raises(ConfigError, match="bytes"):
        account.settle(grant, "text")
    assert ledger.dataset("rand").settled == Fraction(1, 8)


def test_voiding_gives_back_a_reservation_and_its_request_id(ledger):
    open_rows(ledger)
    account = allot(ledger, cap="1/8")
    grant = reserve(account, 1, "1/8")
    account.void(grant)
    assert account.remaining == Fraction(1, 8)
    for step in (account.start, account.void):
        with pytest.raises(LedgerError, match="is voided, not reserved"):
            step(grant)
    with pytest.raises(QueryRefused, match="bound to another question"):
        reserve(account, 1, "1/8", question="another")
    again = reserve(account, 1, "1/8")
    assert again.entry > grant.entry
    with pytest.raises(LedgerError, match="not in the ledger"):
        account.start(grant)
    account.start(again)
    account.settle(again, b"1")
    assert ledger.verify().size == 7


def test_forged_and_foreign_grants_are_refused(ledger):
    open_rows(ledger)
    account, other = allot(ledger, cap="1/4"), allot(ledger, release="r2", cap="1/4")
    grant = reserve(account, 1, "1/8")
    with pytest.raises(LedgerError, match="not of this release"):
        other.start(grant)
    with pytest.raises(LedgerError, match="not of this release"):
        account.start("grant")
    for forged in (
        Grant("r1", "2", grant.digest, grant.entry, grant.amount, grant.delta),
        Grant("r1", "1", digest_of("x"), grant.entry, grant.amount, grant.delta),
        Grant("r1", "1", grant.digest, grant.entry + 1, grant.amount, grant.delta),
        Grant("r1", "1", grant.digest, grant.entry, grant.amount / 2, grant.delta),
    ):
        with pytest.raises(LedgerError, match="not in the ledger"):
            account.start(forged)


def test_a_closed_release_takes_nothing_but_gives_stored_answers(ledger):
    open_rows(ledger)
    account = allot(ledger)
    entry = ask(account, 1, "1/8", b"5")
    reserved, started = reserve(account, 2, "1/8"), reserve(account, 3, "1/8")
    account.start(started)
    account.close()
    size = ledger.verify().size
    account.close()
    assert ledger.verify().size == size
    with pytest.raises(BudgetRefused, match="is closed") as refused:
        reserve(account, 4, "1/8")
    assert refused.value.left == 0
    for step in (lambda: account.start(reserved), lambda: account.void(reserved), lambda: account.settle(started, b"")):
        with pytest.raises(LedgerError, match=r"is closed; the grant .* stays spent"):
            step()
    assert reserve(account, 1, "1/8") == Stored(entry, b"5")
    state = ledger.dataset("rand")
    assert (state.allotted, state.settled, state.in_flight) == (Fraction(3, 8), Fraction(1, 8), Fraction(1, 4))


def test_what_is_not_answered_is_lost_and_spent(ledger):
    open_rows(ledger)
    account = allot(ledger)
    reserve(account, 1, "1/8")
    account.start(reserve(account, 2, "1/8"))
    resumed = ledger.resume("r1")
    for request in (1, 2):
        with pytest.raises(AnswerLost, match="stays spent"):
            reserve(resumed, request, "1/8")
    assert [(found.request_id, found.status) for found in ledger.in_flight("rand")] == [
        ("1", "reserved"),
        ("2", "started"),
    ]
    recovered = ledger.recover("r1")
    assert recovered.freed == Fraction(1, 4)
    assert recovered.freed_delta == 0
    assert recovered.in_flight[0] == InFlight("r1", "1", "reserved", Fraction(1, 8), 2)
    assert ledger.dataset("rand").left == Fraction(3, 4)
    with pytest.raises(ConfigError, match="nothing to recover"):
        ledger.recover("r1")
    assert len(ledger.in_flight("rand")) == 2


def test_a_release_id_is_used_once(ledger):
    open_rows(ledger)
    open_rows(ledger, "other")
    allot(ledger)
    for label in ("rand", "other"):
        with pytest.raises(ConfigError, match="allotted already"):
            allot(ledger, label=label)


def test_a_law_has_its_own_prices(ledger):
    ledger.open_dataset("g", unit=RowUnit(), cap=Cap(Mu(Fraction(4))))
    with pytest.raises(ConfigError, match="composes under gdp"):
        allot(ledger, label="g")
    account = ledger.allot(
        "g", "r1", Cap(Mu(Fraction(2))), purpose="release", noise="os", context={}, commitment=rows("g")
    )
    gaussian = GaussianEvent(Fraction(4), Fraction(8))
    grant = account.authorise("1", digest_of("q"), gaussian, described(gaussian))
    assert grant.amount == Fraction(1, 2)
    selection = {"question": "select", "epsilon": "1/1"}
    grant = account.authorise("2", digest_of("s"), SelectionEvent(Fraction(1)), selection)
    assert grant.amount == Fraction(11, 28)
    open_rows(ledger, "z")
    account = allot(ledger, label="z", release="r2")
    assert account.authorise("1", digest_of("q"), gaussian, described(gaussian)).amount == Fraction(1, 4)
    assert account.authorise("2", digest_of("s"), SelectionEvent(Fraction(1)), selection).amount == Fraction(1, 8)
    ledger.verify()


def test_nothing_else_has_a_price(ledger):
    open_rows(ledger)
    account = allot(ledger)
    for event in (object(), None, "gaussian", GaussianEvent):
        with pytest.raises(ConfigError):
            account.authorise("1", digest_of("q"), event, described(event_of("1/8")))
    assert account.remaining == Fraction(1, 2)


def test_invalid_arguments_spend_nothing(ledger):
    with pytest.raises(ConfigError, match="a label is"):
        open_rows(ledger, "two words")
    with pytest.raises(ConfigError, match="privacy unit"):
        ledger.open_dataset("x", unit="row", cap=Cap(Rho(Fraction(1))))
    with pytest.raises(ConfigError, match="needs a Cap"):
        ledger.open_dataset("x", unit=RowUnit(), cap=Fraction(1))
    with pytest.raises(ConfigError, match="statement"):
        ledger.open_dataset("x", unit=RowUnit(), cap=Cap(Rho(Fraction(1))), statement=(1, 0))
    with pytest.raises(ConfigError, match="256 bits"):
        open_rows(ledger, cap=Fraction(1, 2**300))
    with pytest.raises(ConfigError, match="256 bits"):
        open_rows(ledger, cap=1, delta=Fraction(1, 2**300))
    open_rows(ledger)
    for changes, reason in (
        ({"release": "a/b"}, "release id"),
        ({"purpose": "fun"}, "purpose is one of"),
        ({"noise": "seeded"}, "noise from the operating system"),
        ({"noise": "\n", "purpose": "test"}, "noise is a short text"),
        ({"commitment": None}, "needs the commitment"),
        ({"commitment": lambda _: "short"}, "SHA-256"),
        ({"context": {"row_count": 5}}, "takes no context field 'row_count'"),
        ({"context": {"mechanism": 5}}, "short text"),
        ({"context": {"plan_digest": "x"}}, "SHA-256"),
    ):
        with pytest.raises(ConfigError, match=reason):
            allot(ledger, **changes)
    with pytest.raises(ConfigError, match="needs a Cap"):
        ledger.allot("rand", "r1", Fraction(1), purpose="test", noise="os", context={}, commitment=None)
    account = allot(ledger)
    event = event_of("1/8")
    for request, digest, description, reason in (
        ("", digest_of("q"), described(event), "request id"),
        (1, digest_of("q"), described(event), "request id"),
        ("1", "Q", described(event), "digest"),
        ("1", digest_of("q"), {}, "takes the questions"),
        ("1", digest_of("q"), {"question": "total", "variance": "9/1"}, "another noise than its event"),
        ("1", digest_of("q"), {"question": "total"}, "another noise than its event"),
        ("1", digest_of("q"), {"question": "total", "rows": 5}, "a field that the ledger does not take"),
    ):
        with pytest.raises(ConfigError, match=reason):
            account.authorise(request, digest, event, description)
    with pytest.raises(ConfigError, match="256 bits"):
        account.authorise("1", digest_of("q"), GaussianEvent(Fraction(1), Fraction(2**300)), described(event))
    assert ledger.dataset("rand").in_flight == 0
    with pytest.raises(ConfigError):
        ledger.record_look("rand", "a\tb", digest_of("schema"))
    with pytest.raises(ConfigError):
        ledger.record_look("rand", "schema-check", "none")
    assert ledger.verify().size == 2


def test_one_dataset_serves_one_purpose(ledger):
    open_rows(ledger)
    allot(ledger, cap="1/8", purpose="test", noise="seeded", commitment=None)
    assert ledger.dataset("rand").purpose == "test"
    with pytest.raises(ConfigError, match="one dataset serves one purpose"):
        allot(ledger, release="r2", cap="1/8")


def test_looks_are_counted_and_cost_nothing(ledger):
    open_rows(ledger)
    entries = [ledger.record_look("rand", what, digest_of("schema")) for what in ("schema-check", "report")]
    assert entries == [1, 2]
    state = ledger.dataset("rand")
    assert (state.looks, state.left) == (2, 1)
    assert [entry.body["what"] for entry in ledger.entries(kind="look")] == ["schema-check", "report"]


def test_the_same_rows_are_recognised_under_another_label(ledger):
    open_rows(ledger, "a")
    open_rows(ledger, "b")
    ledger.open_dataset("c", unit=PersonUnit("id", 2), cap=Cap(Mu(Fraction(1))))
    allot(ledger, label="a", release="r1", cap="1/8", commitment=rows("people"))
    allot(ledger, label="a", release="r2", cap="1/8", commitment=rows("people"))
    with pytest.raises(ConfigError, match="released under label 'a'"):
        allot(ledger, label="b", release="r3", cap="1/8", commitment=rows("people"))
    with pytest.raises(ConfigError, match="released under label 'a'"):
        ledger.allot(
            "c", "r3", Cap(Mu(Fraction(1))), purpose="release", noise="os", context={}, commitment=rows("people")
        )
    assert allot(ledger, label="b", release="r3", cap="1/8", commitment=rows("others")).remaining == Fraction(1, 8)


def test_closing_a_dataset_closes_its_releases(ledger):
    open_rows(ledger)
    account = allot(ledger)
    reserve(account, 1, "1/8")
    allot(ledger, release="r2", cap="1/4").close()
    state = ledger.close_dataset("rand")
    assert state == ledger.close_dataset("rand")
    assert (state.closed, state.left, state.delta_left, state.allotted) == (True, 0, 0, Fraction(1, 8))
    with pytest.raises(BudgetRefused):
        reserve(account, 2, "1/8")
    with pytest.raises(BudgetRefused, match="is closed and takes no further release"):
        allot(ledger, release="r3", cap="1/8")
    with pytest.raises(BudgetRefused, match="closed for good"):
        ledger.change_law("rand")
    ledger.verify()


def test_a_law_changes_once_from_gdp_to_zcdp_at_half(ledger):
    cap = Cap(Mu(Fraction(1)), Fraction(1, 1000))
    statement = EpsilonDelta(Fraction(3), Fraction(1, 10**6))
    ledger.open_dataset("g", unit=RowUnit(), cap=cap, statement=statement)
    account = ledger.allot(
        "g", "r1", Cap(Mu(Fraction(1, 2))), purpose="release", noise="os", context={}, commitment=rows("g")
    )
    ask(account, 1, "1/16")
    reserve(account, 2, "1/16")
    with pytest.raises(ConfigError, match="close or recover r1"):
        ledger.change_law("g")
    account.close()
    state = ledger.change_law("g")
    assert (state.law, state.cap, state.statement) == (Law.ZCDP, Cap(Rho(Fraction(1, 2)), Fraction(1, 1000)), None)
    assert (state.allotted, state.settled, state.in_flight) == (Fraction(1, 8), Fraction(1, 16), Fraction(1, 16))
    with pytest.raises(ConfigError, match="changes once"):
        ledger.change_law("g")
    second = allot(ledger, label="g", release="r2", cap="3/8")
    assert ask(second, 1, "3/8") > 0
    assert ledger.dataset("g").left == 0
    ledger.verify()


def test_a_cap_is_raised_by_signature_from_the_head_that_was_seen(ledger, key):
    open_rows(ledger)
    allot(ledger, cap="1/2").close()
    seen = ledger.dataset("rand").head
    for cap, reason in (
        (Cap(Mu(Fraction(9))), "composes under zcdp"),
        (Fraction(9), "composes under zcdp"),
        (Cap(Rho(Fraction(1))), "only ever raised"),
        (Cap(Rho(Fraction(1, 2))), "only ever raised"),
        (Cap(Rho(Fraction(2**300))), "256 bits"),
    ):
        with pytest.raises(ConfigError, match=reason):
            ledger.raise_cap("rand", cap, continues=seen, keys=[key])
    ledger.record_look("rand", "schema-check", digest_of("schema"))
    higher = Cap(Rho(Fraction(2)))
    with pytest.raises(ConfigError, match="has the head"):
        ledger.raise_cap("rand", higher, continues=seen, keys=[key])
    seen = ledger.dataset("rand").head
    with pytest.raises(ConfigError, match="signed by 1 to 16 keys"):
        ledger.raise_cap("rand", higher, continues=seen, keys=[])
    statement = EpsilonDelta(Fraction(5), Fraction(1, 10**6))
    state = ledger.raise_cap("rand", higher, continues=seen, keys=[key], statement=statement)
    assert (state.cap, state.statement, state.raised) == (higher, statement, 4)
    assert [release.replaced for release in state.releases] == [True]
    allot(ledger, release="r2", cap="1")
    assert [release.replaced for release in ledger.dataset("rand").releases] == [True, False]
    ledger.verify(keys=[key.public_key()])
    ledger.close_dataset("rand")
    with pytest.raises(BudgetRefused, match="closed for good"):
        ledger.raise_cap("rand", Cap(Rho(Fraction(3))), continues=ledger.dataset("rand").head, keys=[key])


def test_releases_are_superseded_and_withdrawn(ledger):
    open_rows(ledger)
    open_rows(ledger, "other")
    for release in ("r1", "r2", "r3"):
        allot(ledger, release=release, cap="1/8").close()
    allot(ledger, label="other", release="r4", cap="1/8")
    for by in ("r1", "r4"):
        with pytest.raises(ConfigError, match="a later one of the same dataset"):
            ledger.supersede("r2", by=by)
    assert ledger.supersede("r1", by="r2") > 0
    with pytest.raises(ConfigError, match="superseded before"):
        ledger.supersede("r1", by="r3")
    assert ledger.withdraw("r2") > 0
    with pytest.raises(ConfigError, match="withdrawn before"):
        ledger.withdraw("r2")
    said = [(release.superseded_by, release.withdrawn) for release in ledger.dataset("rand").releases]
    assert said == [("r2", False), (None, True), (None, False)]
    kinds = [entry.body["kind"] for entry in ledger.entries(release_id="r1")]
    assert kinds == ["allotted", "closed", "superseded"]
    ledger.verify()


def test_a_steward_signs_that_labels_share_no_people(ledger, key):
    for label in ("a", "b", "c"):
        open_rows(ledger, label)
    for others, reason in (([], "name the other labels"), (["a"], "name the other labels"), (["d"], "no dataset 'd'")):
        with pytest.raises(ConfigError, match=reason):
            ledger.declare_disjoint("a", others, keys=[key])
    ledger.declare_disjoint("a", ["c", "b", "c"], keys=[key])
    assert ledger.dataset("a").disjoint == ("b", "c")
    assert ledger.dataset("b").disjoint == ()
    ledger.verify(keys=[key.public_key()])


def test_entries_are_filtered_and_exported_as_they_are_hashed(ledger):
    open_rows(ledger, "a")
    open_rows(ledger, "b")
    ask(allot(ledger, label="b", cap="1/8"), 1, "1/8")
    allot(ledger, label="b", release="r2", cap="1/8")
    assert [entry.number for entry in ledger.entries()] == list(range(7))
    assert [entry.number for entry in ledger.entries("b")] == [1, 2, 3, 4, 5, 6]
    assert [entry.body["kind"] for entry in ledger.entries(release_id="r1")] == [
        "allotted",
        "reserved",
        "started",
        "settled",
    ]
    assert [entry.number for entry in ledger.entries("b", release_id="r2", kind="allotted")] == [6]
    assert list(ledger.export("b", size=3)) == [entry.line + b"\n" for entry in ledger.entries("b")][:2]
    assert b"".join(ledger.export()).count(b"\n") == 7


def test_an_empty_ledger_verifies_and_is_signed(ledger, key):
    head = ledger.verify()
    assert (head.ledger, head.size) == (ledger.identity, 0)
    note = ledger.checkpoint([key])
    assert ledger.checkpoints() == (note,)
    ledger.verify(checkpoints=[note], keys=[key.public_key()])


def test_sums_that_cannot_be_written_are_refused(ledger):
    ledger.open_dataset("long", unit=RowUnit(), cap=Cap(Rho(Fraction(100))))
    account = allot(ledger, label="long", cap="50")
    primes = [2**61 - 1, 2**89 - 1, 2**107 - 1, 2**127 - 1]
    prices = [Fraction(1, primes[number % 4] + 2 * number) for number in range(60)]

    def ask_all():
        for number, price in enumerate(prices):
            reserve(account, number, price)

    def allot_all():
        for number, price in enumerate(prices):
            allot(ledger, label="long", release=f"x{number}", cap=price)

    with pytest.raises(QueryRefused, match="too long to write"):
        ask_all()
    assert 12 < ledger.verify().size < 62
    with pytest.raises(QueryRefused, match="too long to write"):
        allot_all()
    ledger.verify()


def test_a_ledger_opens_again_as_it_was_left(sql_url):
    first = Ledger.open(sql_url)
    open_rows(first)
    entry = ask(allot(first), 1, "1/8", b"6")
    again = Ledger.open(sql_url, must_exist=True)
    assert again.identity == first.identity
    assert again.dataset("rand") == first.dataset("rand")
    assert reserve(again.resume("r1"), 1, "1/8") == Stored(entry, b"6")
