"""Predict what a run of Tab-PE takes and gives; the constants were fitted to releases as those of ``predict`` were."""

from fractions import Fraction
from math import sqrt

from accounting.events import gaussian_variance
from accounting.nearest_tree import LEAST_CANDIDATES
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.tab_pe.evolution import TabPE
from mechanisms.tab_pe.space import line_of

_ONE_WAY = 0.09
_ONE_WAY_FALLING = 1.0
_THREE_WAY = 0.1
_THREE_WAY_FALLING = 8.5
_NOISE = 0.28
_SECONDS_START = 0.5
_SECONDS_PER_PAIR = 5e-9
_SECONDS_PER_ORDERED_PAIR = 1.5e-9  # no column without an order
_TREE = 0.6  # of the time, where a tree of the candidates is searched
_SECONDS_PER_VOTE = 1.1e-6
_BYTES_PER_VALUE = 20
_BYTES_PER_CANDIDATE = 5_000
_BYTES_PER_VOTE = 50


def expected_errors(mechanism: TabPE, schema: Schema, unit: PrivacyUnit, rows: int, degree: int) -> tuple[float, float]:
    """Return the mean one-way error and that of marginals of ``degree`` columns.

    Most of it is what some thousand candidates cannot hold, whatever the budget, and what few rows cannot say about
    them; the rest is the noise of the start.
    """
    start = mechanism.plan.total - (mechanism.plan.lines[-1].ceiling if mechanism.rounds else 0)
    sigma = sqrt(gaussian_variance(Fraction(unit.max_rows**2 * len(schema.columns)), start, mechanism.plan.law))
    bins = mechanism.config.bins or 1
    noises = [min(column.cells, bins) * sigma / rows for column in schema.columns]
    noise = _NOISE * sum(0.4 * each / (1 + 0.6 * each) for each in noises) / len(noises)
    one_way = min(1.0, _ONE_WAY + _ONE_WAY_FALLING / sqrt(rows) + noise)
    three_way = min(1.0, _THREE_WAY + _THREE_WAY_FALLING / sqrt(rows) + 3 * noise)
    return one_way, max(one_way, 1 - (1 - three_way) ** (degree / 3))


def expected_effort(mechanism: TabPE, schema: Schema, rows: int) -> tuple[float, float]:
    """Return seconds on one core, and the bytes beyond those of the program.

    Rows are compared with the candidates of their own label. Ranking by weights compares candidates with those of all
    rounds before, so that its time grows with the square of the rounds.
    """
    config, rounds = mechanism.config, mechanism.rounds
    candidates, votes = config.population or 0, config.votes or 0
    groups = 1 if config.label is None else schema.column(config.label).cells
    fits = rounds * (rounds + 3) / 2 if config.ranking == "weights" else 0
    pairs = candidates * (rounds * rows + fits * candidates) / groups
    features = [column for column in schema.columns if column.name != config.label]
    ordered = all(line_of(column) is not None for column in features)
    each = _SECONDS_PER_ORDERED_PAIR if ordered else _SECONDS_PER_PAIR
    if ordered and candidates / groups >= LEAST_CANDIDATES.get(len(features), float("inf")):
        each *= _TREE
    seconds = _SECONDS_START + pairs * each + fits * candidates * votes * _SECONDS_PER_VOTE
    values, cast = rows * len(schema.columns), rounds * candidates * votes * bool(fits)
    return seconds, values * _BYTES_PER_VALUE + candidates * _BYTES_PER_CANDIDATE + cast * _BYTES_PER_VOTE
