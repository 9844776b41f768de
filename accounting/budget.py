"""Budgets as distinct types: a ρ, a μ and an (ε, δ) can never stand in for one another, and none is a bare float."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from accounting.errors import ConfigError
from accounting.exact import non_negative, positive


class Law(StrEnum):
    """The composition law of a dataset: what its ledger adds up."""

    ZCDP = "zcdp"
    """Σρ ≤ cap (zero-concentrated differential privacy)."""
    GDP = "gdp"
    """Σμ² ≤ cap (Gaussian differential privacy)."""

    @property
    def unit(self) -> str:
        """The name of the amount that this law adds: ``rho`` or ``mu_squared``."""
        return "rho" if self is Law.ZCDP else "mu_squared"


@dataclass(frozen=True, slots=True)
class Rho:
    """A zCDP budget ρ > 0, exact."""

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", positive(self.value, "rho"))


@dataclass(frozen=True, slots=True)
class Mu:
    """A GDP budget μ > 0, held as its square, which is what composition adds, exact."""

    squared: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "squared", positive(self.squared, "mu squared"))


@dataclass(frozen=True, slots=True)
class EpsilonDelta:
    """An approximate-DP statement (ε, δ): ε > 0 and 0 < δ < 1, exact."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", positive(self.delta, "delta"))
        if self.delta >= 1:
            raise ConfigError("delta must lie strictly between 0 and 1")


Amount: TypeAlias = Rho | Mu


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a dataset or a release may ever cost; the guarantee itself.

    Args:
        amount: ρ (law zcdp) or μ (law gdp).
        delta: the most that all δ-costing questions together may cost; 0 when none is allowed.
    """

    amount: Amount
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not isinstance(self.amount, (Rho, Mu)):
            raise ConfigError("a cap is a Rho or a Mu")
        object.__setattr__(self, "delta", non_negative(self.delta, "delta"))
        if self.delta >= 1:
            raise ConfigError("a cap's delta must be below 1")

    @property
    def law(self) -> Law:
        """The law under which this cap composes."""
        return Law.ZCDP if isinstance(self.amount, Rho) else Law.GDP

    @property
    def value(self) -> Fraction:
        """The amount in the law's unit: ρ or μ²."""
        return self.amount.value if isinstance(self.amount, Rho) else self.amount.squared


def cap(law: Law, value: Fraction, delta: Fraction = Fraction(0)) -> Cap:
    """Build a cap from an amount in the law's unit (ρ or μ²)."""
    return Cap(Rho(value) if law is Law.ZCDP else Mu(value), delta)
