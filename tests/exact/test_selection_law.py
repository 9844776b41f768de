"""The exact output law of a selection on all tiny tables: its loss, its bounded range, its ρ and its μ."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from accounting.budget import Cap, Law, Rho
from accounting.events import price
from accounting.noise import ScriptedEntropy
from accounting.planted import planted_table
from accounting.queries import Select, question_event, selection_scale
from accounting.unit import PersonUnit, RowUnit
from tests.exact.worlds import CLIQUES, ESTIMATES, GRID, SCHEMA, UNITS, World, exact_pairs, neighbours, vector

QUERY = Select(CLIQUES, (1, 3, 2), ESTIMATES, (0, 2, -1), GRID, Fraction(1, 2))
EPSILON = float(QUERY.epsilon)


def law(scores: np.ndarray, scale: Fraction) -> np.ndarray:
    """The softmax, computed from the largest score down."""
    weights = np.exp([float(scale * int(score - scores.max())) for score in scores])
    return weights / weights.sum()


def all_laws(unit, scale: Fraction | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
    scale = scale or selection_scale(QUERY, unit)
    return [(law(one, scale), law(other, scale)) for one, other in exact_pairs("selection", unit)]


def loss(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.log(one) - np.log(other)


def largest_loss(pairs) -> float:
    return max(float(np.abs(loss(one, other)).max()) for one, other in pairs)


def largest_range(pairs) -> float:
    return max(float(np.ptp(loss(one, other))) for one, other in pairs)


def renyi_excess(pairs, rho: float) -> float:
    """The most by which a Rényi divergence exceeds α·ρ, both ways, α from just above 1 to 1,000."""
    worst = -np.inf
    for one, other in pairs:
        for p, q in ((one, other), (other, one)):
            for alpha in (1.001, 1.1, 1.5, 2, 4, 10, 100, 1000):
                exponents = alpha * np.log(p) + (1 - alpha) * np.log(q)
                top = exponents.max()
                divergence = (top + np.log(np.exp(exponents - top).sum())) / (alpha - 1)
                worst = max(worst, float(divergence - alpha * rho))
    return worst


def gdp_excess(pairs, mu: float) -> float:
    """The most by which δ(e) of a pair exceeds that of μ-GDP, over e from −2 to 2."""
    levels = np.linspace(-2, 2, 81)
    allowed = norm.cdf(-levels / mu + mu / 2) - np.exp(levels) * norm.cdf(-levels / mu - mu / 2)
    worst = -np.inf
    for one, other in pairs:
        for p, q in ((one, other), (other, one)):
            deltas = np.maximum(p[None] - np.exp(levels)[:, None] * q[None], 0).sum(axis=1)
            worst = max(worst, float((deltas - allowed).max()))
    return worst


@pytest.fixture(params=list(UNITS))
def unit(request):
    return UNITS[request.param]


def test_privacy_loss_and_its_range_are_at_most_epsilon(unit):
    pairs = all_laws(unit)
    assert largest_loss(pairs) <= EPSILON + 1e-12
    assert 0.7 * EPSILON < largest_range(pairs) <= EPSILON + 1e-12


def test_the_range_is_attained_where_errors_move_in_opposite_directions():
    """Two candidates of equal weight, one error up and one down: the range is ε itself, so nothing is given away."""
    estimates = (np.array([0, 0]), np.array([100, 100]))
    query = Select((("a",), ("b",)), (1, 1), estimates, (0, 0), GRID, QUERY.epsilon)
    one, other = (vector(World(((row,),) * size).exact(query, RowUnit())) for row, size in (((0, 0), 0), ((0, 0), 1)))
    scale = selection_scale(query, RowUnit())
    assert largest_range([(law(one, scale), law(other, scale))]) == pytest.approx(EPSILON, abs=1e-12)
    assert largest_range([(law(one, 2 * scale), law(other, 2 * scale))]) > 1.99 * EPSILON  # the omitted factor 1/2


def test_rho_and_mu_hold_for_all_neighbours(unit):
    event = question_event(QUERY, unit)
    pairs = all_laws(unit)
    assert renyi_excess(pairs, float(price(event, Law.ZCDP))) <= 1e-12
    assert gdp_excess(pairs, float(price(event, Law.GDP)) ** 0.5) <= 1e-12


def test_wrong_twins_break_loss_rho_and_mu(unit):
    event = question_event(QUERY, unit)
    twice = all_laws(unit, 2 * selection_scale(QUERY, unit))  # as if errors were monotonic
    assert largest_range(twice) > EPSILON
    assert renyi_excess(twice, float(price(event, Law.ZCDP))) > 0
    assert gdp_excess(twice, float(price(event, Law.GDP)) ** 0.5) > 0
    if isinstance(unit, PersonUnit):
        one_row = all_laws(unit, selection_scale(QUERY, RowUnit()))  # a person counted as one row
        assert largest_range(one_row) > EPSILON


class FirstWord(ScriptedEntropy):
    """One scripted word, and zeros for every extension."""


def selected(world: World, unit, word: int) -> int:
    rows = [row for person in world.persons for row in person]
    ids = [str(number) for number, person in enumerate(world.persons) for _ in person]
    ticks = {name: np.array([row[place] for row in rows], dtype=np.int64) for place, name in enumerate("ab")}
    handle = planted_table(
        SCHEMA,
        ticks,
        unit,
        Cap(Rho(Fraction(1))),
        entropy=ScriptedEntropy([word] + [0] * 64),
        ids=ids if isinstance(unit, PersonUnit) else None,
    )
    return handle.ask(QUERY).index


def measured_law(world: World, unit) -> np.ndarray:
    """The law of the handle's answer over the first word of entropy: the index grows with the word, so bisection."""
    ends = []
    for index in range(len(CLIQUES) - 1):
        low, high = 0, 2**64  # the words below ``low`` select at most ``index``, those from ``high`` on more
        while high - low > 2**30:
            middle = (low + high) // 2
            low, high = (middle, high) if selected(world, unit, middle) <= index else (low, middle)
        ends.append(low / 2**64)
    return np.diff([0.0, *ends, 1.0])


@pytest.mark.parametrize("place", [0, 7, 33])
def test_the_handle_answers_by_exactly_this_law(unit, place):
    without, with_ = neighbours(unit)[place]
    for world in (without, with_):
        expected = law(vector(world.exact(QUERY, unit)), selection_scale(QUERY, unit))
        assert np.abs(measured_law(world, unit) - expected).max() < 1e-9
