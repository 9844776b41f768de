"""The privacy unit as people state it and read it."""

from accounting.errors import ConfigError
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit


def privacy_unit(kind: str, id_column: str | None, max_rows: int | None) -> PrivacyUnit:
    """Build a privacy unit from its parts.

    Raises:
        ConfigError: a part is missing, does not belong to the kind, or is out of range.
    """
    if kind == "row":
        if id_column is not None or max_rows is not None:
            raise ConfigError("a row unit takes neither an id column nor max rows")
        return RowUnit()
    if id_column is None or max_rows is None:
        raise ConfigError(
            "a person unit needs its id column and max rows: --id-column and --max-rows, or id_column and max_rows "
            "under [unit]"
        )
    return PersonUnit(id_column, max_rows)


def describe_unit(unit: PrivacyUnit) -> str:
    """Describe a privacy unit in a few words."""
    if isinstance(unit, PersonUnit):
        return f"a person (column {unit.id_column!r}, at most {unit.max_rows} rows)"
    return "a row"
