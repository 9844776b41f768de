"""``dprelease schema``: draft or show a public schema, or check a table against it."""

from pathlib import Path

import click

from release.cli.authoring import from_dictionary, from_public, new
from release.cli.console import emit
from release.cli.lazy import ListingGroup
from release.cli.options import json_option, workspace_option

schema_option = click.option(
    "--schema",
    "schema_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The schema's TOML file; default: the workspace's schema.toml.",
)


@click.group(cls=ListingGroup)
def schema() -> None:
    """Draft or show a public schema, or check a table against it."""


for _command in (new, from_dictionary, from_public):
    schema.add_command(_command)


@schema.command("show")
@schema_option
@workspace_option
@json_option
def show(*, schema_file: Path | None, workspace: Path, as_json: bool) -> None:
    """Show what a schema means: cells a column, sizes of 2- and 3-way marginals, memory, warnings.

    Reads the schema alone, no data.
    """
    from accounting.schema import Schema
    from release.cli.schema_view import summary_document, summary_text
    from release.summary import summarise_schema

    summary = summarise_schema(Schema.from_toml(schema_file or workspace / "schema.toml"))
    if as_json:
        emit("schema.show", summary_document(summary))
    else:
        click.echo(summary_text(summary))


@schema.command("check")
@click.argument("data", type=click.Path(path_type=Path, dir_okay=False))
@schema_option
@click.option("--dataset", default=None, help="The dataset's label; default: the one in the workspace's release.toml.")
@click.option("--encoding", default="utf-8", show_default=True, help="The file's text encoding.")
@workspace_option
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    *,
    data: Path,
    schema_file: Path | None,
    dataset: str | None,
    encoding: str,
    workspace: Path,
    as_json: bool,
) -> None:
    """Count how many rows of the private file DATA break which rule of the schema.

    The counts are exact, so they are confidential: for the curator alone, never to be shared. The ledger records the
    look, so the dataset's budget must be open. Leaves with exit code 1 when rows break rules.
    """
    from accounting.schema import Schema
    from release.cli.schema_view import report_document, report_text
    from release.config import read_config
    from release.looking import check_schema
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    label = dataset or read_config(opened.folder / "release.toml").dataset
    declared = Schema.from_toml(schema_file or opened.folder / "schema.toml")
    report = check_schema(opened.open_ledger(), label, data, declared, encoding=encoding).reveal_to_curator()
    if as_json:
        emit("schema.check", report_document(report))
    else:
        click.echo(report_text(report))
    if not report.is_clean:
        ctx.exit(1)
