"""Attacks succeed on leaking tables, fail on independent ones, and say why where they cannot be made."""

import numpy as np
import pytest

from accounting.schema import Schema
from audits.attacks.guessing import exact_copies, inference, judge, linkability, singling_out
from audits.attacks.membership import auc_of, membership, positive_control, tpr_of
from audits.results import NotComputable

NAMES = ("n", "m", "k", "l")
SCHEMA = Schema(
    table={"name": "t"},
    columns=[{"name": n, "kind": "integer", "min": 0, "max": 999, "nullable": True} for n in NAMES],
)


def rows(count, seed):
    rng = np.random.default_rng(seed)
    return {name: rng.integers(0, 1000, count) for name in NAMES}


PRIVATE, HOLDOUT, FRESH, EMPTY = rows(300, 1), rows(300, 2), rows(300, 3), rows(0, 4)


def rng():
    return np.random.default_rng(7)


def test_copies_of_private_rows_are_found_by_every_attack():
    assert membership(SCHEMA, PRIVATE, HOLDOUT, PRIVATE, rng()).auc.low > 0.95
    assert membership(SCHEMA, PRIVATE, HOLDOUT, PRIVATE, rng()).tpr_at_one_percent.low > 0.95
    assert linkability(SCHEMA, PRIVATE, HOLDOUT, PRIVATE, rng()).risk.low > 0.8
    assert inference(SCHEMA, PRIVATE, HOLDOUT, PRIVATE, "n", rng()).risk.low > 0.8
    assert singling_out(SCHEMA, PRIVATE, HOLDOUT, PRIVATE, rng()).risk.low > 0.1
    assert exact_copies(PRIVATE, HOLDOUT, PRIVATE).risk.low > 0.9


def test_independent_rows_give_no_attack_a_hold():
    result = membership(SCHEMA, PRIVATE, HOLDOUT, FRESH, rng())
    assert result.auc.low < 0.5 < result.auc.high
    for attack in (
        linkability(SCHEMA, PRIVATE, HOLDOUT, FRESH, rng()),
        inference(SCHEMA, PRIVATE, HOLDOUT, FRESH, "n", rng()),
        singling_out(SCHEMA, PRIVATE, HOLDOUT, FRESH, rng()),
        exact_copies(PRIVATE, HOLDOUT, FRESH),
    ):
        assert attack.risk.low <= 0 <= attack.risk.high


def test_the_positive_control_finds_what_was_planted():
    assert positive_control(SCHEMA, PRIVATE, HOLDOUT, FRESH, rng()).auc.low > 0.95


def test_ties_are_half_a_success_and_one_percent_is_kept():
    same = np.zeros(1000)
    assert auc_of(same, same).value == 0.5
    assert tpr_of(same, same, rng()).value < 0.05


def test_perfect_scores():
    assert auc_of(np.ones(50), np.zeros(50)).value == 1
    assert tpr_of(np.ones(50), np.zeros(50), rng()).value == 1


@pytest.mark.parametrize(
    ("private", "holdout", "synthetic"), [(EMPTY, HOLDOUT, FRESH), (PRIVATE, EMPTY, FRESH), (PRIVATE, HOLDOUT, EMPTY)]
)
def test_empty_tables_are_said_to_be_empty(private, holdout, synthetic):
    for attack in (
        linkability(SCHEMA, private, holdout, synthetic, rng()),
        inference(SCHEMA, private, holdout, synthetic, "n", rng()),
        singling_out(SCHEMA, private, holdout, synthetic, rng()),
        exact_copies(private, holdout, synthetic),
    ):
        assert isinstance(attack.risk, NotComputable)
    assert isinstance(membership(SCHEMA, private, holdout, synthetic, rng()).auc, NotComputable)


def test_degenerate_counts():
    assert isinstance(judge(0, 0, 1, 2).rate, NotComputable)
    assert isinstance(judge(1, 2, 2, 2).risk, NotComputable)
    repeated = {name: np.zeros(40, dtype=np.int64) for name in NAMES}
    assert isinstance(exact_copies(repeated, repeated, repeated).rate, NotComputable)
    assert isinstance(singling_out(SCHEMA, repeated, repeated, repeated, rng()).risk.value, float)


def test_one_column_has_no_halves_and_no_secret():
    schema = Schema(table={"name": "t"}, columns=[{"name": "n", "kind": "boolean", "nullable": True}])
    one = {"n": np.array([0, 1, 1])}
    assert isinstance(linkability(schema, one, one, one, rng()).rate, NotComputable)
    assert isinstance(inference(schema, one, one, one, "n", rng()).rate, NotComputable)
