"""``dprelease budget``: convert between ε and δ, ρ, and μ."""

from fractions import Fraction

import click

from release.cli.console import emit, table
from release.cli.options import budget_options, json_option


@click.command()
@budget_options
@json_option
def budget(
    *, epsilon: Fraction | None, delta: Fraction | None, rho: Fraction | None, mu: Fraction | None, as_json: bool
) -> None:
    """Convert between ε and δ, ρ, and μ.

    With --epsilon and --delta: the ρ and the μ that keep them, rounded down. With --rho or --mu and --delta: the ε,
    rounded up. Nothing is spent, and no ledger is needed.
    """
    from accounting.exact import decimal_above, to_text
    from release.amounts import delta_text, left_text
    from release.budgets import BudgetChoice, convert

    rows = convert(BudgetChoice(epsilon=epsilon, delta=delta, rho=rho, mu=mu))
    if as_json:
        emit(
            "budget",
            {
                "conversions": [
                    {
                        "law": row.law.value,
                        "unit": row.law.unit,
                        "amount": to_text(row.amount),
                        "epsilon": decimal_above(row.epsilon, 15),
                        "delta": to_text(row.delta),
                    }
                    for row in rows
                ]
            },
        )
        return
    click.echo(
        table(
            ("law", "budget", "epsilon", "delta"),
            [
                (
                    row.law.value,
                    left_text(row.amount, row.law),
                    decimal_above(row.epsilon),
                    delta_text(row.delta),
                )
                for row in rows
            ],
        )
    )
