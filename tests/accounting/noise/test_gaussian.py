"""The rounded Gaussian, word by word: boundaries, extensions, tails, and equality with the naive inversion."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.errors import ConfigError
from accounting.noise import (
    MAX_VARIANCE,
    MIN_VARIANCE,
    OsEntropy,
    ScriptedEntropy,
    SeededEntropy,
    check_variance,
    gaussian,
    rounded_gaussian,
)
from tests.accounting.noise import naive

NEGATIVE = 1 << 63
SIGMAS = [
    Fraction(1, 100),
    Fraction(3, 10),
    Fraction(1, 2),
    Fraction(1),
    Fraction(10),
    Fraction(10**4),
    Fraction(10**9),
]
VARIANCES = [sigma * sigma for sigma in SIGMAS] + [Fraction(1, 2), Fraction(7, 3), Fraction(10**12 + 1, 10**6 + 3)]


def draw(variance: Fraction, *words: int) -> tuple[int, int]:
    """Return the value that these words give, and how many of them were taken."""
    entropy = ScriptedEntropy(words)
    value = int(rounded_gaussian(variance, 1, entropy)[0])
    return value, len(words) - entropy.left


def boundary_words(variance: Fraction, magnitude: int, count: int) -> list[int]:
    """Return the leading 63 and the next 64, 64, … bits of P(|N(0, variance)| ≥ magnitude - ½)."""
    scaled = int(naive.tail_boundary(variance, magnitude, 2000) * 2 ** (63 + 64 * (count - 1)))
    return [scaled >> 64 * (count - 1)] + [scaled >> 64 * place & (2**64 - 1) for place in range(count - 2, -1, -1)]


def magnitudes_near(variance: Fraction) -> list[int]:
    """Return magnitudes from the middle to the far tail whose probability is worth several words."""
    sigma = float(variance) ** 0.5
    found = sorted({1, 2, *(round(sigma * z) + 1 for z in (0.3, 1.0, 2.2, 4.3, 4.4, 6.0, 8.0))})
    boundary = naive.tail_boundary
    return [m for m in found if boundary(variance, m) - boundary(variance, m + 1) > Fraction(4, 2**63)]


@pytest.mark.parametrize("variance", VARIANCES)
def test_law_changes_exactly_at_the_boundary_bit(variance):
    for magnitude in magnitudes_near(variance):
        first, second, third = boundary_words(variance, magnitude, 3)
        assert draw(variance, first - 1) == (magnitude, 1) if first else True
        assert draw(variance, first + 1) == (magnitude - 1, 1)
        assert draw(variance, first, second - 1) == (magnitude, 2)
        assert draw(variance, first, second + 1) == (magnitude - 1, 2)
        assert draw(variance, first, second, third - 1) == (magnitude, 3)
        assert draw(variance, first, second, third + 1) == (magnitude - 1, 3)


@pytest.mark.parametrize("variance", VARIANCES)
def test_sign_is_the_leading_bit(variance):
    for magnitude in magnitudes_near(variance):
        first, second, _ = boundary_words(variance, magnitude, 3)
        assert draw(variance, NEGATIVE | first, second - 1) == (-magnitude, 2)
        assert draw(variance, NEGATIVE | first + 1) == (1 - magnitude, 1)


def test_a_tie_draws_more_bits_until_it_is_decided():
    words = boundary_words(Fraction(1), 1, 12)
    assert draw(Fraction(1), *words[:11], words[11] - 1) == (1, 12)
    assert draw(Fraction(1), *words[:11], words[11] + 1) == (0, 12)
    with pytest.raises(ConfigError, match="script more words"):
        draw(Fraction(1), *words[:11])


def test_extension_words_come_after_the_block_in_the_order_of_the_values():
    at_one, one_second = boundary_words(Fraction(1), 1, 2)
    at_two, two_second = boundary_words(Fraction(1), 2, 2)
    plain = 2**62
    entropy = ScriptedEntropy(
        [at_two, plain, NEGATIVE | at_one, at_one, two_second - 1, one_second - 1, one_second + 1]
    )
    assert rounded_gaussian(Fraction(1), 4, entropy).tolist() == [2, 1, -1, 0]
    assert entropy.left == 0


def test_a_long_draw_serves_every_block():
    size = 2 * gaussian._BLOCK + 17
    noise = rounded_gaussian(Fraction(100), size, SeededEntropy(1))
    assert noise.dtype == np.int64
    assert noise.shape == (size,)
    blocks = SeededEntropy(1)
    parts = [rounded_gaussian(Fraction(100), part, blocks) for part in (gaussian._BLOCK, gaussian._BLOCK, 17)]
    assert np.array_equal(noise, np.concatenate(parts))
    assert not np.array_equal(noise[:17], noise[-17:])


def test_p40_no_truncation_the_tail_goes_as_far_as_the_words():
    for zeros in (1, 2, 5, 12, 25):
        value, taken = draw(Fraction(1), *[0] * zeros, 1 << 63, *[5] * 3)
        bits = 63 + 64 * (zeros - 1)
        expected = naive.magnitude_of((Fraction(1, 2) + Fraction(5, 2**64)) / 2**bits, Fraction(1))
        assert value == expected
        assert taken >= zeros


def test_p40_smallest_sigma_still_moves_with_its_exact_probability():
    variance = MIN_VARIANCE
    words = boundary_words(variance, 1, 40)
    first = next(place for place, word in enumerate(words) if word)
    assert first > 20
    assert draw(variance, *words[:first], words[first] - 1)[0] == 1
    assert draw(variance, *words[:first], words[first] + 1)[0] == 0
    assert draw(variance, NEGATIVE, *words[1:first], words[first] - 1)[0] == -1


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(VARIANCES), st.integers(0, 2**63 - 1), st.integers(0, 63), st.integers(0, 2**128 - 1))
def test_fast_path_equals_naive_inversion(variance, tail, shift, further):
    tail >>= shift
    value, _ = draw(variance, tail, further >> 64, further & (2**64 - 1), 2**63, 0, 0)
    assert value == naive.magnitude_of(Fraction((tail << 128 | further) * 2 + 1, 2**192), variance)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(VARIANCES[1:]), st.integers(1, 2**63 - 1), st.integers(-3, 3), st.integers(1, 2**64 - 1))
def test_words_around_every_boundary_equal_naive_inversion(variance, anywhere, offset, further):
    magnitude = naive.magnitude_of(Fraction(anywhere, 2**63), variance) + 1
    tail = int(naive.tail_boundary(variance, magnitude) * 2**63) + offset
    if tail >= 1:
        value, _ = draw(variance, tail, further, 2**63, 0)
        assert value == naive.magnitude_of(Fraction((tail << 64 | further) * 2 + 1, 2**128), variance)


@pytest.mark.parametrize("variance", [*VARIANCES[:6], Fraction(10**16)])
def test_forced_slow_path_gives_the_same_draws(variance, monkeypatch):
    fast = rounded_gaussian(variance, 1500, SeededEntropy(7))
    monkeypatch.setattr(gaussian, "_BAND", 1e300)
    assert np.array_equal(fast, rounded_gaussian(variance, 1500, SeededEntropy(7)))


@pytest.mark.parametrize("guess", [0, 1, 50, 10**9])
@pytest.mark.parametrize("tail", [1, 2**20, 2**47, 2**62, 2**63 - 1])
def test_exact_path_does_not_depend_on_the_guess(tail, guess):
    uniform = gaussian.LazyUniform(tail, 63, ScriptedEntropy([2**63] * 3))
    expected = naive.magnitude_of(Fraction((tail << 64 | 2**63) * 2 + 1, 2**128), Fraction(10**6))
    assert gaussian._exact_magnitude(uniform, Fraction(10**6), guess) == expected


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1.0, 1e4])
def test_the_slow_path_is_rare(sigma):
    tails = SeededEntropy(3).words(200_000) & np.uint64(2**63 - 1)
    _, certain = gaussian._float_magnitudes(tails, sigma)
    assert np.count_nonzero(~certain) < 20


@pytest.mark.parametrize(
    "variance",
    [
        Fraction(0),
        Fraction(-1),
        MIN_VARIANCE - Fraction(1, 10**30),
        MAX_VARIANCE + Fraction(1, 10**30),
        1.0,
        1,
        True,
        float("nan"),
        "1",
        None,
    ],
)
def test_variance_out_of_range_is_refused_before_any_word_is_taken(variance):
    with pytest.raises(ConfigError, match="variance"):
        check_variance(variance)
    entropy = ScriptedEntropy([5])
    with pytest.raises(ConfigError, match="variance"):
        rounded_gaussian(variance, 1, entropy)
    assert entropy.left == 1


@pytest.mark.parametrize("variance", [MIN_VARIANCE, MAX_VARIANCE])
def test_both_ends_of_the_range_are_drawn(variance):
    check_variance(variance)
    assert rounded_gaussian(variance, 3, OsEntropy()).shape == (3,)


@pytest.mark.parametrize("size", [-1, 1.0, True, "3", None])
def test_size_is_a_count(size):
    with pytest.raises(ConfigError, match="number of noise values"):
        rounded_gaussian(Fraction(1), size, ScriptedEntropy([]))


@pytest.mark.parametrize("size", [0, np.int64(0)])
def test_nothing_is_drawn_for_size_zero(size):
    noise = rounded_gaussian(Fraction(1), size, ScriptedEntropy([]))
    assert noise.shape == (0,)
    assert noise.dtype == np.int64
