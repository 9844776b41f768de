"""``dprelease verify``: check a release folder, offline or against its ledger."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from release.cli.console import emit
from release.cli.options import json_option, keys_option, workspace_option

if TYPE_CHECKING:
    from release.standing import Standing
    from release.verify import Verified


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@keys_option
@click.option(
    "--policy",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    help="A policy.toml: who must have signed, how strong, whom it hides. Its keys are the trusted ones.",
)
@click.option("--ledger", "url", default=None, metavar="URL", help="Ask the ledger whether the release still stands.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    help="Ask a later signed checkpoint of the ledger whether the release still stands.",
)
@workspace_option
@json_option
def verify(
    *,
    folder: Path,
    keys: tuple[Path, ...],
    policy: Path | None,
    url: str | None,
    checkpoint: Path | None,
    workspace: Path,
    as_json: bool,
) -> None:
    """Check a release folder, offline or against its ledger.

    Checks the signature, every file's digest, the ledger's chain and its proof in a signed checkpoint, the sums of all
    costs by two codes, epsilon by two formulas, and the synthetic table against its schema. A key inside a release is
    never trusted. Whether a release was superseded or withdrawn since cannot be known offline: --ledger or --checkpoint
    tells.
    """
    from release.standing import check_standing, standing_in_checkpoint, standing_in_ledger
    from release.trust import trusted_keys
    from release.verify import verify_release

    if policy is not None and keys:
        raise click.UsageError("--policy names the trusted keys; leave --key out")
    if url is not None and checkpoint is not None:
        raise click.UsageError("give --ledger or --checkpoint, not both")
    if policy is None:
        trusted = trusted_keys(folder, keys, workspace)
        verified = verify_release(folder, trusted)
    else:
        from release.policy import read_policy, verify_under

        accepted = read_policy(policy)
        trusted = accepted.keys
        verified = verify_under(folder, accepted)
    standing = None
    if url is not None:
        standing = standing_in_ledger(url, folder, verified.manifest, list(trusted.values()))
    elif checkpoint is not None:
        standing = standing_in_checkpoint(checkpoint, folder, verified.manifest, list(trusted.values()))
    if standing is not None:
        check_standing(standing)
    if as_json:
        emit("verify", verified_document(verified, standing))
        return
    for check in verified.checks:
        click.echo(f"ok  {check}")
    if policy is not None:
        click.echo(f"ok  {policy.name} accepts it")
    click.echo(standing_text(standing))
    click.echo(
        f"{folder} is release {verified.manifest.release_id} of {verified.manifest.dataset}, and keeps what it says."
    )


def verified_document(verified: "Verified", standing: "Standing | None") -> dict[str, object]:
    """Describe a verified release as JSON; ``standing`` is null where nobody was asked."""
    manifest = verified.manifest
    document: dict[str, object] = {
        "verified": True,
        "release": manifest.release_id,
        "dataset": manifest.dataset,
        "signers": list(verified.signers),
        "rows": verified.rows,
        "checks": list(verified.checks),
        "unit": manifest.unit,
        "guarantee": manifest.guarantee.model_dump(mode="json"),
        "settled": manifest.settled,
        "standing": None,
    }
    if standing is not None:
        document["standing"] = {
            "source": standing.source,
            "entries": standing.entries,
            "superseded_by": standing.superseded_by,
        }
    return document


def standing_text(standing: "Standing | None") -> str:
    """Say whether a release that was not withdrawn still stands, or that nobody was asked."""
    if standing is None:
        return "--  superseded or withdrawn since? Offline nobody can know; --ledger or --checkpoint tells"
    asked = f"says the {standing.source} of {standing.entries} entries"
    if standing.superseded_by is not None:
        return f"--  superseded by {standing.superseded_by}, {asked}; its guarantee stays"
    return f"ok  neither superseded nor withdrawn, {asked}"
