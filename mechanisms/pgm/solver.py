"""Weighted least squares to noisy marginals over the marginal polytope, by its KL-proximal dual.

The proximal problem at log-potentials r is: minimise Σ (μ - y)²/(2σ²) + λ·KL(p ‖ p_r) over the model's distributions.
Its dual in the log-potentials x is smooth, strictly convex and unconstrained:

    F(x) = N·log Z(x) - x·y + λ/2 · Σ σ²(x - r)²,    gradient μ(x) - y + λσ²(x - r).

L-BFGS with a diagonal preconditioner minimises F; then r moves to x, until the least-squares loss stops falling.
Mirror descent, slower and hard to break, is the fallback.

Source: McKenna, Sheldon and Miklau (2019), arXiv:1901.09136 (the problem and mirror descent); Rockafellar (1976), the
proximal point method; Nocedal and Wright (2006), chapter 7 (L-BFGS).
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from mechanisms.pgm.axes import Array
from mechanisms.pgm.gauge import Gauge
from mechanisms.pgm.inference import Engine

_MEMORY = 10
_SUFFICIENT = 1e-4
_SHORTEST = 1e-10
_UNCHANGED = 1e-4  # a loss that grew by a smaller share counts as the same
_FEWEST_ROWS = 1e-3  # expected counts below this precondition as this


def dot(a: Array, b: Array) -> float:
    """Return the inner product in one fixed order of summation (BLAS splits long ones by the number of threads)."""
    return float(np.einsum("i,i->", a, b))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be fitted, over the flat cells of all measured factors.

    Args:
        engine: the inference.
        gauge: the normal form of log-potentials.
        values: the noisy counts, each factor centred so that its possible cells sum to the total; 0 at impossible ones.
        sigma: the noise's standard deviation, cell by cell.
        cells: how many cells are possible.
        total: N.
        floor: the part of the loss that no model can change.
    """

    engine: Engine
    gauge: Gauge
    values: Array
    sigma: Array
    cells: int
    total: float
    floor: float

    def loss(self, marginals: Array) -> float:
        """Return Σ (μ - y)²/(2σ²), the part that no model can change included."""
        residual = (marginals - self.values) / self.sigma
        return self.floor + 0.5 * dot(residual, residual)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Log-potentials with what inference says of them: log Z and the measured factors' expected counts."""

    theta: Array
    log_z: float
    marginals: Array


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The solver's answer.

    Args:
        theta: log-potentials.
        loss: the least-squares loss.
        passes: how many times inference ran.
        converged: whether the stopping rule was met.
    """

    theta: Array
    loss: float
    passes: int
    converged: bool


class Counter:
    """Run inference, counting passes up to a limit."""

    def __init__(self, problem: Problem, limit: int) -> None:
        self.problem = problem
        self.limit = limit
        self.passes = 0

    @property
    def exhausted(self) -> bool:
        """Say whether no pass is left."""
        return self.passes >= self.limit

    def at(self, theta: Array) -> Point | None:
        """Return the point of these log-potentials; None where they leave no representable mass."""
        self.passes += 1
        answer = self.problem.engine.run(theta)
        if answer is None:
            return None
        log_z, marginals = answer
        marginals *= self.problem.total
        return Point(theta, log_z, marginals)


@dataclass(frozen=True, slots=True, eq=False)
class _Iterate:
    """A point of the dual with F and its gradient there."""

    point: Point
    value: float
    gradient: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A step of L-BFGS, the change of gradient along it, and their inner product (positive)."""

    step: Array
    change: Array
    curvature: float


class _Dual:
    """The dual F of one proximal problem."""

    def __init__(self, problem: Problem, reference: Array, weight: float) -> None:
        self.problem = problem
        self.reference = reference
        self.ridge = weight * np.square(problem.sigma)
        self.wanted = np.maximum(problem.values, _FEWEST_ROWS)

    def at(self, point: Point) -> _Iterate:
        """Evaluate F and its gradient."""
        shift = point.theta - self.reference
        pull = self.ridge * shift
        value = self.problem.total * point.log_z - dot(point.theta, self.problem.values) + 0.5 * dot(pull, shift)
        pull += point.marginals
        pull -= self.problem.values
        return _Iterate(point, value, pull)

    def curvature(self, point: Point) -> Array:
        """Return the diagonal preconditioner: with the logarithmic mean of μ and y, a lone cell is met in one step."""
        model = np.maximum(point.marginals, _FEWEST_ROWS)
        ratio = self.wanted / model
        apart = np.abs(ratio - 1.0) > 1e-6
        mean: Array = np.divide(self.wanted - model, np.log(ratio, where=apart, out=ratio), where=apart, out=model)
        mean += self.ridge
        return mean

    def error(self, gradient: Array) -> float:
        """Return the gradient's root mean square over the possible cells, in σ."""
        scaled = gradient / self.problem.sigma
        return float(np.sqrt(dot(scaled, scaled) / max(self.problem.cells, 1)))


def _direction(gradient: Array, diagonal: Array, history: "deque[_Pair]") -> Array:
    """Return the L-BFGS direction (two-loop recursion)."""
    q = -gradient
    weights = []
    for pair in reversed(history):
        weight = dot(pair.step, q) / pair.curvature
        q -= weight * pair.change
        weights.append(weight)
    q /= diagonal
    if history:
        latest = history[-1]
        q *= min(max(latest.curvature / dot(latest.change, latest.change / diagonal), 1e-3), 10.0)
    for pair, weight in zip(history, reversed(weights), strict=True):
        q += (weight - dot(pair.change, q) / pair.curvature) * pair.step
    return q


def _search(counter: Counter, dual: _Dual, start: _Iterate, direction: Array) -> _Iterate | None:
    """Backtrack along a descent direction to a sufficient decrease of F; None where there is none."""
    slope = dot(start.gradient, direction)
    length = 1.0 if slope < 0 else 0.0
    noise = 1e-12 * abs(start.value)
    while length > _SHORTEST and not counter.exhausted:
        point = counter.at(start.point.theta + length * direction)
        if point is None:
            length *= 0.1
            continue
        reached = dual.at(point)
        if reached.value <= start.value + _SUFFICIENT * length * slope + noise:
            return reached
        curved = dot(reached.gradient, direction)
        secant = slope / (slope - curved) if curved > slope else 0.5
        length *= min(max(secant, 0.1), 0.5)
    return None


def minimise_dual(counter: Counter, start: Point, weight: float, tolerance: float) -> tuple[Point, bool]:
    """Solve one proximal problem; return the last point and whether the gradient's RMS fell below the tolerance (σ)."""
    dual = _Dual(counter.problem, start.theta, weight)
    now = dual.at(start)
    history: deque[_Pair] = deque(maxlen=_MEMORY)
    while dual.error(now.gradient) > tolerance:
        reached = _search(counter, dual, now, _direction(now.gradient, dual.curvature(now.point), history))
        if reached is None:
            if counter.exhausted or not history:
                return now.point, False
            history.clear()
            continue
        step = reached.point.theta - now.point.theta
        change = reached.gradient - now.gradient
        curvature = dot(step, change)
        if curvature > 0:
            history.append(_Pair(step, change, curvature))
        now = reached
    return now.point, True


def descend_mirror(counter: Counter, start: Point, passes: int) -> Point:
    """Descend the least-squares loss by entropic mirror steps with a halving search; the loss never rises."""
    problem = counter.problem
    point, loss = start, problem.loss(start.marginals)
    step = float(problem.sigma.min()) ** 2 / problem.total
    last = counter.passes + passes
    while counter.passes < last and not counter.exhausted and step > np.finfo(float).tiny:
        gradient = (point.marginals - problem.values) / np.square(problem.sigma)
        trial = counter.at(point.theta - step * gradient)
        if trial is not None:
            reached = problem.loss(trial.marginals)
            if reached <= loss - 0.5 * dot(gradient, point.marginals - trial.marginals):
                point, loss = trial, reached
                step *= 1.5
                continue
        step *= 0.5
    return point


def _settled(counter: Counter, point: Point, loss: float) -> tuple[Point, float]:
    """Return a point in the gauge's normal form, with its loss; as it is where cutting potentials off changed it.

    Potentials that compensate each other over more than the range that is kept would give another distribution.
    """
    if counter.exhausted:
        return point, loss
    settled = counter.at(counter.problem.gauge.settle(point.theta, point.marginals))
    if settled is None:
        return point, loss
    reached = counter.problem.loss(settled.marginals)
    return (settled, reached) if reached <= loss * (1 + _UNCHANGED) else (point, loss)


def fit(
    problem: Problem, start: Array, *, max_passes: int, tolerance: float, improvement: float, proximal_weight: float
) -> Fit:
    """Take proximal steps until the loss stops falling; see ``SolverOptions`` for the parameters."""
    counter = Counter(problem, max_passes)
    if not start.size:
        return Fit(start, problem.floor, counter.passes, converged=True)
    begun = counter.at(start) or counter.at(np.zeros_like(start))
    if begun is None:
        raise FloatingPointError("uniform potentials leave no representable probability")
    point, loss = _settled(counter, begun, problem.loss(begun.marginals))
    weight = proximal_weight / float(np.median(problem.sigma))
    converged = False
    while not (converged or counter.exhausted):
        reached, solved = minimise_dual(counter, point, weight, tolerance)
        found = problem.loss(reached.marginals)
        converged = solved and loss - found <= improvement * found
        if not solved and not found < loss:
            reached = descend_mirror(counter, point, max_passes)
            found = problem.loss(reached.marginals)
        if found < loss:
            point, loss = _settled(counter, reached, found)
        elif not converged:
            break
    return Fit(point.theta, loss, counter.passes, converged)
