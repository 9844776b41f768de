"""``dprelease run``: make a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from release.cli.options import config_argument, json_option, workspace_option

if TYPE_CHECKING:
    from release.prepared import Prepared

LEVELS = ("quick", "thorough")
Level: TypeAlias = Literal["quick", "thorough"]


@click.command()
@config_argument
@click.option("--yes", is_flag=True, help="Spend without being asked.")
@click.option("--resume", metavar="RELEASE-ID", default=None, help="Go on with a run that was stopped.")
@click.option(
    "--audit",
    "level",
    type=click.Choice(LEVELS),
    default=None,
    help="Audit the mechanism on planted tables first; the result becomes part of the release.",
)
@workspace_option
@json_option
def run(
    *, config: Path | None, yes: bool, resume: str | None, level: Level | None, workspace: Path, as_json: bool
) -> None:
    """Make a release: ask, pay, model, write and sign.

    Shows the plan and asks before anything is spent. Writes releases/RELEASE-ID/ with the synthetic table, the schema,
    the ledger's entries and the signed manifest. A run that was stopped after spending is gone on with by --resume, at
    no second charge.
    """
    from accounting.errors import Cancelled
    from release.cli.console import confirm, emit
    from release.cli.keys import load_signing_key
    from release.cli.plan_view import plan_text
    from release.cli.progress import progress
    from release.cli.run_view import released_document, released_text
    from release.planning import ReleasePlan
    from release.prepared import prepare
    from release.running import Job, run_release
    from release.workspace import open_workspace

    def consent(plan: ReleasePlan) -> None:
        try:
            click.echo(plan_text(plan) + "\n", err=True)
        except BrokenPipeError:
            raise Cancelled("nobody can read the plan; nothing was spent") from None
        question = "Spend this?" if resume is None else f"Go on with {resume}?"
        confirm(question, yes=yes)

    opened = open_workspace(workspace)
    key = load_signing_key(opened.key_path)
    ledger = opened.open_ledger()
    prepared = prepare(opened, ledger, config or opened.folder / "release.toml")
    audited = None if level is None else audit_first(prepared, level)
    with progress() as watch:
        released = run_release(Job(prepared, ledger, key, watch, audit=audited), consent, resume=resume)
    if as_json:
        emit("run", released_document(released))
    else:
        click.echo(released_text(released))


def audit_first(prepared: "Prepared", level: Level) -> bytes:
    """Audit the mechanism before anything is asked of the private table.

    Returns:
        The bytes of ``audit.json``.

    Raises:
        VerificationFailed: the claim is falsified; nothing was spent.
    """
    from release.auditing import audit_bytes, audit_prepared, check_audit

    document = audit_prepared(prepared, level, say=lambda message: click.echo(message, err=True))
    check_audit(document)
    return audit_bytes(document)
