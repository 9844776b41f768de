"""Say which of AIM and Tab-PE a schema speaks for; the table itself is never asked."""

from accounting.schema import Schema
from mechanisms.tab_pe.config import FEW_ROWS
from mechanisms.tab_pe.space import line_of


def aim_or_tab_pe(schema: Schema) -> tuple[str, str]:
    """Return "aim" or "tab-pe", and one sentence why.

    The rule rests on the tables of docs/tab-pe.md: a mechanism of marginals is the more exact one, and the faster, on
    everything that marginals of two or three columns hold; Tab-PE keeps structure beyond them, which tables of numbers
    have more often. A schema cannot show whether the table has it.
    """
    lines = sum(line_of(column) is not None for column in schema.columns)
    share = f"{lines} of {len(schema.columns)} columns {'is' if lines == 1 else 'are'} ordered"
    if schema.max_rows is not None and schema.max_rows <= FEW_ROWS and 4 * lines >= 3 * len(schema.columns):
        return "tab-pe", f"{share}, and at most {schema.max_rows} rows are declared: too few for a model of marginals"
    if lines >= 3 and 4 * lines >= 3 * len(schema.columns):
        return "tab-pe", (
            f"{share}, so that structure of four columns and more is likely (shapes, sensors), which marginals of two "
            "or three bins lose; take aim if totals and cross-tables are what the release is for"
        )
    return "aim", (
        f"{share}: on tables of low order marginals are more exact and faster; take tab-pe only if a classifier of "
        "four columns and more together is what the release is for"
    )
