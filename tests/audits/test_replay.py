"""Record and replay of every question of every mechanism, on worst-case and random neighbours, under both laws."""

import numpy as np
import pytest

from accounting.budget import Law
from accounting.planted import SeededEntropy
from accounting.unit import PersonUnit, RowUnit
from audits.pairs import random_pair, worst_case_pairs
from audits.replay import record_and_replay
from mechanisms.registry import KINDS
from tests.audits.subjects import calibrated, mixed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("law", "unit"), [(Law.ZCDP, RowUnit()), (Law.GDP, PersonUnit("id", 3))], ids=["zcdp-row", "gdp-person"]
)
def test_every_question_keeps_its_sensitivity_its_price_and_its_course(kind, law, unit):
    schema = mixed(person=isinstance(unit, PersonUnit))
    mechanism, cap = calibrated(kind, schema, law=law, unit=unit)
    pairs = (*worst_case_pairs(schema, unit), random_pair(schema, unit, 40, np.random.default_rng(11)))
    for pair in pairs:
        report = record_and_replay(mechanism, cap, pair, entropy=SeededEntropy(6))
        assert report.violations == ()
        assert report.questions >= 2
        assert report.largest_share <= 1
