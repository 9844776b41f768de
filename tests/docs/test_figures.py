"""Figures that the pages compute are the ones that the code computes."""

import math
import re
from fractions import Fraction

import pytest

from accounting.budget import Cap, EpsilonDelta, Law, Mu
from accounting.convert import cap_for
from release.report.attacks import attack
from tests.docs.pages import ROOT, text_of

ROW = re.compile(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", re.MULTILINE)
ROWS = ROW.findall(text_of(ROOT / "docs" / "choosing.md"))


def test_the_table_is_found():
    assert [row[0] for row in ROWS] == ["0.1", "0.5", "1", "2", "3", "5", "10"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_an_attacker_gains(row):
    epsilon, mu, hits, one, half = row
    amount = cap_for(EpsilonDelta(Fraction(epsilon), Fraction(1, 10**6)), Law.GDP)
    assert isinstance(amount, Mu)
    gain = attack("release", Cap(amount, Fraction(0)))
    after = {belief.before: belief.after for belief in gain.beliefs}
    assert math.isclose(float(mu), math.sqrt(amount.squared), abs_tol=1e-4)
    assert _above(hits, 1) == _ceiling(gain.power, 1)
    assert _above(one, 1) == _ceiling(after[0.01], 1)
    assert _above(half, 0) == _ceiling(after[0.5], 0)


def _above(text, digits):
    return round(float(text), digits)


def _ceiling(share, digits):
    return math.ceil(round(share * 100 * 10**digits, 6)) / 10**digits
