"""``dprelease verify``: check a release folder offline."""

from pathlib import Path

import click

from release.cli.console import emit
from release.cli.options import json_option, keys_option, workspace_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@keys_option
@workspace_option
@json_option
def verify(*, folder: Path, keys: tuple[Path, ...], workspace: Path, as_json: bool) -> None:
    """Check a release folder offline.

    Checks the signature, every file's digest, the ledger's chain, the sums of all costs by two codes, epsilon by two
    formulas, and the synthetic table against its schema. A key inside a release is never trusted.
    """
    from release.trust import trusted_keys
    from release.verify import verify_release

    verified = verify_release(folder, trusted_keys(folder, keys, workspace))
    manifest = verified.manifest
    if as_json:
        emit(
            "verify",
            {
                "verified": True,
                "release": manifest.release_id,
                "dataset": manifest.dataset,
                "signers": list(verified.signers),
                "rows": verified.rows,
                "checks": list(verified.checks),
                "unit": manifest.unit,
                "guarantee": manifest.guarantee.model_dump(mode="json"),
                "settled": manifest.settled,
            },
        )
        return
    for check in verified.checks:
        click.echo(f"ok  {check}")
    click.echo(f"{folder} is release {manifest.release_id} of {manifest.dataset}, and keeps what it says.")
