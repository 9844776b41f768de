"""Planted tables answer as private ones do, replay the same rows, and can sign nothing."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Mu, Rho
from accounting.curator import load
from accounting.errors import ConfigError, QueryRefused
from accounting.noise import OsEntropy
from accounting.planted import exact_answer, planted_table
from accounting.queries import Errors, Marginals, Select, Total
from accounting.unit import RowUnit
from tests.accounting.curator.tables import CANARY_SCHEMA as SCHEMA
from tests.accounting.curator.tables import person, seeded, write

CAP = Cap(Rho(Fraction(10**6)))
TICKS = {"letter": np.array([0, 1, -1, 1]), "age": np.array([1, 2, 9, 2])}
CLIQUES = (("letter",), ("letter", "age"))
ESTIMATES = (np.zeros(4, np.int64), np.zeros((4, 10), np.int64))


def test_exact_answers_are_the_curators_kernels(tmp_path):
    rows = load(write(tmp_path / "t.csv", "letter,age,who\na,1,x\nb,2,x\n,9,y\nb,2,\n"), SCHEMA, RowUnit())
    assert exact_answer(Total(Fraction(1)), SCHEMA, TICKS, RowUnit()) == rows.cells_for_curator().rows == 4
    letters, both = exact_answer(Marginals(CLIQUES, Fraction(1)), SCHEMA, TICKS, RowUnit())
    assert letters.tolist() == [1, 2, 0, 1]
    assert both[1].tolist() == [0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
    errors = exact_answer(Errors(CLIQUES, ESTIMATES, 2, Fraction(1)), SCHEMA, TICKS, RowUnit())
    assert errors.tolist() == [8, 8]
    select = Select(CLIQUES, (1, 2), ESTIMATES, (1, 1), 2, Fraction(1))
    assert exact_answer(select, SCHEMA, TICKS, RowUnit()).tolist() == [7, 14]


def test_persons_are_bounded_and_the_choice_is_replayed():
    ids = ["x", "x", None, "x"]
    for k in (1, 2, 3):
        found = [exact_answer(Marginals(CLIQUES, Fraction(1)), SCHEMA, TICKS, person(k), ids)[0] for _ in range(5)]
        assert all(np.array_equal(found[0], again) for again in found)
        assert found[0].sum() == k
        table = planted_table(SCHEMA, TICKS, person(k), CAP, entropy=seeded(), ids=ids)
        noisy = table.ask(Marginals(CLIQUES, Fraction(1, 2500))).tables[0]  # σ = 0.02: the noise rounds to 0
        assert np.array_equal(noisy, found[0])


def test_the_same_seed_gives_the_same_answers():
    first, second = (planted_table(SCHEMA, TICKS, RowUnit(), CAP, entropy=seeded(7)) for _ in range(2))
    for _ in range(3):
        assert first.ask(Total(Fraction(100))).value == second.ask(Total(Fraction(100))).value
    assert planted_table(SCHEMA, TICKS, RowUnit(), Cap(Mu(Fraction(2))), entropy=OsEntropy()).remaining == 2


def test_the_ledger_is_stamped_audit_and_seeded_noise_is_named():
    account = planted_table(SCHEMA, TICKS, RowUnit(), CAP, entropy=seeded())._account
    assert (account.purpose, account.noise) == ("audit", "test-seeded")


@pytest.mark.parametrize(
    ("ticks", "unit", "ids"),
    [
        ({"letter": np.array([0])}, RowUnit(), None),
        (TICKS | {"more": TICKS["age"]}, RowUnit(), None),
        (TICKS | {"age": np.array([1])}, RowUnit(), None),
        (TICKS | {"letter": np.array([0, 1, 2, 3])}, RowUnit(), None),
        (TICKS | {"age": np.array([0, 1, 2, -1])}, RowUnit(), None),
        (TICKS, RowUnit(), ["x"] * 4),
        (TICKS, person(2), None),
        (TICKS, person(2), ["x"] * 3),
    ],
)
def test_rows_that_do_not_fit_are_refused(ticks, unit, ids):
    with pytest.raises(ConfigError):
        planted_table(SCHEMA, ticks, unit, CAP, entropy=seeded(), ids=ids)
    with pytest.raises(ConfigError):
        exact_answer(Total(Fraction(1)), SCHEMA, ticks, unit, ids)


def test_replay_checks_the_question():
    with pytest.raises(QueryRefused):
        exact_answer(Marginals((("who",),), Fraction(1)), SCHEMA, TICKS, RowUnit())


def test_no_rows():
    nothing = {name: np.array([], dtype=np.int64) for name in TICKS}
    assert exact_answer(Total(Fraction(1)), SCHEMA, nothing, RowUnit()) == 0
    assert exact_answer(Total(Fraction(1)), SCHEMA, nothing, person(2), []) == 0
    assert planted_table(SCHEMA, nothing, RowUnit(), CAP, entropy=seeded()).ask(Total(Fraction(1))).entry >= 0
