"""``dprelease audit``: does what ran keep what was claimed."""

from pathlib import Path
from typing import Literal

import click

from release.cli.lazy import ListingGroup
from release.cli.options import json_option, keys_option, workspace_option

LEVELS = ("quick", "thorough")
level_option = click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="quick",
    show_default=True,
    help="quick takes about two minutes on two cores, thorough about half an hour.",
)


@click.group(cls=ListingGroup)
def audit() -> None:
    """Audit a mechanism, or a release's claim. An audit can refute a claim; a pass is no proof."""


@audit.command()
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The release.toml; default: the workspace's.",
)
@level_option
@click.option("--runs", type=click.IntRange(25, 10_000_000), default=None, help="Runs a side of the main pair.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write audit.json here.")
@click.option(
    "--continue",
    "keep",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Keep finished runs in this file, and go on with those that it holds.",
)
@click.option(
    "--attest",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=None,
    metavar="DIR",
    help="Sign the result as a statement about this release, into DIR/attestations/.",
)
@workspace_option
@json_option
def mechanism(
    *,
    config: Path | None,
    level: Literal["quick", "thorough"],
    runs: int | None,
    out: Path | None,
    keep: Path | None,
    attest: Path | None,
    workspace: Path,
    as_json: bool,
) -> None:
    """Audit the mechanism that a release.toml configures, on planted tables.

    Runs it thousands of times on pairs of made-up tables that differ by one unit, behind throw-away ledgers, and weighs
    each run's whole transcript. Replays every question, tests the noise, and tries the synthetic rows alone. The
    private file is not opened and nothing is spent. Leaves with exit code 1 when the claim is falsified.
    """
    from accounting.ledger import Ledger
    from release.auditing import attest as sign
    from release.auditing import audit_bytes, audit_prepared, check_audit
    from release.cli.audit_view import audit_text
    from release.cli.console import emit
    from release.cli.keys import load_signing_key
    from release.prepared import prepare
    from release.trust import trusted_keys
    from release.verify import verify_release
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    if attest is not None:
        verify_release(attest, trusted_keys(attest, (), workspace))
    ledger = Ledger.open(opened.ledger_url, must_exist=True)
    prepared = prepare(opened, ledger, config or opened.folder / "release.toml")
    document = audit_prepared(prepared, level, runs=runs, keep=keep, say=say)
    if out is not None:
        out.write_bytes(audit_bytes(document))
    if attest is not None:
        click.echo(f"signed {sign(attest, document, load_signing_key(opened.key_path))}", err=True)
    if as_json:
        emit("audit", {"audit": document.model_dump(mode="json")})
    else:
        click.echo(audit_text(document))
    check_audit(document)


@audit.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@keys_option
@workspace_option
@json_option
def claim(*, folder: Path, keys: tuple[Path, ...], workspace: Path, as_json: bool) -> None:
    """Recompute a release's claim: its sums by two codes, its epsilons at 50 digits and by dp-accounting."""
    from accounting.errors import VerificationFailed
    from release.auditing import claim_checks
    from release.cli.console import emit
    from release.trust import trusted_keys
    from release.verify import verify_release

    verified = verify_release(folder, trusted_keys(folder, keys, workspace))
    checks = claim_checks(folder, verified.manifest)
    texts = [str(check.recomputed) for check in checks]
    if as_json:
        rows = [
            {"what": c.what, "stated": c.stated, "recomputed": text, "holds": c.holds}
            for c, text in zip(checks, texts, strict=True)
        ]
        emit("claim", {"release": verified.manifest.release_id, "checks": rows, "holds": all(c.holds for c in checks)})
    else:
        for check, text in zip(checks, texts, strict=True):
            click.echo(f"{'ok' if check.holds else 'NO'}  {check.what}: stated {check.stated}, recomputed {text}")
    if not all(check.holds for check in checks):
        raise VerificationFailed("the claim is not what the questions and the caps give")


@audit.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--holdout",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    help="Rows that were not in the private table, in the same form: the control of every attack.",
)
@click.option("--target", default=None, help="The column to predict and to infer; default: the last one.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The release.toml that names the private file; default: the workspace's.",
)
@workspace_option
def release(*, folder: Path, holdout: Path | None, target: str | None, config: Path | None, workspace: Path) -> None:
    """Attack a release's synthetic table and measure its usefulness, on the private rows and held-out ones.

    The result is exact and unpaid, so it is confidential: it goes to WORKSPACE/confidential/RELEASE-ID/ and nowhere
    else. The look is recorded in the ledger first. Held-out rows are private people too.
    """
    from accounting.ledger import Ledger
    from release.attacking import audit_output
    from release.prepared import prepare
    from release.trust import trusted_keys
    from release.verify import verify_release
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    verified = verify_release(folder, trusted_keys(folder, (), workspace))
    ledger = Ledger.open(opened.ledger_url, must_exist=True)
    prepared = prepare(opened, ledger, config or opened.folder / "release.toml")
    path = audit_output(prepared, ledger, folder, verified.manifest, holdout=holdout, target=target, say=say)
    click.echo(f"{path} holds the result, {path.with_suffix('.html').name} shows it: for the curator's eyes only")


def say(message: str) -> None:
    """Say on stderr what the audit does next, and how long it will take."""
    click.echo(message, err=True)
