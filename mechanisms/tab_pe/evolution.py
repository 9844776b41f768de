"""The run: pay for the start, then vote, select and vary by rounds, and turn the last candidates into rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.events import gaussian_variance
from accounting.exact import short_below
from accounting.queries import NoisyVotes, Placement, PrivateTable, Votes, sha_of
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.asking import Asker, spendable
from mechanisms.base import MechanismResult, Plan, PlannedQuestions, Progress, Watcher, silent
from mechanisms.bounds import Released, error_bounds
from mechanisms.decoding import decode_cells
from mechanisms.offers import Offers
from mechanisms.rows import OutputRows, check_rows, rows_out
from mechanisms.rules import Rules
from mechanisms.tab_pe.config import TabPEConfig
from mechanisms.tab_pe.opening import Opening, Paid, opening, rows_of
from mechanisms.tab_pe.polishing import binned, resample, spread
from mechanisms.tab_pe.selection import best, sample
from mechanisms.tab_pe.space import ORDERED_KINDS, Cells, embedding, mutation_rate, vary
from mechanisms.tab_pe.weighing import Floats, of_table, of_votes, weigh
from mechanisms.table import SyntheticTable

Ints = npt.NDArray[np.int64]

Cast = tuple[Votes, NoisyVotes]

_FILL_PASSES = 3
"""How often copies among the new candidates are replaced by further variations."""
_MAX_KEPT = 2**28
"""The most cells and votes of candidates that are kept over all rounds, for ranking by weights."""
_PART = 2**16
"""How many rows of a model are weighed together at most."""


def calibrate(config: TabPEConfig, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "TabPE":
    """Split the cap and plan every question.

    Raises:
        ConfigError: the label is no column or has an order, or the start is too large; nothing spent.
    """
    if config.label is not None:
        names = {column.name: column.kind for column in schema.columns}
        if config.label not in names:
            raise ConfigError(f"option 'label': the schema models no column {config.label!r}")
        if names[config.label] in ORDERED_KINDS and schema.column(config.label).cells > 64:
            raise ConfigError(
                f"option 'label': column {config.label!r} has {schema.column(config.label).cells} ordered cells; "
                "a label has at most 64 or is categorical: leave the label out, or declare edges"
            )
    Rules(schema).check_possible()
    kept = (
        cast("int", config.rounds) * cast("int", config.population) * (len(schema.columns) + cast("int", config.votes))
    )
    if config.ranking == "weights" and kept > _MAX_KEPT:
        raise ConfigError(
            f"ranking by weights keeps {kept} cells and votes of candidates, over the limit of {_MAX_KEPT}; "
            'lower rounds or population, or take ranking = "votes"'
        )
    total = spendable(cap.value)
    if len(schema.columns) == 1:
        config = replace(config, start="tables", reweight=True, output="candidates")
        start = opening(config, cap, unit, schema, total)
        return TabPE(config, cap, unit, schema, start.plan, start, {}, rounds=0)
    start = opening(config, cap, unit, schema, short_below(total * cast("Fraction", config.opening_share)))
    rounds = cast("int", config.rounds)
    line = PlannedQuestions("votes", "the votes of each round", rounds, total - start.plan.total)
    plan = Plan(cap.law, (*start.plan.lines, line), total)
    placed = embedding(schema, config.label, config.mismatch)
    return TabPE(config, cap, unit, schema, plan, start, placed, rounds)


@dataclass(frozen=True, slots=True)
class TabPE:
    """Tab-PE, bound to a cap, a unit and a schema.

    Args:
        start: the calibrated start.
        placed: the public embedding.
        rounds: the rounds of votes; 0 for a table of one column, whose counts say everything.
    """

    config: TabPEConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    plan: Plan
    start: Opening = field(repr=False)
    placed: dict[str, Placement] = field(repr=False)
    rounds: int

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Pay for the start, let the rows vote by rounds, and write the last candidates as rows."""
        check_rows(rows, self.schema)
        steps = self.rounds + 2
        watch(Progress(1, steps, "pay for the first candidates", 0.0))
        paid = self.start.run(table, rng, silent)
        voting = self.plan.lines[-1]
        asker = Asker(table, self.schema, self.unit, self.cap, Plan(self.cap.law, (voting,), voting.ceiling))
        candidates = self._possible(_distinct(paid.candidates))
        sizes = self._group_sizes(paid.candidates)
        cast_so_far: list[Cast] = []
        log: list[Json] = []
        for number in range(1, self.rounds + 1):
            watch(Progress(number + 1, steps, f"round {number} of {self.rounds}: votes", asker.share))
            query, votes = self._vote(asker, candidates, last=number == self.rounds)
            log.append({"entry": votes.entry, "candidates": sha_of(candidates), "number": len(candidates)})
            cast_so_far = [*cast_so_far, (query, votes)] if self.config.ranking == "weights" else []
            ranks = self._weights(candidates, paid, cast_so_far) if cast_so_far else votes.values
            candidates = self._possible(self._next(candidates, ranks, sizes, number, rng))
        watch(Progress(steps, steps, "write the rows", asker.share))
        made = self._release(candidates, paid, cast_so_far, rows_out(paid.total, rows, self.schema), rng)
        return replace(made, transcript=(*made.transcript, *asker.transcript), notes={**made.notes, "rounds": log})

    def _vote(self, asker: Asker, candidates: Cells, *, last: bool) -> Cast:
        """Ask one round's votes: each for an equal short share of what all rounds have, the last for the rest."""
        votes = min(cast("int", self.config.votes), len(candidates))
        amount = asker.left if last else short_below(self.plan.lines[-1].ceiling / self.rounds)
        variance = gaussian_variance(Fraction(self.unit.max_rows**2 * votes), amount, self.cap.law)
        query = Votes(candidates, self.placed, votes, self.config.label, variance)
        return query, cast("NoisyVotes", asker.ask(query))

    def _weights(self, candidates: Cells, paid: Paid, votes: Sequence[Cast]) -> Floats:
        """Weigh candidates by the votes so far and, where wanted, the paid tables."""
        evidence = [of_votes(query, answer.values, candidates, self.schema) for query, answer in votes]
        if self.config.reweight:
            bins = binned(candidates, self.schema, paid.coding)
            evidence += [of_table(table, bins) for table in paid.tables]
        return weigh(len(candidates), paid.total.at_least_one, evidence)

    def _possible(self, candidates: Cells) -> Cells:
        """Drop the candidates that the schema's constraints exclude; where none is left, the rows are settled later."""
        if not self.schema.constraints:
            return candidates
        names = [column.name for column in self.schema.columns]
        kept = candidates[Rules(self.schema).possible(dict(zip(names, candidates.T, strict=True)))]
        return kept if len(kept) else candidates

    def _groups(self, candidates: Cells) -> Ints:
        if self.config.label is None:
            return np.zeros(len(candidates), dtype=np.int64)
        place = [column.name for column in self.schema.columns].index(self.config.label)
        return candidates[:, place].astype(np.int64)

    def _group_sizes(self, candidates: Cells) -> dict[int, int]:
        groups, sizes = np.unique(self._groups(candidates), return_counts=True)
        return dict(zip(groups.tolist(), sizes.tolist(), strict=True))

    def _next(
        self, candidates: Cells, ranks: Ints | Floats, sizes: dict[int, int], number: int, rng: np.random.Generator
    ) -> Cells:
        """Select parents and vary them into the next candidates."""
        config = self.config
        rate = mutation_rate(
            cast("Fraction", config.mutation_first),
            cast("Fraction", config.mutation_last),
            config.mutation_decay,
            number,
            self.rounds,
        )
        groups = self._groups(candidates)
        if number <= cast("int", config.warm_up):
            drawn = candidates[sample(ranks, groups, sizes, rng)]
            return _distinct(vary(drawn, self.schema, config.label, rate, rng))
        keep = {group: -(-size // (1 + cast("int", config.variations))) for group, size in sizes.items()}
        parents = candidates[best(ranks, groups, keep)]
        return self._grown(parents, sizes, rate, rng)

    def _grown(self, parents: Cells, sizes: dict[int, int], rate: float, rng: np.random.Generator) -> Cells:
        """Add variations to the parents until every group has its size; copies are replaced a few times."""
        grown = _distinct(parents)
        for _ in range(_FILL_PASSES):
            added = [grown]
            own, now = self._groups(parents), self._groups(grown)
            for group, size in sizes.items():
                family = np.flatnonzero(own == group)
                missing = size - int((now == group).sum())
                if missing > 0 and family.size:
                    chosen = np.tile(family, -(-missing // family.size))[:missing]
                    added.append(vary(parents[chosen], self.schema, self.config.label, rate, rng))
            if len(added) == 1:
                break
            grown = _distinct(np.concatenate(added))
        return grown

    def _drawn(
        self, candidates: Cells, paid: Paid, votes: Sequence[Cast], count: int, rng: np.random.Generator
    ) -> Cells:
        """Draw the rows: candidates by their weights, or rows of the model by theirs, part by part."""
        if self.config.output != "model" or paid.fitted is None:
            numbers, copies = resample(candidates, self._weights(candidates, paid, votes), count, rng)
            return spread(candidates[numbers], copies, self.schema, float(cast("Fraction", self.config.jitter)), rng)
        parts = []
        for start in range(0, max(count, 1), _PART):
            size = min(count - start, _PART)
            pool = rows_of(paid.fitted.sample(max(size, len(candidates)), rng))
            parts.append(pool[resample(pool, self._weights(pool, paid, votes), size, rng)[0]])
        return np.concatenate(parts)

    def _release(
        self, candidates: Cells, paid: Paid, votes: Sequence[Cast], output: OutputRows, rng: np.random.Generator
    ) -> MechanismResult:
        """Draw and decode the rows, and bound their error on what was measured."""
        config, schema, total = self.config, self.schema, paid.total.at_least_one
        drawn = self._drawn(candidates, paid, votes, output.count, rng)
        names = [column.name for column in schema.columns]
        cells = dict(zip(names, drawn.T, strict=True))
        synthetic = decode_cells(schema, cells, rng)
        if schema.constraints:
            synthetic = SyntheticTable(schema, Rules(schema).settle(synthetic.ticks, cells, rng))
            drawn = np.column_stack([synthetic.cells(name) for name in names])
        sizes = {name: paid.coding.cells(schema, name) for name in names}
        released = Released(binned(drawn, schema, paid.coding), sizes, output.scale)
        cliques = list(dict.fromkeys([*((name,) for name in names), *(table.clique for table in paid.tables)]))
        bounds = error_bounds(cliques, paid.tables, (), Offers(), released, total=total)
        notes: dict[str, Json] = {**output.facts, "settings": config.to_json()}
        model = None if paid.fitted is None else paid.fitted.model
        return MechanismResult(synthetic, paid.transcript, bounds, model, notes=notes)


def _distinct(candidates: Cells) -> Cells:
    """Drop repeated candidates; the first of equal ones stays in its place."""
    order = np.lexsort(candidates.T)  # many times faster than NumPy's unique along an axis; keeps equal ones in order
    ordered = candidates[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.ascontiguousarray(candidates[np.sort(order[new])])
