"""A release never breaks a constraint: the writer and the verifier look at every row, in both formats."""

import csv

import numpy as np
import pytest

from accounting.errors import DpReleaseError, VerificationFailed
from accounting.schema import Schema
from mechanisms.table import SyntheticTable
from release.output import write_table
from release.verify.table import check_csv, check_parquet
from tests.release.small_release import SCHEMA

RULE = """
[[constraints]]
name = "the young are no members"
kind = "impossible"
when = [{ column = "age", max = 3 }, { column = "member", any_of = [true] }]
"""
FREE, RULED = Schema.from_text(SCHEMA), Schema.from_text(SCHEMA + RULE)


def table(schema, ages, members):
    ticks = {"colour": np.zeros(len(ages)), "age": np.array(ages), "member": np.array(members)}
    return SyntheticTable(schema, ticks)


def test_the_verifier_names_the_constraint_that_a_row_breaks(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    write_table(good, table(RULED, [3, 4, 9], [0, 1, 1]), ("csv", "parquet"))
    assert check_csv(good / "synthetic.csv", RULED) == check_parquet(good / "synthetic.parquet", RULED) == 3
    write_table(bad, table(FREE, [4, 3], [1, 1]), ("csv", "parquet"))
    for check, name in ((check_csv, "synthetic.csv"), (check_parquet, "synthetic.parquet")):
        assert check(bad / name, FREE) == 2
        with pytest.raises(VerificationFailed, match="'the young are no members'"):
            check(bad / name, RULED)


def test_the_writer_refuses_a_row_that_breaks_a_constraint(tmp_path):
    with pytest.raises(DpReleaseError, match="'the young are no members'"):
        write_table(tmp_path, table(RULED, [0], [1]), ("csv",))
    assert not list(tmp_path.iterdir())


def test_an_empty_table_keeps_every_constraint(tmp_path):
    write_table(tmp_path, table(RULED, [], []), ("csv",))
    with (tmp_path / "synthetic.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["colour", "age", "member"]]
    assert check_csv(tmp_path / "synthetic.csv", RULED) == 0
