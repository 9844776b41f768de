"""Record and replay: what a run asked on one table, asked again of its neighbour with answers and randomness frozen.

A mechanism's questions may depend on earlier answers and public randomness only. So a mechanism that is given the same
answers again, whatever table stands behind them, must ask the same questions in the same order. And each question, on
the two tables, must differ by at most the sensitivity that it is priced by.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accounting.budget import Cap, Law
from accounting.planted import Entropy, exact_answer, planted_table
from accounting.queries import Answer, PrivateTable, Query, Select, query_digest
from accounting.schema import Schema
from audits.pairs import Pair, Rows
from audits.recording import RecordingTable, Step
from audits.transcript.kernels import NaiveTable
from audits.transcript.likelihood import own_price, own_sensitivity_squared
from mechanisms.base import CalibratedMechanism


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
    """A handle that gives recorded answers, whatever is asked, and notes where a question is another one."""

    def __init__(self, pair: Pair, cap: Cap, steps: list[Step], violations: list[Violation]) -> None:
        self._schema = pair.schema
        self._unit = pair.unit
        self._steps = steps
        self._cap = cap
        self._violations = violations
        self.asked = 0
        self._spent = Fraction(0)

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def remaining(self) -> Fraction:
        return self._cap.value - self._spent

    def ask(self, query: Query) -> Answer:
        self.asked += 1
        if self.asked > len(self._steps):
            raise _AnotherCourse
        step = self._steps[self.asked - 1]
        self._spent += own_price(query, self._unit)[0 if self._cap.law is Law.GDP else 1]
        if query_digest(query) != query_digest(step.query):
            self._violations.append(Violation(self.asked, "another question was asked although all answers were the same"))
            raise _AnotherCourse
        return step.answer


class _AnotherCourse(Exception):  # noqa: N818 - a signal to end the replay, caught below
    pass


def record(
    mechanism: CalibratedMechanism, cap: Cap, pair: Pair, rows: Rows, *, entropy: Entropy, seed: int
) -> tuple[list[Step], PrivateTable]:
    """Run once on planted rows and return the transcript and the handle, whose remainder tells what was charged."""
    table = planted_table(pair.schema, rows.ticks, pair.unit, cap, entropy=entropy, ids=rows.ids)
    recorder = RecordingTable(table)
    mechanism.run(recorder, np.random.default_rng(seed))
    return recorder.steps, table


def record_and_replay(
    mechanism: CalibratedMechanism, cap: Cap, pair: Pair, *, entropy: Entropy, seed: int = 0
) -> ReplayReport:
    """Record a run on each table of a pair and replay it against the other one.

    Raises:
        ConfigError: the pair does not fit the mechanism.
    """
    violations: list[Violation] = []
    absent, present = NaiveTable(pair.schema, pair.absent), NaiveTable(pair.schema, pair.present)
    questions, largest = 0, 0.0
    for rows in (pair.absent, pair.present):
        steps, table = record(mechanism, cap, pair, rows, entropy=entropy, seed=seed)
        questions += len(steps)
        _check_charges(steps, cap, pair, table, violations)
        _check_course(mechanism, cap, pair, steps, seed, violations)
        for number, step in enumerate(steps, start=1):
            share = _distance_share(step.query, pair, absent.exact(step.query), present.exact(step.query))
            largest = max(largest, share)
            if share > 1:
                violations.append(Violation(number, f"the unit moves it by {share:.4g} times its sensitivity"))
            for name, naive, side in (("absent", absent, pair.absent), ("present", present, pair.present)):
                if curator_exact(step.query, pair, side) != naive.exact(step.query):
                    violations.append(Violation(number, f"the curator counts otherwise than a plain count ({name})"))
    return ReplayReport(pair.name, questions, tuple(violations), largest)


def curator_exact(query: Query, pair: Pair, rows: Rows) -> list[int]:
    """Return what the curator's own kernels count, as a flat list in the order of the answer."""
    exact = exact_answer(query, pair.schema, rows.ticks, pair.unit, rows.ids)
    if isinstance(exact, int):
        return [exact]
    if isinstance(exact, tuple):
        return [int(number) for table in exact for number in table.ravel()]
    return [int(number) for number in exact]


def _check_course(
    mechanism: CalibratedMechanism, cap: Cap, pair: Pair, steps: list[Step], seed: int, violations: list[Violation]
) -> None:
    frozen = _Frozen(pair, cap, steps, violations)
    try:
        mechanism.run(frozen, np.random.default_rng(seed))
    except _AnotherCourse:
        if frozen.asked > len(steps):
            violations.append(Violation(frozen.asked, "more questions were asked although all answers were the same"))
        return
    if frozen.asked < len(steps):
        violations.append(Violation(frozen.asked, "fewer questions were asked although all answers were the same"))


def _check_charges(
    steps: list[Step], cap: Cap, pair: Pair, table: PrivateTable, violations: list[Violation]
) -> None:
    place = 0 if cap.law is Law.GDP else 1
    owed = sum((own_price(step.query, pair.unit)[place] for step in steps), Fraction(0))
    charged = cap.value - table.remaining
    if charged != owed:
        violations.append(Violation(0, f"{float(charged):.6g} was charged for questions worth {float(owed):.6g}"))
    if owed > cap.value:
        violations.append(Violation(0, f"questions worth {float(owed):.6g} were answered under a cap of {float(cap.value):.6g}"))
    entries = [step.answer.entry for step in steps]
    if sorted(set(entries)) != entries:
        violations.append(Violation(0, "two answers name one entry of the ledger, or entries are out of order"))


def _distance_share(query: Query, pair: Pair, absent: list[int], present: list[int]) -> float:
    """Return the distance of the two exact answers as a share of the declared sensitivity."""
    distances = [abs(a - b) for a, b in zip(absent, present, strict=True)]
    if isinstance(query, Select):
        return max(distances) / (pair.unit.max_rows * query.grid * max(query.weights))
    return math.sqrt(sum(d * d for d in distances) / own_sensitivity_squared(query, pair.unit))
