"""Independent: every one-way marginal in one question, each column drawn on its own."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.queries import MAX_CELLS, PrivateTable
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.asking import Asker, spendable
from mechanisms.base import MechanismResult, Plan, PlannedQuestions, Progress, Watcher, silent
from mechanisms.bounds import Released, error_bounds
from mechanisms.coding import model_sizes
from mechanisms.decoding import decode_cells
from mechanisms.fitting import Fitting
from mechanisms.offers import Offers
from mechanisms.opening import measure_one_ways
from mechanisms.projection import apportion, to_simplex
from mechanisms.rows import check_rows, estimate_total, rows_out
from mechanisms.rules import Rules

MODEL_BINS = 64
"""The most bins of an integer, real or date column where the schema's constraints need a model."""


@dataclass(frozen=True, slots=True)
class IndependentConfig:
    """Measure one-way marginals only: the cheapest release, without any relation between columns."""

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "Independent":
        """Bind to a release's cap.

        Raises:
            ConfigError: the one-way marginals have more cells than fit in memory; nothing spent.
        """
        check_one_way_cells(schema)
        Rules(schema).check(model_sizes(schema, MODEL_BINS))
        amount = spendable(cap.value)
        line = PlannedQuestions("marginals", "every one-way marginal, in one question", 1, amount)
        return Independent(self, cap, unit, schema, Plan(cap.law, (line,), amount))

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest."""
        return {}


@dataclass(frozen=True, slots=True)
class Independent:
    """Independent, bound to a cap, a unit and a schema."""

    config: IndependentConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    plan: Plan

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Ask for the one-way marginals and draw every column from its own; constraints alone relate columns."""
        check_rows(rows, self.schema)
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        names = [column.name for column in self.schema.columns]
        watch(Progress(1, 2, f"measure {len(names)} one-way marginals", 0.0))
        if self.schema.constraints:
            fitting = Fitting(measure_one_ways(asker, self.schema, asker.left, MODEL_BINS))
            watch(Progress(2, 2, "draw the synthetic rows", asker.share))
            return fitting.release(asker, rng, rows, [(name,) for name in names], {})
        tables = asker.marginals(tuple((name,) for name in names), asker.left)
        watch(Progress(2, 2, "draw the synthetic rows", asker.share))
        total = estimate_total(tables)
        output = rows_out(total, rows, self.schema)
        cells: dict[str, npt.NDArray[np.int64]] = {}
        for name, noisy in zip(names, tables, strict=True):
            counts = apportion(to_simplex(noisy.values, total.at_least_one), output.count, rng)
            cells[name] = rng.permutation(np.repeat(np.arange(counts.size), counts))
        synthetic = decode_cells(self.schema, cells, rng)
        released = Released(cells, {column.name: column.cells for column in self.schema.columns}, output.scale)
        cliques = [(name,) for name in names]
        bounds = error_bounds(cliques, tables, (), Offers(), released, total=total.at_least_one)
        return MechanismResult(synthetic, asker.transcript, bounds, notes=output.facts)


def check_one_way_cells(schema: Schema) -> None:
    """Check that all one-way marginals together fit in memory.

    Raises:
        ConfigError: with the number of cells and the widest column; nothing spent.
    """
    cells = {column.name: column.cells for column in schema.columns}
    if sum(cells.values()) > MAX_CELLS:
        widest = max(cells, key=cells.__getitem__)
        raise ConfigError(
            f"the one-way marginals have {sum(cells.values())} cells, over the limit of {MAX_CELLS}; "
            f"declare edges or bins, or fewer categories, for column {widest!r} ({cells[widest]} cells)"
        )
