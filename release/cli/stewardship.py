"""``dprelease ledger``, the commands that change what a dataset or a release stands for; none can be undone."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from release.cli.console import confirm, emit
from release.cli.options import budget_options, json_option, signing_keys_option, workspace_option

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from release.workspace import Workspace

_DEED = "change the ledger"

yes_option = click.option("--yes", is_flag=True, help="Change the ledger without being asked.")


@click.command("checkpoint")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE", help="A new file."
)
@signing_keys_option
@workspace_option
@json_option
def checkpoint(*, out: Path, keys: tuple[Path, ...], workspace: Path, as_json: bool) -> None:
    """Sign the ledger's size and root as they are now, and which releases stand no longer.

    Keep the file where those who can write the ledger cannot: `ledger verify --checkpoint FILE` then finds any later
    change of what was there before, and `verify --checkpoint FILE` tells whether a release was superseded or withdrawn.
    """
    from accounting.ledger import parse_checkpoint
    from release.creation import refuse_present, write_new
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    ledger = opened.open_ledger()
    signers = _signers(opened, keys)
    refuse_present(out)
    note = ledger.checkpoint(signers)
    write_new(out, note)
    signed = parse_checkpoint(note)
    if as_json:
        document = {"file": str(out), "entries": signed.size, "root": signed.root.hex(), "standings": signed.standings}
        emit("ledger.checkpoint", document)
    else:
        click.echo(f"{out} holds a signed checkpoint of {signed.size} entries, root {signed.root.hex()}.")


@click.command("close")
@click.argument("label")
@yes_option
@workspace_option
@json_option
def close(*, label: str, yes: bool, workspace: Path, as_json: bool) -> None:
    """Close a dataset for good: its open releases are closed with it, and nothing more is spent."""
    from release.amounts import left_text
    from release.cli.ledger_view import say_dataset
    from release.workspace import open_workspace

    ledger = open_workspace(workspace).open_ledger()
    state = ledger.dataset(label)
    confirm(f"Close {label} for good, with {left_text(state.left, state.law)} left?", yes=yes, deed=_DEED)
    state = ledger.close_dataset(label)
    say_dataset("ledger.close", state, as_json=as_json)


@click.command("raise")
@click.argument("label")
@click.option("--continues", metavar="HEAD", required=True, help="The dataset's head in `dprelease ledger show`.")
@budget_options
@signing_keys_option
@yes_option
@workspace_option
@json_option
def raise_cap(
    *,
    label: str,
    continues: str,
    epsilon: Fraction | None,
    delta: Fraction | None,
    rho: Fraction | None,
    mu: Fraction | None,
    keys: tuple[Path, ...],
    yes: bool,
    workspace: Path,
    as_json: bool,
) -> None:
    """Raise a dataset's cap to a new total, signed; this replaces the guarantee of everything released from it before.

    The manifests of earlier releases state the old cap. The ledger marks them as replaced, and `dprelease verify` with
    the ledger or a later checkpoint refuses them. The signers vouch for the dataset's history up to HEAD.
    """
    from release.amounts import cost_text
    from release.budgets import BudgetChoice
    from release.cli.ledger_view import say_dataset
    from release.opening import raise_budget
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    ledger = opened.open_ledger()
    state = ledger.dataset(label)
    budget = BudgetChoice(epsilon=epsilon, delta=delta, rho=rho, mu=mu, domain_delta=state.cap.delta)
    budget.check_law(state.law, label)
    new = budget.cap(state.law)
    number = len(state.releases)
    confirm(
        f"Raise the cap of {label} from {cost_text(state.cap.value, state.law)} to {cost_text(new.value, state.law)}, "
        f"and replace the guarantee of its {number} release{'' if number == 1 else 's'}?",
        yes=yes,
        deed=_DEED,
    )
    raised = raise_budget(opened, ledger, label, budget=budget, continues=continues, keys=_signers(opened, keys))
    say_dataset("ledger.raise", raised, as_json=as_json)


@click.command("change-law")
@click.argument("label")
@yes_option
@workspace_option
@json_option
def change_law(*, label: str, yes: bool, workspace: Path, as_json: bool) -> None:
    """Change a dataset's law from gdp to zcdp, once: every μ² becomes a ρ of half its size.

    All its releases must be closed. What was spent and what is left stay the same promise in the other measure.
    """
    from release.cli.ledger_view import say_dataset
    from release.workspace import open_workspace

    ledger = open_workspace(workspace).open_ledger()
    ledger.dataset(label)
    confirm(f"Change the law of {label} from gdp to zcdp for good?", yes=yes, deed=_DEED)
    state = ledger.change_law(label)
    say_dataset("ledger.change-law", state, as_json=as_json)


@click.command("supersede")
@click.argument("release_id", metavar="RELEASE-ID")
@click.option("--by", metavar="RELEASE-ID", required=True, help="The later release of the same dataset.")
@yes_option
@workspace_option
@json_option
def supersede(*, release_id: str, by: str, yes: bool, workspace: Path, as_json: bool) -> None:
    """Record that a release is replaced by a later one; its guarantee and what it cost stay."""
    from release.workspace import open_workspace

    ledger = open_workspace(workspace).open_ledger()
    confirm(f"Record for good that {by} supersedes {release_id}?", yes=yes, deed=_DEED)
    entry = ledger.supersede(release_id, by=by)
    if as_json:
        emit("ledger.supersede", {"release": release_id, "by": by, "entry": entry})
    else:
        click.echo(f"Entry {entry}: {release_id} is superseded by {by}.")


@click.command("withdraw")
@click.argument("release_id", metavar="RELEASE-ID")
@yes_option
@workspace_option
@json_option
def withdraw(*, release_id: str, yes: bool, workspace: Path, as_json: bool) -> None:
    """Record that a release is withdrawn: nobody should use it. What it cost stays spent."""
    from release.workspace import open_workspace

    ledger = open_workspace(workspace).open_ledger()
    confirm(f"Withdraw {release_id} for good?", yes=yes, deed=_DEED)
    entry = ledger.withdraw(release_id)
    if as_json:
        emit("ledger.withdraw", {"release": release_id, "entry": entry})
    else:
        click.echo(f"Entry {entry}: {release_id} is withdrawn. What it cost stays spent.")


@click.command("declare-disjoint")
@click.argument("label")
@click.argument("others", metavar="OTHER-LABEL...", nargs=-1, required=True)
@signing_keys_option
@yes_option
@workspace_option
@json_option
def declare_disjoint(
    *, label: str, others: tuple[str, ...], keys: tuple[Path, ...], yes: bool, workspace: Path, as_json: bool
) -> None:
    """Sign that a dataset shares no people with others, so that nobody is under two budgets.

    Without it, the budgets of two labels add up for a person who may be in both.
    """
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    ledger = opened.open_ledger()
    names = ", ".join(others)
    confirm(f"Sign that nobody of {label} is in {names}?", yes=yes, deed=_DEED)
    entry = ledger.declare_disjoint(label, others, keys=_signers(opened, keys))
    if as_json:
        emit("ledger.declare-disjoint", {"dataset": label, "others": sorted(set(others)), "entry": entry})
    else:
        click.echo(f"Entry {entry}: {label} shares no people with {names}, as signed.")


def _signers(opened: "Workspace", paths: Sequence[Path]) -> "list[Ed25519PrivateKey]":
    from release.cli.keys import load_signing_key

    return [load_signing_key(path) for path in paths or (opened.key_path,)]


COMMANDS = (checkpoint, close, raise_cap, change_law, supersede, withdraw, declare_disjoint)
