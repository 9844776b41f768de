"""What AIM and AIM-GDP share: their options, their plan, and their run; they differ in how a round chooses."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.exact import short_below
from accounting.queries import PrivateTable
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms import options
from mechanisms.asking import Asker, spendable
from mechanisms.base import MechanismResult, Plan, PlannedQuestions, Progress, QuestionKind, Watcher, silent
from mechanisms.coding import model_sizes
from mechanisms.fitting import Fitting
from mechanisms.independent import check_one_way_cells
from mechanisms.opening import measure_one_ways
from mechanisms.rounds import Choose, RoundSettings, run_rounds
from mechanisms.rows import check_rows
from mechanisms.rules import Rules
from mechanisms.workload import Candidates, WorkloadMarginal, compile_candidates

ROUNDS_PER_COLUMN = 16


@dataclass(frozen=True, slots=True)
class AdaptiveConfig:
    """Options of a mechanism that measures by rounds; the defaults are the full settings of the AIM paper.

    Args:
        workload: the marginals to keep, as lists of columns or tables with columns and weight; None means all
            marginals of ``degree`` columns.
        degree: columns of a default workload marginal, 1 to 4; None means 3, or 2 for very wide tables.
        max_rounds: the most rounds; None means 16 for each column.
        max_model_size_mb: the memory of the model's tables at the end, in 10^6 bytes.
        max_marginal_cells: a workload marginal with more cells is replaced by its parts that fit.
        anneal_factor: how many times more a round may spend after one that taught nothing, a whole number from 2.
        select_fraction: the share of a round's budget that its selection takes.
        one_way_share: the share of the cap that the one-way marginals take at the start.
        bins: the most bins of an integer, real or date column in the model.
    """

    workload: tuple[WorkloadMarginal, ...] | None = None
    degree: int | None = None
    max_rounds: int | None = None
    max_model_size_mb: Fraction = Fraction(80)
    max_marginal_cells: int = 10**6
    anneal_factor: int = 4
    select_fraction: Fraction = Fraction(1, 10)
    one_way_share: Fraction = Fraction(1, 10)
    bins: int = 16

    def __post_init__(self) -> None:
        if self.workload is not None:
            if self.degree is not None:
                raise ConfigError("give either a workload or a degree, not both")
            if not isinstance(self.workload, tuple) or not self.workload:
                raise ConfigError("option 'workload' must be a list of marginals, at least one")
            marginals = tuple(WorkloadMarginal.from_option(item) for item in self.workload)
            object.__setattr__(self, "workload", marginals)
        if self.degree is not None:
            options.whole(self.degree, "degree", 1, 4)
        if self.max_rounds is not None:
            options.whole(self.max_rounds, "max_rounds", 1, 100_000)
        size = options.exact_number(self.max_model_size_mb, "max_model_size_mb")
        object.__setattr__(self, "max_model_size_mb", size)
        options.whole(self.max_marginal_cells, "max_marginal_cells", 1, 2**27)
        options.whole(self.anneal_factor, "anneal_factor", 2, 1024)
        object.__setattr__(self, "select_fraction", options.share(self.select_fraction, "select_fraction"))
        object.__setattr__(self, "one_way_share", options.share(self.one_way_share, "one_way_share"))
        options.whole(self.bins, "bins", 2, 4096)

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest."""
        return {item.name: options.to_json(getattr(self, item.name)) for item in fields(self)}

    def _draft(self, cap: Cap, schema: Schema, choosing: QuestionKind, purpose: str) -> "Draft":
        """Plan a run without data.

        Raises:
            ConfigError: the workload names an unknown column or is too large, with the figure; nothing spent.
        """
        check_one_way_cells(schema)
        sizes = model_sizes(schema, self.bins)
        Rules(schema).check(sizes)
        candidates = compile_candidates(sizes, self.workload, self.degree, self.max_marginal_cells)
        total = spendable(cap.value)
        rounds = self.max_rounds or ROUNDS_PER_COLUMN * len(schema.columns)
        if max(map(len, candidates.cliques)) == 1:
            rounds = 0
        opening = total if rounds == 0 else short_below(total * self.one_way_share)
        lines = [PlannedQuestions("marginals", "every one-way marginal, in one question", 1, opening)]
        if rounds:
            rest = total - opening
            lines.append(PlannedQuestions(choosing, purpose, rounds, rest * self.select_fraction))
            lines.append(PlannedQuestions("marginals", "the marginal chosen in each round", rounds, rest))
        return Draft(Plan(cap.law, tuple(lines), total), candidates, rounds)


@dataclass(frozen=True, slots=True)
class Draft:
    """What calibration finds out without data.

    Args:
        plan: the ceilings.
        candidates: the marginals that a round may choose.
        rounds: the most rounds; 0 where no candidate has two columns, so that the one-way marginals take everything.
    """

    plan: Plan
    candidates: Candidates = field(repr=False)
    rounds: int


@dataclass(frozen=True, slots=True)
class Adaptive(ABC):
    """A mechanism that measures by rounds, bound to a cap, a unit and a schema."""

    config: AdaptiveConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    draft: Draft

    @property
    def plan(self) -> Plan:
        """What a run may ask at most."""
        return self.draft.plan

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Measure the one-way marginals, then choose, measure and fit by rounds until the cap is used up."""
        check_rows(rows, self.schema)
        config, steps = self.config, self.draft.rounds + 2
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        watch(Progress(1, steps, f"measure {len(self.schema.columns)} one-way marginals", 0.0))
        fitting = Fitting(measure_one_ways(asker, self.schema, self.plan.lines[0].ceiling, config.bins))
        log: list[dict[str, Json]] = []
        if self.draft.rounds:
            settings = RoundSettings(
                candidates=self.draft.candidates,
                rounds=self.draft.rounds,
                max_model_size_mb=config.max_model_size_mb,
                anneal_factor=config.anneal_factor,
                select_fraction=config.select_fraction,
                law=self.cap.law,
                max_rows=self.unit.max_rows,
            )
            log = run_rounds(asker, fitting, settings, self._chooser(), watch)
        watch(Progress(steps, steps, "draw the synthetic rows", asker.share))
        return fitting.release(asker, rng, rows, self.draft.candidates.cliques, {"rounds": list(log)})

    @abstractmethod
    def _chooser(self) -> Choose:
        """Return how a round chooses a candidate; a new one for each run."""
