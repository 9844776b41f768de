"""Run a mechanism many times on both tables of a pair, in one process or several, and keep what each run shows."""

import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from multiprocessing import get_context

import numpy as np

from accounting.budget import Cap
from accounting.planted import OsEntropy, Planted, SeededEntropy
from audits.pairs import Pair
from audits.recording import RecordingTable
from audits.transcript.likelihood import Evidence, Replay
from audits.transcript.shared import SharedWords
from mechanisms.base import CalibratedMechanism
from mechanisms.pgm.inference import one_blas_thread
from mechanisms.table import SyntheticTable

CHUNK = 25
"""Pairs of runs that are handed to a process at once, and kept at once in the file by which an audit is continued."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run shows.

    Args:
        log_ratio: the transcript's log-likelihood ratio, present against absent.
        guessed: whether the test at threshold 0 says "present"; ties are split at random.
        value: the pair's own μ² in this run.
        mu_squared: Σμ² charged.
        alike: the share of synthetic rows that equal the unit's first row, for the black-box test.
    """

    log_ratio: float
    guessed: bool
    value: float
    mu_squared: float
    alike: float


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Two runs with the same randomness: one without the unit in the table, one with it."""

    absent: Observation
    present: Observation


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """A mechanism on a pair.

    Args:
        mechanism: calibrated for the pair's schema and unit.
        cap: the cap it was calibrated to.
        pair: the neighbouring tables.
        seed: None for the operating system's randomness; a number makes tests repeatable.
    """

    mechanism: CalibratedMechanism
    cap: Cap
    pair: Pair
    seed: int | None = None

    def chunk(self, number: int, size: int = CHUNK) -> list[TwoRuns]:
        """Run ``size`` times on each table."""
        bench = Bench(self)
        with one_blas_thread():
            return [bench.two_runs(index) for index in range(number * size, (number + 1) * size)]


class Bench:
    """An experiment set up in one process: its tables and its replay, made ready once.

    Args:
        experiment: what to run.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.replay = Replay(experiment.pair)
        self._entropy = OsEntropy()
        self._target = unit_cells(experiment.pair)
        pair = experiment.pair
        self._absent, self._present = (
            Planted(pair.schema, rows.ticks, pair.unit, experiment.cap, ids=rows.ids)
            for rows in (pair.absent, pair.present)
        )

    def use_one_table(self, *, present: bool) -> None:
        """Run on one table only from now on: nothing tells the two runs apart, as null audits want it."""
        self._absent = self._present = self._present if present else self._absent

    def two_runs(self, index: int) -> TwoRuns:
        """Run once without the unit and once with it, with the same words and the same public seed."""
        seed = self.experiment.seed
        public = secrets.randbits(128) if seed is None else (seed << 32) + index
        words = SharedWords(self._entropy if seed is None else SeededEntropy(public))
        return TwoRuns(self._observe(self._absent, words, public), self._observe(self._present, words, public))

    def _observe(self, planted: Planted, words: SharedWords, public: int) -> Observation:
        rng = np.random.default_rng(public)
        evidence, synthetic = self.one_run(planted, rng, words)
        guessed = evidence.log_ratio > 0 or (evidence.log_ratio == 0 and bool(rng.integers(2)))
        alike = share_alike(synthetic, self._target)
        return Observation(evidence.log_ratio, guessed, evidence.value, evidence.mu_squared, alike)

    def one_run(
        self, planted: Planted, rng: np.random.Generator, words: SharedWords
    ) -> tuple[Evidence, SyntheticTable]:
        """Run once and weigh the transcript."""
        words.begin()
        table = RecordingTable(planted.open(words), words.next_question)
        result = self.experiment.mechanism.run(table, rng)
        return self.replay.weigh(table.steps), result.synthetic


def observe(
    experiment: Experiment, chunks: Iterable[int], *, processes: int = 1
) -> Iterator[tuple[int, list[TwoRuns]]]:
    """Yield every chunk's number and observations, in order; in processes of their own where there are several."""
    if processes == 1:
        for number in chunks:
            yield number, experiment.chunk(number)
        return
    numbers = list(chunks)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield from zip(numbers, pool.map(experiment.chunk, numbers), strict=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def unit_cells(pair: Pair) -> dict[str, int]:
    """Return the cell of the unit's first row in each column."""
    return {
        column.name: int(column.cell_of_tick(pair.unit_ticks[column.name][:1])[0]) for column in pair.schema.columns
    }


def share_alike(synthetic: SyntheticTable, cells: dict[str, int]) -> float:
    """Return the share of synthetic rows in given cells."""
    if not synthetic.rows:
        return 0.0
    same = np.ones(synthetic.rows, dtype=np.bool_)
    for name, cell in cells.items():
        same &= synthetic.cells(name) == cell
    return float(same.mean())


def to_row(runs: TwoRuns) -> list[float]:
    """Write two runs as numbers, for the file by which an audit is continued."""
    return [float(value) for side in (runs.absent, runs.present) for value in astuple(side)]


def from_row(row: list[float]) -> TwoRuns:
    """Read what :func:`to_row` wrote."""
    half = len(row) // 2
    return TwoRuns(_observation(row[:half]), _observation(row[half:]))


def _observation(row: list[float]) -> Observation:
    log_ratio, guessed, value, mu_squared, alike = row
    return Observation(log_ratio, bool(guessed), value, mu_squared, alike)
