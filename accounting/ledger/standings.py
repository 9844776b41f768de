"""What later entries say of a release, as lines of a checkpoint: replaced by a raised cap, superseded, withdrawn.

A release is named by the number of its ``allotted`` entry, so that a checkpoint tells nobody the names of releases that
he does not hold.
"""

import re
from collections.abc import Iterable

_ENTRY = r"(?:0|[1-9][0-9]{0,15})"
_LINE = re.compile(rf"(?:replaced|withdrawn) {_ENTRY}|superseded {_ENTRY} by {_ENTRY}")


def replaced(entry: int) -> str:
    """Say that the dataset's cap was raised after a release, which replaces the guarantee of its manifest."""
    return f"replaced {entry}"


def superseded(entry: int, by: int) -> str:
    """Say that a release is replaced by a later one."""
    return f"superseded {entry} by {by}"


def withdrawn(entry: int) -> str:
    """Say that a release was withdrawn."""
    return f"withdrawn {entry}"


def in_order(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines in the one order that a checkpoint has them in, each once."""
    return tuple(sorted(set(lines), key=lambda line: (int(line.split()[1]), line)))


def are_standings(lines: tuple[str, ...]) -> bool:
    """Say whether these are lines of a checkpoint in their one order."""
    return all(_LINE.fullmatch(line) for line in lines) and in_order(lines) == lines
