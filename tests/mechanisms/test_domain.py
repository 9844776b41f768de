"""The search for domains: its plan, its questions, what it finds, and that the answers alone decide it."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Law, Mu, Rho
from accounting.errors import BudgetRefused, ConfigError
from accounting.events import delta_price, price
from accounting.planted import OsEntropy, SeededEntropy, planted_table
from accounting.queries import Categories, FoundCategories, NoisyQuantiles, Quantiles, query_digest, question_event
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit
from audits.recording import RecordingTable
from mechanisms.domain import PARTS, DomainSearch, cap_after, domain_cap
from tests.mechanisms.fakes import Replay

HOURS = {"name": "hours", "kind": "integer", "domain": "measured", "min": 0, "max": 10**6, "bins": 10, "nullable": True}
TOWN = {"name": "town", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True}
SEX = {"name": "sex", "kind": "boolean", "nullable": True}
WHO = {"name": "who", "kind": "identifier"}
CAP = Cap(Rho(Fraction(1)), Fraction(1, 10**6))


def schema_of(*columns) -> Schema:
    return Schema(table={"name": "t"}, columns=list(columns))


BOTH = schema_of(HOURS, SEX, TOWN, WHO)


def rows_of(schema, count=4000, seed=0):
    """Rows whose hours have one heavy value and whose towns are of very different sizes."""
    rng = np.random.default_rng(seed)
    hours = np.where(rng.random(count) < 0.5, 40, rng.integers(10, 80, count))
    towns = np.minimum(1 + rng.geometric(0.5, count) - 1, 8)
    all_ticks = {"hours": hours, "sex": rng.integers(0, 2, count), "town": towns}
    return {column.name: all_ticks[column.name] for column in schema.columns}


def table(schema, ticks=None, cap=CAP, unit=None, entropy=None):
    ticks = rows_of(schema) if ticks is None else ticks
    ids = [str(number) for number in range(len(next(iter(ticks.values()))))] if isinstance(unit, PersonUnit) else None
    entropy = entropy or SeededEntropy(1)
    return RecordingTable(planted_table(schema, ticks, unit or RowUnit(), cap, entropy=entropy, ids=ids))


def test_bounds_edges_and_names_are_found():
    found = DomainSearch(BOTH, RowUnit(), CAP).run(table(BOTH))
    hours, town = found.schema.column("hours"), found.schema.column("town")
    assert 10 <= hours.min <= 14
    assert 74 <= hours.max <= 79
    assert {40, 41} <= set(hours.edges)
    assert hours.cells - 1 <= 10
    assert {"name 0", "name 1", "name 2"} <= set(town.categories)
    assert town.categories[0] == "other"
    assert not found.schema.measured
    assert [(part.column, part.question, len(part.entries)) for part in found.columns] == [
        ("hours", "quantiles", 5),
        ("town", "categories", 1),
    ]
    assert [asked.answer.entry for asked in found.transcript] == [
        entry for part in found.columns for entry in part.entries
    ]


@pytest.mark.parametrize("cap", [CAP, Cap(Mu(Fraction(1, 3)), Fraction(1, 10**9))])
@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("who", 3)])
def test_what_is_asked_lies_within_plan_share_and_delta(cap, unit):
    search = DomainSearch(BOTH, unit, cap)
    asked = table(BOTH, cap=cap, unit=unit)
    search.run(asked)
    costs = {"quantiles": Fraction(0), "categories": Fraction(0)}
    deltas = dict(costs)
    for step in asked.steps:
        event = question_event(step.query, unit)
        kind = "quantiles" if isinstance(step.query, Quantiles) else "categories"
        costs[kind] += price(event, cap.law)
        deltas[kind] += delta_price(event)
    lines = {line.question: line for line in search.plan.lines}
    assert all(costs[kind] <= lines[kind].ceiling for kind in costs)
    assert deltas["quantiles"] == 0 < deltas["categories"] <= lines["categories"].delta == cap.delta
    assert sum(costs.values()) <= search.plan.total == cap.value
    assert cap.value - asked.remaining == sum(costs.values())
    assert costs["categories"] > cap.value / 2 * Fraction(99, 100)


def test_the_same_answers_give_the_same_questions_and_the_same_schema():
    search = DomainSearch(BOTH, RowUnit(), CAP)
    asked = table(BOTH)
    found = search.run(asked)
    digests = [query_digest(step.query) for step in asked.steps]
    replay = Replay(BOTH, digests, [step.answer for step in asked.steps])
    assert search.run(replay).schema.digest == found.schema.digest
    assert replay.position == len(digests)


def test_p23_the_schema_depends_on_the_answers_alone():
    """Two private tables with the same answers: names that did not leave and values between the quantiles differ."""
    search = DomainSearch(BOTH, RowUnit(), CAP)
    asked = table(BOTH)
    found = search.run(asked)
    other = table(BOTH, rows_of(BOTH, seed=9))

    class Frozen:
        schema, remaining = BOTH, Fraction(0)

        def __init__(self):
            self.steps = iter(asked.steps)

        def ask(self, query):
            step = next(self.steps)
            other.ask(query)  # the question is legal on the other table, too
            assert query_digest(query) == query_digest(step.query)
            return step.answer

    assert search.run(Frozen()).schema.digest == found.schema.digest


@pytest.mark.parametrize("count", [0, 1, 30])
def test_too_few_rows_leave_the_declared_bounds_with_equal_bins(count):
    schema = schema_of(HOURS)
    found = DomainSearch(schema, RowUnit(), Cap(Rho(Fraction(1, 100)))).run(table(schema, {"hours": np.full(count, 7)}))
    hours = found.schema.column("hours")
    assert (hours.min, hours.max, len(hours.edges)) == (0, 10**6, 9)
    assert len(found.transcript) == 1


def test_an_empty_result_is_legal():
    schema = schema_of(TOWN)
    found = DomainSearch(schema, RowUnit(), CAP).run(table(schema, {"town": np.array([1, 2, 3, 0, -1])}))
    assert found.schema.column("town").categories == ("other",)


@pytest.mark.parametrize("low_high", [(0, 0), (5, 6), (0, 15), (0, 16), (-(10**12), 10**12)])
def test_ranges_of_any_size_are_searched_to_single_values(low_high):
    low, high = low_high
    schema = schema_of({**HOURS, "min": low, "max": high, "bins": 1})
    search = DomainSearch(schema, RowUnit(), Cap(Rho(Fraction(100))))
    value = (low + high) // 2
    ticks = {"hours": np.full(5000, value - low)}
    asked = table(schema, ticks, Cap(Rho(Fraction(100))))
    hours = search.run(asked).schema.column("hours")
    assert (hours.min, hours.max) == (value, value)
    assert len(asked.steps) <= search.plan.lines[0].at_most
    assert PARTS ** search.plan.lines[0].at_most >= high - low + 1


def test_bounds_stay_ordered_whatever_the_noise():
    """Answers that no table gives: every one is legal, and the schema that follows is, too."""
    rng = np.random.default_rng(3)

    class Noise:
        schema, remaining = BOTH, Fraction(1)

        def __init__(self):
            self.entry = 0

        def ask(self, query):
            self.entry += 1
            if isinstance(query, Categories):
                return FoundCategories(self.entry, ("a", "other"), np.array([5, 6]))
            values = rng.integers(-(10**6), 10**6, len(query.intervals))
            values[int(rng.integers(values.size))] = 10**7
            return NoisyQuantiles(self.entry, values)

    search = DomainSearch(BOTH, RowUnit(), CAP)
    for _ in range(60):
        schema = search.run(Noise()).schema
        hours = schema.column("hours")
        assert hours.min <= hours.max
        assert schema.column("town").categories == ("other", "a")


def test_what_a_mechanism_must_hold_is_the_largest_that_can_be_found():
    search = DomainSearch(schema_of({**TOWN, "most": 5, "categories": ["Rome", "other"]}, HOURS), RowUnit(), CAP)
    widest = search.widest()
    assert not widest.measured
    assert (widest.column("town").cells, widest.column("hours").cells) == (8, 11)
    found = search.run(table(search.schema, {"town": rows_of(BOTH)["town"] + 1, "hours": rows_of(BOTH)["hours"]}))
    assert all(found.schema.column(name).cells <= widest.column(name).cells for name in ("town", "hours"))


def test_p20_searches_without_need_or_without_delta_are_refused():
    with pytest.raises(ConfigError, match="no domain"):
        DomainSearch(schema_of(SEX), RowUnit(), CAP)
    with pytest.raises(ConfigError, match="costs δ"):
        DomainSearch(BOTH, RowUnit(), Cap(Rho(Fraction(1))))
    with pytest.raises(ConfigError, match="has none"):
        DomainSearch(schema_of(HOURS), RowUnit(), CAP)


def test_a_delta_too_small_for_the_question_is_refused_and_spends_nothing():
    schema = schema_of(TOWN)
    asked = table(schema, cap=Cap(Rho(Fraction(1)), Fraction(1, 10**12)))
    with pytest.raises(BudgetRefused) as refused:
        DomainSearch(schema, RowUnit(), CAP).run(asked)
    assert refused.value.unit == "delta"
    assert asked.remaining == 1


def test_shares_are_short_and_leave_the_rest_to_the_mechanism():
    release = Cap(Rho(Fraction(3, 7)), Fraction(1, 10**7))
    search = domain_cap(release, Fraction(1, 20))
    assert search == Cap(Rho(Fraction(3, 140)), Fraction(1, 10**7))
    assert cap_after(release, search) == Cap(Rho(Fraction(57, 140)))
    long = Cap(Mu(Fraction(1, 3**60)), Fraction(0))
    part = domain_cap(long, Fraction(1, 20))
    assert part.law is Law.GDP
    assert part.value <= long.value / 20
    assert part.value + cap_after(long, part).value == long.value


def test_a_search_with_real_noise_finds_what_is_common():
    found = DomainSearch(BOTH, RowUnit(), CAP).run(table(BOTH, entropy=OsEntropy()))
    assert "name 0" in found.schema.column("town").categories
    assert found.schema.column("hours").max < 100
