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
from audits.pairs import worst_case_pairs
from audits.statistics import ErrorCounts, mu_lower_bound, mu_lower_bound_apart, runs_for_ratio
from audits.transcript.runs import CHUNK, Experiment, observe
from benchmarks.report import Report, arguments, progress
from mechanisms.registry import config_from_table

KINDS = ("independent", "aim", "tab-pe")
STATEMENT = EpsilonDelta(Fraction(1), Fraction(1, 100))
LARGER = EpsilonDelta(Fraction(8), Fraction(1, 100))
SIGNIFICANCE = 0.05
MOST_MILLISECONDS = {"independent": 3.0, "aim": 30.0}


@dataclass(frozen=True, slots=True)
class Effort:
    """How long one mechanism is audited, and how tight the bound has to be."""

    seconds: float
    ratio: float


def experiment(kind: str, statement: EpsilonDelta) -> Experiment:
    """Set up the published pair."""
    column = {"kind": "boolean", "nullable": False, "replacement": False}
    schema = Schema(table={"name": "anchor"}, columns=[{"name": name, **column} for name in "abc"])
    law = Law.GDP if kind == "tab-pe" else Law.ZCDP
    cap = Cap(cap_for(statement, law))
    mechanism = config_from_table(kind, {}).calibrate(cap, RowUnit(), schema)
    return Experiment(mechanism, cap, worst_case_pairs(schema, RowUnit())[0])


def milliseconds(subject: Experiment, runs: int) -> float:
    """Return the processor time of one run with its evidence."""
    subject.chunk(0, 2)
    begin = time.process_time()
    subject.chunk(0, runs)
    return (time.process_time() - begin) * 1000 / (2 * runs)


def tightness(report: Report, kind: str, statement: EpsilonDelta, effort: Effort, label: str) -> None:
    """Bound one mechanism and record the bar; the number of runs is fixed before any result is seen."""
    subject = experiment(kind, statement)
    claim = claims_of(subject.mechanism.plan, subject.cap)[0].value
    processes = len(os.sched_getaffinity(0))
    begin = time.perf_counter()
    subject.chunk(0, 5)
    one = (time.perf_counter() - begin) / 5 / processes
    wanted = runs_for_ratio(claim, effort.ratio, SIGNIFICANCE, 0.99)
    runs = max(4 * CHUNK, min(wanted, int(effort.seconds / one))) // CHUNK * CHUNK
    progress(f"{kind} at {label}: {runs} of {wanted} runs a side, about {runs * one / 60:.1f} minutes")
    seen = [item for _, chunk in observe(subject, range(runs // CHUNK), processes=processes) for item in chunk]
    errors = ErrorCounts(
        runs,
        sum(one.guessed for one in seen if not one.present),
        sum(not one.guessed for one in seen if one.present),
    )
    value = math.sqrt(sum(item.value for item in seen) / len(seen))
    bound = mu_lower_bound(errors, SIGNIFICANCE)
    report.figures[f"{kind} at {label}"] = {
        "runs_each_side": runs,
        "wanted": wanted,
        "claim": claim,
        "pair_value": value,
        "lower_bound": bound,
        "lower_bound_apart": mu_lower_bound_apart(errors, SIGNIFICANCE),
        "seconds": time.perf_counter() - begin,
    }
    progress(f"{kind} at {label}: claim {claim:.4f}, pair's value {value:.4f}, bound {bound:.4f}")
    report.bar(f"{kind} at {label}: bound / pair's value", bound / value, ">=", effort.ratio)


def main() -> None:
    """Measure speed and tightness; ``--quick`` takes a larger budget, where fewer runs say as much."""
    options = arguments(str(__doc__))
    report = Report("audits")
    for kind, most in MOST_MILLISECONDS.items():
        report.bar(f"{kind}: milliseconds a run", milliseconds(experiment(kind, STATEMENT), 30), "<=", most)
    if options.quick:
        tightness(report, "independent", LARGER, Effort(8, 0.85), "epsilon 8")
        tightness(report, "aim", LARGER, Effort(15, 0.85), "epsilon 8")
    else:
        for kind in KINDS:
            tightness(report, kind, LARGER, Effort(120, 0.85), "epsilon 8, quick")
            tightness(report, kind, STATEMENT, Effort(120, 0.85), "epsilon 1, quick")
            tightness(report, kind, STATEMENT, Effort(1800, 0.95), "epsilon 1, thorough")
    report.finish(options.out)


if __name__ == "__main__":
    main()
