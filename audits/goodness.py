"""Goodness of fit: do the handle's noise and its selections follow the laws that they are priced by.

Asked through the handle like any other question, on planted rows whose exact answer is known. A chi-square test sees a
wrong shape; the two tests of half-lines see a wrong scale or too much mass far out, where a chi-square test is blind.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, Rho
from accounting.planted import Entropy, planted_table
from accounting.queries import Marginals, NoisyMarginals, Select, Selected
from accounting.schema import Schema
from accounting.unit import RowUnit
from audits.transcript.likelihood import softmax

Ints = npt.NDArray[np.int64]

_CELLS = 4096
_LEAST_EXPECTED = 10.0
_AMPLE = Cap(Rho(Fraction(10**9)))


@dataclass(frozen=True, slots=True)
class Goodness:
    """One test of a sampler.

    Args:
        sampler: what was tested, with its parameter.
        draws: how many draws.
        p_value: the smallest of the tests' p-values, corrected for their number.
    """

    sampler: str
    draws: int
    p_value: float


def gaussian_fit(variance: Fraction, draws: int, entropy: Entropy) -> Goodness:
    """Test the noise of one variance on an empty planted table: shape, centre, spread, tails and independence."""
    noise = _noise(variance, draws, entropy)
    sigma = float(variance) ** 0.5
    p_values = (
        _chi_square(noise, sigma),
        _outside(noise, sigma, 1.0),
        _outside(noise, sigma, 2.5),
        _spread(noise, sigma),
        _repeats(noise),
    )
    return Goodness(f"rounded Gaussian, sigma {sigma:.6g}", noise.size, min(1.0, len(p_values) * min(p_values)))


def selection_fit(epsilon: Fraction, draws: int, entropy: Entropy) -> Goodness:
    """Test the selection of one ε among eight candidates with evenly spaced scores."""
    from scipy.stats import chisquare

    gap = max(1, round(1.0 / float(epsilon)))
    scores = [gap * place for place in range(8)]
    query = _selection(scores, epsilon)
    table = planted_table(_flags(8), _no_rows(8), RowUnit(), _AMPLE, entropy=entropy)
    counts = np.zeros(8)
    for _ in range(draws):
        answer = table.ask(query)
        if isinstance(answer, Selected):
            counts[answer.index] += 1
    expected = draws * softmax(scores, float(epsilon / 2))
    kept = expected >= _LEAST_EXPECTED
    if not kept.all():
        counts = np.append(counts[kept], counts[~kept].sum())
        expected = np.append(expected[kept], expected[~kept].sum())
    p_value = 1.0 if counts.size < 2 else float(chisquare(counts, expected * counts.sum() / expected.sum()).pvalue)
    return Goodness(f"softmax selection, epsilon {float(epsilon):.6g}", draws, p_value)


def _noise(variance: Fraction, draws: int, entropy: Entropy) -> Ints:
    column = {"name": "x", "kind": "integer", "min": 0, "max": _CELLS - 1, "nullable": False, "replacement": 0}
    schema = Schema(table={"name": "noise"}, columns=[column])
    query = Marginals((("x",),), variance)
    blocks = []
    for _ in range(max(2, -(-draws // _CELLS))):  # a handle of its own for each block: no two may share their noise
        table = planted_table(schema, {"x": np.zeros(0, dtype=np.int64)}, RowUnit(), _AMPLE, entropy=entropy)
        answer = table.ask(query)
        if isinstance(answer, NoisyMarginals):
            blocks.append(answer.tables[0])
    return np.concatenate(blocks)


def _chi_square(noise: Ints, sigma: float) -> float:
    """Compare the counts of equally likely ranges of integers with their exact probabilities."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import chisquare

    edges = np.unique(np.round(sigma * ndtri(np.linspace(0, 1, 33)[1:-1]))) + 0.5
    probabilities = np.diff(np.concatenate([[0.0], ndtr(edges / sigma), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, noise), minlength=edges.size + 1).astype(np.float64)
    expected = probabilities * noise.size
    kept = expected >= _LEAST_EXPECTED
    if not kept.all():
        counts = np.append(counts[kept], counts[~kept].sum())
        expected = np.append(expected[kept], expected[~kept].sum())
        if expected[-1] < 1:
            counts, expected = counts[:-1], expected[:-1]
    if counts.size < 2:
        return 1.0
    return float(chisquare(counts, expected * counts.sum() / expected.sum()).pvalue)


def _outside(noise: Ints, sigma: float, deviations: float) -> float:
    """Test how many values lie farther out than some standard deviations."""
    from scipy.special import ndtr
    from scipy.stats import binomtest

    least = int(np.ceil(deviations * sigma + 0.5))
    rate = 2 * float(ndtr(-(least - 0.5) / sigma))
    return float(binomtest(int((np.abs(noise) >= least).sum()), noise.size, rate).pvalue)


def _spread(noise: Ints, sigma: float) -> float:
    """Test the mean square against the rounded Gaussian's own."""
    from scipy.special import ndtr

    reach = int(np.ceil(12 * sigma)) + 2
    if reach > 10**6:
        second, fourth = sigma**2 + 1 / 12, 3 * sigma**4
    else:
        values = np.arange(-reach, reach + 1, dtype=np.float64)
        mass = ndtr((values + 0.5) / sigma) - ndtr((values - 0.5) / sigma)
        second, fourth = float((mass * values**2).sum()), float((mass * values**4).sum())
    deviation = ((fourth - second**2) / noise.size) ** 0.5
    if deviation == 0:
        return 1.0
    return float(2 * ndtr(-abs(float((noise.astype(np.float64) ** 2).mean()) - second) / deviation))


def _repeats(noise: Ints) -> float:
    """Test that a handle's noise is unlike the one before it: a source that hands out its words again repeats it."""
    from scipy.special import ndtr

    half = noise.size - _CELLS
    first, second = noise[:-_CELLS].astype(np.float64), noise[_CELLS:].astype(np.float64)
    norm = float(np.linalg.norm(first) * np.linalg.norm(second))
    if norm == 0:
        return 1.0
    return float(2 * ndtr(-abs(float(first @ second)) / norm * half**0.5))


def _selection(scores: list[int], epsilon: Fraction) -> Select:
    """Ask for a candidate so that each score is given: on no rows, |0 − estimate| is what the estimate says."""
    return Select(
        candidates=tuple((f"c{place}",) for place in range(len(scores))),
        weights=(1,) * len(scores),
        estimates=tuple(np.array([score, 0], dtype=np.int64) for score in scores),
        penalties=(0,) * len(scores),
        grid=1,
        epsilon=epsilon,
    )


def _flags(count: int) -> Schema:
    column = {"kind": "boolean", "nullable": False, "replacement": False}
    return Schema(table={"name": "selection"}, columns=[{"name": f"c{place}", **column} for place in range(count)])


def _no_rows(count: int) -> dict[str, Ints]:
    return {f"c{place}": np.zeros(0, dtype=np.int64) for place in range(count)}
