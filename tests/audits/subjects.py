"""Small mechanisms, schemas and pairs that the audits' tests share."""

from fractions import Fraction

from accounting.budget import Law, cap
from accounting.schema import Schema
from accounting.unit import RowUnit
from mechanisms.registry import config_from_table

OPTIONS = {"aim": {"max_rounds": 4}, "aim-gdp": {"max_rounds": 3, "max_candidates": 3}, "mst": {}, "independent": {}}


def flags(*names: str, nullable: bool = False, person: bool = False) -> Schema:
    columns = [{"name": name, "kind": "boolean", "nullable": nullable} for name in names]
    if not nullable:
        columns = [{**column, "replacement": False} for column in columns]
    identifier = [{"name": "id", "kind": "identifier"}] if person else []
    return Schema(table={"name": "flags"}, columns=[*identifier, *columns])


def mixed(*, person: bool = False) -> Schema:
    columns = [
        {"name": "a", "kind": "boolean", "nullable": True},
        {"name": "age", "kind": "integer", "min": 0, "max": 40, "nullable": True},
        {"name": "c", "kind": "categorical", "categories": ["x", "y", "z"], "nullable": False, "replacement": "x"},
    ]
    identifier = [{"name": "id", "kind": "identifier"}] if person else []
    return Schema(table={"name": "mixed"}, columns=[*identifier, *columns])


def calibrated(kind, schema, *, law=Law.ZCDP, amount="1/2", unit=None):
    release_cap = cap(law, Fraction(amount))
    mechanism = config_from_table(kind, OPTIONS.get(kind, {})).calibrate(release_cap, unit or RowUnit(), schema)
    return mechanism, release_cap
