"""What a question costs: a closed table of event kinds, each with a price per law that names its theorem."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from accounting.budget import Law
from accounting.errors import ConfigError
from accounting.exact import positive, short_below, sqrt_below

MU_SQUARED_PER_EPSILON_SQUARED = Fraction(11, 28)
"""A rational above π/8: an ε-bounded-range mechanism is μ-GDP with μ ≤ ε·√(π/8) (docs/guarantees.md, Selection)."""


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


Event: TypeAlias = GaussianEvent | SelectionEvent


def price(event: Event, law: Law) -> Fraction:
    """Return what an event costs in the law's unit: ρ under zcdp, μ² under gdp; exact.

    Raises:
        ConfigError: the event is not in the closed table; nothing else has a price.

    Source:
        Gaussian: ρ = Δ²/(2σ²) (Bun and Steinke 2016, proposition 1.6); μ = Δ/σ (Dong, Roth and Su 2022, theorem 1).
        Selection: ρ = ε²/8 (Cesar and Rogers 2021, from bounded range, Durfee and Rogers 2019); μ² ≤ ε²·π/8
        (docs/guarantees.md, Selection).
    """
    if type(event) is GaussianEvent:
        mu_squared = event.sensitivity_squared / event.variance
        return mu_squared / 2 if law is Law.ZCDP else mu_squared
    if type(event) is SelectionEvent:
        square = event.epsilon * event.epsilon
        return square / 8 if law is Law.ZCDP else square * MU_SQUARED_PER_EPSILON_SQUARED
    raise ConfigError("this event is not in the closed table of prices")


def gaussian_variance(sensitivity_squared: Fraction, amount: Fraction, law: Law) -> Fraction:
    """Return the σ² at which Gaussian noise costs exactly ``amount`` (ρ or μ²): Δ²/(2ρ) or Δ²/μ²."""
    amount = positive(amount, "amount")
    return positive(sensitivity_squared, "squared sensitivity") / (2 * amount if law is Law.ZCDP else amount)


def selection_epsilon(amount: Fraction, law: Law) -> Fraction:
    """Return a short rational ε at which a selection costs at most ``amount`` (ρ or μ²), rounded down."""
    amount = positive(amount, "amount")
    square = amount * 8 if law is Law.ZCDP else amount / MU_SQUARED_PER_EPSILON_SQUARED
    return short_below(sqrt_below(square))
