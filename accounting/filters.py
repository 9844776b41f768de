"""Privacy filters: the exact yes or no to one more cost under a cap that was fixed beforehand.

A filter is a frozen value: what is capped and what is spent. Both laws add exact rationals and refuse whatever would
pass the cap; there is no tolerance. The filter never sees an (ε, δ): those are conversions of the cap at the edges.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from accounting.budget import Cap, Law
from accounting.errors import BudgetRefused, ConfigError, LedgerError
from accounting.exact import decimal_above, decimal_below, non_negative, positive, to_text

THEOREMS = MappingProxyType(
    {
        Law.ZCDP: "Whitehouse, Ramdas, Rogers and Wu 2023, Fully-Adaptive Composition in Differential Privacy, "
        "the approximate zCDP filter (arXiv:2203.05481)",
        Law.GDP: "Smith and Thakurta 2022, Fully Adaptive Composition for Gaussian Differential Privacy, "
        "the GDP filter (arXiv:2210.17520)",
    }
)
"""The theorem that makes each law's filter valid for adaptively chosen costs; conditions in docs/guarantees.md."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a cap still admits after what was granted from it.

    Args:
        cap: the cap, fixed before the first question.
        spent: the sum of the granted amounts in the law's unit (ρ or μ²), from 0 to the cap.
        delta_spent: the sum of the granted δ, from 0 to the cap's δ.

    Raises:
        LedgerError: more was granted than the cap admits; no filter ever allows that, so the history is damaged.

    Privacy:
        If every grant passed :meth:`check`, the whole adaptive run satisfies the cap: ρ-zCDP or μ-GDP, up to δ. This
        needs that each question's price holds for every history of earlier answers, that price and content of a
        question are functions of earlier answers and public values, that its noise is fresh, and that a question is
        answered in one message. Costs and stopping may depend on earlier answers; the cap may not.

    Source:
        See ``THEOREMS``.
    """

    cap: Cap
    spent: Fraction = Fraction(0)
    delta_spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not isinstance(self.cap, Cap):
            raise ConfigError("a filter needs a Cap")
        object.__setattr__(self, "spent", non_negative(self.spent, "spent"))
        object.__setattr__(self, "delta_spent", non_negative(self.delta_spent, "delta spent"))
        if self.spent > self.cap.value or self.delta_spent > self.cap.delta:
            raise LedgerError("more was granted than the cap admits; the history of this budget is damaged")

    @property
    def theorem(self) -> str:
        """The theorem that this filter relies on, for ledger entries and manifests."""
        return THEOREMS[self.cap.law]

    @property
    def left(self) -> Fraction:
        """What is left of the cap, in the law's unit (ρ or μ²)."""
        return self.cap.value - self.spent

    @property
    def delta_left(self) -> Fraction:
        """What is left of the cap's δ."""
        return self.cap.delta - self.delta_spent

    def check(self, amount: Fraction, delta: Fraction = Fraction(0)) -> None:
        """Refuse a cost that does not fit; admit one that fits exactly.

        Args:
            amount: the price in the law's unit (ρ or μ²), greater than 0.
            delta: the price in δ, at least 0.

        Raises:
            BudgetRefused: it does not fit; nothing was spent.
            ConfigError: the amounts are not exact numbers of that range; nothing was spent.
        """
        amount = positive(amount, "amount")
        delta = non_negative(delta, "delta")
        if amount > self.left:
            raise _refusal(amount, self.left, self.cap.law.unit)
        if delta > self.delta_left:
            raise _refusal(delta, self.delta_left, "delta")

    def after(self, amount: Fraction, delta: Fraction = Fraction(0)) -> "Filter":
        """Return the filter once a cost that fits is granted; refuses as :meth:`check` does."""
        self.check(amount, delta)
        return replace(self, spent=self.spent + Fraction(amount), delta_spent=self.delta_spent + Fraction(delta))


_SYMBOLS = MappingProxyType({"rho": "ρ", "mu_squared": "μ²", "delta": "δ"})


def _refusal(asked: Fraction, left: Fraction, unit: str) -> BudgetRefused:
    symbol = _SYMBOLS[unit]
    return BudgetRefused(
        f"the budget does not allow this: {symbol} = {decimal_above(asked)} was asked for (exactly {to_text(asked)}), "
        f"{symbol} = {decimal_below(left)} is left (exactly {to_text(left)}). Nothing was spent. "
        f"Ask for at most what is left.",
        asked=asked,
        left=left,
        unit=unit,
    )
