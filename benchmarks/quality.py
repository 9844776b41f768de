"""How good releases of Adult are, everything paid: ``python -m benchmarks.quality``.

Each run opens a planted table behind the real curator with noise from the operating system's entropy. The private part
and the test part of the Adult-9 trial are drawn once; δ = 1e-5.
"""

import sys
import time
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from accounting.budget import Cap, Law
from accounting.noise import OsEntropy
from accounting.planted import planted_table
from accounting.schema import Schema
from accounting.unit import RowUnit
from audits.utility.marginals import variation
from benchmarks import adult, mbi_peer
from benchmarks.report import Report, arguments, progress
from mechanisms.base import MechanismResult
from mechanisms.registry import config_from_table

KINDS = {"aim": Law.ZCDP, "aim under gdp": Law.GDP, "aim-gdp": Law.GDP, "mst": Law.ZCDP, "independent": Law.ZCDP}
ROUNDS = 16
EPSILONS = ("0.5", "1", "2", "10")
TVD_BARS = {"0.5": 0.015, "1": 0.009, "2": 0.006, "10": 0.004}
AUC_BARS = {"0.5": 0.872, "1": 0.878, "2": 0.881, "10": 0.885}


def release(trial: adult.Trial, kind: str, cap: Cap, seed: int, **options: object) -> MechanismResult:
    """Run one mechanism on a planted table."""
    mechanism = config_from_table(kind, options).calibrate(cap, RowUnit(), trial.schema)
    table = planted_table(trial.schema, trial.ticks, RowUnit(), cap, entropy=OsEntropy())
    return mechanism.run(table, np.random.default_rng(seed))


def measure(trial: adult.Trial, name: str, epsilon: str, runs: int) -> dict[str, tuple[float, float]]:
    """Return the mean and the standard deviation of every score over some runs."""
    kind, law = name.split(" ", maxsplit=1)[0], KINDS[name]
    found: dict[str, list[float]] = {}
    for seed in range(runs):
        start = time.perf_counter()
        result = release(trial, kind, adult.budget(epsilon, law), seed)
        seconds = time.perf_counter() - start
        row = {**adult.scores(trial, dict(result.synthetic.ticks)), "seconds": seconds}
        for key, value in row.items():
            found.setdefault(key, []).append(value)
    return {key: (float(np.mean(values)), float(np.std(values, ddof=1))) for key, values in found.items()}


SMALL = ("marital-status", "race", "sex", "income", "workclass")
"""Columns of a domain small enough for an AIM loop over mbi to finish."""


def beside_mbi(report: Report, trial: adult.Trial, runs: int) -> None:
    """Compare the workload error with an AIM loop over mbi at the same ρ, rounds and candidates."""
    columns = [column for column in trial.schema.columns if column.name in SMALL]
    schema = Schema(table={"name": "adult-small"}, columns=columns)
    small = adult.Trial(schema, {column.name: trial.ticks[column.name] for column in columns})
    names, sizes = [column.name for column in columns], {column.name: column.ticks for column in columns}
    workload = tuple(combinations(names, 3))
    weights = {
        clique: float(sum(len(set(clique) & set(marginal)) for marginal in workload))
        for k in (1, 2, 3)
        for clique in combinations(names, k)
    }
    cap = adult.budget("1")
    exact = {clique: adult.table(small.ticks, sizes, clique) for clique in weights}
    rows = next(iter(small.ticks.values())).size
    ours, theirs = [], []
    for seed in range(runs):
        made = release(small, "aim", cap, seed, max_rounds=ROUNDS).synthetic.ticks
        ours.append(adult.figure(variation(schema, small.ticks, dict(made), 3), 1.0))
        rng = np.random.default_rng(seed)
        peer = mbi_peer.aim(exact.__getitem__, sizes, weights, rho=float(cap.value), rounds=ROUNDS, rng=rng)
        theirs.append(adult.figure(variation(schema, small.ticks, peer.rows(rows), 3), 1.0))
        progress(f"small domain, run {seed}: ours {ours[-1]:.4f}, AIM over mbi {theirs[-1]:.4f}")
    report.figures["workload error on a small domain"] = {"ours": ours, "AIM over mbi": theirs}
    report.bar("workload error over that of AIM over mbi", float(np.mean(ours) / np.mean(theirs)), "<=", 1.02)


def table_of(rows: Sequence[tuple[str, str, dict[str, tuple[float, float]]]]) -> str:
    """Write the figures as a Markdown table, mean ± sd."""
    keys = list(rows[0][2])
    lines = [f"| mechanism | ε | {' | '.join(keys)} |", f"|---|---|{'---|' * len(keys)}"]
    for name, epsilon, row in rows:
        cells = " | ".join(f"{mean:.4f} ± {sd:.4f}" for mean, sd in (row[key] for key in keys))
        lines.append(f"| {name} | {epsilon} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Measure."""
    options = arguments(__doc__ or "", kinds=tuple(KINDS))
    if not adult.present():
        progress(f"adult.csv is not in {adult.DATA}: set DPRELEASE_DATA")
        sys.exit(2)
    trial = adult.adult_9()
    report = Report("quality")
    names = options.kind or (("aim", "independent") if options.quick else tuple(KINDS))
    epsilons = ("1",) if options.quick else EPSILONS
    runs = 2 if options.quick else 10
    rows = []
    for name in names:
        for epsilon in epsilons:
            row = measure(trial, name, epsilon, runs)
            progress(f"{name} at ε = {epsilon}: " + ", ".join(f"{key} {mean:.4f}" for key, (mean, _) in row.items()))
            rows.append((name, epsilon, row))
            report.figures[f"{name} at {epsilon}"] = row
    aim = {epsilon: row for name, epsilon, row in rows if name == "aim"}
    for epsilon, row in aim.items():
        report.bar(f"AIM 1-way TVD at ε = {epsilon}", row["tvd 1-way"][0], "<=", TVD_BARS[epsilon])
        report.bar(f"AIM AUC at ε = {epsilon}", row["auc"][0], ">=", AUC_BARS[epsilon])
        report.bar(f"AIM correlation error at ε = {epsilon}", row["correlation error"][0], "<=", 0.02)
        report.bar(f"AIM marital-status × income at ε = {epsilon}", row["tvd marital-status × income"][0], "<=", 0.02)
    if not options.quick and "aim" in names:
        beside_mbi(report, trial, 3)
    aucs = [row["auc"][0] for row in aim.values()]
    if len(aucs) > 1:
        report.bar("AIM AUC: largest fall as ε grows", max(a - b for a, b in pairwise(aucs)), "<=", 0.002)
    print(table_of(rows))
    report.finish(options.out)


if __name__ == "__main__":
    main()
