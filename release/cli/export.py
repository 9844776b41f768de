"""``dprelease export``: write a release down for a catalogue or a portal."""

from pathlib import Path

import click

from release.cli.options import json_option, keys_option, workspace_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["summary", "croissant", "frictionless", "opendp"]),
    required=True,
    help="summary: one page in Markdown (.md); croissant: Croissant 1.1 (.json); frictionless: a Data Package 2 "
    "(.json); opendp: a draft for OpenDP's deployments registry (.yaml).",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A new file.")
@click.option(
    "--publication",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A publication.toml: title, publishers, licence and what else only the publisher knows; opendp needs it.",
)
@click.option("--unverified", is_flag=True, help="Check the files' digests only, not the signature and the claim.")
@keys_option
@workspace_option
@json_option
def export(
    *,
    folder: Path,
    kind: str,
    out: Path,
    publication: Path | None,
    unverified: bool,
    keys: tuple[Path, ...],
    workspace: Path,
    as_json: bool,
) -> None:
    """Write a release down for a catalogue or a portal.

    Verifies the release first. Says only what the release's public files and publication.toml say, and gives the same
    bytes for the same release. Writes neither into a release nor over a file; publish the result beside the release's
    folder.
    """
    from release.cli.console import emit
    from release.exports import FORMATS, export_release
    from release.trust import trusted_keys

    trusted = None if unverified else trusted_keys(folder, keys, workspace)
    (chosen,) = [name for name in FORMATS if name == kind]
    export_release(folder, trusted, kind=chosen, out=out, publication=publication)
    if unverified:
        click.echo("The release was not verified.", err=True)
    if as_json:
        emit("export", {"file": str(out), "export": kind, "verified": not unverified})
        return
    click.echo(f"Wrote {out}.")
