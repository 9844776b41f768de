"""AIM: in each round select the marginal that the model gets most wrong, measure it, and fit the model again.

Source: McKenna, Mullins, Sheldon and Miklau 2022, arXiv:2201.12677.
"""

from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.events import selection_epsilon
from accounting.exact import short_below
from accounting.queries import PrivateTable
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms import options
from mechanisms.asking import Asker, spendable
from mechanisms.base import MechanismResult, Plan, PlannedQuestions, Progress, Watcher, silent
from mechanisms.coding import most_cells
from mechanisms.fitting import Fitting
from mechanisms.independent import check_one_way_cells
from mechanisms.opening import measure_one_ways
from mechanisms.rounds import RoundSettings, run_rounds
from mechanisms.rows import check_rows
from mechanisms.selection import Pool, select_worst
from mechanisms.workload import Candidates, WorkloadMarginal, compile_candidates

ROUNDS_PER_COLUMN = 16


@dataclass(frozen=True, slots=True)
class AIMConfig:
    """Configure AIM; the defaults are the paper's full settings.

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

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "AIM":
        """Bind to a release's cap.

        Raises:
            ConfigError: the workload names an unknown column or is too large, with the figure; nothing spent.
        """
        check_one_way_cells(schema)
        sizes = {column.name: most_cells(column, self.bins) for column in schema.columns}
        candidates = compile_candidates(sizes, self.workload, self.degree, self.max_marginal_cells)
        total = spendable(cap.value)
        rounds = self.max_rounds or ROUNDS_PER_COLUMN * len(schema.columns)
        if max(map(len, candidates.cliques)) == 1:
            rounds = 0
        opening = total if rounds == 0 else short_below(total * self.one_way_share)
        lines = [PlannedQuestions("marginals", "every one-way marginal, in one question", 1, opening)]
        if rounds:
            rest = total - opening
            lines.append(PlannedQuestions("select", "the marginal that the model gets most wrong", rounds, rest))
            lines.append(PlannedQuestions("marginals", "the selected marginal", rounds, rest))
        return AIM(self, cap, unit, schema, Plan(cap.law, tuple(lines), total), candidates, rounds)

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest."""
        written = {
            item.name: options.to_json(getattr(self, item.name)) for item in fields(self) if item.name != "workload"
        }
        return {"workload": None if self.workload is None else [item.to_json() for item in self.workload], **written}


@dataclass(frozen=True, slots=True)
class AIM:
    """AIM, bound to a cap, a unit and a schema.

    Args:
        candidates: the marginals that a round may select.
        rounds: the most rounds; 0 where no candidate has two columns, so that the one-way marginals take everything.
    """

    config: AIMConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    plan: Plan
    candidates: Candidates = field(repr=False)
    rounds: int

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Measure the one-way marginals, then select, measure and fit by rounds until the cap is used up."""
        check_rows(rows, self.schema)
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        watch(Progress(1, self.rounds + 2, f"measure {len(self.schema.columns)} one-way marginals", 0.0))
        opening = measure_one_ways(asker, self.schema, self.plan.lines[0].ceiling, self.config.bins)
        fitting = Fitting(opening)
        log = run_rounds(asker, fitting, self._settings, self._choose, watch) if self.rounds else []
        watch(Progress(self.rounds + 2, self.rounds + 2, "draw the synthetic rows", asker.share))
        return fitting.release(asker, rng, rows, {"rounds": log})

    @property
    def _settings(self) -> RoundSettings:
        config = self.config
        return RoundSettings(
            self.candidates,
            self.rounds,
            config.max_model_size_mb,
            config.anneal_factor,
            config.select_fraction,
            self.cap.law,
            self.unit.max_rows,
        )

    def _choose(self, asker: Asker, fitting: Fitting, pool: Pool, amount: Fraction, sigma: float) -> int:
        epsilon = selection_epsilon(amount, self.cap.law)
        return select_worst(asker, pool, fitting.model, epsilon, sigma, fitting.hybrid.coding, self.unit.max_rows)
