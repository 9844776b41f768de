"""What the plan predicts beside what then happens, for each mechanism: ``python -m benchmarks.predictions``.

Each run is a process of its own, so that its time and its peak memory are its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from accounting.noise import OsEntropy
from accounting.planted import exact_answer, planted_table
from accounting.queries import Coding, Marginals
from accounting.schema import Schema
from accounting.unit import RowUnit
from benchmarks import adult
from benchmarks.report import Report, arguments, progress
from mechanisms.predict import COMPARED, predict_kind
from mechanisms.registry import config_from_table

FACTOR = 2.0
WORTH_TIMING = 2.0
"""Runs of fewer seconds are mostly start-up; their time is reported without a bar."""


def trial_named(name: str) -> adult.Trial:
    """Load a trial: Adult in 9 columns (all rows, or the first 2,000) or 14, or the RAND experiment."""
    if name == "rand":
        return rand_hie()
    trial = adult.adult_14() if name == "adult-14" else adult.adult_9()
    if name == "adult-9, 2,000 rows":
        ticks = {column: values[:2000] for column, values in trial.ticks.items()}
        return adult.Trial(trial.schema, ticks)
    return trial


def rand_hie() -> adult.Trial:
    """Load the demonstration's table, each row a unit of its own here."""
    import pandas as pd

    from demo.rand_hie.prepare import prepare

    schema = Schema.from_toml(Path("demo/rand_hie/schema.toml"))
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder) / "rand.csv")
        frame = pd.read_csv(Path(folder) / "rand.csv", dtype=str, keep_default_na=False)
    ticks = {column.name: column.ticks_of_text(frame[column.name].to_numpy()) for column in schema.columns}
    return adult.Trial(schema, ticks)


def observe(name: str, kind: str, epsilon: str) -> None:
    """Run one mechanism in this process; print what it took and gave as JSON."""
    trial, cap = trial_named(name), adult.budget(epsilon)
    mechanism = config_from_table(kind, {}).calibrate(cap, RowUnit(), trial.schema)
    handle = planted_table(trial.schema, trial.ticks, RowUnit(), cap, entropy=OsEntropy())
    start = time.process_time()  # the plan speaks of one core, whatever else the machine does
    result = mechanism.run(handle, np.random.default_rng(0))
    seconds = time.process_time() - start
    peak = int(Path("/proc/self/status").read_text(encoding="ascii").split("VmHWM:")[1].split()[0]) * 1024
    codings = [asked.query.coding for asked in result.transcript if isinstance(asked.query, Marginals)]
    predicted = predict_kind(kind, cap, RowUnit(), trial.schema, rows_of(trial))
    names = [column.name for column in trial.schema.columns]
    workload = tuple(combinations(names, predicted.degree))
    print(
        json.dumps(
            {
                "seconds": seconds,
                "megabytes": peak / 1e6,
                "one-way error": distance(trial, result.synthetic.ticks, tuple((name,) for name in names), Coding()),
                "workload error": distance(trial, result.synthetic.ticks, workload, codings[-1]),
            }
        )
    )


def rows_of(trial: adult.Trial) -> int:
    """Return the number of private rows."""
    return next(iter(trial.ticks.values())).size


def distance(trial: adult.Trial, ticks: adult.Codes, cliques: tuple[tuple[str, ...], ...], coding: Coding) -> float:
    """Return the mean total variation distance over cliques at a coding."""
    question = Marginals(cliques, Fraction(1), coding)
    tables = [
        exact_answer(
            question, trial.schema, {name: values.astype(np.int64) for name, values in rows.items()}, RowUnit()
        )
        for rows in (trial.ticks, ticks)
    ]
    pairs = zip(*tables, strict=True)
    return float(np.mean([np.abs(a / max(a.sum(), 1) - b / max(b.sum(), 1)).sum() / 2 for a, b in pairs]))


def main() -> None:
    """Measure."""
    options = arguments(__doc__ or "")
    if not adult.present():
        progress(f"adult.csv is not in {adult.DATA}: set DPRELEASE_DATA")
        sys.exit(2)
    report = Report("predictions")
    names = ("adult-9",) if options.quick else ("adult-9", "adult-9, 2,000 rows", "adult-14", "rand")
    epsilons = ("1",) if options.quick else ("0.3", "1", "5")
    for name in names:
        trial = trial_named(name)
        for epsilon in epsilons:
            for kind in COMPARED:
                expected = predict_kind(kind, adult.budget(epsilon), RowUnit(), trial.schema, rows_of(trial))
                compare(report, f"{name}, {kind}, ε = {epsilon}", observed(name, kind, epsilon), {
                    "seconds": expected.seconds,
                    "megabytes": expected.megabytes,
                    "one-way error": expected.one_way_error,
                    "workload error": expected.workload_error,
                })  # fmt: skip
    report.finish(options.out)


def observed(name: str, kind: str, epsilon: str) -> dict[str, float]:
    """Run ``observe`` in a fresh process."""
    call = f"from benchmarks.predictions import observe; observe({name!r}, {kind!r}, {epsilon!r})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", call], check=True, capture_output=True, text=True, env=environment)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def compare(report: Report, name: str, observed: dict[str, float], expected: dict[str, float]) -> None:
    """Hold each figure against its prediction."""
    report.figures[name] = {"observed": observed, "expected": expected}
    for key, value in observed.items():
        factor = max(value / expected[key], expected[key] / value)
        progress(f"{name}: {key} {value:.4g}, expected {expected[key]:.4g}")
        if key != "seconds" or value >= WORTH_TIMING:
            report.bar(f"{name}: {key} off by a factor of", factor, "<=", FACTOR)


if __name__ == "__main__":
    main()
