from fractions import Fraction

import pytest

from accounting.budget import Cap, Law, Mu, Rho, cap
from accounting.curator.rows import KNOWN_CELLS
from accounting.unit import PersonUnit, RowUnit
from mechanisms import predict
from mechanisms.predict import COMPARED, Prediction, advise, predict_kind, side_by_side
from tests.mechanisms.fakes import categorical, integer, schema_of

SCHEMA = schema_of(
    {"name": "id", "kind": "identifier"},
    categorical("a", 5),
    categorical("b", 12),
    integer("x", 0, 99),
    integer("y", 0, 499),
)


@pytest.mark.parametrize("law", list(Law))
def test_every_mechanism_is_predicted_side_by_side(law):
    predictions = side_by_side(cap(law, Fraction(1, 10)), RowUnit(), SCHEMA, 10_000)
    assert tuple(prediction.kind for prediction in predictions) == COMPARED
    for prediction in predictions:
        assert 0 < prediction.one_way_error < 1
        assert 0 < prediction.workload_error < 1
        assert prediction.seconds > 0
        assert prediction.megabytes > 100
        assert prediction.degree == 3


def test_the_prediction_knows_how_many_counts_the_curator_keeps():
    assert predict._KNOWN_CELLS == KNOWN_CELLS


@pytest.mark.parametrize("kind", COMPARED)
def test_more_budget_more_rows_and_fewer_rows_a_person_mean_less_error(kind):
    def errors(rho, rows, unit):
        found = predict_kind(kind, Cap(Rho(rho)), unit, SCHEMA, rows)
        return found.one_way_error, found.workload_error

    base = errors("1/10", 10_000, RowUnit())
    assert errors(1, 10_000, RowUnit()) < base
    assert errors("1/10", 100_000, RowUnit()) < base
    assert errors("1/10", 10_000, PersonUnit("id", 4)) > base


@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("rows", [1, 10**8])
@pytest.mark.parametrize("rho", [Fraction(1, 10**12), Fraction(10**4)])
def test_predictions_stay_in_range_at_the_extremes(kind, rows, rho):
    for schema in (SCHEMA, schema_of(categorical("only", 1)), schema_of(categorical("p", 2), categorical("q", 3))):
        found = predict_kind(kind, Cap(Rho(rho)), RowUnit(), schema, rows)
        assert 0 <= found.one_way_error <= 1
        assert 0 <= found.workload_error <= 1
        assert found.seconds < 10**6


def test_the_size_limit_bounds_the_memory():
    found = predict_kind("aim", Cap(Mu(100)), RowUnit(), SCHEMA, 10**6)
    assert found.megabytes < 170 + 110 + 80 * 100 / 8 + 10**6 * 4 * 30 / 1e6 + 100


def prediction(kind: str, error: float) -> Prediction:
    return Prediction(kind, 1.0, 1.0, 0.1, error, 3)


def test_advice_takes_the_smallest_workload_error_and_says_why():
    kind, why = advise(SCHEMA, (prediction("aim", 0.2), prediction("mst", 0.1), prediction("independent", 0.3)))
    assert kind == "mst"
    assert why.startswith(
        "its expected error on 3-way marginals is 0.100, against 0.200 with aim, 0.300 with independent; 2 of 4 columns"
    )


def test_advice_prefers_the_first_within_five_percent():
    assert advise(SCHEMA, (prediction("aim", 0.104), prediction("aim-gdp", 0.1)))[0] == "aim"
    assert advise(SCHEMA, (prediction("independent", 0.4),))[1].startswith(
        "its expected error on 3-way marginals is 0.400; "
    )


def test_advice_takes_tab_pe_where_the_schema_speaks_for_it_whatever_the_errors():
    numbers = schema_of(*(integer(f"x{index}", 0, 99) for index in range(4)))
    predictions = side_by_side(Cap(Rho(1)), RowUnit(), numbers, 10_000)
    assert min(predictions, key=lambda item: item.workload_error).kind != "tab-pe"
    kind, why = advise(numbers, predictions)
    assert kind == "tab-pe"
    assert "4 of 4 columns are ordered" in why
    marginals = tuple(item for item in predictions if item.kind != "tab-pe")
    assert advise(numbers, marginals)[0] == "aim"


def test_without_predictions_the_schema_decides():
    assert advise(SCHEMA, ())[0] == "aim"


def test_a_mechanism_that_the_schema_is_too_large_for_is_left_out():
    wide = schema_of(*(categorical(f"c{index}", 900) for index in range(80)))
    kinds = [found.kind for found in side_by_side(Cap(Rho(1)), RowUnit(), wide, 1000)]
    assert "mst" not in kinds
    assert "independent" in kinds
