"""MST: one-way marginals, a maximum spanning tree of pairs chosen privately, and the pairs' marginals.

Source: McKenna, Miklau and Sheldon 2021, arXiv:2108.04978.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations

import numpy as np

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.events import selection_epsilon
from accounting.exact import short_below
from accounting.queries import Clique, PrivateTable
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms import options
from mechanisms.asking import Asker, spendable
from mechanisms.base import MechanismResult, Plan, PlannedQuestions, Progress, Watcher, silent
from mechanisms.coding import model_sizes
from mechanisms.fitting import Fitting
from mechanisms.independent import check_one_way_cells
from mechanisms.opening import measure_one_ways
from mechanisms.pgm import candidate_cells
from mechanisms.rows import check_rows
from mechanisms.rules import MAX_CELLS, Rules
from mechanisms.selection import Pool, select_worst
from mechanisms.workload import MAX_CANDIDATE_CELLS


@dataclass(frozen=True, slots=True)
class MSTConfig:
    """Configure MST; by default each of its three steps takes a third of the cap.

    Args:
        one_way_share: the share of the cap that the one-way marginals take.
        select_share: the share of the cap that choosing the tree takes.
        max_marginal_cells: pairs with more cells are never chosen.
        bins: the most bins of an integer, real or date column in the model.
    """

    one_way_share: Fraction = Fraction(1, 3)
    select_share: Fraction = Fraction(1, 3)
    max_marginal_cells: int = 10**6
    bins: int = 16

    def __post_init__(self) -> None:
        for name in ("one_way_share", "select_share"):
            object.__setattr__(self, name, options.share(getattr(self, name), name))
        if self.one_way_share + self.select_share >= 1:
            raise ConfigError("one_way_share and select_share together must leave a share for the pairs")
        options.whole(self.max_marginal_cells, "max_marginal_cells", 1, 2**27)
        options.whole(self.bins, "bins", 2, 4096)

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "MST":
        """Bind to a release's cap.

        Raises:
            ConfigError: the pairs are too large together, with the figure; nothing spent.
        """
        check_one_way_cells(schema)
        sizes = model_sizes(schema, self.bins)
        Rules(schema).check(sizes)
        pairs = tuple((a, b) for a, b in combinations(sizes, 2) if sizes[a] * sizes[b] <= self.max_marginal_cells)
        cells = sum(sizes[a] * sizes[b] for a, b in pairs)
        if cells > MAX_CANDIDATE_CELLS:
            raise ConfigError(
                f"the pairs have {cells} cells together, over the limit of {MAX_CANDIDATE_CELLS}; "
                "lower max_marginal_cells or bins"
            )
        total = spendable(cap.value)
        edges = _edges_of_forest(pairs)
        opening = short_below(total * self.one_way_share) if edges else total
        lines = [PlannedQuestions("marginals", "every one-way marginal, in one question", 1, opening)]
        if edges:
            choosing = short_below(total * self.select_share)
            lines.append(PlannedQuestions("select", "the next pair of the tree", edges, choosing))
            lines.append(PlannedQuestions("marginals", "the pairs of the tree, in one question", 1, total - opening))
        return MST(self, cap, unit, schema, Plan(cap.law, tuple(lines), total), pairs)

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest."""
        return {item.name: options.to_json(getattr(self, item.name)) for item in fields(self)}


@dataclass(frozen=True, slots=True)
class MST:
    """MST, bound to a cap, a unit and a schema.

    Args:
        pairs: the pairs that may be chosen.
    """

    config: MSTConfig
    cap: Cap
    unit: PrivacyUnit
    schema: Schema
    plan: Plan
    pairs: tuple[Clique, ...]

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Measure the one-way marginals, choose a tree of pairs, measure its pairs and fit."""
        check_rows(rows, self.schema)
        opening, *later = self.plan.lines
        steps = 3 + sum(line.at_most for line in later)
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        watch(Progress(1, steps, f"measure {len(self.schema.columns)} one-way marginals", 0.0))
        fitting = Fitting(measure_one_ways(asker, self.schema, opening.ceiling, self.config.bins))
        tree: tuple[Clique, ...] = ()
        if later:
            selecting = later[0]
            tree = self._choose_tree(asker, fitting, selecting, watch, steps)
        if tree:
            watch(Progress(steps - 1, steps, f"measure the {len(tree)} pairs of the tree", asker.share))
            fitting.add(asker.marginals(tree, spendable(asker.left), fitting.hybrid.coding))
        watch(Progress(steps, steps, "draw the synthetic rows", asker.share))
        return fitting.release(asker, rng, rows, self.pairs, {"tree": [list(pair) for pair in tree]})

    def _choose_tree(
        self, asker: Asker, fitting: Fitting, line: PlannedQuestions, watch: Watcher, steps: int
    ) -> tuple[Clique, ...]:
        """Choose the pairs one by one, each among those that join two parts of the forest so far."""
        epsilon = selection_epsilon(line.ceiling / line.at_most, self.cap.law)
        cells = {pair: fitting.domain.cells(pair) for pair in self.pairs}
        part = {name: name for name in fitting.domain.attributes}
        tree: list[Clique] = []
        while joining := self._joining(fitting, part, tree):
            watch(Progress(len(tree) + 2, steps, f"choose among {len(joining)} pairs", asker.share))
            fitting.offers.begin(len(tree) + 1, last=len(tree) + 1 == line.at_most)
            pool = Pool(joining, (1,) * len(joining), tuple(cells[pair] for pair in joining))
            index = select_worst(asker, pool, fitting, epsilon=epsilon, sigma=0.0, max_rows=self.unit.max_rows)
            a, b = joining[index]
            tree.append((a, b))
            part = {name: part[a] if label == part[b] else label for name, label in part.items()}
        position = fitting.domain.attributes.index
        return tuple(sorted(tree, key=lambda pair: (position(pair[0]), position(pair[1]))))

    def _joining(self, fitting: Fitting, part: dict[str, str], tree: list[Clique]) -> tuple[Clique, ...]:
        """Return the pairs that join two parts; with constraints, only those that keep the model within its memory."""
        joining = tuple((a, b) for a, b in self.pairs if part[a] != part[b])
        if not self.schema.constraints or not joining:
            return joining
        now, *cells = candidate_cells(fitting.domain, (*fitting.structure, *tree), ((), *joining))
        return tuple(pair for pair, after in zip(joining, cells, strict=True) if after <= max(MAX_CELLS, now))


def _edges_of_forest(pairs: tuple[Clique, ...]) -> int:
    """Return how many pairs a spanning forest takes."""
    part: dict[str, str] = {name: name for pair in pairs for name in pair}
    edges = 0
    for a, b in pairs:
        if part[a] != part[b]:
            old, new = part[b], part[a]
            part = {name: new if label == old else label for name, label in part.items()}
            edges += 1
    return edges
