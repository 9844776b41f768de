"""``dprelease plan``: what a release would cost and how exact it would be."""

from pathlib import Path

import click

from release.cli.options import config_argument, json_option, workspace_option


@click.command()
@config_argument
@click.option(
    "--rows-guess",
    type=click.IntRange(min=1),
    default=None,
    help="A public guess of the number of rows; default: the schema's max_rows.",
)
@workspace_option
@json_option
@click.pass_context
def plan(ctx: click.Context, *, config: Path | None, rows_guess: int | None, workspace: Path, as_json: bool) -> None:
    """Show what a release would cost and how exact it would be; spends nothing.

    Reads release.toml (default: the workspace's), its schema and the ledger, never the private file. Leaves with exit
    code 3 when the dataset has less left than the release asks for.
    """
    from accounting.errors import BudgetRefused
    from release.cli.console import emit
    from release.cli.plan_view import plan_document, plan_text
    from release.planning import plan_release
    from release.prepared import prepare
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    planned = plan_release(prepare(opened, opened.open_ledger(), config or opened.folder / "release.toml"), rows_guess)
    if as_json:
        emit("plan", plan_document(planned))
    else:
        click.echo(plan_text(planned))
    try:
        planned.check_fits()
    except BudgetRefused as refused:
        click.echo(f"dprelease: {refused}", err=True)
        ctx.exit(refused.exit_code)
