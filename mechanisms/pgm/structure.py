"""What inference needs to know of a model before any potential: cliques, junction tree, impossible cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from accounting.errors import ConfigError
from mechanisms.pgm.axes import Array, Axes, axes_of
from mechanisms.pgm.backends import Backend, engine_type
from mechanisms.pgm.contraction import Program, plan
from mechanisms.pgm.domain import Clique, Domain
from mechanisms.pgm.inference import Engine
from mechanisms.pgm.junction_tree import BYTES_PER_CELL, JunctionTree, junction_tree

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Zeros = Mapping[Clique, Bools]


@lru_cache(maxsize=16)
def _planned(domain: Domain, measured: tuple[int, ...], fixed: tuple[int, ...]) -> tuple[JunctionTree, Program]:
    axes = axes_of(domain)
    tree = junction_tree(axes, (*measured, *fixed))
    return tree, plan(axes, tree, measured, fixed)


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A model's shape, ready to run.

    Args:
        axes: the inner numbering.
        tree: its junction tree.
        measured: the attributes of each measured factor, ascending.
        extra: the cliques that were asked for beside the measured ones.
        engine: the inference.
        support: 1.0 at possible and 0.0 at impossible cells of the measured factors, flat; None if all are possible.
        backend: the one asked for.
    """

    axes: Axes
    tree: JunctionTree
    measured: tuple[int, ...]
    extra: tuple[int, ...]
    engine: Engine
    support: Array | None
    backend: Backend


def check_zeros(axes: Axes, zeros: Zeros) -> dict[int, Array]:
    """Return the zeros as tables of 1.0 (possible) and 0.0 (impossible) in the inner order, by mask, ascending."""
    allowed: dict[int, Array] = {}
    for clique, table in zeros.items():
        shape = axes.domain.shape(clique)
        cells = np.asarray(table)
        if not clique or len(set(clique)) != len(clique) or cells.dtype != np.bool_ or cells.shape != shape:
            raise ConfigError(f"zeros of {clique}: give a boolean table of shape {shape}, True where impossible")
        mask = axes.mask(clique)
        possible = axes.inward(np.where(cells, 0.0, 1.0), tuple(clique))
        allowed[mask] = possible * allowed.get(mask, 1.0)
    return dict(sorted(allowed.items()))


def _uncovered(axes: Axes, covering: Sequence[int], extra: Iterable[int]) -> list[int]:
    """Return the masks that no covering mask contains: extra cliques, then attributes in no clique at all."""
    found: list[int] = []
    singles = [1 << axis for axis in range(len(axes.sizes))]
    for mask in [*sorted(set(extra), key=lambda m: (-m.bit_count(), m)), *singles]:
        if mask and not any(mask & other == mask for other in (*covering, *found)):
            found.append(mask)
    return found


def build(
    axes: Axes,
    measured: Sequence[int],
    allowed: Mapping[int, Array],
    extra: Iterable[int],
    *,
    max_cells: int,
    backend: Backend = "auto",
) -> Structure:
    """Build the structure of a model with these measured cliques.

    Raises:
        ConfigError: the junction tree has more than ``max_cells`` cells, the zeros leave no possible row, or the
            backend is not installed.
    """
    masks, beside = tuple(sorted(measured)), tuple(sorted(set(extra)))
    free = _uncovered(axes, [*masks, *allowed], beside)
    fixed = (*allowed, *free)
    tree, program = _planned(axes.domain, masks, fixed)
    cells = sum(axes.cells(clique) for clique in tree.cliques)
    if cells > max_cells:
        raise ConfigError(
            f"the model needs {cells} cells ({cells * BYTES_PER_CELL / 1e6:.0f} MB), more than the limit of "
            f"{max_cells}; measure fewer or smaller marginals, or raise the limit"
        )
    tables = [*allowed.values(), *(np.ones(axes.shape(mask)) for mask in free)]
    engine = engine_type(backend, cells)(axes, program, tables)
    if not allowed:
        return Structure(axes, tree, masks, beside, engine, None, backend)
    uniform = engine.run(np.zeros(sum(axes.cells(mask) for mask in masks)))
    if uniform is None:
        raise ConfigError("the declared impossible combinations leave no possible row")
    support = (uniform[1] > 0).astype(np.float64)
    engine.restrict(support)
    return Structure(axes, tree, masks, beside, engine, support, backend)
