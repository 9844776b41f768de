"""``dprelease schema new``, ``from-dictionary``, ``from-public``: draft a schema without the private table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from release.cli.options import workspace_option

if TYPE_CHECKING:
    from release.authoring import DraftColumn, Setting

_NEEDS = {
    "categorical": ("categories",),
    "integer": ("min", "max"),
    "real": ("min", "max", "decimals", "bins"),
    "date": ("format", "min", "max", "resolution"),
    "datetime": ("format", "min", "max", "resolution"),
}


def draft_options(command: Any) -> Any:  # noqa: ANN401 - a decorator of click functions
    """Add --table, --max-rows and --out."""
    for option in (
        click.option(
            "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write here, a new file; default: print."
        ),
        click.option("--max-rows", type=click.IntRange(min=1), help="A public ceiling on the number of rows."),
        click.option("--table", "name", default="my-table", show_default=True, help="The table's public name."),
    ):
        command = option(command)
    return command


@click.command("new")
@click.option("--column", "columns", multiple=True, metavar="NAME:KIND:KEY=VALUE,…", help="A column; may be repeated.")
@draft_options
def new(*, columns: tuple[str, ...], name: str, max_rows: int | None, out: Path | None) -> None:
    """Draft a schema from flags, or by asking where no --column is given.

    Lists are written with |, as in sex:categorical:categories=female|male,nullable=true
    """
    from release.authoring import read_specification

    if not columns and not sys.stdin.isatty():
        raise click.UsageError("give each column with --column NAME:KIND:KEY=VALUE,… or call from a terminal")
    drafted = [read_specification(text) for text in columns] if columns else _ask()
    _finish(drafted, name, max_rows, "declarations", out)


@click.command("from-dictionary")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@draft_options
def from_dictionary(*, file: Path, name: str, max_rows: int | None, out: Path | None) -> None:
    """Draft a schema from a data dictionary in JSON or CSV.

    Reads column, kind, values, min, max, description and the schema's own keys; what it leaves out is guessed and
    marked "# check".
    """
    from release.authoring import read_dictionary

    _finish(read_dictionary(file), name, max_rows, f"the data dictionary {file.name}", out)


@click.command("from-public")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--source", required=True, help="Where the sample was published; written into the draft.")
@click.option("--encoding", default="utf-8", show_default=True, help="The sample's text encoding.")
@draft_options
@workspace_option
def from_public(
    *, file: Path, source: str, encoding: str, name: str, max_rows: int | None, out: Path | None, workspace: Path
) -> None:
    """Draft a schema from a PUBLIC sample; every guess is marked "# check".

    Never from the private table: bounds and categories taken from private rows are a leak that no noise repairs.
    """
    from release.authoring import check_not_private, draft_sample

    check_not_private(file, workspace)
    _finish(draft_sample(file, encoding), name, max_rows, f"a public sample: {source}", out)


def _finish(columns: Sequence["DraftColumn"], name: str, max_rows: int | None, source: str, out: Path | None) -> None:
    """Load the draft where it is complete, write it, and say what is left to do."""
    from accounting.schema import Schema
    from release.authoring import draft_text, guesses, missing
    from release.creation import write_new

    text = draft_text(name, max_rows, columns, source)
    gaps = missing(columns)
    if not gaps:
        Schema.from_text(text)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_new(out, text)
    left = [f"{guesses(columns)} guesses are marked # check"]
    left += [f"{gaps} keys are still to be given, marked # check: to be given"] if gaps else []
    click.echo(f"{len(columns)} columns; {'; '.join(left)}.", err=True)


def _ask() -> list["DraftColumn"]:
    """Ask for columns one by one until an empty name; an answer that does not fit is asked for again."""
    from release.authoring import with_keys

    found: list[DraftColumn] = []
    while True:
        name = click.prompt("Column (empty to end)", default="", show_default=False, err=True)
        if not name:
            return found
        kind = click.prompt("Kind", type=click.Choice([*_NEEDS, "boolean", "identifier"]), err=True)
        keys: dict[str, Any] = {"kind": kind}
        for key in _NEEDS.get(kind, ()):
            keys[key] = _answer(_question(key), key, kind, name)
        if kind != "identifier":
            keys["nullable"] = click.confirm("May nulls occur?", default=True, err=True)
            if not keys["nullable"]:
                keys["replacement"] = _answer("Value for nulls and unreadable texts", "replacement", kind, name)
        found.append(with_keys(name, keys))


def _answer(question: str, key: str, kind: str, column: str) -> "Setting":
    """Ask for the value of a schema key."""
    from accounting.errors import ConfigError
    from release.authoring import read_setting

    def read(text: str) -> "Setting":
        try:
            return read_setting(key, text, kind, column)
        except ConfigError as error:
            raise click.UsageError(str(error)) from None

    answer: Setting = click.prompt(question, value_proc=read, err=True)
    return answer


def _question(key: str) -> str:
    return {"categories": "categories, separated by |", "format": "format, such as %Y-%m-%d"}.get(key, key)
