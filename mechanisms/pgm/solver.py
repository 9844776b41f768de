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
from mechanisms.pgm.inference import Engine

_MEMORY = 10
_SUFFICIENT = 1e-4
_SHORTEST = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be fitted, over the flat cells of all measured factors.

    Args:
        engine: the inference.
        values: the noisy counts, each factor centred so that its possible cells sum to the total; 0 at impossible ones.
        sigma: the noise's standard deviation, cell by cell.
        possible: how many cells are possible.
        total: N.
        floor: the part of the loss that no model can change.
    """

    engine: Engine
    values: Array
    sigma: Array
    cells: int
    total: float
    floor: float

    def loss(self, marginals: Array) -> float:
        """Return Σ (μ - y)²/(2σ²) over the possible cells, the constant part included."""
        return self.floor + 0.5 * float(np.square((marginals - self.values) / self.sigma).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Log-potentials with what inference says of them."""

    theta: Array
    log_z: float
    marginals: Array


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The solver's answer.

    Args:
        theta: log-potentials.
        marginals: the measured factors' expected counts.
        loss: the least-squares loss.
        passes: how many times inference ran.
        converged: whether the stopping rule was met.
    """

    theta: Array
    marginals: Array
    loss: float
    passes: int
    converged: bool


class _Counter:
    """Run inference, counting passes."""

    def __init__(self, problem: Problem, limit: int) -> None:
        self.problem = problem
        self.limit = limit
        self.passes = 0

    @property
    def exhausted(self) -> bool:
        return self.passes >= self.limit

    def at(self, theta: Array) -> Point | None:
        self.passes += 1
        answer = self.problem.engine.run(theta)
        if answer is None:
            return None
        log_z, probabilities = answer
        return Point(theta, log_z, probabilities * self.problem.total)


class _Dual:
    """The dual of one proximal problem."""

    def __init__(self, problem: Problem, reference: Array, weight: float) -> None:
        self.problem = problem
        self.reference = reference
        self.ridge = weight * np.square(problem.sigma)

    def value(self, point: Point) -> float:
        shift = point.theta - self.reference
        quadratic = 0.5 * float(np.dot(self.ridge, shift * shift))
        return self.problem.total * point.log_z - float(np.dot(point.theta, self.problem.values)) + quadratic

    def gradient(self, point: Point) -> Array:
        return point.marginals - self.problem.values + self.ridge * (point.theta - self.reference)

    def curvature(self, point: Point) -> Array:
        """Return the diagonal preconditioner: the logarithmic mean of μ and y, so that a lone cell is met in one step."""
        model = np.maximum(point.marginals, 1e-3)
        wanted = np.maximum(self.problem.values, 1e-3)
        ratio = wanted / model
        gap = np.abs(ratio - 1.0) > 1e-6
        mean = np.where(gap, (wanted - model) / np.log(np.where(gap, ratio, 2.0)), model)
        return mean + self.ridge


def _rms(problem: Problem, gradient: Array) -> float:
    return float(np.sqrt(np.square(gradient / problem.sigma).sum() / max(problem.cells, 1)))


def _direction(gradient: Array, diagonal: Array, history: "deque[tuple[Array, Array, float]]") -> Array:
    """Return the L-BFGS direction (two-loop recursion)."""
    q = -gradient
    weights = []
    for step, change, curvature in reversed(history):
        alpha = float(np.dot(step, q)) / curvature
        q = q - alpha * change
        weights.append(alpha)
    q = q / diagonal
    for (step, change, curvature), alpha in zip(history, reversed(weights), strict=True):
        q = q + (alpha - float(np.dot(change, q)) / curvature) * step
    return q


def _search(counter: _Counter, dual: _Dual, start: Point, value: float, direction: Array, slope: float) -> tuple[Point, float] | None:
    """Backtrack along a descent direction to a sufficient decrease of F."""
    length = 1.0
    noise = 1e-12 * abs(value)
    while length > _SHORTEST and not counter.exhausted:
        point = counter.at(start.theta + length * direction)
        if point is None:
            length *= 0.1
            continue
        reached = dual.value(point)
        if reached <= value + _SUFFICIENT * length * slope + noise:
            return point, reached
        curved = float(np.dot(dual.gradient(point), direction))
        secant = slope / (slope - curved) if curved > slope else 0.5
        length *= min(max(secant, 0.1), 0.5)
    return None


def minimise_dual(counter: _Counter, start: Point, weight: float, tolerance: float) -> tuple[Point, bool]:
    """Solve one proximal problem; return the last point and whether the gradient's RMS fell below the tolerance (σ)."""
    problem = counter.problem
    dual = _Dual(problem, start.theta, weight)
    point, value, gradient = start, dual.value(start), dual.gradient(start)
    history: deque[tuple[Array, Array, float]] = deque(maxlen=_MEMORY)
    while _rms(problem, gradient) > tolerance:
        if counter.exhausted:
            return point, False
        direction = _direction(gradient, dual.curvature(point), history)
        slope = float(np.dot(gradient, direction))
        found = _search(counter, dual, point, value, direction, slope) if slope < 0 else None
        if found is None:
            if not history:
                return point, False
            history.clear()
            continue
        step = found[0].theta - point.theta
        change = dual.gradient(found[0]) - gradient
        curvature = float(np.dot(step, change))
        if curvature > 0:
            history.append((step, change, curvature))
        point, value = found
        gradient = dual.gradient(point)
    return point, True


def minimise_by_mirror_descent(counter: _Counter, start: Point, passes: int) -> Point:
    """Descend the least-squares loss by entropic mirror steps with a halving search; the loss never rises."""
    problem = counter.problem
    point, loss = start, problem.loss(start.marginals)
    step = float(problem.sigma.min()) ** 2 / problem.total
    last = counter.passes + passes
    while counter.passes < last and step > 0 and not counter.exhausted:
        gradient = (point.marginals - problem.values) / np.square(problem.sigma)
        trial = counter.at(point.theta - step * gradient)
        reached = np.inf if trial is None else problem.loss(trial.marginals)
        if trial is None or not reached <= loss - 0.5 * float(np.dot(gradient, point.marginals - trial.marginals)):
            step *= 0.5
            if step < np.finfo(float).tiny:
                break
            continue
        point, loss = trial, reached
        step *= 1.5
    return point


def fit(
    problem: Problem, start: Array, *, max_passes: int, tolerance: float, improvement: float, proximal_weight: float
) -> Fit:
    """Take proximal steps until the loss stops falling; see ``SolverOptions`` for the parameters."""
    counter = _Counter(problem, max_passes)
    point = counter.at(start) or counter.at(np.zeros_like(start))
    if point is None:
        raise FloatingPointError("uniform potentials leave no representable probability")
    if not start.size:
        return Fit(start, point.marginals, problem.loss(point.marginals), counter.passes, converged=True)
    weight = proximal_weight / float(np.median(problem.sigma))
    loss = problem.loss(point.marginals)
    converged = False
    while not (converged or counter.exhausted):
        reached, solved = minimise_dual(counter, point, weight, tolerance)
        found = problem.loss(reached.marginals)
        if solved:
            converged = loss - found <= improvement * found
        elif not found < loss:
            reached = minimise_by_mirror_descent(counter, point, max_passes // 2)
            found = problem.loss(reached.marginals)
            if loss - found <= improvement * found:
                break
        if found < loss:
            point, loss = reached, found
    return Fit(point.theta, point.marginals, loss, counter.passes, converged)
