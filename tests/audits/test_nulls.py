"""Null audits: right mechanisms and equal laws are accused at most as often as stated; 200 of them in make slow."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from accounting.budget import Law, cap
from accounting.unit import PersonUnit
from audits.claims import claims_of
from audits.pairs import worst_case_pairs
from audits.statistics import ErrorCounts, mu_lower_bound, mu_lower_bound_apart
from audits.transcript.runs import Experiment
from mechanisms.registry import config_from_table
from tests.audits.subjects import flags
from tests.statistical.rates import register

SIGNIFICANCE = 0.2
RATE = register("audits: nulls at the claim, both bounds", 4e-9)


def at_the_claim(audits: int, runs: int) -> dict[str, int]:
    """How often each bound passes the claim of a mechanism whose pair attains it, and of its two directions."""
    schema, unit = flags("a", "b", "c", person=True), PersonUnit("id", 10)
    release_cap = cap(Law.GDP, Fraction(1))
    mechanism = config_from_table("independent", {}).calibrate(release_cap, unit, schema)
    claim = claims_of(mechanism.plan, release_cap)[0].value
    experiment = Experiment(mechanism, release_cap, worst_case_pairs(schema, unit)[0])
    alarms = {"pooled": 0, "apart": 0}
    for number in range(audits):
        seen = experiment.chunk(number, runs)
        errors = ErrorCounts(
            runs,
            sum(one.guessed for one in seen if not one.present),
            sum(not one.guessed for one in seen if one.present),
        )
        alarms["pooled"] += mu_lower_bound(errors, SIGNIFICANCE) > claim
        alarms["apart"] += mu_lower_bound_apart(errors, SIGNIFICANCE) > claim
    return alarms


def equal_laws(audits: int, runs: int) -> dict[str, int]:
    """How often a bound above 0 comes out of a statistic that is independent of the unit."""
    rng = np.random.default_rng(20)
    alarms = {"pooled": 0, "apart": 0}
    for _ in range(audits):
        rate = rng.random()
        errors = ErrorCounts(runs, int(rng.binomial(runs, rate)), int(rng.binomial(runs, 1 - rate)))
        alarms["pooled"] += mu_lower_bound(errors, SIGNIFICANCE) > 0
        alarms["apart"] += mu_lower_bound_apart(errors, SIGNIFICANCE) > 0
    return alarms


def most(audits: int) -> int:
    """The number of false alarms that right code passes at most once in 10^9 audits' suites."""
    return int(binom.isf(RATE / 4, audits, SIGNIFICANCE))


def test_few_audits_at_the_claim():
    assert max(at_the_claim(24, 12).values()) <= most(24) < 24


def test_equal_laws_with_an_independent_statistic():
    assert max(equal_laws(200, 400).values()) <= most(200) < 100


@pytest.mark.slow
def test_two_hundred_audits_at_the_claim():
    assert max(at_the_claim(200, 50).values()) <= most(200) < 100
