"""A budget as people state it (ε with δ, or ρ, or μ), turned into the exact cap of a law."""

from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho
from accounting.errors import ConfigError
from release.amounts import SYMBOLS, delta_text


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """Exactly one of ε (with δ), ρ and μ, as written by a person.

    Args:
        epsilon: ε > 0; needs ``delta``.
        delta: 0 < δ < 1; beside ρ or μ it is the δ at which ε is reported.
        rho: ρ > 0.
        mu: μ > 0.
        domain_delta: the δ set aside for finding categories, below ``delta`` where that is stated; a part of it.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None
    domain_delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        stated = [value for value in (self.epsilon, self.rho, self.mu) if value is not None]
        if len(stated) != 1:
            raise ConfigError("state exactly one budget: epsilon with delta, or rho, or mu")
        if stated[0] <= 0:
            raise ConfigError("a budget must be greater than 0; there is no value that turns privacy off")
        if self.epsilon is not None and self.delta is None:
            raise ConfigError("epsilon needs delta beside it; there is no default")
        if self.delta is not None and not 0 < self.delta < 1:
            raise ConfigError("delta must lie strictly between 0 and 1")
        if not 0 <= self.domain_delta < (1 if self.delta is None else self.delta):
            raise ConfigError("the delta of finding categories is a part of the whole delta and must be below it")

    @property
    def statement(self) -> EpsilonDelta | None:
        """The (ε, δ) as stated, or None where ρ or μ was."""
        if self.epsilon is None or self.delta is None:
            return None
        return EpsilonDelta(self.epsilon, self.delta)

    def check_law(self, law: Law, dataset: str) -> None:
        """Refuse a budget in the other law's unit.

        Raises:
            ConfigError: ρ for a dataset that adds μ², or μ for one that adds ρ; nothing spent.
        """
        if not self.suits(law):
            own = "rho" if law is Law.ZCDP else "mu"
            raise ConfigError(
                f"dataset {dataset!r} adds up {SYMBOLS[law]} (law {law.value}): state {own}, or epsilon and delta"
            )

    def suits(self, law: Law) -> bool:
        """Whether the budget can be a cap under a law: ρ never becomes μ, nor μ ρ."""
        return self.mu is None if law is Law.ZCDP else self.rho is None

    def check_delta(self, ceiling: Fraction) -> None:
        """Refuse a δ above the workspace's ceiling.

        Raises:
            ConfigError: nothing spent.
        """
        if max(self.delta or Fraction(0), self.domain_delta) > ceiling:
            raise ConfigError(
                f"delta is above the workspace's ceiling of {delta_text(ceiling)}; "
                "a larger one needs max_delta in dprelease.toml"
            )

    def cap(self, law: Law) -> Cap:
        """Return the exact cap: never more than was stated, with the δ that is set aside.

        Raises:
            ConfigError: the budget is in the other law's unit.
        """
        from accounting.convert import cap_for

        if self.epsilon is not None and self.delta is not None:
            return Cap(cap_for(EpsilonDelta(self.epsilon, self.delta - self.domain_delta), law), self.domain_delta)
        if law is Law.ZCDP and self.rho is not None:
            return Cap(Rho(self.rho), self.domain_delta)
        if law is Law.GDP and self.mu is not None:
            return Cap(Mu(self.mu * self.mu), self.domain_delta)
        raise ConfigError("rho belongs to law zcdp and mu to law gdp; neither becomes the other")


@dataclass(frozen=True, slots=True)
class Conversion:
    """One law's budget beside its (ε, δ).

    Args:
        law: the law.
        amount: ρ or μ².
        epsilon: ε at ``delta``, rounded up.
        delta: δ.
    """

    law: Law
    amount: Fraction
    epsilon: Fraction
    delta: Fraction


def convert(choice: BudgetChoice) -> tuple[Conversion, ...]:
    """Convert a budget: ε with δ into each law's cap, ρ or μ with δ into ε.

    Raises:
        ConfigError: no δ; nothing is converted without one.
    """
    from accounting.convert import epsilon

    if choice.delta is None:
        raise ConfigError("state delta too: an epsilon belongs to one delta")
    laws = [law for law in Law if choice.suits(law)]
    caps = [(law, choice.cap(law)) for law in laws]
    return tuple(Conversion(law, cap.value, epsilon(cap.amount, choice.delta), choice.delta) for law, cap in caps)
