"""Private-PGM: inference, fits, candidates and sampling: ``python -m benchmarks.pgm``.

Times are CPU times of one thread, the median of three. Structures and counts come from Adult (``DPRELEASE_DATA``);
without it, only the growth in columns is measured, on tree-structured models of synthetic noise.
"""

import json
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.report import Report, arguments, progress
from mechanisms.pgm import Domain, Measurement, Model, candidate_cells, estimate, model_size_mb
from mechanisms.pgm.axes import axes_of
from mechanisms.pgm.backends import Backend, has_numba
from mechanisms.pgm.domain import Clique
from mechanisms.pgm.inference import Engine
from mechanisms.pgm.structure import build

DATA = Path(os.environ.get("DPRELEASE_DATA", "../shared/data"))
BARS: dict[Backend, float] = {"numpy": 12.0, "numba": 5.0}
SIGMA = 30.0


def median_seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the median CPU time of an action, after one run that is not counted."""
    action()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        action()
        times.append(time.thread_time() - start)
    return statistics.median(times)


def adult() -> tuple[Domain, dict[str, np.ndarray]]:
    """Read the discretized Adult table."""
    sizes = json.loads((DATA / "adult_discretized_domain.json").read_text())
    with (DATA / "adult_discretized.csv").open() as file:
        header = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", dtype=np.int64)
    domain = Domain(tuple(sizes), tuple(sizes.values()))
    return domain, {name: table[:, header.index(name)] for name in domain.attributes}


def chosen_cliques(domain: Domain, megabytes: float, count: int) -> list[Clique]:
    """Return all one-way cliques and random pairs and triples that keep the model within a size."""
    pool = [c for size in (2, 3) for c in combinations(domain.attributes, size) if domain.cells(c) <= 20_000]
    cliques: list[Clique] = [(name,) for name in domain.attributes]
    for i in np.random.default_rng(0).permutation(len(pool)):
        if len(cliques) >= count + len(domain.attributes):
            break
        if model_size_mb(domain, [*cliques, pool[i]]) <= megabytes:
            cliques.append(pool[i])
    return cliques


def five_passes(engine: Engine, theta: np.ndarray) -> None:
    """Infer all cliques' tables five times."""
    for _ in range(5):
        engine.run(theta)


def measure_inference(report: Report, domain: Domain, megabytes: float, count: int) -> None:
    """Time one pass of each backend on one structure."""
    axes = axes_of(domain)
    masks = [axes.mask(clique) for clique in chosen_cliques(domain, megabytes, count)]
    theta = np.random.default_rng(1).normal(size=sum(axes.cells(mask) for mask in masks))
    for backend, bar in BARS.items():
        if backend == "numba" and not has_numba():
            continue
        start = time.thread_time()
        shape = build(axes, masks, {}, (), max_cells=10**9, backend=backend)
        built = time.thread_time() - start
        cells = sum(axes.cells(clique) for clique in shape.tree.cliques)
        nanoseconds = median_seconds(partial(five_passes, shape.engine, theta)) / 5 / cells * 1e9
        name = f"inference, {cells / 1e6:.2f} M cells, {backend}, ns per cell and pass"
        report.bar(name, nanoseconds, "<=", bar)
        report.figures[f"{name}: building the structure, s"] = built


def measure_fits(report: Report, domain: Domain, columns: dict[str, np.ndarray]) -> Model:
    """Grow a model by warm fits, as AIM does."""
    rng = np.random.default_rng(2)
    measurements: list[Measurement] = []
    model: Model | None = None
    passes, seconds = [], []
    cliques = chosen_cliques(domain, 2.0, 20)
    for clique in cliques:
        shape = domain.shape(clique)
        exact = np.bincount(np.ravel_multi_index([columns[a] for a in clique], shape), minlength=domain.cells(clique))
        measurements.append(Measurement(clique, np.rint(exact + rng.normal(0, SIGMA, exact.size)), SIGMA))
        if len(measurements) < len(domain.attributes):
            continue
        start = time.thread_time()
        model = estimate(domain, measurements, warm_start=model)
        seconds.append(time.thread_time() - start)
        passes.append(model.passes)
    assert model is not None
    report.bar("warm fits on Adult, most passes", max(passes[1:]), "<=", 200)
    report.bar("warm fits on Adult, share not converged", float(not model.converged), "<=", 0)
    report.figures["warm fits on Adult: passes"] = passes
    report.figures["warm fits on Adult: seconds"] = seconds
    return model


def measure_growth(report: Report, columns: int) -> None:
    """Time all pairs as candidates of a model whose pairs form a random tree of ten-cell columns."""
    rng = np.random.default_rng(columns)
    domain = Domain(tuple(f"c{i}" for i in range(columns)), (10,) * columns)
    names = domain.attributes
    cliques = [(name,) for name in names] + [(names[int(rng.integers(i))], names[i]) for i in range(1, columns)]
    given = [Measurement(c, rng.normal(20_000 / domain.cells(c), SIGMA, domain.shape(c)), SIGMA) for c in cliques]
    model = estimate(domain, given)
    pairs = list(combinations(names, 2))
    estimates = median_seconds(lambda: model.marginals(pairs)) / len(pairs) * 1e6
    sizes = median_seconds(lambda: candidate_cells(domain, cliques, pairs)) / len(pairs) * 1e6
    report.figures[f"{columns} columns: estimates, µs per candidate"] = estimates
    report.figures[f"{columns} columns: model sizes, µs per candidate"] = sizes
    progress(f"{columns} columns, {len(pairs)} pairs: estimates {estimates:.1f} µs, sizes {sizes:.1f} µs each")
    if columns == 80:
        report.bar("80 columns, estimate and model size, µs per candidate", estimates + sizes, "<=", 50)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__)
    report = Report("pgm")
    for columns in (10, 20, 40, 80):
        measure_growth(report, columns)
    if (DATA / "adult_discretized.csv").is_file():
        domain, ticks = adult()
        measure_inference(report, domain, 2.0, 30)
        if not options.quick:
            measure_inference(report, domain, 20.0, 80)
            measure_inference(report, domain, 80.0, 120)
        model = measure_fits(report, domain, ticks)
        seconds = median_seconds(lambda: model.sample(10**6, np.random.default_rng(3)), 1 if options.quick else 3)
        report.bar("sampling 10^6 rows of 14 columns, s", seconds, "<=", 5)
        asked = [c for k in (1, 2, 3) for c in combinations(domain.attributes, k) if domain.cells(c) <= 10**6]
        report.figures[f"Adult, {len(asked)} candidates up to three-way, s"] = median_seconds(
            lambda: model.marginals(asked)
        )
    else:
        progress(f"no adult_discretized.csv in {DATA}: inference, fits and sampling are not measured")
    report.finish(options.out)


if __name__ == "__main__":
    main()
