"""The registry's own tests: the sum of all false-alarm rates, and the power of every sampler test."""

from fractions import Fraction

import pytest

from accounting.noise import SeededEntropy
from tests.statistical import rates

_ALL = rates.everything()
_POWERFUL = [
    pytest.param(test, scale, id=f"{test.name} at {float(scale)}", marks=[pytest.mark.slow] if test.slow else [])
    for test in _ALL
    if test.rejects is not None
    for scale in (Fraction(9, 10), Fraction(11, 10))
]


def test_all_rates_together_stay_below_the_limit():
    assert len(_ALL) >= 10
    assert sum(test.rate for test in _ALL) < rates.LIMIT


@pytest.mark.parametrize(("test", "scale"), _POWERFUL)
def test_sampler_test_rejects_a_scale_of_nine_or_eleven_tenths(test, scale):
    assert test.rejects(scale, SeededEntropy(20))


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="registered twice"):
        rates.register(_ALL[0].name, 1e-9)


@pytest.mark.parametrize("rate", [0.0, -1e-9, 1e-3, float("nan")])
def test_a_rate_is_a_small_probability(rate):
    with pytest.raises(ValueError, match="false-alarm rate"):
        rates.register(f"impossible {rate}", rate)
