"""What people and scripts see: tables and sentences on stdout, one JSON document with --json, progress on stderr."""

import json
import sys
from collections.abc import Mapping, Sequence

import click

from accounting.errors import Cancelled, ConfigError

JSON_VERSION = 1


def emit(kind: str, content: Mapping[str, object]) -> None:
    """Print one versioned JSON document on stdout: ``{"format": "dprelease.KIND", "version": 1, …}``."""
    document = {"format": f"dprelease.{kind}", "version": JSON_VERSION, **content}
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table in plain text: the first column left, the others right where they hold numbers."""
    cells = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    numeric = [all(_numeric(row[i]) for row in cells[1:]) and len(cells) > 1 for i in range(len(header))]
    lines = []
    for row in cells:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def confirm(question: str, *, yes: bool, deed: str = "spend") -> None:
    """Ask before something that cannot be undone.

    Args:
        question: what is asked.
        yes: whether ``--yes`` was given, so that nothing is asked.
        deed: what ``--yes`` would do, as in "spend".

    Raises:
        ConfigError: there is no terminal to ask on and no ``--yes``; nothing spent.
        Cancelled: the user said no; nothing spent.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError(f"there is no terminal to ask on; add --yes to {deed} without being asked")
    if not click.confirm(question, default=False, err=True):
        raise Cancelled("declined; nothing was spent")


def _numeric(text: str) -> bool:
    return text in {"", "-"} or text[0].isdigit() or text[0] in "±+-"
