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
    from accounting.exact import decimal_above, decimal_below, to_text
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
                        "epsilon": to_text(row.epsilon),
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
                    f"{row.symbol} = {decimal_below(row.amount)}",
                    decimal_above(row.epsilon),
                    decimal_above(row.delta),
                )
                for row in rows
            ],
        )
    )
