"""The search for domains in a mechanism's audit: replayed on its own columns, and weighed exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from accounting.budget import Cap, Rho
from accounting.planted import SeededEntropy
from accounting.queries import Categories, FoundCategories, Quantiles
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit
from audits.domain import SearchAlone, check_names
from audits.mechanism import Subject, _search_replays, audit_mechanism
from audits.pairs import make_pair, worst_case_pairs
from audits.recording import Step
from audits.replay import record
from audits.transcript.likelihood import Replay, own_delta, own_price
from mechanisms.domain import DomainSearch
from mechanisms.registry import config_from_table

SCHEMA = Schema(
    table={"name": "t"},
    columns=[
        {"name": "n", "kind": "integer", "domain": "measured", "min": 0, "max": 99, "bins": 3, "nullable": True},
        {"name": "c", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True},
        {"name": "b", "kind": "boolean", "nullable": True},
        {"name": "id", "kind": "identifier"},
    ],
    constraints=[{"name": "never", "kind": "impossible", "when": [{"column": "b", "any_of": [True]}]}],
)
CAP = Cap(Rho(Fraction(1)), Fraction(1, 10))
ASKED = Categories("c", Fraction(4), 6, 9)


def pair(unit, others: int):
    rows = [{"n": 5, "c": 1, "b": 0}] * others
    return make_pair("pair", SCHEMA, unit, rows, [{"n": 7, "c": 1, "b": 0}, {"n": 7, "c": 2, "b": 0}][: unit.max_rows])


def weigh(unit, others, names, values):
    step = Step(ASKED, FoundCategories(1, names, np.array(values, dtype=np.int64)))
    return Replay(pair(unit, others)).weigh([step])


def test_a_noisy_count_is_weighed_as_the_rounded_gaussian_it_is():
    shown = weigh(RowUnit(), 4, ("name 0",), [9])
    mass = [norm.cdf((9.5 - mean) / 2) - norm.cdf((8.5 - mean) / 2) for mean in (5, 4)]
    assert shown.log_ratio == pytest.approx(math.log(mass[0] / mass[1]))
    assert shown.value == pytest.approx(1 / 4)
    hidden = weigh(RowUnit(), 4, (), [])
    assert hidden.log_ratio == pytest.approx(math.log(norm.cdf((5.5 - 5) / 2) / norm.cdf((5.5 - 4) / 2)))


def test_a_name_of_the_unit_alone_tells_it_for_certain():
    unit = PersonUnit("id", 2)
    assert weigh(unit, 0, ("name 1",), [6]).log_ratio == math.inf
    absent = weigh(unit, 0, (), [])
    assert absent.log_ratio == pytest.approx(2 * math.log(norm.cdf((5.5 - 1) / 2)))
    assert absent.value == 0


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("id", 3)])
def test_own_prices_are_those_of_the_proof(unit):
    k = unit.max_rows
    assert own_price(ASKED, unit) == (Fraction(k, 4), Fraction(k, 8))
    assert own_delta(ASKED, unit) == pytest.approx(k * norm.cdf(-4.5 / 2))
    quantiles = Quantiles("n", np.array([[0, 9]]), Fraction(4))
    assert own_price(quantiles, unit) == (Fraction(k * k, 4), Fraction(k * k, 8))
    assert own_delta(quantiles, unit) == 0


def test_what_no_right_answer_shows_is_found():
    table = pair(RowUnit(), 4)
    names = tuple(f"name {number}" for number in range(10))
    wrong = Step(ASKED, FoundCategories(1, names, np.array([5] + [7] * 9)))
    found = check_names(wrong, table, table.absent, SeededEntropy(1))
    assert found == ["a name left below its threshold", "more names left than were asked for"]


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("id", 2)])
def test_a_search_is_replayed_on_its_measured_columns(unit):
    reports = _search_replays(DomainSearch(SCHEMA, unit, CAP), SeededEntropy(1))
    assert [report.pair.split(", ")[0] for report in reports] == ["domains"] * 4
    assert all(report.questions >= 2 and not report.violations for report in reports)
    assert max(report.largest_share for report in reports) == 1
    assert _search_replays(None, SeededEntropy(1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("id", 2)])
def test_the_audit_of_a_release_replays_its_search(unit):
    search = DomainSearch(SCHEMA, unit, CAP)
    config = config_from_table("independent", {})
    subject = Subject("independent", config, Cap(Rho(Fraction(1))), unit, search.widest(), search)
    document = audit_mechanism(subject, "quick", runs=25, seed=1)
    assert document.verdict == "not falsified"
    assert sum(part.pair.startswith("domains, ") for part in document.replay) == 4


def test_a_search_writes_no_rows_and_is_the_same_for_the_same_answers():
    alone = SearchAlone(DomainSearch(SCHEMA, RowUnit(), CAP))
    table = worst_case_pairs(SCHEMA, RowUnit())[0]
    recorded = record(alone, CAP, table, table.absent, entropy=SeededEntropy(1), seed=0)
    assert recorded.result.synthetic.rows == 0
    assert alone.plan.total == 1
