"""Null audits: right mechanisms and equal laws are accused at most as often as stated; 200 of each in make slow.

At the claim: Independent attains its μ, so its bound passes the claim at most at the significance. Equal laws: both
runs have the same table, so that the ratio against the pair's other table is a statistic that tells nothing; a bound
above 0 is a false alarm. The audit treats the two directions of a pair alike; equal laws are tried on either table.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from accounting.budget import Law, cap
from accounting.unit import PersonUnit
from audits.claims import claims_of
from audits.pairs import worst_case_pairs
from audits.statistics import mu_lower_bound_apart
from audits.transcript.runs import Bench, Experiment, TwoRuns
from audits.transcript.testing import PairTest, errors_of
from mechanisms.registry import config_from_table
from tests.audits.subjects import flags
from tests.statistical.rates import register

SIGNIFICANCE = 0.2
RATE = register("audits: nulls at the claim and of equal laws, three figures each", 9e-9)
FIGURES = ("bound", "apart", "p-value")


def bench(kind: str) -> Bench:
    """Set up a mechanism whose ten rows a person keep the noise well above its rounding."""
    schema, unit = flags("a", "b", "c", person=True), PersonUnit("id", 10)
    release_cap = cap(Law.GDP, Fraction(1))
    mechanism = config_from_table(kind, {}).calibrate(release_cap, unit, schema)
    return Bench(Experiment(mechanism, release_cap, worst_case_pairs(schema, unit)[0]))


def alarms(audits: Iterator[list[TwoRuns]], subject: Bench, permitted: float) -> dict[str, int]:
    """Count the audits whose bounds pass what is true, and those whose p-value is below the significance."""
    claims = claims_of(subject.experiment.mechanism.plan, subject.experiment.cap)
    found = dict.fromkeys(FIGURES, 0)
    for runs in audits:
        test = PairTest(claims, len(runs), SIGNIFICANCE)
        test.add(runs)
        found["bound"] += test.lower_bound() > permitted
        found["apart"] += mu_lower_bound_apart(errors_of(runs), SIGNIFICANCE) > permitted
        found["p-value"] += test.p_value(claims[0]) <= SIGNIFICANCE
    return found


def at_the_claim(audits: int, runs: int) -> dict[str, int]:
    subject = bench("independent")
    claim = claims_of(subject.experiment.mechanism.plan, subject.experiment.cap)[0].value
    return alarms(([subject.two_runs(0) for _ in range(runs)] for _ in range(audits)), subject, claim)


def equal_laws(audits: int, runs: int, *, with_the_unit: bool, kind: str = "independent") -> dict[str, int]:
    subject = bench(kind)
    subject.use_one_table(present=with_the_unit)
    return alarms(([_independent_runs(subject) for _ in range(runs)] for _ in range(audits)), subject, 0.0)


def _independent_runs(subject: Bench) -> TwoRuns:
    """Two runs that share nothing: with shared words, equal tables would give equal transcripts."""
    return TwoRuns(subject.two_runs(0).absent, subject.two_runs(0).present)


def most(audits: int) -> int:
    """The number of false alarms that right code passes about once in 10^9 suites."""
    return int(binom.isf(RATE / 9, audits, SIGNIFICANCE))


def test_p38_few_audits_at_the_claim():
    assert max(at_the_claim(24, 12).values()) <= most(24) < 24


@pytest.mark.parametrize("with_the_unit", [False, True])
def test_p38_few_audits_of_equal_laws(with_the_unit):
    assert max(equal_laws(24, 12, with_the_unit=with_the_unit).values()) <= most(24)


def test_both_directions_give_one_figure():
    subject = bench("independent")
    runs = [subject.two_runs(0) for _ in range(30)]
    turned = [TwoRuns(_turned(two.present), _turned(two.absent)) for two in runs]
    bounds = []
    for side in (runs, turned):
        test = PairTest(claims_of(subject.experiment.mechanism.plan, subject.experiment.cap), 30, 0.25)
        test.add(side)
        bounds.append(test.lower_bound())
    assert np.isclose(*bounds, rtol=1e-9, atol=1e-9)


def _turned(side):
    return type(side)(-side.log_ratio, not side.guessed, side.value, side.mu_squared, side.alike)


@pytest.mark.slow
def test_two_hundred_audits_at_the_claim():
    assert max(at_the_claim(200, 50).values()) <= most(200) < 100


@pytest.mark.slow
@pytest.mark.parametrize("with_the_unit", [False, True])
def test_two_hundred_audits_of_equal_laws(with_the_unit):
    assert max(equal_laws(200, 25, with_the_unit=with_the_unit).values()) <= most(200)
