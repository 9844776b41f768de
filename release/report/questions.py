"""What a question of the manifest was about."""

from typing import Any

from accounting.schema import Schema

Clique = tuple[str, ...]


def cliques_of(question: dict[str, Any], schema: Schema) -> tuple[Clique, ...] | None:
    """Return the cliques that a question for marginals counted.

    A long list stands in the ledger as its length alone. As many cliques as there are columns are the single columns,
    which every mechanism asks for together; None for another length.
    """
    listed = question["cliques"]
    if not isinstance(listed, dict):
        return tuple(tuple(clique) for clique in listed)
    single = tuple((column.name,) for column in schema.columns)
    return single if listed["items"] == len(single) else None


def clique_count(question: dict[str, Any]) -> int:
    """Return how many marginals a question counted."""
    listed = question["cliques"]
    return int(listed["items"]) if isinstance(listed, dict) else len(listed)
