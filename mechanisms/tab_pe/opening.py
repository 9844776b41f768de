"""The start: paid tables or a paid model, the number of rows, and the first candidates drawn from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, cap
from accounting.errors import ConfigError
from accounting.queries import Clique, Coding, Marginals, NoisyMarginals, PrivateTable
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.asking import Asker
from mechanisms.base import Asked, CalibratedMechanism, Plan, PlannedQuestions, Watcher
from mechanisms.fitted import FittedModel
from mechanisms.noisy import NoisyTable
from mechanisms.projection import apportion, to_simplex
from mechanisms.rows import TotalEstimate, estimate_total
from mechanisms.tab_pe.config import TabPEConfig
from mechanisms.tab_pe.space import Cells, draw_uniform, table_bins
from mechanisms.table import SyntheticTable

Ints = npt.NDArray[np.int64]

MAX_TABLE_CELLS = 2**25


@dataclass(frozen=True, slots=True, eq=False)
class Paid:
    """What the opening paid for, and the first candidates.

    Args:
        candidates: cells, one row a candidate, in schema order.
        tables: the noisy tables at the bins of ``coding``.
        coding: the bins.
        total: the number of rows, estimated.
        transcript: the questions and answers so far.
        fitted: the model of a start by model, with its decoder.
    """

    candidates: Cells
    tables: tuple[NoisyTable, ...]
    coding: Coding
    total: TotalEstimate
    transcript: tuple[Asked, ...]
    fitted: FittedModel | None = None


@dataclass(frozen=True, slots=True)
class ByTables:
    """A start from tables of the label with every other column, or (``uniform``) from the label's counts alone."""

    config: TabPEConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    plan: Plan
    coding: Coding
    cliques: tuple[Clique, ...]

    @staticmethod
    def calibrated(config: TabPEConfig, share: Cap, limits: Cap, unit: PrivacyUnit, schema: Schema) -> "ByTables":
        """Plan the tables.

        Raises:
            ConfigError: they have too many cells, with the figure; nothing spent.
        """
        coding = _coding(schema, cast("int", config.bins), config.label)
        cliques = _cliques(schema, config.label, uniform=config.start == "uniform")
        cells = sum(int(np.prod(coding.shape(schema, clique))) for clique in cliques)
        if cells > MAX_TABLE_CELLS:
            raise ConfigError(
                f"the tables of the start have {cells} cells, over the limit of {MAX_TABLE_CELLS}; "
                "declare fewer categories, lower bins, or leave the label out"
            )
        purpose = "the counts of the groups" if config.start == "uniform" else "the tables that candidates start from"
        line = PlannedQuestions("marginals", purpose, 1, share.value)
        plan = Plan(share.law, (line,), share.value)
        return ByTables(config, limits, unit, schema, plan, coding, cliques)

    def run(self, table: PrivateTable, rng: np.random.Generator, _: Watcher) -> Paid:
        """Ask for the tables and draw the first candidates."""
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        tables = asker.marginals(self.cliques, asker.left, self.coding)
        size = cast("int", self.config.population)
        drawn = draw_uniform(self.schema, size, rng)
        if self.config.label is not None:
            place = _place(self.schema, self.config.label)
            drawn[:, place] = np.repeat(np.arange(self._groups), apportion(self._group_mass(tables), size, rng))
        if self.config.start == "tables":
            self._draw(drawn, tables, rng)
        return Paid(drawn, tables, self.coding, estimate_total(tables), asker.transcript)

    @property
    def _groups(self) -> int:
        return 1 if self.config.label is None else self.schema.column(self.config.label).cells

    def _by_group(self, table: NoisyTable) -> Ints:
        """Return a table with the groups as rows and its column's bins as columns."""
        if self.config.label is None:
            return table.values.reshape(1, -1)
        axis = table.clique.index(self.config.label)
        return np.moveaxis(table.values, axis, 0).reshape(self._groups, -1)

    def _group_mass(self, tables: Sequence[NoisyTable]) -> npt.NDArray[np.float64]:
        """Estimate every group's rows: the mean of what the tables say, each by its inverse variance."""
        weights = np.array([1 / self._by_group(table).shape[1] for table in tables])
        sums = np.array([self._by_group(table).sum(axis=1) for table in tables])
        mean = (weights[:, None] * sums).sum(axis=0) / weights.sum()
        return to_simplex(mean, estimate_total(tables).at_least_one)

    def _draw(self, drawn: Cells, tables: Sequence[NoisyTable], rng: np.random.Generator) -> None:
        """Draw every column given the group from its noisy table, in place."""
        label = self.config.label
        group = np.zeros(len(drawn), dtype=np.int64) if label is None else drawn[:, _place(self.schema, label)]
        for table in tables:
            (name,) = tuple(other for other in table.clique if other != label) or table.clique
            if name == label:
                continue
            for number, counts in enumerate(self._by_group(table)):
                members = np.flatnonzero(group == number)
                shares = to_simplex(counts, max(float(counts.sum()), 1.0))
                bins = np.repeat(np.arange(shares.size), apportion(shares, members.size, rng))
                drawn[members, _place(self.schema, name)] = self._cells(name, rng.permutation(bins), rng)

    def _cells(self, name: str, bins: Ints, rng: np.random.Generator) -> Ints:
        """Draw a cell uniformly inside each bin."""
        if name not in self.coding.bins:
            return bins
        order = np.argsort(self.coding.bins[name], kind="stable")
        ordered = self.coding.bins[name][order]
        low = np.searchsorted(ordered, bins, side="left")
        high = np.searchsorted(ordered, bins, side="right") - 1
        return order[rng.integers(low, high, endpoint=True)]


@dataclass(frozen=True, slots=True)
class ByModel:
    """A start from the rows of a fitted model, whose measured marginals serve for reweighting."""

    config: TabPEConfig
    schema: Schema
    mechanism: CalibratedMechanism

    @staticmethod
    def calibrated(config: TabPEConfig, share: Cap, unit: PrivacyUnit, schema: Schema) -> "ByModel":
        """Calibrate the model's mechanism to its share."""
        from mechanisms.registry import config_from_table

        chosen: Mapping[str, object] = config.model_options or {}
        return ByModel(config, schema, config_from_table(config.model, chosen).calibrate(share, unit, schema))

    @property
    def plan(self) -> Plan:
        """What the model's mechanism may ask at most."""
        return self.mechanism.plan

    def run(self, table: PrivateTable, rng: np.random.Generator, watch: Watcher) -> Paid:
        """Fit the model, draw its rows, and take its measured tables."""
        result = self.mechanism.run(table, rng, watch, rows=0)
        fitted = cast("FittedModel", result.fitted)
        drawn = rows_of(fitted.sample(cast("int", self.config.population), rng))
        tables, coding = _measured(result.transcript)
        return Paid(drawn, tables, coding, estimate_total(tables), result.transcript, fitted)


def rows_of(table: SyntheticTable) -> Cells:
    """Return synthetic rows as candidates."""
    return np.column_stack([table.cells(column.name) for column in table.schema.columns])


Opening = ByTables | ByModel


def opening(config: TabPEConfig, limits: Cap, unit: PrivacyUnit, schema: Schema, amount: Fraction) -> Opening:
    """Calibrate the start to its share of the cap."""
    share = cap(limits.law, amount)
    if config.start == "model":
        return ByModel.calibrated(config, share, unit, schema)
    return ByTables.calibrated(config, share, limits, unit, schema)


def _measured(transcript: Sequence[Asked]) -> tuple[tuple[NoisyTable, ...], Coding]:
    """Take all measured marginals of a run, at the coarsest bins that it used."""
    asked = [(item.query, item.answer) for item in transcript if isinstance(item.query, Marginals)]
    coding = max((query.coding for query, _ in asked), key=lambda coding: len(coding.bins))
    tables = []
    for query, answer in asked:
        for clique, values in zip(query.cliques, cast("NoisyMarginals", answer).tables, strict=True):
            table = NoisyTable.measured(clique, values, query.variance)
            fine = len(clique) == 1 and clique[0] in coding.bins and clique[0] not in query.coding.bins
            tables.append(table.grouped(coding.bins[clique[0]]) if fine else table)
    return tuple(tables), coding


def _coding(schema: Schema, bins: int, label: str | None) -> Coding:
    """Cut every long line into bins of equal numbers of cells."""
    cut = {column.name: table_bins(column, bins) for column in schema.columns if column.name != label}
    return Coding({name: numbers for name, numbers in cut.items() if numbers is not None})


def _cliques(schema: Schema, label: str | None, *, uniform: bool) -> tuple[Clique, ...]:
    names = [column.name for column in schema.columns]
    if uniform or names == [label]:
        fewest = min(schema.columns, key=lambda column: column.cells).name
        return ((fewest if label is None else label,),)
    if label is None:
        return tuple((name,) for name in names)
    place = names.index(label)
    return tuple((name, label) if names.index(name) < place else (label, name) for name in names if name != label)


def _place(schema: Schema, name: str) -> int:
    return [column.name for column in schema.columns].index(name)
