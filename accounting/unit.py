"""The privacy unit: whose presence or absence the guarantee hides. Add or remove one unit is the only relation."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from accounting.canonical import Json
from accounting.errors import ConfigError

NEIGHBOURING: Final = "add-or-remove-one-unit"


@dataclass(frozen=True, slots=True)
class RowUnit:
    """Each row is a unit of its own: the table holds every protected party at most once."""

    @property
    def max_rows(self) -> int:
        """The contribution bound: one row."""
        return 1


@dataclass(frozen=True, slots=True)
class PersonUnit:
    """All rows with the same id are one unit, of which at most ``max_rows`` rows are kept.

    Args:
        id_column: an identifier column of the schema.
        max_rows: the contribution bound k, enforced by the curator; at least 1.
    """

    id_column: str
    max_rows: int

    def __post_init__(self) -> None:
        if not isinstance(self.id_column, str) or not self.id_column:
            raise ConfigError("a person unit needs the name of its id column")
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or not 1 <= self.max_rows <= 2**20:
            raise ConfigError("a person unit needs max_rows, a whole number from 1 to 1048576")


PrivacyUnit: TypeAlias = RowUnit | PersonUnit


def unit_to_json(unit: PrivacyUnit) -> dict[str, Json]:
    """Describe a unit for ledger entries and manifests."""
    if isinstance(unit, RowUnit):
        return {"kind": "row", "max_rows": 1}
    return {"kind": "person", "id_column": unit.id_column, "max_rows": unit.max_rows}


def unit_from_json(value: dict[str, Json]) -> PrivacyUnit:
    """Read what :func:`unit_to_json` wrote.

    Raises:
        ConfigError: for anything else.
    """
    kind: Literal["row", "person"] = cast('Literal["row", "person"]', value.get("kind"))
    if kind == "row" and value == unit_to_json(RowUnit()) and value["max_rows"] is not True:
        return RowUnit()
    if kind == "person" and set(value) == {"kind", "id_column", "max_rows"}:
        return PersonUnit(cast("str", value["id_column"]), cast("int", value["max_rows"]))
    raise ConfigError("a privacy unit is a row, or a person with an id column and max_rows")
