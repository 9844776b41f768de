"""``dprelease schema``: check a table against its public schema, or show the schema."""

from pathlib import Path

import click

from release.cli.console import emit
from release.cli.options import json_option, workspace_option

schema_option = click.option(
    "--schema",
    "schema_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The schema's TOML file; default: the workspace's schema.toml.",
)


@click.group()
def schema() -> None:
    """Check a table against its public schema, or show the schema."""


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
