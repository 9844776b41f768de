"""Predict what a run of Tab-PE takes and gives; the constants were fitted to releases as those of ``predict`` were."""

from fractions import Fraction
from math import sqrt

from accounting.events import gaussian_variance
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.tab_pe.evolution import TabPE

_ONE_WAY = 0.085
_LOST = 0.105
_LOST_TO_NOISE = 0.28
_SECONDS_START = 0.3
_SECONDS_PER_PAIR = 4.5e-9
_BYTES_PER_VALUE = 20
_BYTES_PER_CANDIDATE = 2_000


def expected_errors(mechanism: TabPE, schema: Schema, unit: PrivacyUnit, rows: int, degree: int) -> tuple[float, float]:
    """Return the mean one-way error and that of marginals of ``degree`` columns.

    Most of it is what some thousand candidates cannot hold, whatever the budget; the rest is the noise of the start.
    """
    start = mechanism.plan.total - (mechanism.plan.lines[-1].ceiling if mechanism.rounds else 0)
    sigma = sqrt(gaussian_variance(Fraction(unit.max_rows**2 * len(schema.columns)), start, mechanism.plan.law))
    bins = mechanism.config.bins or 1
    noises = [min(column.cells, bins) * sigma / rows for column in schema.columns]
    noise = _LOST_TO_NOISE * sum(0.4 * each / (1 + 0.6 * each) for each in noises) / len(noises)
    one_way = min(1.0, _ONE_WAY + noise)
    return one_way, 1 - (1 - one_way) * (1 - _LOST) ** (degree - 1)


def expected_effort(mechanism: TabPE, columns: int, rows: int) -> tuple[float, float]:
    """Return seconds on one core, and the bytes beyond those of the program."""
    candidates = mechanism.config.population or 0
    seconds = _SECONDS_START + mechanism.rounds * rows * candidates * _SECONDS_PER_PAIR
    return seconds, rows * columns * _BYTES_PER_VALUE + candidates * _BYTES_PER_CANDIDATE
