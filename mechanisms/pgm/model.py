"""The fitted model: calibrated, immutable, answers any marginal and draws rows."""

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any
from zipfile import BadZipFile

import numpy as np

from accounting.errors import ConfigError
from mechanisms.pgm.axes import Array, Axes, axes_of
from mechanisms.pgm.domain import Clique, Domain
from mechanisms.pgm.junction_tree import JunctionTree
from mechanisms.pgm.marginals import Calibrated
from mechanisms.pgm.sampling import Codes, sample_columns
from mechanisms.pgm.structure import Structure, build, check_zeros

_FORMAT = 1
_MOST_CELLS = 250_000_000


class Model:
    """A distribution over a domain, Markov on a junction tree, scaled to a total.

    Attributes:
        domain: the attributes and their sizes.
        cliques: the maximal cliques of the junction tree, parents before children.
        total: the expected number of rows, at least 1.
        converged: whether the fit met its stopping rule.
        passes: how many times inference ran in the fit.
        loss: Σ (μ - y)²/(2σ²) of the fit.
        potentials: log-potentials of each measured clique (its attributes in the domain's order), for warm starts.
    """

    __slots__ = (
        "_axes", "_backend", "_calibrated", "_extra", "_potentials", "_tree", "_zeros",
        "cliques", "converged", "domain", "loss", "passes", "total",
    )  # fmt: skip

    def __init__(
        self,
        structure: Structure,
        theta: Array,
        zeros: Mapping[int, Array],
        *,
        total: float,
        converged: bool,
        passes: int,
        loss: float,
    ) -> None:
        """Calibrate; use ``estimate`` or ``Model.load``."""
        axes = structure.axes
        if structure.engine.run(theta) is None:
            raise ConfigError("the potentials leave no representable probability")
        self._axes: Axes = axes
        self._tree: JunctionTree = structure.tree
        self._extra = structure.extra
        self._calibrated = Calibrated(axes, structure.tree, structure.engine.beliefs(), total)
        self._backend = structure.backend
        self._zeros = dict(zeros)
        self._potentials: dict[int, Array] = {}
        start = 0
        for mask in structure.measured:
            self._potentials[mask] = theta[start : start + axes.cells(mask)].reshape(axes.shape(mask))
            start += axes.cells(mask)
        self.domain: Domain = axes.domain
        self.cliques: tuple[Clique, ...] = tuple(axes.clique(mask) for mask in structure.tree.cliques)
        self.total = total
        self.converged = converged
        self.passes = passes
        self.loss = loss

    @property
    def potentials(self) -> dict[Clique, Array]:
        """Return the log-potentials by clique, in the domain's order."""
        found = {}
        for mask, table in self._potentials.items():
            clique = self._axes.clique(mask)
            found[clique] = self._axes.outward(table, clique)
        return found

    @property
    def inner_potentials(self) -> Mapping[int, Array]:
        """Return the log-potentials by bit mask, in the inner order (for warm starts)."""
        return self._potentials

    def marginal(self, clique: Iterable[str]) -> Array:
        """Return the expected counts of a clique's cells, whether or not the tree has a clique that holds it.

        Args:
            clique: distinct attributes, in any order.

        Returns:
            float64, of the clique's shape in the clique's own order; sums to the total.
        """
        return self.marginals([clique])[0]

    def marginals(self, cliques: Iterable[Iterable[str]]) -> list[Array]:
        """Return many marginals at once, sharing sums and messages; see ``marginal``."""
        names = [tuple(clique) for clique in cliques]
        for clique in names:
            if len(set(clique)) != len(clique):
                raise ConfigError(f"clique {clique}: an attribute occurs twice")
        tables = self._calibrated.marginals([self._axes.mask(clique) for clique in names], self._backend)
        return [self._axes.outward(table, clique) for table, clique in zip(tables, names, strict=True)]

    def sample(self, rows: int, rng: np.random.Generator) -> dict[str, Codes]:
        """Draw rows with low-variance rounding; a cell of probability 0 never occurs.

        Args:
            rows: how many, exactly; 0 or more.
            rng: public randomness.

        Returns:
            int32 codes of each attribute, in the domain's order, rows in random order.
        """
        if isinstance(rows, bool) or rows < 0:
            raise ConfigError("the number of rows is an integer of at least 0")
        columns = sample_columns(
            self._axes, self._tree, [self._calibrated.belief(node) for node in range(len(self.cliques))], rows, rng
        )
        by_name = {self._axes.names[axis]: column for axis, column in columns.items()}
        return {name: by_name[name] for name in self.domain.attributes}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as one npz file: plain arrays and a JSON text, nothing executable.

        The potentials are stored, not the tables: ``load`` calibrates again.
        """
        described = {
            "format": _FORMAT,
            "attributes": list(self.domain.attributes),
            "sizes": list(self.domain.sizes),
            "measured": [list(self._axes.clique(mask)) for mask in self._potentials],
            "zeros": [list(self._axes.clique(mask)) for mask in self._zeros],
            "structure": [list(self._axes.clique(mask)) for mask in self._extra],
            "total": self.total,
            "converged": self.converged,
            "passes": self.passes,
            "loss": self.loss,
        }
        text = np.frombuffer(json.dumps(described, sort_keys=True).encode(), dtype=np.uint8)
        arrays: dict[str, np.ndarray[Any, Any]] = {"model": text}
        for i, table in enumerate(self._potentials.values()):
            arrays[f"potentials_{i}"] = table
        for i, (mask, table) in enumerate(self._zeros.items()):
            arrays[f"impossible_{i}"] = self._axes.outward(table, self._axes.clique(mask)) == 0
        with open(path, "wb") as file:  # noqa: PTH123 - accepts any path-like, as numpy does
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Model":
        """Read a saved model and calibrate it.

        Raises:
            ConfigError: the file is not a model of a known format.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                described = json.loads(bytes(file["model"]).decode())
                if described["format"] != _FORMAT:
                    raise ConfigError(f"the model file has format {described['format']}, this program reads {_FORMAT}")
                domain = Domain(tuple(described["attributes"]), tuple(described["sizes"]))
                axes = axes_of(domain)
                potentials = {
                    axes.mask(clique): np.asarray(file[f"potentials_{i}"], dtype=np.float64)
                    for i, clique in enumerate(described["measured"])
                }
                zeros = {
                    tuple(clique): np.asarray(file[f"impossible_{i}"], dtype=np.bool_)
                    for i, clique in enumerate(described["zeros"])
                }
        except (OSError, EOFError, BadZipFile, KeyError, TypeError, ValueError) as error:
            raise ConfigError("the file is not a saved model") from error
        if any(table.shape != axes.shape(mask) for mask, table in potentials.items()):
            raise ConfigError("the saved model's tables do not match its domain")
        allowed = check_zeros(axes, zeros)
        extra = [axes.mask(clique) for clique in described["structure"]]
        structure = build(axes, list(potentials), allowed, extra, max_cells=_MOST_CELLS)
        theta = np.concatenate([np.zeros(0), *(potentials[mask].ravel() for mask in structure.measured)])
        return cls(
            structure,
            theta,
            allowed,
            total=float(described["total"]),
            converged=bool(described["converged"]),
            passes=int(described["passes"]),
            loss=float(described["loss"]),
        )
