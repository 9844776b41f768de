"""The slow twin: explicit joint tables, for domains of at most some thousand cells."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.optimize import nnls

from mechanisms.pgm import Domain, Measurement

Clique = tuple[str, ...]

SHAPES: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "single": ((4,), ("a",)),
    "one pair": ((3, 4), ("ab",)),
    "tree": ((2, 3, 4, 2, 3), ("ab", "bc", "bd", "de")),
    "chain": ((3, 2, 4, 2, 3, 2), ("ab", "bc", "cd", "de", "ef")),
    "cycle of four": ((3, 2, 3, 2), ("ab", "bc", "cd", "da")),
    "cycle of six": ((2, 3, 2, 2, 3, 2), ("ab", "bc", "cd", "de", "ef", "fa")),
    "disconnected": ((3, 2, 2, 4, 3), ("ab", "cd")),
    "nested": ((3, 4, 2), ("abc", "ab", "b", "c")),
    "overlapping triples": ((2, 3, 2, 3, 2), ("abc", "bcd", "cde", "ace")),
    "complete": ((2, 3, 2, 2), ("ab", "ac", "ad", "bc", "bd", "cd")),
    "missing attributes": ((3, 2, 4, 2), ("ac",)),
    "attributes of one cell": ((1, 3, 1, 2, 1), ("ab", "bcd", "e")),
    "everything of one cell": ((1, 1), ("ab",)),
    "nothing measured": ((2, 3), ()),
}


def domain_of(sizes: Sequence[int]) -> Domain:
    return Domain(tuple("abcdefgh"[: len(sizes)]), tuple(sizes))


def random_case(rng: np.random.Generator) -> tuple[Domain, list[Clique]]:
    """Return a small random domain with random cliques in random orders."""
    count = int(rng.integers(1, 7))
    domain = domain_of([int(size) for size in rng.integers(1, 5, count)])
    cliques = []
    for _ in range(int(rng.integers(0, 7))):
        size = int(rng.integers(1, min(count, 4) + 1))
        cliques.append(tuple(str(name) for name in rng.permutation(domain.attributes)[:size]))
    return domain, cliques


def marginal(domain: Domain, joint: np.ndarray, clique: Iterable[str]) -> np.ndarray:
    """Sum an explicit joint table to a clique, in the clique's own order."""
    clique = tuple(clique)
    kept = [domain.index(name) for name in clique]
    summed = joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))
    ordered = sorted(kept)
    return summed.transpose([ordered.index(i) for i in kept])


def joint_of_potentials(
    domain: Domain, potentials: Mapping[Clique, np.ndarray], zeros: Mapping[Clique, np.ndarray] | None = None
) -> np.ndarray:
    """Multiply everything out; return the unnormalised joint table."""
    logs = np.zeros(domain.sizes)
    for clique, table in potentials.items():
        logs = logs + spread(domain, table, clique)
    joint = np.exp(logs)
    for clique, table in (zeros or {}).items():
        joint = joint * spread(domain, 1.0 - table, clique)
    return joint


def spread(domain: Domain, table: np.ndarray, clique: Clique) -> np.ndarray:
    """Give a clique's table all axes of the domain."""
    kept = [domain.index(name) for name in clique]
    ordered = table.transpose(np.argsort(kept))
    shape = [domain.sizes[i] if i in kept else 1 for i in range(len(domain.sizes))]
    return ordered.reshape(shape)


def least_loss(
    domain: Domain,
    measurements: Sequence[Measurement],
    total: float,
    zeros: Mapping[Clique, np.ndarray] | None = None,
) -> float:
    """Return the least Σ (Mp - y)²/(2σ²) over all tables p ≥ 0 of this total, by non-negative least squares."""
    possible = (joint_of_potentials(domain, {}, zeros) > 0).ravel()
    cells = np.arange(possible.size).reshape(domain.sizes)
    rows, wanted = [], []
    for m in measurements:
        shape = domain.shape(m.clique)
        index = np.stack([np.indices(domain.sizes)[domain.index(name)].ravel() for name in m.clique])
        code = np.ravel_multi_index(tuple(index), shape)
        design = np.zeros((int(np.prod(shape)), cells.size))
        design[code, cells.ravel()] = 1.0
        rows.append(design / m.sigma)
        wanted.append(m.values.ravel() / m.sigma)
    heavy = 1e4 / min(m.sigma for m in measurements)
    matrix = np.vstack([*rows, np.full((1, cells.size), heavy)])[:, possible]
    target = np.concatenate([*wanted, [heavy * total]])
    best, _ = nnls(matrix, target, maxiter=100 * cells.size)
    best *= total / best.sum()
    return 0.5 * float(np.square(matrix[:-1] @ best - target[:-1]).sum())


def noisy(
    domain: Domain, joint: np.ndarray, cliques: Iterable[Clique], sigma: float, rng: np.random.Generator
) -> list[Measurement]:
    """Measure marginals of an explicit table of counts."""
    return [Measurement(c, marginal(domain, joint, c) + rng.normal(0, sigma, domain.shape(c)), sigma) for c in cliques]
