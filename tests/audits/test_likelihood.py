"""The log-likelihood ratio against exact arithmetic, enumeration and its law; naive kernels against the curator."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accounting.budget import Law
from accounting.events import price
from accounting.planted import SeededEntropy, exact_answer
from accounting.queries import Marginals, Select, Total, question_event, selection_scale
from accounting.unit import PersonUnit, RowUnit
from audits.pairs import Pair, Rows, make_pair, random_pair, worst_case_pairs
from audits.recording import RecordingTable
from audits.replay import curator_exact, record
from audits.transcript.kernels import NaiveTable
from audits.transcript.likelihood import Replay, log_softmax, own_price, own_scale, rounded_log_mass
from audits.transcript.runs import Experiment, from_row, share_alike, to_row, unit_cells
from audits.transcript.shared import SharedWords
from tests.audits.subjects import OPTIONS, calibrated, flags, mixed


@pytest.mark.parametrize("sigma", [0.3, 1.0, 40.0])
@pytest.mark.parametrize("noise", [0, 1, -1, 7, 300])
def test_the_mass_of_a_rounded_gaussian_at_50_digits(sigma, noise):
    with mpmath.workdps(50):
        scale = mpmath.mpf(sigma)
        low, high = sorted(((abs(noise) - mpmath.mpf(1) / 2) / scale, (abs(noise) + mpmath.mpf(1) / 2) / scale))
        exact = mpmath.log(mpmath.erfc(low / mpmath.sqrt(2)) / 2 - mpmath.erfc(high / mpmath.sqrt(2)) / 2)
    ours = rounded_log_mass(np.array([float(noise)]), np.array([sigma]))[0]
    assert math.isclose(ours, float(exact), rel_tol=1e-10)


def test_a_mass_adds_up_to_one():
    values = np.arange(-60, 61, dtype=np.float64)
    assert math.isclose(np.exp(rounded_log_mass(values, np.full(121, 3.0))).sum(), 1, rel_tol=1e-12)


def test_log_softmax_adds_up_to_one_and_takes_any_scores():
    logs = log_softmax([2**60, 2**60 - 5, -(2**62)], 0.25)
    assert math.isclose(np.exp(logs).sum(), 1, rel_tol=1e-12)
    assert math.isclose(logs[0] - logs[1], 5 * 0.25)


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("id", 3)])
def test_own_prices_are_the_curators(kind, law, unit):
    schema = mixed(person=isinstance(unit, PersonUnit))
    mechanism, cap = calibrated(kind, schema, law=law, unit=unit)
    pair = random_pair(schema, unit, 20, np.random.default_rng(0))
    for step in record(mechanism, cap, pair, pair.absent, entropy=SeededEntropy(2), seed=0).steps:
        event = question_event(step.query, unit)
        assert own_price(step.query, unit) == (price(event, Law.GDP), price(event, Law.ZCDP))
        if isinstance(step.query, Select):
            assert math.isclose(own_scale(step.query, unit), float(selection_scale(step.query, unit)))


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_naive_kernels_count_like_the_curator(kind):
    schema = mixed(person=True)
    unit = PersonUnit("id", 3)
    mechanism, cap = calibrated(kind, schema, unit=unit)
    pair = random_pair(schema, unit, 30, np.random.default_rng(7))
    for rows in (pair.absent, pair.present):
        naive = NaiveTable(schema, rows)
        for step in record(mechanism, cap, pair, rows, entropy=SeededEntropy(2), seed=0).steps:
            assert naive.exact(step.query) == curator_exact(step.query, pair, rows)


def test_null_ids_are_no_persons():
    schema = flags("a", person=True)
    rows = Rows({"a": np.array([0, 1, 1])}, ("x", None, None))
    assert NaiveTable(schema, rows).exact(Total(Fraction(1))) == [1]
    assert exact_answer(Total(Fraction(1)), schema, rows.ticks, PersonUnit("id", 1), rows.ids) == 1


def test_the_expected_ratio_of_likelihoods_is_one_by_enumeration():
    # sum over every answer of P(answer with the unit): E of exp(log ratio) under the table without it
    schema = flags("a")
    pair = worst_case_pairs(schema, RowUnit())[0]
    query = Marginals((("a",),), Fraction(2))
    replay = Replay(pair)
    total = 0.0
    for zeros in range(-8, 29):
        for ones in range(-18, 19):
            step = _step(query, [np.array([zeros, ones])])
            under = rounded_log_mass(np.array([zeros - 10.0, ones]), np.full(2, math.sqrt(2))).sum()
            total += math.exp(under + replay.weigh([step]).log_ratio)
    assert math.isclose(total, 1, rel_tol=1e-6)


def _step(query, tables):
    from accounting.queries import NoisyMarginals
    from audits.recording import Step

    return Step(query, NoisyMarginals(1, tuple(tables)))


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_the_mean_ratio_is_half_the_pairs_value(kind):
    mechanism, cap = calibrated(kind, flags("a", "b", "c"), amount="1/8")
    pair = worst_case_pairs(flags("a", "b", "c"), RowUnit())[0]
    seen = sides(Experiment(mechanism, cap, pair, seed=3).chunk(0, 30))
    signed = [one.log_ratio for one in seen[1::2]] + [-one.log_ratio for one in seen[::2]]
    value = sum(one.value for one in seen) / len(seen)
    assert abs(sum(signed) / len(seen) - value / 2) < 6 * math.sqrt(value / len(seen))
    assert value <= max(one.mu_squared for one in seen) * (1 + 1e-9)


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_a_pairs_value_never_exceeds_its_charge(kind):
    schema = flags("a", "b", "c")
    mechanism, cap = calibrated(kind, schema)
    for pair in worst_case_pairs(schema, RowUnit()):
        for one in sides(Experiment(mechanism, cap, pair, seed=4).chunk(0, 2)):
            assert one.value <= one.mu_squared * (1 + 1e-9)


def test_independent_attains_its_claim():
    schema = flags("a", "b", "c")
    mechanism, cap = calibrated("independent", schema)
    for pair in worst_case_pairs(schema, RowUnit()):
        (two,) = Experiment(mechanism, cap, pair, seed=1).chunk(0, 1)
        assert math.isclose(two.absent.value, 1.0, rel_tol=1e-9)


def test_a_seeded_experiment_repeats_and_an_observation_survives_its_row():
    schema = flags("a", "b")
    mechanism, cap = calibrated("independent", schema)
    experiment = Experiment(mechanism, cap, worst_case_pairs(schema, RowUnit())[1], seed=9)
    chunk = experiment.chunk(1, 3)
    assert chunk == experiment.chunk(1, 3) != experiment.chunk(2, 3)
    assert [from_row(to_row(two)) for two in chunk] == chunk


def test_two_runs_share_their_noise_number_by_number():
    schema = flags("a", "b", "c")
    mechanism, cap = calibrated("independent", schema)
    for two in Experiment(mechanism, cap, worst_case_pairs(schema, RowUnit())[0]).chunk(0, 5):
        # where the noise is shared, the ratios differ by exactly the pair's own μ², up to the noise's rounding
        assert two.present.log_ratio - two.absent.log_ratio == pytest.approx(two.absent.value, rel=0.1)


def test_each_run_alone_sees_fresh_words_and_questions_do_not_shift_each_other():
    words = SharedWords(SeededEntropy(1))
    drawn = []
    for counts in ((3, 40), (20, 40), (3, 40)):
        words.begin()
        run = []
        for count in counts:
            words.next_question()
            run.append(words.words(count).tolist())
        drawn.append(run)
    assert drawn[0] == drawn[2]
    assert drawn[1][0][:3] == drawn[0][0]
    assert drawn[1][1] == drawn[0][1]
    assert len({word for part in drawn[1] for word in part}) == 60


def sides(runs):
    """Both runs of each, the one without the unit first."""
    return [side for two in runs for side in (two.absent, two.present)]


def test_the_unit_is_bounded_by_its_own_rule():
    from accounting.errors import ConfigError

    schema = flags("a")
    rows = Rows({"a": np.zeros(1, dtype=np.int64)})
    with pytest.raises(ConfigError):
        Pair("two rows", schema, RowUnit(), rows, {"a": np.zeros(2, dtype=np.int64)})


def test_rows_alike_are_counted_by_cells():
    from mechanisms.table import SyntheticTable

    schema = flags("a")
    pair = make_pair("one", schema, RowUnit(), [], [{"a": 1}])
    assert share_alike(SyntheticTable(schema, {"a": np.array([1, 0, 1, 1])}), unit_cells(pair)) == 0.75
    assert share_alike(SyntheticTable(schema, {"a": np.array([], dtype=np.int64)}), unit_cells(pair)) == 0


def test_a_refused_question_is_not_recorded():
    from accounting.budget import cap
    from accounting.errors import BudgetRefused
    from accounting.planted import planted_table

    table = RecordingTable(
        planted_table(
            flags("a"),
            {"a": np.zeros(1, dtype=np.int64)},
            RowUnit(),
            cap(Law.ZCDP, Fraction(1, 8)),
            entropy=SeededEntropy(0),
        )
    )
    with pytest.raises(BudgetRefused):
        table.ask(Total(Fraction(1)))
    assert table.steps == []
    table.ask(Total(Fraction(4)))
    assert len(table.steps) == 1
    assert table.remaining == 0
