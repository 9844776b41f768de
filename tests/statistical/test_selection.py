"""The softmax selection by frequencies, and the twins that must be told apart."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from accounting.noise import Entropy, OsEntropy, SeededEntropy, select_softmax
from tests.accounting.noise import naive
from tests.statistical import rates
from tests.statistical.binomial import any_surprising

RATE = 1e-9
DRAWS = 30_000


def frequencies_reject(chosen: list[int], scores: list[int], scale: Fraction) -> bool:
    """Test each candidate's share, and the share of those up to each candidate."""
    counts = np.bincount(chosen, minlength=len(scores)).tolist()
    shares = naive.softmax(scores, scale)
    events = [*zip(counts, shares, strict=True), *list(zip(accumulate(counts), accumulate(shares), strict=True))[:-1]]
    return any_surprising([(hits, float(share)) for hits, share in events], len(chosen), RATE)


def _frequency_test(name: str, scores: list[int], scale: Fraction) -> rates.Rejects:
    array = np.array(scores, dtype=np.int64)

    @rates.sampler_test(f"selection, frequencies, {name}", RATE)
    def rejects(factor: Fraction, entropy: Entropy) -> bool:
        chosen = [select_softmax(array, scale * factor, entropy) for _ in range(DRAWS)]
        return frequencies_reject(chosen, scores, scale)

    return rejects


FREQUENCY_TESTS = {
    name: _frequency_test(name, scores, scale)
    for name, scores, scale in (
        ("two candidates", [0, 10], Fraction(1, 5)),
        ("sixteen candidates", list(range(16)), Fraction(1, 3)),
        ("wide scores", [2**62, 2**62 - 2**60, 2**62 - 2**61, -(2**62)], Fraction(1, 2**60)),
    )
}


@pytest.mark.parametrize("name", FREQUENCY_TESTS)
def test_p33_frequencies_are_the_softmax(name):
    assert not FREQUENCY_TESTS[name](Fraction(1), OsEntropy())


def permute_and_flip(scores: list[int], scale: Fraction, generator: np.random.Generator) -> int:
    """Visit the candidates in random order and take each with probability exp(-scale·gap)."""
    best = max(scores)
    while True:
        for index in generator.permutation(len(scores)):
            if generator.random() < np.exp(-float(scale) * (best - scores[index])):
                return int(index)


def report_noisy_max_with_rounded_gumbel(scores: list[int], scale: Fraction, generator: np.random.Generator) -> int:
    """Add Gumbel noise rounded to the scores' grid."""
    noise = np.rint(generator.gumbel(0, 1 / float(scale), len(scores)))
    return int(np.argmax(np.array(scores) + noise))


@pytest.mark.parametrize("twin", [permute_and_flip, report_noisy_max_with_rounded_gumbel])
def test_p02_other_selections_are_rejected(twin):
    scores, scale = [0, 1, 2, 2], Fraction(1)
    generator = np.random.default_rng(2)
    assert frequencies_reject([twin(scores, scale, generator) for _ in range(DRAWS)], scores, scale)
    entropy = SeededEntropy(2)
    array = np.array(scores, dtype=np.int64)
    assert not frequencies_reject([select_softmax(array, scale, entropy) for _ in range(DRAWS)], scores, scale)
