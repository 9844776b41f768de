"""What a question costs: a closed table of event kinds, each with a price per law and in δ that names its theorem."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from accounting.budget import Law
from accounting.enclosures import erfc_bounds
from accounting.errors import ConfigError
from accounting.exact import positive, short_above, short_below, sqrt_below

MU_SQUARED_PER_EPSILON_SQUARED = Fraction(11, 28)
"""A rational above π/8: an ε-bounded-range mechanism is μ-GDP with μ ≤ ε·√(π/8) (docs/guarantees.md, Selection)."""

TAIL_BITS = 1024
"""Bits to which a tail is computed; one below 2^-1024 is charged as that."""

MAX_THRESHOLD = 2**40
"""The largest threshold of a :class:`ThresholdEvent`, above every count."""


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Gaussian noise of one variance on a vector of answers.

    Args:
        sensitivity_squared: Δ², the square of the L2 sensitivity under add or remove one unit.
        variance: σ² of the noise on each coordinate, in the same squared unit.
    """

    sensitivity_squared: Fraction
    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity_squared", positive(self.sensitivity_squared, "squared sensitivity"))
        object.__setattr__(self, "variance", positive(self.variance, "variance"))


@dataclass(frozen=True, slots=True)
class SelectionEvent:
    """One exact draw from the softmax of scores scaled by ε/(2Δ): a mechanism of bounded range ε."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class ThresholdEvent:
    """Rounded Gaussian noise on the count of every name found, of which only names at or above a threshold leave.

    Args:
        sensitivity_squared: Δ² of the counts of names that are found with and without the unit.
        variance: σ² of the noise on each count.
        threshold: τ; a name leaves when its noisy count is at least τ; from 2.
        names: the most names that a unit can bring, each with a count of 1.
    """

    sensitivity_squared: Fraction
    variance: Fraction
    threshold: int
    names: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity_squared", positive(self.sensitivity_squared, "squared sensitivity"))
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        if type(self.threshold) is not int or not 2 <= self.threshold <= MAX_THRESHOLD:
            raise ConfigError(f"a threshold is a whole number from 2 to {MAX_THRESHOLD}")
        if type(self.names) is not int or self.names < 1:
            raise ConfigError("a unit can bring at least one name")


Event: TypeAlias = GaussianEvent | SelectionEvent | ThresholdEvent


def price(event: Event, law: Law) -> Fraction:
    """Return what an event costs in the law's unit: ρ under zcdp, μ² under gdp; exact.

    Raises:
        ConfigError: the event is not in the closed table; nothing else has a price.

    Source:
        Gaussian: ρ = Δ²/(2σ²) (Bun and Steinke 2016, proposition 1.6); μ = Δ/σ (Dong, Roth and Su 2022, theorem 1).
        Selection: ρ = ε²/8 (Cesar and Rogers 2021, from bounded range, Durfee and Rogers 2019); μ² ≤ ε²·π/8
        (docs/guarantees.md, Selection). Threshold: as Gaussian, and δ by :func:`delta_price`.
    """
    if type(event) is GaussianEvent or type(event) is ThresholdEvent:
        mu_squared = event.sensitivity_squared / event.variance
        return mu_squared / 2 if law is Law.ZCDP else mu_squared
    if type(event) is SelectionEvent:
        square = event.epsilon * event.epsilon
        return square / 8 if law is Law.ZCDP else square * MU_SQUARED_PER_EPSILON_SQUARED
    raise ConfigError("this event is not in the closed table of prices")


def delta_price(event: Event) -> Fraction:
    """Return what an event costs in δ: 0 but for a threshold, whose δ is exact up to rounding up.

    Privacy:
        A name that only the unit brings has count 1, so it leaves with probability p = P(1 + R ≥ τ), R the integer
        nearest to N(0, σ²): the tail of the Gaussian from τ − 3/2 on, the mass at the threshold included. However the
        unit's rows are split into names, at most ``names`` such names come, so δ ≤ names·p
        (docs/guarantees.md, The questions).
    """
    if type(event) is not ThresholdEvent:
        return Fraction(0)
    square = Fraction((2 * event.threshold - 3) ** 2) / (8 * event.variance)
    tail = Fraction(erfc_bounds(square, TAIL_BITS)[1], 2 ** (TAIL_BITS + 1))
    return min(Fraction(1), short_above(event.names * tail))


def threshold_for(variance: Fraction, names: int, delta: Fraction) -> int:
    """Return the least threshold whose δ is at most ``delta``.

    Raises:
        ConfigError: no threshold up to ``MAX_THRESHOLD`` is large enough.
    """
    delta = positive(delta, "delta")

    def fits(threshold: int) -> bool:
        return delta_price(ThresholdEvent(Fraction(names), variance, threshold, names)) <= delta

    low, high = 1, 2
    while not fits(high):
        if high >= MAX_THRESHOLD:
            raise ConfigError("no threshold keeps so small a delta at so much noise: give a larger delta or share")
        low, high = high, min(2 * high, MAX_THRESHOLD)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def gaussian_variance(sensitivity_squared: Fraction, amount: Fraction, law: Law) -> Fraction:
    """Return the σ² at which Gaussian noise costs exactly ``amount`` (ρ or μ²): Δ²/(2ρ) or Δ²/μ²."""
    amount = positive(amount, "amount")
    return positive(sensitivity_squared, "squared sensitivity") / (2 * amount if law is Law.ZCDP else amount)


def selection_epsilon(amount: Fraction, law: Law) -> Fraction:
    """Return a short rational ε at which a selection costs at most ``amount`` (ρ or μ²), rounded down."""
    amount = positive(amount, "amount")
    square = amount * 8 if law is Law.ZCDP else amount / MU_SQUARED_PER_EPSILON_SQUARED
    return short_below(sqrt_below(square))
