"""Open the one budget of a dataset."""

from typing import TYPE_CHECKING

from accounting.budget import Law
from accounting.unit import PrivacyUnit
from release.budgets import BudgetChoice
from release.workspace import Workspace

if TYPE_CHECKING:
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
    return ledger.open_dataset(label, unit=unit, cap=budget.cap(law), statement=budget.statement)
