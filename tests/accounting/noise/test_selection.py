"""Exact selection, word by word: boundaries, extensions, extremes, and equality of the float and the integer path."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.errors import ConfigError
from accounting.noise import OsEntropy, ScriptedEntropy, SeededEntropy, select_softmax, selection
from tests.accounting.noise import naive

INT64 = np.iinfo(np.int64)


def draw(scores, scale, *words) -> tuple[int, int]:
    """Return the index that these words give, and how many of them were taken."""
    entropy = ScriptedEntropy(words)
    index = select_softmax(np.array(scores, dtype=np.int64), Fraction(scale), entropy)
    return index, len(words) - entropy.left


CASES = [
    ([5, 3, 4], Fraction(1, 3)),
    ([0, 0, 0], Fraction(1)),
    ([-7, -7, -6, 2, 2], Fraction(2, 7)),
    (list(range(40)), Fraction(1, 10)),
    ([2**62, 2**62 - 3, -(2**62)], Fraction(1, 2)),
    ([INT64.max, INT64.min, INT64.max - 1], Fraction(1, 2**63)),
]


@pytest.mark.parametrize(("scores", "scale"), CASES)
def test_law_changes_exactly_at_the_boundary_bit(scores, scale):
    shares = naive.softmax(scores, scale)
    for place, boundary in enumerate(itertools.accumulate(shares[:-1])):
        if shares[place] < Fraction(1, 2**50) or shares[place + 1] < Fraction(1, 2**50):
            continue
        scaled = int(boundary * 2**192)
        first, second, third = scaled >> 128, scaled >> 64 & (2**64 - 1), scaled & (2**64 - 1)
        assert draw(scores, scale, first - 1) == (place, 1)
        assert draw(scores, scale, first + 1) == (place + 1, 1)
        assert draw(scores, scale, first, second - 1) == (place, 2)
        assert draw(scores, scale, first, second + 1) == (place + 1, 2)
        assert draw(scores, scale, first, second, third - 1) == (place, 3)
        assert draw(scores, scale, first, second, third + 1) == (place + 1, 3)


def test_a_tie_of_equal_scores_falls_at_exact_fractions():
    half = 2**63
    assert draw([9, 9], 1, half - 1) == (0, 1)
    assert draw([9, 9], 1, half) == (1, 1)
    third = (2**64 - 1) // 3  # 0.0101…: agrees with 1/3 for ever
    assert draw([9, 9, 9], 1, *[third] * 9, third - 1) == (0, 10)
    assert draw([9, 9, 9], 1, *[third] * 9, third + 1) == (1, 10)
    with pytest.raises(ConfigError, match="script more words"):
        draw([9, 9, 9], 1, *[third] * 9)


def test_both_ends_of_the_uniform_belong_to_the_outer_candidates():
    assert draw([3, 1, 2], 1, 0)[0] == 0
    assert draw([3, 1, 2], 1, 2**64 - 1)[0] == 2


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1])
def test_a_single_candidate_is_chosen(word):
    assert draw([-(2**62)], Fraction(7, 3), word) == (0, 1)


def test_p33_a_candidate_that_floats_would_never_choose_keeps_its_exact_probability():
    # exp(-2000) vanishes in float64, yet the first candidate owns the uniforms below it
    bits = 64 * 47
    share = naive.softmax([0, 2000], Fraction(1), bits)[0]
    words = [int(share * 2**bits) >> 64 * place & (2**64 - 1) for place in range(46, -1, -1)]
    first = next(place for place, word in enumerate(words) if word)
    assert first > 40
    assert draw([0, 2000], 1, *words[:first], words[first] - 1) == (0, first + 1)
    assert draw([0, 2000], 1, *words[:first], words[first] + 1) == (1, first + 1)


def test_p33_no_candidate_has_probability_zero_for_any_public_scale():
    for scale in (Fraction(10**400), Fraction(1, 10**400), Fraction(2**64), Fraction(1, 3)):
        index, _ = draw([1, 2, 2], scale, 2**64 - 1)
        assert index == 2
        index, _ = draw([2, 2, 1], scale, 2**62)
        assert index == 0
    assert draw([2**62, -(2**62)], Fraction(10**400), 2**63) == (0, 1)
    assert draw([2**62, -(2**62)], Fraction(1, 10**400), 2**63 + 1) == (1, 1)
    assert draw([2**62, -(2**62)], Fraction(1, 10**400), 2**63 - 2) == (0, 1)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(-50, 50) | st.integers(INT64.min, INT64.max), min_size=1, max_size=40),
    st.fractions(min_value=Fraction(1, 1000), max_value=20) | st.sampled_from([Fraction(1, 2**60), Fraction(2**70)]),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**64 - 1),
)
def test_float_path_equals_integer_path_and_naive_softmax(scores, scale, word, further):
    index, taken = draw(scores, scale, word, further, 2**63, 2**63)
    gaps = np.subtract(max(scores), np.array(scores, dtype=object)).astype(np.uint64)
    uniform = selection.LazyUniform(word, 64, ScriptedEntropy([further, 2**63, 2**63]))
    assert selection._by_integers(gaps, scale, uniform) == index
    sums = list(itertools.accumulate(naive.softmax(scores, scale)))
    if taken == 1:
        assert index == 0 or sums[index - 1] <= Fraction(word + 1, 2**64)
        assert index == len(scores) - 1 or Fraction(word, 2**64) <= sums[index]
    expected = sum(bound <= Fraction(word << 128 | further << 64 | 2**63, 2**192) for bound in sums[:-1])
    assert index == expected


def test_thousands_of_candidates_on_both_paths(monkeypatch):
    scores = SeededEntropy(5).words(5000).astype(np.int64) >> 44
    scale = Fraction(1, 10**5)
    entropy = SeededEntropy(6)
    fast = [select_softmax(scores, scale, entropy) for _ in range(40)]
    assert len(set(fast)) > 10
    monkeypatch.setattr(selection, "_BAND_PER_CANDIDATE", 1.0)
    entropy = SeededEntropy(6)
    assert [select_softmax(scores, scale, entropy) for _ in range(4)] == fast[:4]


def test_scores_are_left_as_they_were():
    scores = np.array([3, 1, 2], dtype=np.int64)
    scores.flags.writeable = False
    select_softmax(scores, Fraction(1), OsEntropy())
    assert scores.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([], dtype=np.int64),
        np.array([[1, 2]], dtype=np.int64),
        np.array([1, 2], dtype=np.int32),
        np.array([1, 2], dtype=np.uint64),
        np.array([1.0, 2.0]),
        np.array([True, False]),
        [1, 2],
    ],
)
def test_scores_of_another_form_are_refused_before_any_word_is_taken(scores):
    entropy = ScriptedEntropy([5])
    with pytest.raises(ConfigError, match="int64 array"):
        select_softmax(scores, Fraction(1), entropy)
    assert entropy.left == 1


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), 1.0, 1, True, float("nan"), None])
def test_scale_is_a_positive_rational(scale):
    with pytest.raises(ConfigError, match="greater than 0"):
        select_softmax(np.array([1, 2], dtype=np.int64), scale, ScriptedEntropy([5]))
