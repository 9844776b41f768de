import dataclasses

import numpy as np
import pytest

from accounting.errors import ConfigError
from accounting.unit import NEIGHBOURING, PersonUnit, RowUnit, unit_from_json, unit_to_json


def test_add_or_remove_one_unit_is_the_only_relation():
    assert NEIGHBOURING == "add-or-remove-one-unit"
    assert RowUnit().max_rows == 1


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("zper", 5), PersonUnit("id", 1), PersonUnit("id", 2**20)])
def test_units_survive_json(unit):
    assert unit_from_json(unit_to_json(unit)) == unit


@pytest.mark.parametrize("column", ["", None, 3])
def test_a_person_needs_an_id_column(column):
    with pytest.raises(ConfigError, match="id column"):
        PersonUnit(column, 5)


@pytest.mark.parametrize("rows", [0, -1, 2**20 + 1, True, 2.0, "5", None, np.int64(5)])
def test_a_person_needs_a_whole_number_of_rows(rows):
    with pytest.raises(ConfigError, match="max_rows"):
        PersonUnit("id", rows)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"kind": "row"},
        {"kind": "row", "max_rows": 2},
        {"kind": "row", "max_rows": True},
        {"kind": "row", "max_rows": 1, "id_column": "id"},
        {"kind": "person", "id_column": "id"},
        {"kind": "person", "id_column": "id", "max_rows": 5, "more": 1},
        {"kind": "person", "id_column": "id", "max_rows": 0},
        {"kind": "group", "id_column": "id", "max_rows": 5},
    ],
)
def test_other_json_is_refused(value):
    with pytest.raises(ConfigError):
        unit_from_json(value)


def test_units_cannot_be_changed():
    unit = PersonUnit("id", 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        unit.max_rows = 1
