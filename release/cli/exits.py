"""Exit codes: every way to leave has one, and no message holds more than public facts."""

import contextlib
import os
import sys

import click

from accounting.errors import BudgetRefused, Cancelled, DpReleaseError
from accounting.exact import to_text
from release.cli.console import emit
from release.faults import describe_fault, describe_os_error

USAGE = 2
BUG = 70
STOPPED = 130


def run_guarded(command: click.Command, arguments: list[str]) -> int:
    """Run a click command and return its exit code; every failure becomes one sentence on stderr.

    With ``--json`` among the arguments the failure is one JSON document on stdout too.
    """
    try:
        result = command.main(arguments, prog_name="dprelease", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.UsageError as error:
        usage = "" if error.ctx is None else f"{error.ctx.get_usage()}\n"
        return _fail(error.format_message(), USAGE, type(error).__name__, arguments, before=usage)
    except click.ClickException as error:
        return _fail(error.format_message(), USAGE, type(error).__name__, arguments)
    except (KeyboardInterrupt, click.Abort):
        after_the_prompt = "\n" if sys.stderr.isatty() else ""
        return _fail("stopped; nothing was spent", STOPPED, "Cancelled", arguments, before=after_the_prompt)
    except Cancelled as error:
        return _fail(str(error), STOPPED, "Cancelled", arguments)
    except DpReleaseError as error:
        return _fail(str(error), error.exit_code, type(error).__name__, arguments, error=error)
    except SystemExit:
        # click's answer to a closed stdout. Only final output goes there, so that whatever it reports is done.
        _close_stdout()
        return 0
    except OSError as error:
        return _fail(describe_os_error(error), USAGE, "OSError", arguments)
    except Exception as error:  # noqa: BLE001 - the last resort: the message of an unknown error may hold private values
        return _fail(describe_fault(error), BUG, "InternalError", arguments)
    return result if isinstance(result, int) else 0


def _fail(
    message: str, code: int, kind: str, arguments: list[str], *, before: str = "", error: DpReleaseError | None = None
) -> int:
    with contextlib.suppress(OSError):  # whoever should read this may be gone; the exit code stays
        click.echo(f"{before}dprelease: {message}", err=True)
    if "--json" in arguments:
        document: dict[str, object] = {"error": kind, "exit_code": code, "message": message}
        if isinstance(error, BudgetRefused):
            document |= {"asked": to_text(error.asked), "left": to_text(error.left), "unit": error.unit}
        with contextlib.suppress(OSError):
            emit("error", document)
    return code


def _close_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
