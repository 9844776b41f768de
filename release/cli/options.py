"""Options and argument types that several commands share."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from accounting.errors import ConfigError

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")

workspace_option = click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="The workspace's folder; default: the current one.",
)

keys_option = click.option(
    "--key",
    "keys",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A public key that you trust; may be given several times. Default: the workspace's trusted keys.",
)

signing_keys_option = click.option(
    "--key",
    "keys",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A private key that signs; may be given several times. Default: the workspace's key.",
)

config_argument = click.argument(
    "config", type=click.Path(path_type=Path, dir_okay=False), required=False, default=None, metavar="[RELEASE.TOML]"
)


class ExactNumber(click.ParamType[Fraction]):
    """A number taken exactly as written: 3, 0.5, 1e-6 or 1/3."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:  # noqa: ANN401 - click's
        """Read the text."""
        if isinstance(value, Fraction):
            return value
        from release.toml import exact_number

        try:
            return exact_number(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


EXACT = ExactNumber()


def budget_options(command: Any) -> Any:  # noqa: ANN401 - a decorator of click functions
    """Add --epsilon, --delta, --rho and --mu."""
    for name, text in (
        ("--mu", "μ > 0, for law gdp."),
        ("--rho", "ρ > 0, for law zcdp."),
        ("--delta", "δ between 0 and 1; needed with ε, and beside ρ or μ the δ at which ε is reported."),
        ("--epsilon", "ε > 0; needs --delta."),
    ):
        command = click.option(name, type=EXACT, default=None, help=text)(command)
    return command
