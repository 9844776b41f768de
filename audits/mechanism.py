"""Audit a configured mechanism on planted tables: transcripts, record and replay, samplers, and synthetic rows alone.

One significance covers the whole verdict, by Holm's procedure over all p-values. Those of the transcripts hold at any
time, so that a pair may stop as soon as a claim is surely falsified. Record and replay is exact and costs none.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.exact import to_text
from accounting.planted import Entropy, OsEntropy, SeededEntropy
from accounting.queries import Select
from accounting.schema import Schema
from accounting.unit import NEIGHBOURING, PrivacyUnit, unit_to_json
from audits.betting import Bets, p_value
from audits.claims import Claim, claims_of
from audits.document import AuditDocument, BlackBoxPart, ClaimPart, GoodnessPart, PairPart, ReplayPart
from audits.domain import SearchAlone
from audits.goodness import Goodness, gaussian_fit, selection_fit
from audits.keeping import Kept
from audits.pairs import Pair, worst_case_pairs
from audits.replay import ReplayReport, record, record_and_replay
from audits.statistics import ErrorCounts, holm, mu_lower_bound_apart
from audits.transcript.runs import CHUNK, Bench, Experiment, TwoRuns, observe
from audits.transcript.testing import PairTest, Trial, errors_of, power_against
from mechanisms.base import CalibratedMechanism, MechanismConfig
from mechanisms.domain import DomainSearch

Level = Literal["quick", "thorough"]

SECONDS: dict[Level, float] = {"quick": 100.0, "thorough": 1600.0}
"""What the transcript test may take; the number of runs follows from the time of a run, before any result is seen."""

SIGNIFICANCE = 0.05
MOST_COLUMNS = 3
_LEAST_RUNS = 4 * CHUNK
_MAIN_SHARE = 0.7
_RATIO: dict[Level, float] = {"quick": 0.9, "thorough": 0.96}
_DRAWS: dict[Level, tuple[int, int]] = {"quick": (40_000, 300), "thorough": (2_000_000, 5_000)}
_TRAINING = 5
_SAY_EVERY = 20
_TRIAL_RUNS = 60
_TRIAL_SECONDS = 6.0
_OTHER_TESTS = 4
"""At most so many p-values of synthetic rows and samplers share the significance with those of the transcripts."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What is audited.

    Args:
        kind: the mechanism's kind, as release.toml names it.
        config: its configuration.
        cap: the cap of a release.
        unit: the privacy unit.
        schema: the release's schema; where domains are measured, the largest that can be found.
        search: what finds measured domains before the mechanism runs, or None.
    """

    kind: str
    config: MechanismConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    search: DomainSearch | None = None


def audit_schema(schema: Schema) -> Schema:
    """Return the schema itself, or its ``MOST_COLUMNS`` columns with the fewest cells where it has more.

    A run of the whole schema may take minutes, and a test of error rates needs thousands of runs. The code that runs is
    the same, and so is the cap.
    """
    if len(schema.columns) <= MOST_COLUMNS:
        return schema
    small = sorted(schema.columns, key=lambda column: column.cells)[:MOST_COLUMNS]
    return _columns_kept(schema, {column.name for column in small} | set(schema.identifiers))


def _columns_kept(schema: Schema, kept: set[str]) -> Schema:
    document = dict(schema.to_json())
    columns = cast("list[dict[str, Json]]", document["columns"])
    rules = cast("list[dict[str, Json]]", document.get("constraints", []))
    whole = {name for name, meaning in schema.meanings.items() if set(meaning.columns) <= kept}
    return Schema.from_json(
        {
            **document,
            "columns": [column for column in columns if column["name"] in kept],
            "constraints": [rule for rule in rules if rule["name"] in whole],
        }
    )


def calibrated(subject: Subject, schema: Schema) -> CalibratedMechanism:
    """Calibrate for the audit's schema; a workload that names columns left out gives way to the default one."""
    config = subject.config
    if schema is not subject.schema and any(item.name == "workload" for item in fields(cast("Any", config))):
        config = replace(cast("Any", config), workload=None)
    return config.calibrate(subject.cap, subject.unit, schema)


def audit_mechanism(
    subject: Subject,
    level: Level,
    *,
    processes: int = 1,
    runs: int | None = None,
    keep: Path | None = None,
    say: Say = lambda _: None,
    seed: int | None = None,
) -> AuditDocument:
    """Audit a mechanism as configured, on throw-away ledgers and planted tables; no private table is read.

    Args:
        subject: what to audit.
        level: how long: quick at most two minutes on two cores, thorough at most half an hour.
        processes: how many processes run the mechanism.
        runs: runs a side of the main pair; None for as many as the level's time permits.
        keep: a file that keeps finished runs, so that a stopped audit can be continued with it.
        say: is told what happens, and how long it will take before it starts.
        seed: None for the operating system's randomness; a number makes tests repeatable.

    Raises:
        ConfigError: the mechanism cannot be calibrated, or ``keep`` belongs to another audit.
    """
    schema = audit_schema(subject.schema)
    mechanism = calibrated(subject, schema)
    claims = claims_of(mechanism.plan, subject.cap)
    pairs = worst_case_pairs(schema, subject.unit)
    say("record and replay every question")
    entropy = OsEntropy() if seed is None else SeededEntropy(seed)
    replays = [record_and_replay(mechanism, subject.cap, pair, entropy=entropy) for pair in pairs]
    replays += _search_replays(subject.search, entropy)
    say("goodness of fit of the samplers")
    fits = _fits(mechanism, subject.cap, pairs[0], level, entropy)
    planned = _plan_runs(mechanism, subject.cap, pairs, claims, level, processes, runs, say)
    tests = []
    with Kept.open(keep, subject_digest(subject, schema)) as kept:
        for pair, count in zip(pairs, planned, strict=True):
            experiment = Experiment(mechanism, subject.cap, pair, seed)
            tests.append(_observe(experiment, count, claims, len(pairs), processes, kept, say))
    black_box = _black_box(tests[0].pair, tests[0].runs, claims)
    return _judge(subject, level, schema, claims, tests, black_box, replays, fits)


def _search_replays(search: DomainSearch | None, entropy: Entropy) -> list[ReplayReport]:
    """Record and replay the search for measured domains, on its measured columns alone."""
    if search is None:
        return []
    kept = {column.name for column in search.schema.measured} | set(search.schema.identifiers)
    alone = DomainSearch(_columns_kept(search.schema, kept), search.unit, search.cap)
    return [
        record_and_replay(SearchAlone(alone), search.cap, replace(pair, name=f"domains, {pair.name}"), entropy=entropy)
        for pair in worst_case_pairs(alone.schema, alone.unit)
    ]


def subject_digest(subject: Subject, schema: Schema) -> dict[str, Json]:
    """Describe what is audited, so that kept runs of another subject are recognised."""
    return {
        "mechanism": {"kind": subject.kind, **subject.config.to_json()},
        "law": subject.cap.law.value,
        "cap": to_text(subject.cap.value),
        "unit": unit_to_json(subject.unit),
        "schema": schema.digest,
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Observed:
    """The runs of one pair and what they say."""

    pair: str
    planned: int
    runs: list[TwoRuns]
    test: PairTest
    stopped_early: bool


def _plan_runs(  # noqa: PLR0917 - the parts of one audit, each once
    mechanism: CalibratedMechanism,
    release_cap: Cap,
    pairs: tuple[Pair, ...],
    claims: tuple[Claim, ...],
    level: Level,
    processes: int,
    runs: int | None,
    say: Say,
) -> list[int]:
    """Return the runs a side of each pair, fixed before any of them is seen."""
    trial = try_out(Experiment(mechanism, release_cap, pairs[0]), claims[0])
    wanted = trial.pairs_for_ratio(claims[0], _RATIO[level], SIGNIFICANCE, 0.95)
    seconds = trial.seconds / processes
    affordable = int(SECONDS[level] / seconds)
    main = runs or max(_LEAST_RUNS, min(wanted, int(affordable * _MAIN_SHARE)))
    main = -(-main // CHUNK) * CHUNK
    least = CHUNK if runs else _LEAST_RUNS
    side = max(least, int(main * (1 - _MAIN_SHARE) / _MAIN_SHARE / (len(pairs) - 1)) // CHUNK * CHUNK)
    minutes = seconds * (main + side * (len(pairs) - 1)) / 60
    say(
        f"{main} runs a side on the main pair and {side} on each other: about {minutes:.1f} minutes. By trial runs, "
        f"which do not count, {wanted} bound mu at {_RATIO[level]:.0%} of the pair's {trial.value:.4g} with 95 % power"
    )
    return [main, *[side] * (len(pairs) - 1)]


def try_out(experiment: Experiment, claim: Claim) -> Trial:
    """Run a mechanism a few times, to plan by."""
    bench = Bench(experiment)
    bench.two_runs(0)
    begin, runs = time.perf_counter(), [bench.two_runs(0)]
    while len(runs) < _TRIAL_RUNS and time.perf_counter() - begin < _TRIAL_SECONDS:
        runs.append(bench.two_runs(len(runs)))
    if len(runs) == 1:
        runs.append(bench.two_runs(1))
    return Trial.of(runs, (time.perf_counter() - begin) / len(runs), claim)


def _observe(  # noqa: PLR0917 - the parts of one audit, each once
    experiment: Experiment,
    planned: int,
    claims: tuple[Claim, ...],
    pairs: int,
    processes: int,
    kept: Kept,
    say: Say,
) -> _Observed:
    """Run one pair to its planned number of runs, or until a claim is falsified whatever the other tests say."""
    name = experiment.pair.name
    test = PairTest(claims, planned, SIGNIFICANCE)
    surely = SIGNIFICANCE / (pairs * len(claims) + _OTHER_TESTS)
    runs: list[TwoRuns] = []

    def take(chunk: list[TwoRuns]) -> bool:
        runs.extend(chunk)
        test.add(chunk)
        return any(test.p_value(claim) <= surely for claim in claims)

    done = kept.chunks(name)[: planned // CHUNK]
    falsified = False
    for chunk in done:
        falsified = take(chunk) or falsified
    if not falsified:
        for number, chunk in observe(experiment, range(len(done), planned // CHUNK), processes=processes):
            kept.add(name, chunk)
            falsified = take(chunk)
            if falsified:
                break
            if number % _SAY_EVERY == _SAY_EVERY - 1:
                say(f"{name}: {(number + 1) * CHUNK} of {planned} runs a side")
    return _Observed(name, planned, runs, test, stopped_early=falsified and len(runs) < planned)


def _black_box(pair: str, runs: list[TwoRuns], claims: tuple[Claim, ...]) -> BlackBoxPart:
    """Choose a threshold on the first fifth of the runs and test with the others."""
    size = len(runs) // _TRAINING
    training, testing = runs[:size], runs[size:]
    values = sorted({side.alike for two in training for side in (two.absent, two.present)})
    best = min(values, key=lambda value: sum(_alike_errors(training, value)))
    bets = Bets(len(testing), SIGNIFICANCE)
    bets.add(np.array([sum(_alike_errors([two], best)) for two in testing], dtype=np.float64) / 2)
    false_positives, false_negatives = _alike_errors(testing, best)
    errors = ErrorCounts(len(testing), false_positives, false_negatives)
    return BlackBoxPart(
        pair=pair,
        training_runs_each_side=size,
        runs_each_side=errors.runs,
        false_positives=errors.false_positives,
        false_negatives=errors.false_negatives,
        lower_bound=mu_lower_bound_apart(errors, SIGNIFICANCE),
        p_value=p_value(bets.log_wealth(max(claim.least_error_rate for claim in claims))),
    )


def _alike_errors(runs: list[TwoRuns], threshold: float) -> tuple[int, int]:
    """Count the errors of guessing "present" from so large a share of rows like the unit's on."""
    return sum(two.absent.alike >= threshold for two in runs), sum(two.present.alike < threshold for two in runs)


def _fits(
    mechanism: CalibratedMechanism, release_cap: Cap, pair: Pair, level: Level, entropy: Entropy
) -> list[Goodness]:
    """Test the noise and the selections at the parameters that one run uses."""
    steps = record(mechanism, release_cap, pair, pair.absent, entropy=entropy, seed=0).steps
    variances = sorted({step.query.variance for step in steps if not isinstance(step.query, Select)})
    epsilons = sorted({step.query.epsilon for step in steps if isinstance(step.query, Select)})
    draws, selections = _DRAWS[level]
    fits = [gaussian_fit(variance, draws, entropy) for variance in {variances[0], variances[-1]}]
    fits += [selection_fit(epsilon, selections, entropy) for epsilon in epsilons[-1:]]
    return fits


def _judge(  # noqa: PLR0917 - the parts of one audit, each once
    subject: Subject,
    level: Level,
    schema: Schema,
    claims: tuple[Claim, ...],
    tests: list[_Observed],
    black_box: BlackBoxPart,
    replays: list[ReplayReport],
    fits: list[Goodness],
) -> AuditDocument:
    p_values = [[test.test.p_value(claim) for claim in claims] for test in tests]
    flat = [p_value for row in p_values for p_value in row] + [black_box.p_value] + [fit.p_value for fit in fits]
    rejected = list(holm(flat, SIGNIFICANCE))
    parts = []
    for index, (test, row) in enumerate(zip(tests, p_values, strict=True)):
        own = rejected[index * len(claims) : (index + 1) * len(claims)]
        parts.append(_pair_part(test, claims, row, falsified=any(own)))
    goodness = tuple(
        GoodnessPart(
            sampler=fit.sampler,
            draws=fit.draws,
            p_value=fit.p_value,
            verdict="falsified" if bad else "not falsified",
        )
        for fit, bad in zip(fits, rejected[len(rejected) - len(fits) :], strict=True)
    )
    falsified = any(rejected) or any(report.violations for report in replays)
    return AuditDocument(
        level=level,
        mechanism={"kind": subject.kind, **subject.config.to_json()},
        law=subject.cap.law.value,
        cap=to_text(subject.cap.value),
        unit=unit_to_json(subject.unit),
        columns=tuple(column.name for column in schema.columns),
        whole_schema=schema is subject.schema,
        neighbouring=NEIGHBOURING,
        significance=SIGNIFICANCE,
        claims=tuple(
            ClaimPart(name=c.name, text=c.text, value=c.value, least_error_rate=c.least_error_rate) for c in claims
        ),
        pairs=tuple(parts),
        black_box=black_box,
        replay=tuple(
            ReplayPart(
                pair=report.pair,
                questions=report.questions,
                largest_share_of_sensitivity=report.largest_share,
                violations=tuple(f"question {found.question}: {found.what}" for found in report.violations),
            )
            for report in replays
        ),
        goodness=goodness,
        verdict="falsified" if falsified else "not falsified",
    )


def _pair_part(observed: _Observed, claims: tuple[Claim, ...], p_values: list[float], *, falsified: bool) -> PairPart:
    sides = [side for two in observed.runs for side in (two.absent, two.present)]
    errors = errors_of(observed.runs)
    value = math.sqrt(sum(side.value for side in sides) / len(sides))
    bound, claimed = observed.test.lower_bound(), claims[0].value
    return PairPart(
        pair=observed.pair,
        runs_each_side=errors.runs,
        planned_runs_each_side=observed.planned,
        false_positives=errors.false_positives,
        false_negatives=errors.false_negatives,
        lower_bound=bound,
        lower_bound_apart=mu_lower_bound_apart(errors, SIGNIFICANCE),
        claimed_mu=claimed,
        pair_value=value,
        charged_mu=math.sqrt(sum(side.mu_squared for side in sides) / len(sides)),
        bound_over_value=bound / value if value > 0 else None,
        value_over_claim=value / claimed,
        power=power_against(2 * value, claimed, observed.planned, SIGNIFICANCE),
        p_values={claim.name: p_value for claim, p_value in zip(claims, p_values, strict=True)},
        stopped_early=observed.stopped_early,
        verdict="falsified" if falsified else "not falsified",
    )
