"""``dprelease compare``: several releases side by side."""

from pathlib import Path

import click

from release.cli.options import json_option, workspace_option


@click.command()
@click.argument(
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    nargs=-1,
    required=True,
    metavar="DIR DIR…",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write a page (.html) with pictures."
)
@click.option(
    "--confidential",
    is_flag=True,
    help="Compare by the results of `audit release`, for the curator only; a page goes to WORKSPACE/confidential/.",
)
@workspace_option
@json_option
def compare(*, folders: tuple[Path, ...], out: Path | None, confidential: bool, workspace: Path, as_json: bool) -> None:
    """Put releases of one table side by side.

    Shows error against epsilon, by mechanism, with the spread over runs. Takes releases of the same schema and unit,
    and refuses others. Compares by the error bounds that each release carries; with --confidential by exact figures of
    private rows, which is outside the guarantee where it guides a choice. Checks the files' digests but no signature.
    """
    from release.cli.compare_view import comparison_text
    from release.cli.console import emit
    from release.comparison.build import compare as put_side_by_side
    from release.comparison.page import write_page
    from release.workspace import open_workspace

    place = open_workspace(workspace).folder / "confidential" if confidential else None
    comparison = put_side_by_side(folders, place)
    if out is not None:
        write_page(comparison, out, place)
    if as_json:
        emit("comparison", comparison.model_dump(mode="json"))
        return
    click.echo(comparison_text(comparison))
    if out is not None:
        click.echo(f"Wrote {out}.")
