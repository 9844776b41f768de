"""``dprelease approve``: add an approver's signature to a release."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from release.cli.console import confirm, emit
from release.cli.options import json_option, workspace_option

if TYPE_CHECKING:
    from release.manifest import Manifest


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="The approver's private key.",
)
@click.option(
    "--trust",
    "trust",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A public key of those who signed before; may be repeated. Default: the workspace's trusted keys.",
)
@click.option("--yes", is_flag=True, help="Sign without being asked.")
@workspace_option
@json_option
def approve(*, folder: Path, key: Path, trust: tuple[Path, ...], yes: bool, workspace: Path, as_json: bool) -> None:
    """Verify a release, show what it promises, and add an approver's signature to it.

    The release does not change: its envelope holds one signature more. `dprelease verify --policy` counts the
    approvers' signatures; a verification that does not know an approver's key ignores its signature.
    """
    from release.approving import approve as add_approval
    from release.approving import check_approvable
    from release.cli.keys import load_signing_key
    from release.trust import trusted_keys

    private = load_signing_key(key)
    verified = check_approvable(folder, private, trusted_keys(folder, trust, workspace))
    manifest = verified.manifest
    click.echo(promise_text(manifest), err=True)
    confirm(f"Approve release {manifest.release_id}?", yes=yes, deed="sign")
    signers = add_approval(folder, private)
    if as_json:
        emit("approve", {"release": manifest.release_id, "signers": list(signers)})
    else:
        click.echo(f"{folder} is signed by {len(signers)} keys now: {', '.join(signers)}")


def promise_text(manifest: "Manifest") -> str:
    """Say in two lines what a release promises."""
    from accounting.exact import from_text
    from accounting.unit import unit_from_json
    from release.amounts import statement_text
    from release.units import describe_unit

    guarantee = manifest.guarantee
    own, whole = guarantee.release_curve[0], guarantee.dataset_curve[0]
    stated = statement_text(Fraction(own.epsilon), from_text(own.delta))
    together = statement_text(Fraction(whole.epsilon), from_text(whole.delta))
    return (
        f"Release {manifest.release_id} of {manifest.dataset}: {manifest.output_rows} synthetic rows by "
        f"{manifest.mechanism['kind']}, unit {describe_unit(unit_from_json(manifest.unit))}\n"
        f"It may have {stated}, all releases together {together}."
    )
