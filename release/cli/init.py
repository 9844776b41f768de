"""``dprelease init``: make a workspace."""

from pathlib import Path

import click

from release.cli.console import emit
from release.cli.options import json_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@json_option
def init(*, folder: Path, as_json: bool) -> None:
    """Make a workspace: a folder for one steward's releases.

    Writes dprelease.toml (where the ledger and the keys are) and two files to edit: schema.toml, the public description
    of the table, and release.toml, what one release asks for. Nothing is overwritten.
    """
    from release.creation import create_workspace

    written = create_workspace(folder)
    if as_json:
        emit("init", {"workspace": str(folder), "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(
        "Next: edit schema.toml (what is public about the table) and release.toml (what a release asks for), then\n"
        "  dprelease keys new\n"
        "  dprelease ledger open LABEL --unit … --law … --epsilon … --delta …\n"
        "  dprelease plan"
    )
