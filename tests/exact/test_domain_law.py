"""Questions about domains on every table over a tiny domain and all its neighbours: sensitivity, and δ exactly."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr

from accounting.budget import Cap, Law, Rho
from accounting.convert import delta as delta_at
from accounting.curator import measured as kernels
from accounting.events import ThresholdEvent, delta_price, price
from accounting.planted import exact_answer
from accounting.queries import Categories, Quantiles, question_event
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit

SCHEMA = Schema(
    table={"name": "tiny"},
    columns=[
        {"name": "n", "kind": "integer", "domain": "measured", "min": 0, "max": 3, "bins": 2, "nullable": True},
        {"name": "c", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True},
        {"name": "who", "kind": "identifier"},
    ],
)
OTHER = 0
NAMES = (1, 2, 3)
"""Ticks of column c: the declared category, then three names that are not declared."""
ROW_KINDS = ((0, NAMES[0]), (3, NAMES[1]), (-1, NAMES[2]), (2, OTHER))

UNITS: dict[str, PrivacyUnit] = {"row": RowUnit(), "two rows": PersonUnit("who", 2), "three rows": PersonUnit("who", 3)}
QUANTILES = Quantiles("n", np.array([[0, 0], [2, 3]]), Fraction(1))
CATEGORIES = Categories("c", Fraction(1), 3, 10)

Row = tuple[int, int]
World = tuple[tuple[Row, ...], ...]


def exact(world: World, query, unit: PrivacyUnit) -> np.ndarray:
    rows = [row for person in world for row in person]
    ids = [str(number) for number, person in enumerate(world) for _ in person]
    ticks = {name: np.array([row[place] for row in rows], dtype=np.int64) for place, name in enumerate("nc")}
    return np.asarray(exact_answer(query, SCHEMA, ticks, unit, ids if isinstance(unit, PersonUnit) else None))


def neighbours(unit: PrivacyUnit) -> Iterator[tuple[World, World]]:
    """All pairs (without, with): a unit of up to k + 1 rows of any kinds, beside one of up to two rows, or nothing."""
    most = 1 if isinstance(unit, RowUnit) else unit.max_rows + 1
    units = [rows for size in range(1, most + 1) for rows in itertools.combinations_with_replacement(ROW_KINDS, size)]
    beside = [()] + [(rows,) for rows in units if len(rows) <= 2]
    for others in beside:
        for rows in units:
            yield others, (*others, rows)


@cache
def pairs(name: str, unit: PrivacyUnit) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    query = {"quantiles": QUANTILES, "categories": CATEGORIES}[name]
    known = cache(lambda world: tuple(exact(world, query, unit).tolist()))
    return tuple({(known(without), known(with_)) for without, with_ in neighbours(unit)})


@pytest.fixture(params=list(UNITS))
def unit(request):
    return UNITS[request.param]


def test_p18_intervals_move_by_the_declared_sensitivity_and_no_more(unit):
    moved = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in pairs("quantiles", unit))
    assert moved == question_event(QUANTILES, unit).sensitivity_squared == unit.max_rows**2


def found_and_new(pair) -> tuple[int, int]:
    """How far the counts of names that are found without the unit move, squared, and how many names are new."""
    without, with_ = pair
    found = sum((a - b) ** 2 for a, b in zip(without, with_, strict=True) if a)
    new = [b for a, b in zip(without, with_, strict=True) if not a and b]
    assert set(new) <= {1}, "a unit counts once for a name"
    return found, len(new)


def test_p18_p48_a_unit_counts_once_for_each_of_at_most_k_names(unit):
    event = question_event(CATEGORIES, unit)
    moves = [found_and_new(pair) for pair in pairs("categories", unit)]
    # the unit beside has at most two names that are found before
    assert max(found for found, _ in moves) == min(event.sensitivity_squared, 2)
    assert max(new for _, new in moves) == event.names
    assert max(found + new for found, new in moves) == event.sensitivity_squared == unit.max_rows


def leaves(threshold: int, variance: Fraction) -> mpmath.mpf:
    """P(1 + R ≥ threshold), R the integer nearest to N(0, variance): the sum of its masses from the threshold on."""
    sigma = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
    reach = range(threshold - 1, threshold + 60)
    return mpmath.fsum(mpmath.ncdf((r + 0.5) / sigma) - mpmath.ncdf((r - 0.5) / sigma) for r in reach)


def bad_mass(unit: PrivacyUnit, threshold: int, variance: Fraction) -> mpmath.mpf:
    """The most probable, over all neighbours, that a name of the unit alone leaves: what no noise hides."""
    least = 1 - leaves(threshold, variance)
    return max(1 - least**new for new in {found_and_new(pair)[1] for pair in pairs("categories", unit)})


def covers(event: ThresholdEvent, unit: PrivacyUnit) -> bool:
    with mpmath.workdps(50):
        charged = delta_price(event)
        return bad_mass(unit, event.threshold, event.variance) <= mpmath.mpf(charged.numerator) / charged.denominator


@pytest.mark.parametrize("threshold", [2, 3, 5])
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(9)])
def test_p10_p48_delta_covers_the_names_of_the_unit_alone_for_all_neighbours(unit, variance, threshold):
    event = question_event(Categories("c", variance, threshold, 10), unit)
    assert covers(event, unit)


def test_p10_wrong_twin_that_misses_the_mass_at_the_threshold_fails(unit):
    event = question_event(CATEGORIES, unit)
    strict = ThresholdEvent(event.sensitivity_squared, event.variance, event.threshold + 1, event.names)
    with mpmath.workdps(50):
        assert float(delta_price(strict)) < bad_mass(unit, event.threshold, event.variance)


@pytest.mark.parametrize("name", ["two rows", "three rows"])
def test_p48_wrong_twin_that_ignores_k_fails(name):
    event = question_event(CATEGORIES, UNITS[name])
    assert not covers(ThresholdEvent(Fraction(1), event.variance, event.threshold, 1), UNITS[name])


def test_p48_wrong_twin_that_counts_rows_moves_a_count_by_k(monkeypatch):
    unit = UNITS["three rows"]

    def rows_not_units(query, measured):
        return counted(query, kernels.MeasuredColumns(measured.ticks, measured.names, None))

    counted = kernels.count_names
    monkeypatch.setattr("accounting.planted.count_names", rows_not_units)
    three = ((0, NAMES[0]),) * 3
    assert exact((three,), CATEGORIES, unit)[0] == 3


REACH = 40


def name_law(count: int, threshold: int, sigma: float) -> np.ndarray:
    """The law of what is shown of one name: nothing, or its noisy count from the threshold on."""
    if count == 0:
        return np.eye(1, REACH + 1)[0]
    shown = np.arange(threshold, threshold + REACH) - count
    upper, lower = log_ndtr(-(shown - 0.5) / sigma), log_ndtr(-(shown + 0.5) / sigma)
    return np.concatenate([[np.exp(log_ndtr((threshold - 0.5 - count) / sigma))], np.exp(upper) - np.exp(lower)])


def law(counts, threshold: int, sigma: float) -> np.ndarray:
    joint = np.ones(1)
    for count in counts:
        joint = np.outer(joint, name_law(count, threshold, sigma)).ravel()
    return joint


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("under", list(Law))
def test_names_and_counts_are_no_easier_to_tell_apart_than_the_charge_allows(unit, under, epsilon):
    """The hockey-stick divergence of the whole output, in both directions, over all neighbours with two names."""
    query = Categories("c", Fraction(4), 5, 10)
    event, sigma = question_event(query, unit), float(query.variance) ** 0.5
    amount = price(event, under)
    cap = Cap(Rho(amount) if under is Law.ZCDP else _mu(amount), delta_price(event))
    allowed = float(delta_at(cap, epsilon))
    factor = float(np.exp(float(epsilon)))
    worst = 0.0
    for without, with_ in {(a[:2], b[:2]) for a, b in pairs("categories", unit) if not (a[2] or b[2])}:
        one, other = (law(counts, query.threshold, sigma) for counts in (without, with_))
        for p, q in ((one, other), (other, one)):
            worst = max(worst, float(np.maximum(p - factor * q, 0).sum()))
    assert worst <= allowed * (1 + 1e-9)
    if epsilon == 5 and isinstance(unit, PersonUnit):
        assert worst > float(delta_price(event)) / unit.max_rows  # without δ, or with that of one name, it would fail


def _mu(squared: Fraction):
    from accounting.budget import Mu

    return Mu(squared)
