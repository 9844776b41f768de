"""How tight the transcript audit is, and what a run costs, in the published setting of arXiv:2604.18352.

(ε, δ) = (1, 1e-2) under zCDP; ten rows of zeros against the same and one row of ones; three binary columns. AIM runs
with its selections, annealing and Private-PGM in the loop. Claim, the pair's own value and the bound stand together.
"""

import math
import os
import time
from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.convert import cap_for
from accounting.schema import Schema
from accounting.unit import RowUnit
from audits.claims import claims_of
from audits.mechanism import try_out
from audits.pairs import worst_case_pairs
from audits.statistics import mu_lower_bound_apart
from audits.transcript.runs import CHUNK, Bench, Experiment, TwoRuns, observe
from audits.transcript.testing import PairTest, errors_of
from benchmarks.report import Report, arguments, progress
from mechanisms.pgm.inference import one_blas_thread
from mechanisms.registry import config_from_table

KINDS = ("independent", "aim", "tab-pe")
STATEMENT = EpsilonDelta(Fraction(1), Fraction(1, 100))
SIGNIFICANCE = 0.05
MOST_MILLISECONDS = {"independent": 3.0, "aim": 30.0}


@dataclass(frozen=True, slots=True)
class Effort:
    """How long one mechanism may be audited, in seconds of one core, and how tight the bound has to be."""

    core_seconds: float
    ratio: float
    aim: float


QUICK = Effort(2 * 120, 0.85, 0.9)
THOROUGH = Effort(2 * 1800, 0.95, 0.965)


def experiment(kind: str) -> Experiment:
    """Set up the published pair."""
    column = {"kind": "boolean", "nullable": False, "replacement": False}
    schema = Schema(table={"name": "anchor"}, columns=[{"name": name, **column} for name in "abc"])
    law = Law.GDP if kind == "tab-pe" else Law.ZCDP
    cap = Cap(cap_for(STATEMENT, law))
    mechanism = config_from_table(kind, {}).calibrate(cap, RowUnit(), schema)
    return Experiment(mechanism, cap, worst_case_pairs(schema, RowUnit())[0])


def milliseconds(subject: Experiment, runs: int) -> float:
    """Return the processor time of one run with its evidence: the best of several, since others use the machine too."""
    bench = Bench(subject)
    bench.two_runs(0)
    best = math.inf
    with one_blas_thread():
        for _ in range(8):
            begin = time.process_time()
            for index in range(runs):
                bench.two_runs(index)
            best = min(best, (time.process_time() - begin) * 1000 / (2 * runs))
    return best


def tightness(report: Report, kind: str, effort: Effort, level: str) -> None:
    """Bound one mechanism and record the bar; the number of runs is fixed before any result is seen."""
    subject = experiment(kind)
    claim = claims_of(subject.mechanism.plan, subject.cap)[0]
    processes = len(os.sched_getaffinity(0))
    trial = try_out(subject, claim)
    seconds = 2 * milliseconds(subject, 3) / 1000  # of the processor: others use the machine too
    wanted = trial.pairs_for_ratio(claim, effort.aim, SIGNIFICANCE, 0.95)
    planned = -(-min(wanted, int(effort.core_seconds / seconds)) // CHUNK) * CHUNK
    minutes = planned * seconds / processes / 60
    progress(f"{kind}, {level}: {planned} of {wanted} runs a side, about {minutes:.1f} minutes")
    begin = time.perf_counter()
    test, runs = PairTest([claim], planned, SIGNIFICANCE), list[TwoRuns]()
    for _, chunk in observe(subject, range(planned // CHUNK), processes=processes):
        test.add(chunk)
        runs += chunk
    errors = errors_of(runs)
    value = math.sqrt(sum(two.absent.value + two.present.value for two in runs) / (2 * len(runs)))
    bound = test.lower_bound()
    report.figures[f"{kind}, {level}"] = {
        "runs_each_side": planned,
        "wanted": wanted,
        "claim": claim.value,
        "pair_value": value,
        "lower_bound": bound,
        "lower_bound_apart": mu_lower_bound_apart(errors, SIGNIFICANCE),
        "false_positives": errors.false_positives,
        "false_negatives": errors.false_negatives,
        "core_seconds": (time.perf_counter() - begin) * processes,
    }
    apart = report.figures[f"{kind}, {level}"]["lower_bound_apart"]
    progress(
        f"{kind}, {level}: claim {claim.value:.4f}, pair's value {value:.4f}, bound {bound:.4f}; by error rates at "
        f"threshold 0 alone {apart:.4f}"
    )
    report.bar(f"{kind}, {level}: bound / pair's value", bound / value, ">=", effort.ratio)


def main() -> None:
    """Measure speed and tightness; ``--quick`` leaves the thorough level out, and all of Tab-PE and AIM's bound."""
    options = arguments(str(__doc__), kinds=KINDS)
    report = Report("audits")
    for kind in options.kind or KINDS:
        if kind in MOST_MILLISECONDS:
            cost = milliseconds(experiment(kind), 12)
            report.bar(f"{kind}: milliseconds a run", cost, "<=", MOST_MILLISECONDS[kind])
        if kind == "independent" or not options.quick:
            tightness(report, kind, QUICK, "quick")
        if not options.quick:
            tightness(report, kind, THOROUGH, "thorough")
    report.finish(options.out)


if __name__ == "__main__":
    main()
