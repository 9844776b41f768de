"""The one family of errors: public facts only, each with the exit code that the command line gives.

A message names columns, rules, files and public numbers. It never holds a value read from a private table.
"""

from fractions import Fraction


class DpReleaseError(Exception):
    """Base of every error that this project raises on purpose."""

    exit_code = 70


class ConfigError(DpReleaseError):
    """A configuration, schema, question or argument that is wrong, impossible or too large; nothing was spent."""

    exit_code = 2


class SchemaError(ConfigError):
    """A schema that breaks a rule.

    Args:
        rule: what is wrong and what to write instead.
        column: the column concerned, or None for the table.
    """

    def __init__(self, rule: str, *, column: str | None = None) -> None:
        super().__init__(rule if column is None else f"column {column!r}: {rule}")
        self.rule = rule
        self.column = column


class InputFileError(ConfigError):
    """A file that is missing or refused for its form (encoding, header, ragged rows); nothing was spent."""


class QueryRefused(ConfigError):  # noqa: N818  # the name says what happened
    """A question outside the closed set or with invalid public fields; nothing was spent."""


class BudgetRefused(DpReleaseError):  # noqa: N818  # the name says what happened
    """The filter's ordinary no: the question, allotment or plan does not fit; nothing was spent.

    Args:
        asked: what was asked for, in the ledger's unit (ρ or μ²).
        left: what is left, in the same unit.
        unit: "rho", "mu_squared" or "delta".
    """

    exit_code = 3

    def __init__(self, message: str, *, asked: Fraction, left: Fraction, unit: str) -> None:
        super().__init__(message)
        self.asked = asked
        self.left = left
        self.unit = unit


class LedgerError(DpReleaseError):
    """The ledger is locked, damaged, newer than this program, or its history contradicts itself."""

    exit_code = 4


class AnswerLost(LedgerError):  # noqa: N818  # the name says what happened
    """The question was granted earlier but its answer was lost in a crash: it stays spent and is not drawn again."""

    exit_code = 5


class StoppedAfterSpending(DpReleaseError):  # noqa: N818  # the name says what happened
    """The run failed or was stopped after budget was spent; the message says how much."""

    exit_code = 5


class VerificationFailed(DpReleaseError):  # noqa: N818  # the name says what happened
    """The honest no of a check: tampering, a broken claim, an output outside its schema.

    Args:
        file: the file that is to blame, as named inside the release.
        reason: one sentence.
    """

    exit_code = 1

    def __init__(self, reason: str, *, file: str | None = None) -> None:
        super().__init__(reason if file is None else f"{file}: {reason}")
        self.reason = reason
        self.file = file


class Cancelled(DpReleaseError):  # noqa: N818  # the name says what happened
    """Stopped or declined by the user before anything was spent."""

    exit_code = 130
