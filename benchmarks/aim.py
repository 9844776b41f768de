"""AIM's speed beside its peer, its time and memory at full settings, and its growth: ``python -m benchmarks.aim``.

Times are of one thread. The peer is an AIM loop over mbi 2.0.0's oracles and estimation on the same table, the same
bins and the same measurements, in the same run; of its rounds a sample is measured and the rest extrapolated, which the
names of the figures say.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from accounting.budget import Cap, Rho
from accounting.noise import OsEntropy
from accounting.planted import planted_table
from accounting.queries import Answer, Clique, Marginals, NoisyMarginals, PrivateTable, Query, Select
from accounting.schema import Schema
from accounting.unit import RowUnit
from benchmarks import adult
from benchmarks.mbi_peer import ITERATIONS, Measured, Peer
from benchmarks.report import Report, arguments, as_installed, progress
from mechanisms.base import MechanismResult
from mechanisms.pgm import Domain, Measurement, SolverOptions, estimate, model_cells
from mechanisms.registry import config_from_table

ROUNDS = 16
FULL_SECONDS = {"0.5": 10.0, "1": 10.0, "2": 30.0, "10": 120.0}
GROWTH_COLUMNS = (10, 20, 40, 80)


@dataclass(slots=True, eq=False)
class Timed:
    """A handle that times the curator and keeps what a peer needs to do the same rounds.

    Args:
        table: the real handle.
        seconds: the CPU time that the curator took in all.
        offered: the candidates of each selection.
        measured: every noisy table, in order.
    """

    table: PrivateTable
    seconds: float = 0.0
    offered: list[tuple[Clique, ...]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)

    @property
    def schema(self) -> Schema:
        """The public description."""
        return self.table.schema

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.table.remaining

    def ask(self, query: Query) -> Answer:
        """Ask the real handle."""
        start = time.thread_time()
        answer = self.table.ask(query)
        self.seconds += time.thread_time() - start
        if isinstance(query, Select):
            self.offered.append(query.candidates)
        if isinstance(query, Marginals) and isinstance(answer, NoisyMarginals):
            sigma = float(query.variance) ** 0.5
            for clique, values in zip(query.cliques, answer.tables, strict=True):
                self.measured.append(Measured(clique, values.astype(np.float64), sigma))
        return answer


def release(trial: adult.Trial, cap: Cap, **options: object) -> tuple[float, Timed, MechanismResult]:
    """Run AIM on a planted table; return the seconds, the handle and the result."""
    mechanism = config_from_table("aim", options).calibrate(cap, RowUnit(), trial.schema)
    handle = Timed(planted_table(trial.schema, trial.ticks, RowUnit(), cap, entropy=OsEntropy()))
    start = time.perf_counter()
    result = mechanism.run(handle, np.random.default_rng(0))
    return time.perf_counter() - start, handle, result


def sixteen_rounds() -> None:
    """Run the Adult-9 trial once, as a process of its own."""
    release(adult.adult_9(), adult.budget("1"), max_rounds=ROUNDS)


def fourteen_columns(epsilon: str) -> None:
    """Run the 14-column Adult at full settings as a process of its own; print CPU seconds and peak memory as JSON."""
    trial = adult.adult_14()
    start = time.process_time()  # one thread, whatever else the machine does
    _, _, result = release(trial, adult.budget(epsilon))
    seconds = time.process_time() - start
    status = Path("/proc/self/status").read_text(encoding="ascii")  # ru_maxrss would hold the parent's peak
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    rounds = result.notes["rounds"]
    assert isinstance(rounds, Sequence)
    print(json.dumps({"seconds": seconds, "bytes": peak, "rounds": len(rounds), "mb": result.notes["model_size_mb"]}))


def process(call: str) -> tuple[float, str]:
    """Run a function of this module in a fresh process; return the wall seconds and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"from benchmarks.aim import *; {call}"],
        check=True,
        capture_output=True,
        text=True,
        env={**as_installed(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    return time.perf_counter() - start, done.stdout


def against_peer(report: Report, *, quick: bool) -> None:
    """Compare seconds a round and the fit's loss with mbi's."""
    trial = adult.adult_9()
    release(trial, adult.budget("1"), max_rounds=ROUNDS)
    runs = [release(trial, adult.budget("1"), max_rounds=ROUNDS) for _ in range(3)]
    warm = statistics.median(seconds for seconds, _, _ in runs) / ROUNDS
    cold = statistics.median(process("sixteen_rounds()")[0] for _ in range(1 if quick else 3)) / ROUNDS
    progress(f"ours: {warm:.4f} s a round warm, {cold:.4f} s with process start")
    _, handle, result = runs[-1]
    domain: Domain = result.model.domain
    sizes = dict(zip(domain.attributes, domain.sizes, strict=True))
    items = [item for item in handle.measured if item.values.shape == domain.shape(item.clique)]
    sampled = (ROUNDS // 2,) if quick else (1, ROUNDS // 2, ROUNDS - 1)
    seconds = []
    for number in sampled:
        peer = Peer(sizes, items[: len(items) - len(handle.offered) + number])
        fitting = peer.estimate()
        candidates = handle.offered[number]
        sample = candidates[:: max(1, len(candidates) // 8)] if quick else candidates
        scoring, _ = peer.score(sample)
        seconds.append(fitting + scoring * len(candidates) / len(sample))
        progress(
            f"mbi, round {number}: fit {fitting:.1f} s; {len(sample)} of {len(candidates)} scored, {scoring:.1f} s"
        )
    peer_seconds = statistics.mean(seconds)
    report.figures[f"mbi's seconds a round, from {len(sampled)} sampled"] = peer_seconds
    report.figures["our seconds a round, warm"] = warm
    report.figures["our seconds a round, with process start"] = cold
    report.bar("times faster a round than mbi (sampled), with process start", peer_seconds / cold, ">=", 300)
    report.bar("times faster a round than mbi (sampled), warm", peer_seconds / warm, ">=", 1000)
    compare_fit(report, domain, peer)


def compare_fit(report: Report, domain: Domain, peer: Peer) -> None:
    """Compare losses on equal measurements: mbi's after 1,000 iterations, ours warm from all but the last of them."""
    measurements = [Measurement(item.clique, item.values, item.sigma) for item in peer.measured]
    before = estimate(domain, measurements[:-1], total=float(peer.model.total))
    model = estimate(domain, measurements, total=float(peer.model.total), warm_start=before)
    loss = peer.loss_of(model.marginal) / peer.loss_of(peer.marginal)
    report.bar(f"loss of a fit over mbi's at {ITERATIONS} iterations", loss, "<=", 1.05)
    report.bar("passes of a warm fit", model.passes, "<=", 200)


def inference(report: Report) -> None:
    """Measure inference on a tree of about 6·10^5 cells, in cliques of four columns of which the pairs are measured."""
    names = tuple(f"c{index}" for index in range(12))
    domain = Domain(names, (16,) * 12)
    rng = np.random.default_rng(0)
    cliques = sorted({pair for first in range(9) for pair in combinations(names[first : first + 4], 2)})
    measurements = [Measurement(clique, rng.poisson(2.0, domain.shape(clique)), 1.0) for clique in cliques]
    options = SolverOptions(max_passes=40, tolerance=1e-12, improvement=1e-12)
    estimate(domain, measurements, options=options)
    start = time.perf_counter()
    model = estimate(domain, measurements, options=options)
    seconds = time.perf_counter() - start
    per_cell = seconds / (model.passes * model_cells(domain, cliques)) * 1e9
    report.bar("nanoseconds a tree cell and pass, solver included", per_cell, "<=", 5)


def growth(report: Report, *, quick: bool) -> None:
    """Measure the mechanism's own CPU time a candidate as columns grow, and the curator's a row as rows grow."""
    for count in GROWTH_COLUMNS[:2] if quick else GROWTH_COLUMNS:
        trial = chained(count, 20_000)
        own_seconds(trial, 2)
        few, many = own_seconds(trial, 2), own_seconds(trial, 8)
        each = (many[0] - few[0]) / (many[1] - few[1]) * 1e6
        report.figures[f"microseconds a further candidate, {count} columns"] = each
        progress(f"{count} columns: {each:.1f} µs a further candidate")
        if count == GROWTH_COLUMNS[-1]:
            report.bar("microseconds a further candidate at 80 columns", each, "<=", 50)
    sizes = (20_000, 200_000) if quick else (20_000, 200_000, 2_000_000, 20_000_000)
    seconds = {rows: counting(rows) for rows in sizes}
    for fewer, more in pairwise(sizes):
        each = (seconds[more] - seconds[fewer]) / (more - fewer) * 1e9
        report.bar(f"nanoseconds a further row and marginal up to {more:,} rows", each, "<=", 10)


def own_seconds(trial: adult.Trial, rounds: int) -> tuple[float, int]:
    """Return AIM's CPU time without the curator's for some rounds, and how many candidates it offered."""
    start = time.thread_time()
    _, handle, _ = release(trial, Cap(Rho(Fraction(1))), degree=2, max_rounds=rounds)
    return time.thread_time() - start - handle.seconds, sum(map(len, handle.offered))


def chained(columns: int, rows: int) -> adult.Trial:
    """Make a table of ten-valued columns in which each follows the one before half of the time."""
    rng = np.random.default_rng(columns)
    names = [f"c{index}" for index in range(columns)]
    declared = [
        {"name": name, "kind": "integer", "min": 0, "max": 9, "nullable": False, "replacement": 0} for name in names
    ]
    ticks: adult.Ticks = {names[0]: rng.integers(0, 10, rows)}
    for before, name in pairwise(names):
        ticks[name] = np.where(rng.random(rows) < 0.5, ticks[before], rng.integers(0, 10, rows))
    return adult.Trial(Schema(table={"name": "chain"}, columns=declared), ticks)


def counting(rows: int) -> float:
    """Return the seconds a marginal of a question about ten 3-way marginals, its price and noise included."""
    trial = chained(5, rows)
    names = [column.name for column in trial.schema.columns]
    cap = Cap(Rho(Fraction(1000)))
    handle = planted_table(trial.schema, trial.ticks, RowUnit(), cap, entropy=OsEntropy())
    cliques = tuple(combinations(names, 3))
    times = []
    for variance in (1, 2, 3):
        start = time.thread_time()
        handle.ask(Marginals(cliques, Fraction(variance)))
        times.append(time.thread_time() - start)
    return statistics.median(times) / len(cliques)


def full_settings(report: Report, *, quick: bool) -> None:
    """Run the 14-column Adult at full settings in processes of their own."""
    for epsilon in ("1",) if quick else tuple(FULL_SECONDS):
        runs = [json.loads(process(f"fourteen_columns({epsilon!r})")[1]) for _ in range(1 if quick else 3)]
        run = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        progress(f"14 columns, ε = {epsilon}: {run}")
        report.figures[f"14 columns at ε = {epsilon}"] = run
        report.bar(f"CPU seconds, 14 columns, ε = {epsilon}", run["seconds"], "<=", FULL_SECONDS[epsilon])
        report.bar(f"peak GB, 14 columns, ε = {epsilon}", run["bytes"] / 1e9, "<=", 1.2)


def main() -> None:
    """Measure."""
    options = arguments(__doc__ or "")
    if not adult.present():
        progress(f"adult.csv is not in {adult.DATA}: set DPRELEASE_DATA")
        sys.exit(2)
    report = Report("aim")
    against_peer(report, quick=options.quick)
    inference(report)
    growth(report, quick=options.quick)
    full_settings(report, quick=options.quick)
    report.finish(options.out)


if __name__ == "__main__":
    main()
