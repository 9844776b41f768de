"""The replay refuses every entry that the writer could never have written, each for its own reason.

A forger who can rewrite the whole file chains his entries correctly; so each change here is followed by new chains.
"""

import hashlib
from fractions import Fraction

import pytest

from accounting.ledger import Damage, History, Ledger, LedgerDamaged
from accounting.ledger.content import from_line, to_line
from tests.accounting.ledger.story import every_kind
from tests.accounting.ledger.support import allot, digest_of, open_rows, reserve


@pytest.fixture(scope="module")
def bodies():
    ledger = Ledger.in_memory()
    every_kind(ledger)
    return [entry.body for entry in ledger.entries()]


def chained(bodies):
    """Number the entries and chain each dataset's, as a forger would."""
    heads, lines = {}, []
    for number, old in enumerate(bodies):
        body = {**old, "number": number, "previous": heads.get(old["label"])}
        if body["kind"] == "reserved":
            body["grant"] = number
        lines.append(to_line(body))
        heads[body["label"]] = hashlib.sha256(lines[-1]).hexdigest()
    return lines


def replay(lines, *, whole=True):
    history = History(whole=whole)
    for line in lines:
        history.apply(line)
    return history


def first(bodies, kind, **fields):
    """Return the place of the first entry of a kind with these fields."""
    return next(
        place
        for place, body in enumerate(bodies)
        if body["kind"] == kind and all(body[name] == value for name, value in fields.items())
    )


def forged(bodies, kind, change, **fields):
    """Change one entry, and chain everything after it anew."""
    place = first(bodies, kind, **fields)
    copy = [dict(body) for body in bodies]
    copy[place] = {**copy[place], **change(copy[place])}
    return chained(copy), place


def test_the_story_is_replayed(bodies):
    history = replay(chained(bodies))
    people, visits = history.datasets["people"], history.datasets["visits"]
    assert (people.closed, people.looks, people.raised, people.cap) == (True, 1, 11, Fraction(3, 8))
    assert visits.allotted == Fraction(1, 2)
    assert history.releases["p1"].superseded_by == "p2"
    assert history.releases["p2"].withdrawn
    assert history.releases["p1"].granted == Fraction(1, 16) + Fraction(1, 16) * Fraction(11, 28)
    assert len(history.answers) == 3
    assert set(history.salts) == {"p1", "p2"}
    assert len(history.approvals) == 2
    assert history.last == len(bodies) - 1


def test_one_datasets_lines_are_replayed_alone(bodies):
    lines = chained(bodies)
    for label in ("people", "visits"):
        own = [line for line in lines if from_line(line)["label"] == label]
        history = replay(own, whole=False)
        assert set(history.datasets) == {label}
        with pytest.raises(LedgerDamaged, match=r"entry \d+: is missing; entry \d+ stands in its place") as found:
            replay(own)
        assert found.value.kind is Damage.MISSING


def test_order_and_chain(bodies):
    lines = chained(bodies)
    swapped = [*lines[:5], lines[6], lines[5], *lines[7:]]
    with pytest.raises(LedgerDamaged, match="entry 5: is missing; entry 6 stands") as found:
        replay(swapped)
    assert (found.value.kind, found.value.entry) == (Damage.MISSING, 5)
    with pytest.raises(LedgerDamaged, match="were reordered") as found:
        replay([*lines[:3], lines[2]])
    assert found.value.kind is Damage.REORDERED
    body = from_line(lines[5])
    edited = to_line({**body, "date": "2001-01-01"})
    with pytest.raises(LedgerDamaged, match="entry 6: does not continue the chain") as found:
        replay([*lines[:5], edited, *lines[6:]])
    assert found.value.kind is Damage.CHAIN
    with pytest.raises(LedgerDamaged, match="entry 0: is not canonical JSON") as found:
        replay([lines[0] + b" "])
    assert found.value.kind is Damage.RULES
    orphan = to_line({**from_line(lines[2]), "number": 0, "previous": None})
    with pytest.raises(LedgerDamaged, match="never opened"):
        replay([orphan])


def state(body, **changes):
    return {"dataset": {**body["dataset"], **changes}}


def totals(body, **changes):
    return {"totals": {**body["totals"], **changes}}


@pytest.mark.parametrize(
    ("kind", "fields", "change", "reason"),
    [
        ("dataset-opened", {"label": "visits"}, lambda _: {"label": "people"}, "open already"),
        ("dataset-opened", {"label": "visits"}, lambda _: {"ledger": "0" * 64}, "another ledger"),
        ("dataset-opened", {}, lambda body: state(body, allotted="1/4"), "other totals of its dataset"),
        ("dataset-opened", {}, lambda body: state(body, cap="0/1"), "opens a budget of nothing"),
        ("look", {}, lambda body: state(body, looks=0), "other totals of its dataset"),
        ("look", {}, lambda body: state(body, statement=None), "other totals of its dataset"),
        ("look", {}, lambda _: {"theorem": "zcdp-filter arXiv:2203.05481"}, "theorem of another law"),
        ("allotted", {"release": "p2"}, lambda _: {"release": "p1"}, "for the second time"),
        ("allotted", {"release": "p2"}, lambda _: {"purpose": "test"}, "mixes purposes"),
        ("allotted", {"release": "p2"}, lambda _: {"unit": "mu_squared"}, "unit of another law"),
        ("allotted", {"release": "p1"}, lambda _: {"noise": "seeded"}, "without operating system noise"),
        ("allotted", {"release": "p1"}, lambda _: {"commitment": None}, "or without a commitment"),
        ("allotted", {"release": "p1"}, lambda _: {"salt_digest": None}, "commitment without a salt"),
        ("allotted", {"release": "p2"}, lambda _: {"amount": "0/1"}, "allots nothing"),
        ("allotted", {"release": "p2"}, lambda _: {"amount": "1/9"}, "other totals of its dataset"),
        (
            "allotted",
            {"release": "v1"},
            lambda body: {"amount": "2/1", **state(body, allotted="2/1", purpose="test")},
            "more than the dataset's cap",
        ),
        ("allotted", {"release": "p2"}, lambda body: totals(body, granted="1/8"), "other totals of its release"),
        ("reserved", {"request": "2"}, lambda _: {"request": "1"}, "request id again"),
        ("reserved", {}, lambda _: {"amount": "1/33"}, "another price"),
        (
            "reserved",
            {},
            lambda _: {"event": {"kind": "gaussian", "sensitivity_squared": "0/1", "variance": "1/1"}},
            "greater than 0",
        ),
        ("reserved", {}, lambda body: {"question": {**body["question"], "variance": "99/1"}}, "another question"),
        ("reserved", {}, lambda _: {"question": {"question": "total"}}, "another question"),
        ("reserved", {}, lambda _: {"unit": "rho"}, "unit of another law"),
        ("reserved", {}, lambda _: {"delta": "1/9"}, "another price than its event"),
        ("reserved", {}, lambda body: totals(body, granted="0/1"), "other totals of its release"),
        ("reserved", {"label": "visits"}, lambda _: {"release": "p2"}, "never allotted"),
        ("started", {}, lambda _: {"kind": "voided"}, "other totals of its release"),
        ("started", {"request": "1"}, lambda _: {"request": "9"}, "started of a question that is not reserved"),
        ("started", {}, lambda _: {"digest": "0" * 64}, "another question, price or grant"),
        ("started", {}, lambda _: {"grant": 0}, "another question, price or grant"),
        ("started", {}, lambda _: {"amount": "1/99"}, "another question, price or grant"),
        ("voided", {}, lambda body: totals(body, granted="1/8"), "other totals of its release"),
        ("closed", {"release": "p1"}, lambda body: state(body, allotted="1/99"), "other totals of its dataset"),
        ("cap-raised", {}, lambda body: state(body, cap="1/4"), "not higher"),
        ("cap-raised", {}, lambda body: state(body, cap="1/2"), "not higher"),
        ("cap-raised", {}, lambda body: state(body, cap="1/1"), "approval of something else"),
        ("cap-raised", {}, lambda _: {"approval": "a\n\n\u2014 a A\n"}, "broken approval"),
        ("superseded", {}, lambda _: {"about": "p2", "by": "p1"}, "one that is not later"),
        ("superseded", {}, lambda _: {"by": "v1"}, "never allotted"),
        ("withdrawn", {}, lambda _: {"about": "v1"}, "never allotted"),
        ("disjoint", {}, lambda _: {"others": ["visits", "visits"]}, "or one twice"),
        ("disjoint", {}, lambda _: {"others": ["people"]}, "names its own dataset"),
        ("disjoint", {}, lambda _: {"others": ["nobody"]}, "never opened"),
        ("disjoint", {}, lambda _: {"approval": "a\n\n\u2014 a AAAA\n"}, "approval of something else"),
    ],
)
def test_an_entry_that_the_writer_never_writes_is_refused(bodies, kind, fields, change, reason):
    lines, place = forged(bodies, kind, change, **fields)
    with pytest.raises(LedgerDamaged, match=reason) as found:
        replay(lines)
    assert found.value.kind is Damage.RULES
    assert found.value.entry == place


def without(bodies, kind, **fields):
    place = first(bodies, kind, **fields)
    return [*bodies[:place], *bodies[place + 1 :]]


def test_entries_that_come_at_the_wrong_time_are_refused(bodies):
    for lines, reason in (
        (chained(without(without(bodies, "cap-raised"), "closed", release="p1")), "while a release of its dataset"),
        (chained(without(bodies, "closed", release="p2")), "while a release of its dataset is open"),
        (chained([*bodies, bodies[first(bodies, "dataset-closed")]]), "a dataset that is closed"),
        (chained([*bodies, bodies[first(bodies, "closed")]]), "a release that is closed"),
        (chained([*bodies, bodies[first(bodies, "superseded")]]), "for the second time"),
        (chained([*bodies, bodies[first(bodies, "withdrawn")]]), "for the second time"),
        (chained([*bodies, {**bodies[first(bodies, "law-changed")], "label": "visits"}]), "while a release"),
    ):
        with pytest.raises(LedgerDamaged, match=reason) as found:
            replay(lines)
        assert found.value.kind is Damage.RULES


def test_a_reservation_is_its_own_grant(bodies):
    lines = chained(bodies)
    place = first(bodies, "reserved")
    forged_line = to_line({**from_line(lines[place]), "grant": 0})
    with pytest.raises(LedgerDamaged, match="names another entry as its grant"):
        replay([*lines[:place], forged_line])


def test_a_law_never_changes_back():
    ledger = Ledger.in_memory()
    open_rows(ledger)
    bodies = [entry.body for entry in ledger.entries()]
    kept = ("format", "label", "date", "theorem", "dataset")
    change = {name: bodies[0][name] for name in kept} | {"kind": "law-changed"}
    with pytest.raises(LedgerDamaged, match="zcdp already"):
        replay(chained([bodies[0], change]))


def test_a_forged_remainder_is_found():
    """A forger who lowers what a release was granted, and grants again, is found by adding up."""
    ledger = Ledger.in_memory()
    open_rows(ledger)
    account = allot(ledger, cap="1/4")
    reserve(account, 1, "1/4")
    bodies = [entry.body for entry in ledger.entries()]
    second = {**bodies[2], "request": "2", "digest": digest_of("second")}
    with pytest.raises(LedgerDamaged, match="other totals of its release"):
        replay(chained([*bodies, second]))
    second["totals"] = {**second["totals"], "granted": "1/2"}
    with pytest.raises(LedgerDamaged, match="grants more than the release's cap"):
        replay(chained([*bodies, second]))


def test_answers_are_those_that_were_settled(bodies):
    history = replay(chained(bodies))
    answers = dict(zip(history.answers, (b"first", b"second", b"third"), strict=True))
    history.check_answers(answers.items())
    numbers = list(answers)
    for changed, reason in (
        ({**answers, numbers[1]: b"other"}, "not the one that was settled"),
        ({**answers, 0: b"other"}, "not the one that was settled"),
        ({numbers[0]: b"first"}, "is missing"),
    ):
        with pytest.raises(LedgerDamaged, match=reason) as found:
            history.check_answers(changed.items())
        assert found.value.kind is Damage.ANSWER
