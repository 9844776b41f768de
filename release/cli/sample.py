"""``dprelease sample``: draw more rows from a release's model."""

from pathlib import Path

import click

from release.cli.console import emit
from release.cli.options import json_option, keys_option, workspace_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--rows", type=click.IntRange(min=0), required=True, help="How many rows.")
@click.option("--where", "conditions", multiple=True, metavar="CONDITION", help="NAME=VALUE, NAME>=VALUE, NAME<=VALUE.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A new file, .csv or .parquet."
)
@click.option("--seed", type=click.IntRange(min=0), default=None, help="Draw the same rows again; default: new ones.")
@keys_option
@workspace_option
@json_option
def sample(
    *,
    folder: Path,
    rows: int,
    conditions: tuple[str, ...],
    out: Path,
    seed: int | None,
    keys: tuple[Path, ...],
    workspace: Path,
    as_json: bool,
) -> None:
    """Draw more rows from a release's model; spends nothing.

    Verifies the release first. Needs a release made with model = true in [output]. Every --where must hold; several
    values of one column are written NAME=VALUE|VALUE.
    """
    from release.sampling import sample_release
    from release.trust import trusted_keys

    sample_release(folder, trusted_keys(folder, keys, workspace), rows=rows, conditions=conditions, out=out, seed=seed)
    if as_json:
        emit("sample", {"file": str(out), "rows": rows, "where": list(conditions)})
    else:
        click.echo(f"{out}: {rows} rows from the model of {folder}; nothing was spent.")
