"""Record and replay: what a run asked on one table, asked again of its neighbour with answers and randomness frozen.

A mechanism's questions may depend on earlier answers and public randomness only. So a mechanism that is given the same
answers again, whatever table stands behind them, must ask the same questions in the same order. And each question, on
the two tables, must differ by at most the sensitivity that it is priced by.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, Law, Rho
from accounting.errors import BudgetRefused
from accounting.planted import Entropy, exact_answer, planted_table
from accounting.queries import Answer, PrivateTable, Query, Select, query_digest
from accounting.schema import Schema
from audits.domain import check_names
from audits.pairs import Pair, Rows
from audits.recording import RecordingTable, Step
from audits.transcript.kernels import NaiveTable
from audits.transcript.likelihood import own_price, own_sensitivity_squared
from mechanisms.base import CalibratedMechanism, MechanismResult

_TINY = Cap(Rho(Fraction(1, 10**40)))


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a run broke what it claims; public facts about planted rows only.

    Args:
        question: the number of the question, from 1; 0 for the whole run.
        what: what was broken, in words.
    """

    question: int
    what: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What record and replay found.

    Args:
        pair: the pair's name.
        questions: how many questions were replayed.
        violations: everything broken; empty when the replay held.
        largest_share: the largest distance seen as a share of its declared sensitivity, from 0 to 1 when nothing broke.
    """

    pair: str
    questions: int
    violations: tuple[Violation, ...]
    largest_share: float


class _Frozen:
    """A handle on the neighbour that gives recorded answers, whatever is asked, and notes where a question differs."""

    def __init__(self, table: PrivateTable, pair: Pair, cap: Cap, steps: list[Step]) -> None:
        self._table = table
        self._unit = pair.unit
        self._steps = steps
        self._cap = cap
        self._spent = Fraction(0)
        self.asked = 0

    @property
    def schema(self) -> Schema:
        return self._table.schema

    @property
    def remaining(self) -> Fraction:
        return self._cap.value - self._spent

    def ask(self, query: Query) -> Answer:
        self.asked += 1
        if self.asked > len(self._steps):
            raise _AnotherCourse("more questions were asked")
        step = self._steps[self.asked - 1]
        self._spent += own_price(query, self._unit)[_place(self._cap)]
        if query_digest(query) != query_digest(step.query):
            raise _AnotherCourse("another question was asked")
        return step.answer


class _AnotherCourse(Exception):  # noqa: N818 - a signal to end the replay, caught below
    pass


class _CountingEntropy:
    """Counts the words that it hands out."""

    def __init__(self, source: Entropy) -> None:
        self._source = source
        self.handed_out = 0

    @property
    def source(self) -> str:
        return self._source.source

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        self.handed_out += count
        return self._source.words(count)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """One recorded run.

    Args:
        steps: its questions and answers.
        charged: what its handle was charged, in the law's unit.
        result: its synthetic rows and notes.
    """

    steps: list[Step]
    charged: Fraction
    result: MechanismResult


def record(
    mechanism: CalibratedMechanism, cap: Cap, pair: Pair, rows: Rows, *, entropy: Entropy, seed: int
) -> Recorded:
    """Run once on planted rows and note everything that it asked and gave."""
    table = planted_table(pair.schema, rows.ticks, pair.unit, cap, entropy=entropy, ids=rows.ids)
    recorder = RecordingTable(table)
    result = mechanism.run(recorder, np.random.default_rng(seed))
    return Recorded(recorder.steps, cap.value - table.remaining, result)


def record_and_replay(
    mechanism: CalibratedMechanism, cap: Cap, pair: Pair, *, entropy: Entropy, seed: int = 0
) -> ReplayReport:
    """Record a run on each table of a pair and replay it against the other one.

    Raises:
        ConfigError: the pair does not fit the mechanism.
    """
    violations: list[Violation] = []
    naive = (NaiveTable(pair.schema, pair.absent), NaiveTable(pair.schema, pair.present))
    questions, largest = 0, 0.0
    for rows, neighbour in ((pair.absent, pair.present), (pair.present, pair.absent)):
        recorded = record(mechanism, cap, pair, rows, entropy=entropy, seed=seed)
        questions += len(recorded.steps)
        violations += _wrong_charges(recorded, cap, pair)
        violations += _another_course(mechanism, cap, pair, neighbour, recorded, entropy, seed)
        for number, step in enumerate(recorded.steps, start=1):
            share, broken = check_question(step.query, pair, naive)
            largest = max(largest, share)
            broken += check_names(step, pair, rows, entropy)
            violations += [Violation(number, what) for what in broken]
        violations += _unpaid_look(recorded.steps[0].query, pair, rows, entropy)
    return ReplayReport(pair.name, questions, tuple(violations), largest)


def check_question(query: Query, pair: Pair, naive: tuple[NaiveTable, NaiveTable]) -> tuple[float, list[str]]:
    """Compare one question on both tables of a pair, by the curator's kernels and by naive ones.

    Returns:
        The distance as a share of the sensitivity, and what was broken in words.
    """
    broken: list[str] = []
    by_curator = (curator_exact(query, pair, pair.absent), curator_exact(query, pair, pair.present))
    for name, counted, rows, table in zip(
        ("absent", "present"), by_curator, (pair.absent, pair.present), naive, strict=True
    ):
        if counted != table.exact(query):
            broken.append(f"the curator counts otherwise than a plain count (unit {name})")
        if counted != curator_exact(query, pair, reversed_rows(rows)):
            broken.append(f"the count depends on the order of the rows (unit {name})")
    share = _distance_share(query, pair, *by_curator)
    if share > 1:
        broken.append(f"the unit moves it by {share:.4g} times its sensitivity")
    return share, broken


def reversed_rows(rows: Rows) -> Rows:
    """Return the same rows in the opposite order."""
    ids = None if rows.ids is None else rows.ids[::-1]
    return Rows({name: ticks[::-1] for name, ticks in rows.ticks.items()}, ids)


def curator_exact(query: Query, pair: Pair, rows: Rows) -> list[int]:
    """Return what the curator's own kernels count, as a flat list in the order of the answer."""
    exact = exact_answer(query, pair.schema, rows.ticks, pair.unit, rows.ids)
    if isinstance(exact, int):
        return [exact]
    if isinstance(exact, tuple):
        return [int(number) for table in exact for number in table.ravel()]
    return [int(number) for number in exact]


def _another_course(  # noqa: PLR0917 - a run has as many parts
    mechanism: CalibratedMechanism,
    cap: Cap,
    pair: Pair,
    neighbour: Rows,
    recorded: Recorded,
    entropy: Entropy,
    seed: int,
) -> list[Violation]:
    """Run again in front of the neighbour with frozen answers: questions and results must be the same."""
    table = planted_table(pair.schema, neighbour.ticks, pair.unit, cap, entropy=entropy, ids=neighbour.ids)
    frozen = _Frozen(table, pair, cap, recorded.steps)
    although = "although all answers were the same"
    try:
        result = mechanism.run(frozen, np.random.default_rng(seed))
    except _AnotherCourse as course:
        return [Violation(frozen.asked, f"{course} {although}")]
    if frozen.asked < len(recorded.steps):
        return [Violation(frozen.asked, f"fewer questions were asked {although}")]
    same = result.notes == recorded.result.notes and all(
        np.array_equal(ticks, recorded.result.synthetic.ticks[name]) for name, ticks in result.synthetic.ticks.items()
    )
    return [] if same else [Violation(0, f"another synthetic table came out {although}")]


def _wrong_charges(recorded: Recorded, cap: Cap, pair: Pair) -> list[Violation]:
    owed = sum((own_price(step.query, pair.unit)[_place(cap)] for step in recorded.steps), Fraction(0))
    violations = []
    if recorded.charged != owed:
        what = f"{float(recorded.charged):.6g} was charged for questions worth {float(owed):.6g}"
        violations.append(Violation(0, what))
    if owed > cap.value:
        what = f"questions worth {float(owed):.6g} were answered under a cap of {float(cap.value):.6g}"
        violations.append(Violation(0, what))
    entries = [step.answer.entry for step in recorded.steps]
    if sorted(set(entries)) != entries:
        violations.append(Violation(0, "two answers name one entry of the ledger, or entries are out of order"))
    return violations


def _unpaid_look(query: Query, pair: Pair, rows: Rows, entropy: Entropy) -> list[Violation]:
    """Ask what the cap does not hold: it must be refused before the rows are counted or noise is drawn."""
    counting = _CountingEntropy(entropy)
    table = planted_table(pair.schema, rows.ticks, pair.unit, _TINY, entropy=counting, ids=rows.ids)
    try:
        table.ask(query)
    except BudgetRefused:
        drawn = counting.handed_out
        return [Violation(1, "noise was drawn for a question that was refused")] if drawn else []
    return [Violation(1, "a question beyond the cap was answered")]


def _place(cap: Cap) -> int:
    return 0 if cap.law is Law.GDP else 1


def _distance_share(query: Query, pair: Pair, absent: list[int], present: list[int]) -> float:
    """Return the distance of the two exact answers as a share of the declared sensitivity."""
    distances = [abs(a - b) for a, b in zip(absent, present, strict=True)]
    if isinstance(query, Select):
        return max(distances) / (pair.unit.max_rows * query.grid * max(query.weights))
    return math.sqrt(sum(d * d for d in distances) / own_sensitivity_squared(query, pair.unit))
