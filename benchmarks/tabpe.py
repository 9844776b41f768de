"""Tab-PE on tables of low and of high order: ``python -m benchmarks.tabpe [--quick] [--out FILE]``.

ε = 1 at δ = 1/(n ln n), n being the number of private rows as in the reference's experiments (the product itself takes
no δ from a row count); everything but the declared schema is paid. The questions are answered by the curator's code on
planted tables. The reference's times are those measured on another day on a machine of this kind, one thread: 1.03 and
1.38 CPU seconds a round; its dependencies do not install beside ours. AIM-GDP runs beside it in the same harness.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.convert import cap_for
from accounting.planted import OsEntropy, planted_table
from accounting.unit import RowUnit
from benchmarks import tabpe_scores
from benchmarks.adult import DATA
from benchmarks.report import Report, arguments, progress
from benchmarks.tabpe_data import PROBLEMS, Problem, Ticks, adult
from mechanisms.registry import config_from_table

REFERENCE_SECONDS = {"adult": 1.03, "artificial-characters": 1.38}
FROM_FILES = frozenset({"adult", "artificial-characters", "person-activity"})
XOR_BARS = {1: 99, 2: 98.5, 3: 96, 4: 86, 5: 62}


def budget(rows: int, epsilon: str = "1") -> Cap:
    """Return the cap of ε at δ = 1/(n ln n), which is the reference's."""
    delta = Fraction(1 / (rows * log(rows))).limit_denominator(10**12)
    return Cap(cap_for(EpsilonDelta(Fraction(epsilon), delta), Law.GDP))


def release(problem: Problem, seed: int, kind: str, options: Mapping[str, Any]) -> tuple[Ticks, float]:
    """Make one release; return its rows and the CPU seconds that it took."""
    limit = budget(problem.rows)
    given = {"label": problem.label, **options} if kind == "tab-pe" else dict(options)
    mechanism = config_from_table(kind, given).calibrate(limit, RowUnit(), problem.schema)
    table = planted_table(problem.schema, problem.private, RowUnit(), limit, entropy=OsEntropy())
    start = time.process_time()
    result = mechanism.run(table, np.random.default_rng(seed))
    return result.synthetic.ticks, time.process_time() - start


def score(problem: Problem, made: Ticks, wanted: str) -> dict[str, float]:
    """Score a release: ``f`` forest, ``b`` boosting, ``t`` total variation, ``w`` Wasserstein."""
    found: dict[str, float] = {}
    if "f" in wanted:
        found["forest accuracy"] = 100 * tabpe_scores.forest_accuracy(problem, made)
    if "b" in wanted:
        found |= {name: 100 * value for name, value in tabpe_scores.boosted(problem, made).items()}
    for letter, name, measure in (
        ("t", "tvd", tabpe_scores.total_variation),
        ("w", "wsd", tabpe_scores.wasserstein),
    ):
        if letter in wanted:
            found |= {f"{name} {k}-way": measure(problem, made, k) for k in (1, 2)}
    return found


def measure(
    report: Report, name: str, runs: int, wanted: str, kind: str = "tab-pe", **options: object
) -> dict[str, float]:
    """Release a problem's table several times; return the means of its scores and keep all figures."""
    problem = PROBLEMS[name]()
    rows = []
    for seed in range(runs):
        made, seconds = release(problem, seed, kind, options)
        rows.append({"cpu seconds": seconds, **score(problem, made, wanted)})
    means = {key: statistics.fmean(row[key] for row in rows) for key in rows[0]}
    spreads = {key: statistics.pstdev(row[key] for row in rows) for key in rows[0]}
    title = " ".join([name, kind, *(f"{key}={value}" for key, value in options.items())])
    report.figures[title] = {"runs": runs, "mean": means, "sd": spreads}
    progress(f"{title}: " + ", ".join(f"{key} {means[key]:.4g} ± {spreads[key]:.2g}" for key in means))
    return means


def seconds_a_round(name: str) -> float:
    """Return the CPU seconds a round at the reference's parameters: preset "paper", 1,000 candidates."""
    problem = PROBLEMS[name]()
    few = min(release(problem, 0, "tab-pe", {"preset": "paper", "rounds": 6})[1] for _ in range(2))
    more = min(release(problem, 0, "tab-pe", {"preset": "paper", "rounds": 16})[1] for _ in range(2))
    return (more - few) / 10


def growth(rows: int) -> None:
    """Print the seconds and the peak memory above the start, in GB, of one run on Adult of ``rows`` rows."""
    problem = adult(rows)
    mechanism_table = planted_table(problem.schema, problem.private, RowUnit(), budget(rows), entropy=OsEntropy())
    options = {"label": problem.label, "population": 1000, "rounds": 2}
    mechanism = config_from_table("tab-pe", options).calibrate(budget(rows), RowUnit(), problem.schema)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    mechanism.run(mechanism_table, np.random.default_rng(0), rows=20_000)
    above = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(time.process_time() - start, above / 1e6)


def measure_growth(report: Report, rows: int) -> float:
    """Run :func:`growth` in a process of its own; return the peak above the start in GB."""
    command = [sys.executable, "-m", "benchmarks.tabpe", "--growth", str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak = map(float, done.stdout.split())
    report.figures[f"growth, {rows} rows, 2 rounds of 1,000"] = {"cpu seconds": seconds, "peak GB above start": peak}
    progress(f"{rows} rows: {seconds:.3g} CPU s for 2 rounds, {peak:.3g} GB above the start")
    return peak


def quality(report: Report, *, quick: bool) -> None:
    """Measure the bars of quality."""
    runs = 1 if quick else 5
    for k, bar in XOR_BARS.items():
        if not quick or k in {3, 4}:
            found = measure(report, f"xor{k}", runs, "f")
            report.bar(f"xor{k}: forest accuracy", found["forest accuracy"], ">=", bar)
    found = measure(report, "breast-cancer", max(runs, 3), "b")
    report.bar("breast cancer: accuracy", found["accuracy"], ">=", 92)
    report.bar("breast cancer: auc", found["auc"], ">=", 97)
    if not DATA.is_dir():
        progress(f"no data in {DATA}: set DPRELEASE_DATA to measure Adult, artificial-characters, person-activity")
        return
    found = measure(report, "adult", runs, "bt" if quick else "btw")
    for name, bar in (("accuracy", 82.5), ("macro f1", 75.5), ("auc", 87.5)):
        report.bar(f"adult: {name}", found[name], ">=", bar)
    for name, bar in (("tvd 1-way", 0.035), ("tvd 2-way", 0.105), ("wsd 1-way", 0.009), ("wsd 2-way", 0.028)):
        if name in found:
            report.bar(f"adult: {name}", found[name], "<=", bar)
    found = measure(report, "artificial-characters", runs, "f")
    report.bar("artificial-characters: forest accuracy", found["forest accuracy"], ">=", 48.5)


def compare(report: Report) -> None:
    """Measure what has no bar: further tables, AIM-GDP beside, and the frontier of starts by a model."""
    for name in ("person-activity", "scm-tree", "scm-network", "scm-fourier"):
        measure(report, name, 5, "f")
        measure(report, name, 2, "f", "aim-gdp")
    for name in ("artificial-characters", "xor4"):
        measure(report, name, 2, "f", "aim-gdp")
        for share in ("1/4", "1/2"):
            measure(report, name, 3, "f", start="model", opening_share=Fraction(share))
    measure(report, "adult", 3, "btw", "aim-gdp")
    for share in ("1/2", "3/4", "9/10"):
        measure(report, "adult", 3, "bt", start="model", opening_share=Fraction(share), rounds=1)


def main() -> None:
    """Measure."""
    if "--growth" in sys.argv:
        growth(int(sys.argv[-1]))
        return
    options = arguments(__doc__ or "")
    report = Report("tabpe")
    quality(report, quick=options.quick)
    if DATA.is_dir():
        for name, share in (("adult", 2.5), ("artificial-characters", 50)):
            bar = REFERENCE_SECONDS[name] / share
            report.bar(f"{name}: CPU seconds a round at the reference's parameters", seconds_a_round(name), "<=", bar)
        if not options.quick:
            report.bar("adult, 200,000 rows: peak GB above the start", measure_growth(report, 200_000), "<=", 0.25)
            report.bar("adult, 2,000,000 rows: peak GB above the start", measure_growth(report, 2_000_000), "<=", 0.6)
            compare(report)
    report.finish(options.out)


if __name__ == "__main__":
    main()
