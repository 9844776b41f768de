"""Paid tables as mechanisms keep them: summed, grouped, and corrected by what is known of their sum."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.noisy import NoisyTable


def test_a_known_sum_corrects_each_cell_by_its_share_of_the_noise():
    table = NoisyTable(("x",), np.array([10, 20, 70]), Fraction(4), np.array([1, 1, 98]))
    values, sigma = table.given_total(200.0, 0.0)
    assert values == pytest.approx([11, 21, 168])
    assert values.sum() == pytest.approx(200)
    assert sigma < table.sigma / 4


def test_a_sum_of_which_nothing_is_known_changes_nothing():
    table = NoisyTable(("x",), np.array([10, 20]), Fraction(4), np.array([1, 1]))
    values, sigma = table.given_total(1000.0, 1e18)
    assert values == pytest.approx([10, 20], abs=1e-6)
    assert sigma == pytest.approx(2)


def test_the_stated_deviation_is_the_one_observed():
    rng = np.random.default_rng(0)
    draws, true = np.array([1, 1, 1, 1, 400]), np.array([50, 20, 0, 5, 900])
    errors = []
    for _ in range(4000):
        noisy = np.rint(true + rng.normal(0, 3 * np.sqrt(draws))).astype(np.int64)
        table = NoisyTable(("x",), noisy, Fraction(9), draws)
        values, sigma = table.given_total(true.sum() + rng.normal(0, 10), 100.0)
        errors.append(values - true)
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(sigma, rel=0.05)
