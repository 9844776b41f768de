"""Open the one budget of a dataset."""

from typing import TYPE_CHECKING

from accounting.budget import Law
from accounting.errors import ConfigError
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit
from release.budgets import BudgetChoice
from release.workspace import Workspace

if TYPE_CHECKING:
    from accounting.ledger import DatasetState, Ledger


def privacy_unit(kind: str, id_column: str | None, max_rows: int | None) -> PrivacyUnit:
    """Build a privacy unit from a command's options.

    Raises:
        ConfigError: an option is missing or does not belong to the kind.
    """
    if kind == "row":
        if id_column is not None or max_rows is not None:
            raise ConfigError("--id-column and --max-rows belong to --unit person")
        return RowUnit()
    if id_column is None or max_rows is None:
        raise ConfigError("--unit person needs --id-column and --max-rows")
    return PersonUnit(id_column, max_rows)


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
