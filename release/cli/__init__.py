"""The command line: each command is one call of a library function; this package only reads arguments and prints."""

import gc
import sys
import warnings
from collections.abc import Sequence

import click

from release.cli.exits import run_guarded
from release.cli.lazy import LazyGroup

_OBJECTS = 50_000
"""How many new objects Python waits for before it looks for cycles: loading code makes many, and no garbage."""
VERSION_MESSAGE = "%(prog)s %(version)s"


@click.command(
    cls=LazyGroup,
    lazy={
        "init": ("release.cli.init:init", "Make a workspace: a folder for one steward's releases."),
        "schema": ("release.cli.schema:schema", "Draft or show a public schema, or check a table against it."),
        "plan": ("release.cli.plan:plan", "Show what a release would cost and how exact it would be; spends nothing."),
        "run": ("release.cli.run:run", "Make a release: ask, pay, model, write and sign."),
        "audit": ("release.cli.audit:audit", "Audit a mechanism, or a release's claim."),
        "verify": ("release.cli.verify:verify", "Check a release folder, offline or against its ledger."),
        "approve": (
            "release.cli.approve:approve",
            "Verify a release, show what it promises, and add an approver's signature to it.",
        ),
        "sample": ("release.cli.sample:sample", "Draw more rows from a release's model; spends nothing."),
        "report": ("release.cli.report:report", "Make a release's report again from its own files."),
        "compare": ("release.cli.compare:compare", "Put releases of one table side by side."),
        "export": ("release.cli.export:export", "Write a release down for a catalogue or a portal."),
        "ledger": ("release.cli.ledger:ledger", "Open budgets and look at what was spent."),
        "keys": ("release.cli.keys:keys", "Make signing keys."),
        "budget": ("release.cli.budget:budget", "Convert between ε and δ, ρ, and μ."),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="dprelease", message=VERSION_MESSAGE)
def dprelease() -> None:
    """Governed releases of differentially private tabular data.

    Every number that leaves the private table is paid for in a ledger first; anyone can check a release offline.

    Exit codes: 0 done; 1 the honest no (a check failed); 2 usage, configuration or file; 3 budget refused, nothing
    spent; 4 ledger locked or damaged; 5 stopped after spending; 70 our bug; 130 stopped before spending.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(_OBJECTS)
    warnings.simplefilter("ignore")  # a library's warning may quote a value
    sys.exit(run_guarded(dprelease, list(sys.argv[1:] if arguments is None else arguments)))
