"""Open the one budget of a dataset, and raise it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.unit import PrivacyUnit
from release.budgets import BudgetChoice
from release.workspace import Workspace

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from accounting.ledger import DatasetState, Ledger


def open_dataset(
    workspace: Workspace, ledger: "Ledger", label: str, *, unit: PrivacyUnit, law: Law, budget: BudgetChoice
) -> "DatasetState":
    """Open a dataset's budget.

    Raises:
        ConfigError: the label has a budget already, δ is above the workspace's ceiling, or the budget is in the other
            law's unit; nothing was spent.
    """
    budget.check_law(law, label)
    budget.check_delta(workspace.max_delta)
    cap = budget.cap(law)
    return ledger.open_dataset(label, unit=unit, cap=cap, statement=budget.statement or _stated(cap, budget.delta))


def raise_budget(
    workspace: Workspace,
    ledger: "Ledger",
    label: str,
    *,
    budget: BudgetChoice,
    continues: str,
    keys: "Sequence[Ed25519PrivateKey]",
) -> "DatasetState":
    """Raise a dataset's cap to a new total, signed.

    Raises:
        ConfigError: not a raise, δ is above the workspace's ceiling, the budget is in the other law's unit, or the
            dataset moved on since that head; nothing was changed.
        BudgetRefused: the dataset is closed.
    """
    law = ledger.dataset(label).law
    budget.check_law(law, label)
    budget.check_delta(workspace.max_delta)
    cap = budget.cap(law)
    statement = budget.statement or _stated(cap, budget.delta)
    return ledger.raise_cap(label, cap, continues=continues, keys=keys, statement=statement)


def _stated(cap: Cap, delta: Fraction | None) -> EpsilonDelta | None:
    """Return the (ε, δ) that a ρ or μ gives at a stated δ, ε rounded up."""
    from accounting.convert import epsilon

    reached = Fraction(0) if delta is None else epsilon(cap, delta)
    return EpsilonDelta(reached, delta) if delta is not None and reached else None
