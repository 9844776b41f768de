"""``dprelease ledger``: open budgets, look at what was spent, and check that nothing was changed."""

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from release.cli import stewardship
from release.cli.console import emit
from release.cli.lazy import ListingGroup
from release.cli.options import EXACT, budget_options, json_option, keys_option, workspace_option

if TYPE_CHECKING:
    from accounting.ledger import Ledger


@click.group(cls=ListingGroup)
def ledger() -> None:
    """Open budgets and look at what was spent."""


@ledger.command("open")
@click.argument("label")
@click.option("--unit", type=click.Choice(["row", "person"]), required=True, help="Whose presence is hidden.")
@click.option("--id-column", default=None, help="The person's id column; with --unit person.")
@click.option("--max-rows", type=int, default=None, help="The most rows of a person that count; with --unit person.")
@click.option("--law", type=click.Choice(["zcdp", "gdp"]), required=True, help="What the budget adds up: ρ or μ².")
@budget_options
@click.option(
    "--domain-delta",
    type=EXACT,
    default=None,
    help="The part of δ set aside for finding categories; default: none, so that none can be found.",
)
@workspace_option
@json_option
def open_budget(
    *,
    label: str,
    unit: str,
    id_column: str | None,
    max_rows: int | None,
    law: str,
    epsilon: Fraction | None,
    delta: Fraction | None,
    rho: Fraction | None,
    mu: Fraction | None,
    domain_delta: Fraction | None,
    workspace: Path,
    as_json: bool,
) -> None:
    """Open the one budget of a dataset; it is never opened again and never grows.

    LABEL names the people behind the data: a new version, extract or join of the same people's table keeps it.
    """
    from accounting.budget import Law
    from release.budgets import BudgetChoice
    from release.cli.ledger_view import say_dataset
    from release.opening import open_dataset
    from release.units import privacy_unit
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    chosen = privacy_unit(unit, id_column, max_rows)
    budget = BudgetChoice(epsilon=epsilon, delta=delta, rho=rho, mu=mu, domain_delta=domain_delta or Fraction(0))
    state = open_dataset(opened, opened.open_or_make_ledger(), label, unit=chosen, law=Law(law), budget=budget)
    say_dataset("ledger.open", state, as_json=as_json)


@ledger.command("show")
@click.argument("label", required=False)
@workspace_option
@json_option
def show(*, label: str | None, workspace: Path, as_json: bool) -> None:
    """Show each dataset's budget: total, spent, left, in flight, and by release."""
    from release.cli.ledger_view import dataset_document, dataset_text

    opened = _existing(workspace)
    states = [opened.dataset(name) for name in ((label,) if label else opened.datasets())]
    if as_json:
        emit("ledger.show", {"datasets": [dataset_document(state) for state in states]})
        return
    click.echo("\n\n".join(map(dataset_text, states)) or "No dataset is open; `dprelease ledger open` opens one.")


@ledger.command("recover")
@click.argument("release_id", metavar="RELEASE-ID")
@workspace_option
@json_option
def recover(*, release_id: str, workspace: Path, as_json: bool) -> None:
    """Give up a run that was stopped or died: free what it was never granted.

    What was granted stays spent, answered or not. The run can still be finished from its stored answers by
    `dprelease run --resume`, but can ask nothing new.
    """
    from release.cli.ledger_view import recovered_document, recovered_text

    opened = _existing(workspace)
    recovered = opened.recover(release_id)
    if as_json:
        emit("ledger.recover", recovered_document(recovered))
    else:
        click.echo(recovered_text(recovered))


@ledger.command("verify")
@click.option(
    "--checkpoint",
    "checkpoints",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A signed checkpoint that was kept elsewhere; may be given several times.",
)
@click.option(
    "--release",
    "releases",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="The folder of an earlier release; may be given several times.",
)
@keys_option
@workspace_option
@json_option
def verify(
    *,
    checkpoints: tuple[Path, ...],
    releases: tuple[Path, ...],
    keys: tuple[Path, ...],
    workspace: Path,
    as_json: bool,
) -> None:
    """Replay the whole ledger: form, chain, sums, state changes, stored answers, signatures.

    Whatever was edited, removed, reordered or cut off is named. That the whole was replaced by an older copy or by
    another history shows only against what was kept elsewhere: a checkpoint, or an earlier release.
    """
    from release.checking import check_ledger

    head = check_ledger(_existing(workspace), workspace, checkpoints=checkpoints, releases=releases, keys=keys)
    if as_json:
        emit("ledger.verify", {"verified": True, "ledger": head.ledger, "entries": head.size, "root": head.root})
        return
    click.echo(f"The ledger is whole: {head.size} entries, root {head.root}.")
    number = len(checkpoints) + len(releases)
    if number:
        click.echo(f"It goes on from what was kept elsewhere: {number} checked.")


@ledger.command("log")
@click.argument("label", required=False)
@click.option("--release", "release_id", default=None, help="Only entries of or about this release.")
@click.option("--kind", default=None, help="Only entries of this kind, such as settled or look.")
@workspace_option
@json_option
def log(*, label: str | None, release_id: str | None, kind: str | None, workspace: Path, as_json: bool) -> None:
    """List the ledger's entries in order."""
    from release.checking import check_filters
    from release.cli.ledger_view import log_text

    opened = _existing(workspace)
    check_filters(opened, label, release_id, kind)
    entries = [entry.body for entry in opened.entries(label, release_id=release_id, kind=kind)]
    if as_json:
        emit("ledger.log", {"entries": entries})
    else:
        click.echo(log_text(entries))


@ledger.command("export")
@click.argument("label", required=False)
@workspace_option
def export(*, label: str | None, workspace: Path) -> None:
    """Write the entries as canonical JSON lines: exactly the bytes that are hashed.

    Anyone can add them up again with the page of code in docs/formats.md.
    """
    opened = _existing(workspace)
    if label is not None:
        opened.dataset(label)
    sys.stdout.buffer.writelines(opened.export(label))


def _existing(workspace: Path) -> "Ledger":
    from release.workspace import open_workspace

    return open_workspace(workspace).open_ledger()


for command in stewardship.COMMANDS:
    ledger.add_command(command)
