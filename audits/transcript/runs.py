"""Run a mechanism many times on both tables of a pair, in one process or several, and keep what each run shows."""

import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from multiprocessing import get_context

import numpy as np

from accounting.budget import Cap
from accounting.planted import Entropy, OsEntropy, SeededEntropy, planted_table
from audits.pairs import Pair
from audits.recording import RecordingTable
from audits.transcript.likelihood import Evidence, Replay
from mechanisms.base import CalibratedMechanism
from mechanisms.table import SyntheticTable

CHUNK = 25
"""Runs a side that are handed to a process at once, and kept at once in the file by which an audit is continued."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run shows.

    Args:
        present: whether the unit was in the table.
        log_ratio: the transcript's log-likelihood ratio, present against absent.
        guessed: what the test at threshold 0 says; ties are split at random.
        value: the pair's own μ² in this run.
        mu_squared: Σμ² charged.
        alike: the share of synthetic rows that equal the unit's first row, for the black-box test.
    """

    present: bool
    log_ratio: float
    guessed: bool
    value: float
    mu_squared: float
    alike: float


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

    def chunk(self, number: int, size: int = CHUNK) -> list[Observation]:
        """Run ``size`` times on each table, by turns."""
        replay = Replay(self.pair)
        indices = range(number * size, (number + 1) * size)
        return [self._observe(replay, index, present=present) for index in indices for present in (False, True)]

    def _observe(self, replay: Replay, index: int, *, present: bool) -> Observation:
        seed = None if self.seed is None else (self.seed << 32) + 2 * index + present
        rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
        entropy = OsEntropy() if seed is None else SeededEntropy(seed)
        evidence, synthetic = self.one_run(replay, rng, entropy, present=present)
        guessed = evidence.log_ratio > 0 or (evidence.log_ratio == 0 and bool(rng.integers(2)))
        alike = share_alike(synthetic, self.pair)
        return Observation(present, evidence.log_ratio, guessed, evidence.value, evidence.mu_squared, alike)

    def one_run(
        self, replay: Replay, rng: np.random.Generator, entropy: Entropy, *, present: bool
    ) -> tuple[Evidence, SyntheticTable]:
        """Run once and weigh the transcript."""
        rows = self.pair.present if present else self.pair.absent
        table = RecordingTable(
            planted_table(self.pair.schema, rows.ticks, self.pair.unit, self.cap, entropy=entropy, ids=rows.ids)
        )
        result = self.mechanism.run(table, rng)
        return replay.weigh(table.steps), result.synthetic


def observe(
    experiment: Experiment, chunks: Iterable[int], *, processes: int = 1
) -> Iterator[tuple[int, list[Observation]]]:
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


def share_alike(synthetic: SyntheticTable, pair: Pair) -> float:
    """Return the share of synthetic rows in the unit's own cells."""
    if not synthetic.rows:
        return 0.0
    same = np.ones(synthetic.rows, dtype=np.bool_)
    for column in pair.schema.columns:
        target = int(column.cell_of_tick(pair.unit_ticks[column.name][:1])[0])
        same &= synthetic.cells(column.name) == target
    return float(same.mean())


def to_row(observation: Observation) -> list[float]:
    """Write an observation as numbers, for the file by which an audit is continued."""
    return [float(value) for value in astuple(observation)]


def from_row(row: list[float]) -> Observation:
    """Read what :func:`to_row` wrote."""
    present, log_ratio, guessed, value, mu_squared, alike = row
    return Observation(bool(present), log_ratio, bool(guessed), value, mu_squared, alike)
