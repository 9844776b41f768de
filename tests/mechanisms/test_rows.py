from fractions import Fraction

import numpy as np
import pytest

from accounting.errors import ConfigError
from mechanisms.noisy import NoisyTable
from mechanisms.rows import OUTPUT_CELLS, TotalEstimate, check_rows, estimate_total, most_rows, rows_out
from tests.mechanisms.fakes import categorical, schema_of

SCHEMA = schema_of(categorical("a", 2), categorical("b", 2))


def test_the_total_is_the_inverse_variance_mean():
    few = NoisyTable.measured(("a",), np.array([60, 44]), Fraction(4))
    many = NoisyTable.measured(("b",), np.full(100, 1), Fraction(1))
    total = estimate_total([few, many])
    assert total.value == pytest.approx((104 / 8 + 100 / 100) / (1 / 8 + 1 / 100))
    assert total.variance == pytest.approx(1 / (1 / 8 + 1 / 100))


def test_the_total_is_unbiased_and_its_variance_is_stated_right():
    rng = np.random.default_rng(0)
    values = []
    for _ in range(4000):
        counts = [np.rint(1000 / n + rng.normal(0, 5, n)).astype(np.int64) for n in (2, 10, 50)]
        values.append(estimate_total([NoisyTable.measured(("a",), table, Fraction(25)) for table in counts]))
    assert np.mean([v.value for v in values]) == pytest.approx(1000, abs=0.6)
    assert np.std([v.value for v in values]) == pytest.approx(values[0].variance ** 0.5, rel=0.06)


@pytest.mark.parametrize(("noisy", "rows"), [(-4.0, 0), (0.4, 0), (10.5, 10), (11.5, 12), (99.0, 99)])
def test_the_noisy_total_is_rounded_and_never_negative(noisy, rows):
    output = rows_out(TotalEstimate(noisy, 4.0), None, SCHEMA)
    assert output.count == rows
    assert output.scale == 1.0


def test_p25_declared_rows_win_and_say_so():
    declared = rows_out(TotalEstimate(50.0, 4.0), 7, SCHEMA)
    assert declared.count == 7
    assert declared.scale == pytest.approx(50 / 7)
    assert declared.facts["rows_from"] == "declared"
    assert rows_out(TotalEstimate(50.0, 4.0), None, SCHEMA).facts["rows_from"] == "noisy total"


def test_the_declared_public_ceiling_caps_the_noisy_total_and_refuses_more_declared_rows():
    capped = schema_of(categorical("a", 2), categorical("b", 2), max_rows=60)
    output = rows_out(TotalEstimate(99.0, 4.0), None, capped)
    assert output.count == 60
    assert output.scale == pytest.approx(99 / 60)
    assert output.facts["noisy_total"] == 99
    check_rows(60, capped)
    with pytest.raises(ConfigError, match="61 synthetic rows were declared, but at most 60"):
        check_rows(61, capped)


@pytest.mark.parametrize("rows", [-1, True, 1.0, "7"])
def test_a_declared_number_of_rows_is_a_whole_number(rows):
    with pytest.raises(ConfigError, match="whole number"):
        check_rows(rows, SCHEMA)


def test_noise_on_the_total_cannot_exhaust_the_memory():
    assert most_rows(SCHEMA) == OUTPUT_CELLS // 2
    assert rows_out(TotalEstimate(1e15, 1.0), None, SCHEMA).count == OUTPUT_CELLS // 2
