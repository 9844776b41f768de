"""What the plan says about Tab-PE: it grows as a run does, and a start by a model predicts as the model does."""

from fractions import Fraction

import pytest

from accounting.budget import Cap, Law, Mu, cap
from accounting.unit import RowUnit
from mechanisms.predict import Prediction, predict
from mechanisms.registry import config_from_table
from tests.mechanisms.fakes import categorical, integer, schema_of

MIXED = schema_of(categorical("y", 2), categorical("a", 3), integer("b", 0, 99), integer("c", 0, 9999))
NUMERIC = schema_of(categorical("y", 2), *(integer(name, 0, 99) for name in "abcdefg"))
CAP = Cap(Mu(Fraction(1, 4)))


def expected(schema=MIXED, rows=20_000, kind="tab-pe", **options) -> Prediction:
    mechanism = config_from_table(kind, options).calibrate(CAP, RowUnit(), schema)
    return predict(kind, mechanism, schema, RowUnit(), rows)


def test_time_grows_with_rows_and_with_the_square_of_rounds_that_weigh_all_votes():
    assert expected(rows=2_000_000).seconds > 20 * expected().seconds
    few, many = (expected(NUMERIC, 5000, label="y", rounds=rounds).seconds for rounds in (10, 40))
    assert many > 6 * few
    by_votes = [expected(NUMERIC, 5000, label="y", rounds=rounds, ranking="votes").seconds for rounds in (10, 40)]
    assert by_votes[1] < 4 * by_votes[0]


def test_a_label_saves_comparisons():
    assert expected(label="y", rows=200_000).seconds < expected(rows=200_000).seconds


def test_errors_fall_with_rows():
    errors = [expected(rows=rows).workload_error for rows in (100, 1000, 10_000, 100_000)]
    assert errors == sorted(errors, reverse=True)
    assert all(0 < error <= 1 for error in errors)
    assert expected(rows=1).one_way_error <= 1


def test_rows_of_a_model_are_as_exact_as_the_model_at_its_share():
    both = expected(start="model", model_options={"degree": 2})
    model = config_from_table("aim-gdp", {"degree": 2}).calibrate(
        cap(Law.GDP, CAP.value * Fraction(9, 10)), RowUnit(), MIXED
    )
    alone = predict("aim-gdp", model, MIXED, RowUnit(), 20_000)
    assert both.kind == "tab-pe"
    assert both.workload_error == pytest.approx(alone.workload_error, rel=1e-3)
    assert both.seconds > alone.seconds
    numeric = expected(NUMERIC, label="y", start="model", model_options={"degree": 2})
    assert numeric.one_way_error >= 0.09  # its rows are candidates, not the model's
