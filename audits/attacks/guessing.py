"""Singling out, linkability and inference, each against held-out rows as control; and exact copies of unique rows.

An attack makes guesses from the synthetic table. Its success on private rows counts only as far as it exceeds its
success on rows that were not in the private table: risk = (rate − control rate)/(1 − control rate), as in anonymeter
(Giomi, Boenisch, Wehmeyer and Tasnádi 2023), with Wilson intervals.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.attacks.distances import nearest, row_count, sampled
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.statistics import wilson
from audits.utility.marginals import ORDERED

Bools = npt.NDArray[np.bool_]
Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: success on private rows, success on control rows, and the risk that is left."""

    rate: Result
    control: Result
    risk: Result


def judge(successes: int, guesses: int, control_successes: int, control_guesses: int) -> Attack:
    """Compare successes with the control's, Wilson intervals at 95 % each."""
    if not guesses or not control_guesses:
        return nothing("no guess could be made")
    low, high = wilson(successes, guesses, 0.05)
    control_low, control_high = wilson(control_successes, control_guesses, 0.05)
    rate, control = successes / guesses, control_successes / control_guesses
    return Attack(
        Figure(rate, low, high),
        Figure(control, control_low, control_high),
        NotComputable("the control succeeds every time")
        if control == 1
        else Figure(
            (rate - control) / (1 - control),
            (low - control_high) / (1 - control_high) if control_high < 1 else -1.0,
            (high - control_low) / (1 - control_low),
        ),
    )


def nothing(reason: str) -> Attack:
    """Return an attack that could not be made."""
    return Attack(NotComputable(reason), NotComputable(reason), NotComputable(reason))


def singling_out(
    schema: Schema, private: Ticks, holdout: Ticks, synthetic: Ticks, rng: np.random.Generator, *, guesses: int = 500
) -> Attack:
    """Guess predicates that match exactly one row: a synthetic row's values on some columns, or beyond."""
    problem = _problem(private, holdout, synthetic)
    if problem is not None:
        return problem
    size = min(row_count(private), row_count(holdout))
    target, control = sampled(private, size, rng), sampled(holdout, size, rng)
    hits, control_hits = 0, 0
    names = [column.name for column in schema.columns]
    medians = {name: np.median(synthetic[name]) for name in names}
    for _ in range(guesses):
        chosen = rng.choice(names, min(len(names), int(rng.integers(3, 6))), replace=False)
        row = int(rng.integers(row_count(synthetic)))
        sides = {name: bool(synthetic[name][row] >= medians[name]) for name in chosen}
        hits += int(_matches(schema, target, synthetic, row, sides).sum()) == 1
        control_hits += int(_matches(schema, control, synthetic, row, sides).sum()) == 1
    return judge(hits, guesses, control_hits, guesses)


def linkability(
    schema: Schema, private: Ticks, holdout: Ticks, synthetic: Ticks, rng: np.random.Generator, *, guesses: int = 500
) -> Attack:
    """Link the two halves of a row's columns: both halves' nearest synthetic row is the same one."""
    names = tuple(column.name for column in schema.columns)
    problem = _problem(private, holdout, synthetic)
    if problem is not None:
        return problem
    if len(names) < 2:
        return nothing("a row with one column has no two halves")
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    counts = []
    for rows in (sampled(private, guesses, rng), sampled(holdout, guesses, rng)):
        first, second = (nearest(schema, rows, synthetic, half)[1] for half in halves)
        counts.append((int((first == second).sum()), row_count(rows)))
    return judge(*counts[0], *counts[1])


def inference(  # noqa: PLR0917 - the secret beside the three tables
    schema: Schema,
    private: Ticks,
    holdout: Ticks,
    synthetic: Ticks,
    secret: str,
    rng: np.random.Generator,
    *,
    guesses: int = 500,
) -> Attack:
    """Guess one column's cell from all others, by the nearest synthetic row."""
    problem = _problem(private, holdout, synthetic)
    if problem is not None:
        return problem
    known = tuple(column.name for column in schema.columns if column.name != secret)
    if not known:
        return nothing("there is no other column to guess from")
    column = schema.column(secret)
    counts = []
    for rows in (sampled(private, guesses, rng), sampled(holdout, guesses, rng)):
        place = nearest(schema, rows, synthetic, known)[1]
        right = column.cell_of_tick(rows[secret]) == column.cell_of_tick(synthetic[secret][place])
        counts.append((int(right.sum()), row_count(rows)))
    return judge(*counts[0], *counts[1])


def exact_copies(private: Ticks, holdout: Ticks, synthetic: Ticks) -> Attack:
    """Compare how many unique private rows, and unique held-out rows, stand in the synthetic table exactly."""
    problem = _problem(private, holdout, synthetic)
    if problem is not None:
        return problem
    made = set(_rows(synthetic))
    unique = [[row for row, count in Counter(_rows(table)).items() if count == 1] for table in (private, holdout)]
    if not unique[0] or not unique[1]:
        return nothing("no row is unique")
    counts = [(sum(row in made for row in rows), len(rows)) for rows in unique]
    return judge(*counts[0], *counts[1])


def _rows(table: Ticks) -> list[Row]:
    return list(zip(*(table[name].tolist() for name in sorted(table)), strict=True))


def _matches(schema: Schema, rows: Ticks, synthetic: Ticks, row: int, sides: dict[str, bool]) -> Bools:
    matched = np.ones(row_count(rows), dtype=np.bool_)
    for name, above in sides.items():
        value = synthetic[name][row]
        if schema.column(name).kind in ORDERED and value >= 0:
            matched &= (rows[name] >= value) if above else ((rows[name] <= value) & (rows[name] >= 0))
        else:
            matched &= rows[name] == value
    return matched


def _problem(private: Ticks, holdout: Ticks, synthetic: Ticks) -> Attack | None:
    if not row_count(private) or not row_count(holdout) or not row_count(synthetic):
        return nothing("a table is empty")
    return None
