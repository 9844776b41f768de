"""``dprelease report``: make a release's report again."""

from pathlib import Path
from typing import Literal

import click

from release.cli.options import json_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write: a page (.html) or its content (.json).",
)
@click.option(
    "--lang",
    "language",
    type=click.Choice(("en", "ja")),
    default=None,
    help="The page's language, English or Japanese; default: that of the signed page.",
)
@json_option
def report(*, folder: Path, out: Path, language: Literal["en", "ja"] | None, as_json: bool) -> None:
    """Make a release's report again from its own files.

    Gives the same bytes as the report.html or report.json that was signed with the release, as far as the same versions
    of this program and of matplotlib are used; with another language, the same content in that language. Reads the
    release alone, checks its files' digests but no signature (verify does that), and writes neither into a release nor
    over a file.
    """
    from release.cli.console import emit
    from release.report.writing import regenerate_report

    written = regenerate_report(folder, out, language)
    if as_json:
        emit("report", {"file": str(written)})
        return
    click.echo(f"Wrote {written}.")
