"""Tab-PE on tables of low and of high order: ``python -m benchmarks.tabpe [--only NAME …] [--runs N] [--quick]``.

ε = 1 at δ = 1/(n ln n), n being the number of private rows as in the reference's experiments (the product itself takes
no δ from a row count); everything but the declared schema is paid. The questions are answered by the curator's code on
planted tables. The reference's times are those measured on another day on a machine of this kind, one thread: 1.03 and
1.38 CPU seconds a round; its dependencies do not install beside ours. AIM-GDP runs beside it in the same harness.

Each part can be measured alone: the tables by their names; both-NAME, a start by a model beside its two halves; the
frontier of such starts on Adult; speed, memory and growth.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import log
from pathlib import Path
from typing import Any, Literal

import numpy as np

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.convert import cap_for
from accounting.planted import OsEntropy, planted_table
from accounting.unit import RowUnit
from benchmarks import tabpe_scores
from benchmarks.adult import DATA
from benchmarks.report import Report, progress
from benchmarks.tabpe_data import PROBLEMS, Problem, Ticks, adult
from mechanisms.base import MechanismResult, Progress
from mechanisms.registry import config_from_table

RUNS = 5
REFERENCE_SECONDS = {"adult": (1.03, 2.5), "artificial-characters": (1.38, 50)}
"""The reference's CPU seconds a round, and how many times faster a round has to be."""
XOR_BARS = {1: 99, 2: 98.5, 3: 96, 4: 86, 5: 62}
ADULT_BARS: tuple[tuple[str, Literal["<=", ">="], float], ...] = (
    ("accuracy", ">=", 82.5),
    ("macro f1", ">=", 75.5),
    ("auc", ">=", 87.5),
    ("tvd 1-way", "<=", 0.035),
    ("tvd 2-way", "<=", 0.105),
    ("wsd 1-way", "<=", 0.009),
    ("wsd 2-way", "<=", 0.028),
)
Scores = dict[str, float]


def budget(rows: int, epsilon: str = "1") -> Cap:
    """Return the cap of ε at δ = 1/(n ln n), which is the reference's."""
    delta = Fraction(1 / (rows * log(rows))).limit_denominator(10**12)
    return Cap(cap_for(EpsilonDelta(Fraction(epsilon), delta), Law.GDP))


def run(problem: Problem, seed: int, kind: str, options: Mapping[str, Any], rows: int | None = None) -> tuple[
    MechanismResult, Scores
]:  # fmt: skip
    """Make one release; return it with the CPU seconds of the start, of the rounds, of writing rows, and of all."""
    limit = budget(problem.rows)
    given = {"label": problem.label, **options} if kind == "tab-pe" else dict(options)
    mechanism = config_from_table(kind, given).calibrate(limit, RowUnit(), problem.schema)
    table = planted_table(problem.schema, problem.private, RowUnit(), limit, entropy=OsEntropy())
    seen: list[float] = []

    def watch(step: Progress) -> None:
        if kind == "tab-pe" and (step.step <= 2 or step.step == step.steps):
            seen.append(time.process_time())

    begun = time.process_time()
    result = mechanism.run(table, np.random.default_rng(seed), watch, rows=rows)
    ended = time.process_time()
    phases = dict(zip(("start", "rounds", "rows"), np.diff([*seen, ended]).tolist(), strict=True)) if seen else {}
    return result, {"seconds": ended - begun, **{f"seconds of the {name}": value for name, value in phases.items()}}


def score(problem: Problem, made: Ticks, wanted: str) -> Scores:
    """Score a release: ``f`` forest, ``b`` and ``o`` boosting, ``t`` total variation, ``w`` Wasserstein."""
    found: Scores = {}
    if "f" in wanted:
        found["forest accuracy"] = 100 * tabpe_scores.forest_accuracy(problem, made)
    if "b" in wanted:
        found |= {name: 100 * value for name, value in tabpe_scores.boosted(problem, made).items()}
    if "o" in wanted:
        found |= {name: 100 * value for name, value in tabpe_scores.boosted_otherwise(problem, made).items()}
    if "t" in wanted:
        found |= {f"tvd {k}-way": tabpe_scores.total_variation(problem, made, k) for k in (1, 2)}
    if "w" in wanted:
        found |= {f"wsd {k}-way": tabpe_scores.wasserstein(problem, made, k) for k in (1, 2, 3)}
    return found


def measure(report: Report, name: str, runs: int, wanted: str, kind: str = "tab-pe", **options: object) -> Scores:
    """Release a problem's table several times; return the means of its scores and keep all figures."""
    problem = PROBLEMS[name]()
    rows = []
    for seed in range(runs):
        result, seconds = run(problem, seed, kind, options)
        rows.append({**score(problem, result.synthetic.ticks, wanted), **seconds})
        progress(f"{name}, run {seed + 1}: " + ", ".join(f"{key} {value:.4g}" for key, value in rows[-1].items()))
    means = {key: statistics.fmean(row[key] for row in rows) for key in rows[0]}
    spreads = {key: statistics.stdev([row[key] for row in rows]) if runs > 1 else 0.0 for key in rows[0]}
    title = " ".join([name, kind, *(f"{key}={value}" for key, value in options.items())])
    report.figures[title] = {"runs": runs, "mean": means, "sd": spreads}
    progress(f"{title}, {runs} runs: " + ", ".join(f"{key} {means[key]:.4g} ± {spreads[key]:.2g}" for key in means))
    return means


def measure_adult(report: Report, runs: int, *, quick: bool = False) -> None:
    """Measure Adult against its bars."""
    found = measure(report, "adult", runs, "bt" if quick else "botw")
    if not quick:
        problem = PROBLEMS["adult"]()
        floor = {f"wsd {k}-way": tabpe_scores.wasserstein_of_sampling(problem, k) for k in (1, 2, 3)}
        report.figures["adult, a sample of the private rows themselves"] = floor
        progress("adult, a sample of the private rows: " + ", ".join(f"{k} {v:.4f}" for k, v in floor.items()))
    for name, sense, bar in ADULT_BARS:
        if name in found:
            report.bar(f"adult: {name}", found[name], sense, bar)


def measure_forest(report: Report, runs: int, name: str, bar: float) -> None:
    """Measure one table's forest accuracy against its bar."""
    report.bar(f"{name}: forest accuracy", measure(report, name, runs, "f")["forest accuracy"], ">=", bar)


def measure_breast_cancer(report: Report, runs: int) -> None:
    """Measure the breast cancer data against its bars."""
    found = measure(report, "breast-cancer", runs, "b")
    report.bar("breast cancer: accuracy", found["accuracy"], ">=", 92)
    report.bar("breast cancer: auc", found["auc"], ">=", 97)


def beside_aim(report: Report, runs: int, name: str) -> None:
    """Measure a table that has no bar, AIM-GDP beside."""
    measure(report, name, runs, "f")
    measure(report, name, runs, "f", "aim-gdp")


def measure_both_on_adult(report: Report, runs: int) -> None:
    """Measure a start by a model on a table of low order, AIM-GDP alone beside."""
    alone = measure(report, "adult", runs, "bt", "aim-gdp")["tvd 2-way"]
    both = measure(report, "adult", runs, "bt", start="model")["tvd 2-way"]
    report.bar("adult, start by a model: 2-way tvd over AIM-GDP's", both / alone, "<=", 1.1)


def measure_both(report: Report, runs: int, name: str) -> None:
    """Measure a start by a model on a table of high order, Tab-PE and AIM-GDP alone beside."""
    by_tables = measure(report, name, runs, "f")["forest accuracy"]
    by_model = measure(report, name, runs, "f", start="model")["forest accuracy"]
    measure(report, name, min(runs, 2), "f", "aim-gdp")
    report.bar(f"{name}, start by a model: points below Tab-PE alone", by_tables - by_model, "<=", 1)


def measure_frontier(report: Report, runs: int) -> None:
    """Measure Adult after a model, by the share of μ² that the model takes."""
    for share in ("1/2", "3/4", "9/10", "19/20"):
        measure(report, "adult", runs, "bt", start="model", opening_share=Fraction(share))


def measure_speed(report: Report, _: int = 1) -> None:
    """Measure the CPU seconds a round at the reference's parameters: preset "paper", 1,000 candidates."""
    for name, (reference, faster) in REFERENCE_SECONDS.items():
        problem = PROBLEMS[name]()
        few, more = (
            min(run(problem, 0, "tab-pe", {"preset": "paper", "rounds": rounds})[1]["seconds"] for _ in range(3))
            for rounds in (6, 16)
        )
        bar = reference / faster
        report.bar(f"{name}: CPU seconds a round at the reference's parameters", (more - few) / 10, "<=", bar)


def measure_memory(report: Report, _: int = 1) -> None:
    """Measure the peak memory of large tables."""
    for rows, bar in ((200_000, 0.25), (2_000_000, 0.6)):
        report.bar(f"adult, {rows} rows: peak GB above the start", grown(report, rows, 1000)["peak"], "<=", bar)


def measure_growth(report: Report, _: int = 1) -> None:
    """Measure how time grows with rows and with candidates."""
    for rows, candidates in ((20_000, 1000), (20_000, 4000), (20_000, 16_000), (200_000, 4000), (2_000_000, 1000)):
        grown(report, rows, candidates)


def grown(report: Report, rows: int, candidates: int) -> Scores:
    """Run :func:`growth` in a process of its own; return its figures."""
    command = [sys.executable, "-m", "benchmarks.tabpe", "--growth", str(rows), str(candidates)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: Scores = json.loads(done.stdout)
    report.figures[f"growth, {rows} rows, {candidates} candidates, 2 rounds"] = figures
    progress(f"{rows} rows, {candidates} candidates: " + ", ".join(f"{k} {v:.3g}" for k, v in figures.items()))
    return figures


def growth(rows: int, candidates: int) -> None:
    """Print the seconds and the peak memory above the start, in GB, of one run on Adult of ``rows`` rows."""
    problem = adult(rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, seconds = run(problem, 0, "tab-pe", {"population": candidates, "rounds": 2}, rows=20_000)
    above = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"peak": above / 1e6, **seconds}))


PARTS: Mapping[str, Callable[[Report, int], None]] = {
    "adult": measure_adult,
    "artificial-characters": partial(measure_forest, name="artificial-characters", bar=48.5),
    "breast-cancer": measure_breast_cancer,
    **{f"xor{k}": partial(measure_forest, name=f"xor{k}", bar=bar) for k, bar in XOR_BARS.items()},
    **{name: partial(beside_aim, name=name) for name in ("person-activity", "scm-tree", "scm-network", "scm-fourier")},
    "both-adult": measure_both_on_adult,
    **{f"both-{name}": partial(measure_both, name=name) for name in ("artificial-characters", "xor4")},
    "frontier": measure_frontier,
    "speed": measure_speed,
    "memory": measure_memory,
    "growth": measure_growth,
}
WITHOUT_FILES = frozenset(name for name in PARTS if name.startswith(("breast", "xor", "scm", "both-xor")))


def measure_quickly(report: Report) -> None:
    """Measure once what fits into less than a minute."""
    measure_breast_cancer(report, 3)
    measure_forest(report, 1, "xor3", XOR_BARS[3])
    if DATA.is_dir():
        measure_adult(report, 1, quick=True)
        measure_forest(report, 1, "artificial-characters", 48.5)
        measure_speed(report)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="finish in under 50 s on 2 cores, checking what fits")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="measure these parts only")
    parser.add_argument("--runs", type=int, default=RUNS, help="releases of each table, 5 unless told otherwise")
    parser.add_argument("--out", type=Path, help="write all figures to this JSON file")
    parser.add_argument("--growth", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.growth:
        growth(*options.growth)
        return
    report = Report("tabpe")
    if not DATA.is_dir():
        progress(f"no data in {DATA}: set DPRELEASE_DATA to measure more than {', '.join(sorted(WITHOUT_FILES))}")
    if options.quick:
        measure_quickly(report)
    else:
        for name in options.only:
            if DATA.is_dir() or name in WITHOUT_FILES:
                PARTS[name](report, options.runs)
    report.finish(options.out)


if __name__ == "__main__":
    main()
