"""Predict what a run takes and gives, from public facts alone, for each mechanism side by side.

The noise part follows from the plan. What a model cannot hold depends on the table; its constants were fitted to
releases of public tables (Adult in 9 and 14 columns, the NIST excerpt of the American Community Survey, the RAND health
insurance experiment) at ε from 0.1 to 10. ``python -m benchmarks.predictions`` holds them against runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod, sqrt

from accounting.budget import Cap, Law
from accounting.errors import ConfigError
from accounting.events import gaussian_variance
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.adaptive import Adaptive
from mechanisms.aim_gdp import AIMGDP
from mechanisms.base import CalibratedMechanism
from mechanisms.coding import model_sizes
from mechanisms.mst import MST
from mechanisms.registry import config_from_table
from mechanisms.tab_pe.advice import aim_or_tab_pe
from mechanisms.tab_pe.evolution import TabPE
from mechanisms.tab_pe.opening import ByModel
from mechanisms.tab_pe.prediction import expected_effort, expected_errors
from mechanisms.workload import default_degree

COMPARED = ("aim", "aim-gdp", "mst", "independent", "tab-pe")
"""The mechanisms that ``side_by_side`` compares, the preferred ones first where errors are equal."""

_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run is expected to take and to give.

    Args:
        kind: the mechanism.
        seconds: time on one core, questions included, reading and writing files not.
        megabytes: peak memory of the process, in 10^6 bytes.
        one_way_error: the mean total variation distance of a column's one-way marginal, at the schema's cells.
        workload_error: the mean total variation distance of a workload marginal, at the model's bins.
        degree: the number of columns of a workload marginal.
    """

    kind: str
    seconds: float
    megabytes: float
    one_way_error: float
    workload_error: float
    degree: int


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Constants of one mechanism.

    Args:
        fine: the share of the one-way noise that the released fine marginals keep.
        binned: the same at the model's bins.
        sampling: the part of the one-way error that falls with the root of the rows.
        missing: for pairs and triples, the error of what the model does not hold: a constant, and a part that falls
            with the root of the rows.
    """

    fine: float
    binned: float
    sampling: float
    missing: dict[int, tuple[float, float]]


_OF_MARGINALS = {
    "aim": _Fitted(0.60, 0.42, 0.2, {1: (0.0, 0.0), 2: (0.005, 1.9), 3: (0.015, 5.5)}),
    "aim-gdp": _Fitted(0.62, 0.48, 0.2, {1: (0.0, 0.0), 2: (0.005, 1.9), 3: (0.015, 5.5)}),
    "mst": _Fitted(0.72, 0.62, 0.03, {1: (0.0, 0.0), 2: (0.04, 1.5), 3: (0.09, 3.0)}),
    "independent": _Fitted(0.75, 0.75, 0.0, {1: (0.0, 0.0), 2: (0.095, 1.5), 3: (0.19, 3.0)}),
}


def measures_one_ways(kind: str) -> bool:
    """Say whether a mechanism asks for every one-way marginal in its first question."""
    return kind in _OF_MARGINALS


def predict(kind: str, mechanism: CalibratedMechanism, schema: Schema, unit: PrivacyUnit, rows: int) -> Prediction:
    """Predict one mechanism's run.

    Args:
        kind: one of ``COMPARED``.
        mechanism: calibrated for the schema.
        schema: the public description of the table.
        unit: the privacy unit.
        rows: a public guess of the number of rows, at least 1.
    """
    degree = min(default_degree(len(schema.columns)), len(schema.columns))
    if isinstance(mechanism, TabPE):
        seconds, needed = expected_effort(mechanism, schema, rows)
        if isinstance(mechanism.start, ByModel):
            model = predict(mechanism.config.model, mechanism.start.mechanism, schema, unit, rows)
            seconds += model.seconds
            needed += _MEGABYTE * (model.megabytes - _MEGABYTES_START)
            if mechanism.config.output == "model":  # the votes move its rows by less than these errors
                return replace(model, kind=kind, seconds=seconds, megabytes=_MEGABYTES_START + needed / _MEGABYTE)
        one_way, workload = expected_errors(mechanism, schema, unit, rows, degree)
        return Prediction(kind, seconds, _MEGABYTES_START + needed / _MEGABYTE, one_way, workload, degree)
    fitted = _OF_MARGINALS[kind]
    sizes = {column.name: column.cells for column in schema.columns}
    if isinstance(mechanism, (Adaptive, MST)):
        sizes = model_sizes(schema, mechanism.config.bins)
    noise = _one_way_sigma(mechanism, len(sizes), unit) / rows
    if isinstance(mechanism, (Adaptive, MST)):  # rare categories are merged: no more stand out than rows and noise lift
        most = 2 * mechanism.config.bins + 1 + round(1 / noise)
        sizes = {name: min(size, most) for name, size in sizes.items()}
    floor = fitted.sampling / sqrt(rows)
    fine = floor + fitted.fine * _mean(_kept(column.cells * noise) for column in schema.columns)
    binned = floor + fitted.binned * _mean(
        _kept(sqrt(column.cells * sizes[column.name]) * noise) for column in schema.columns
    )
    constant, falling = fitted.missing[degree]
    held = (1 - min(1.0, constant + falling / sqrt(rows))) * max(0.0, 1 - binned) ** degree
    seconds, megabytes = _effort(mechanism, sizes, rows)
    return Prediction(kind, seconds, megabytes, min(1.0, fine), 1 - held, degree)


def predict_kind(kind: str, cap: Cap, unit: PrivacyUnit, schema: Schema, rows: int) -> Prediction:
    """Predict a mechanism with its default options; see :func:`predict`.

    Raises:
        ConfigError: the schema is too large for it, with the figure.
    """
    return predict(kind, config_from_table(kind, {}).calibrate(cap, unit, schema), schema, unit, rows)


def side_by_side(cap: Cap, unit: PrivacyUnit, schema: Schema, rows: int) -> tuple[Prediction, ...]:
    """Predict every mechanism with its default options; one that the schema is too large for is left out."""
    predictions = []
    for kind in COMPARED:
        try:
            predictions.append(predict_kind(kind, cap, unit, schema, rows))
        except ConfigError:
            continue
    return tuple(predictions)


def advise(schema: Schema, predictions: tuple[Prediction, ...]) -> tuple[str, str]:
    """Return the mechanism to take and one sentence why.

    It is tab-pe where the schema speaks for structure that marginals do not hold, which no error here shows; otherwise
    the one of the smallest workload error, the preferred one within 5 %. Without predictions, for lack of a guess of
    the number of rows, the schema decides alone.
    """
    spoken_for, order = aim_or_tab_pe(schema)
    if not predictions or spoken_for in {item.kind for item in predictions} - {"aim"}:
        return spoken_for, order
    best = min(prediction.workload_error for prediction in predictions)
    taken = next(item for item in predictions if item.workload_error <= best * 1.05)
    others = ", ".join(f"{item.workload_error:.3f} with {item.kind}" for item in predictions if item is not taken)
    return taken.kind, (
        f"its expected error on {taken.degree}-way marginals is {taken.workload_error:.3f}"
        + (f", against {others}" if others else "")
        + (f"; {order}" if spoken_for == "aim" and taken.kind != "tab-pe" else "")
    )


def _one_way_sigma(mechanism: CalibratedMechanism, columns: int, unit: PrivacyUnit) -> float:
    """Return σ of the one-way marginals, which every mechanism here measures in its first question."""
    amount = mechanism.plan.lines[0].ceiling
    return sqrt(gaussian_variance(Fraction(unit.max_rows**2 * columns), amount, mechanism.plan.law))


def _kept(noise: float) -> float:
    """Return the total variation of a projected noisy marginal: half the mean of |noise|, less for sparse cells."""
    return 0.4 * noise / (1 + 0.6 * noise)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)


_SECONDS_START = 1.2
_SECONDS_PER_SIZE = 1.5e-5
_SECONDS_PER_CANDIDATE = 9e-5
_SECONDS_PER_CANDIDATE_AND_ROW = 8e-9
_KNOWN_CELLS = 2**23  # of exact tables, which the curator counts once
_SECONDS_PER_ROUND = 5e-3
_SECONDS_PER_MODEL_CELL = 5.5e-8
_SECONDS_PER_VALUE = 1e-7
_MEGABYTES_START = 170.0
_MEGABYTES_MODEL = 110.0
_BYTES_PER_VALUE = 30
_BYTES_PER_CANDIDATE_CELL = 32
_BYTES_PER_MODEL_CELL = 60


def _effort(mechanism: CalibratedMechanism, sizes: dict[str, int], rows: int) -> tuple[float, float]:
    """Return seconds and megabytes: sizes of and questions about candidates, fits, and the rows drawn."""
    values = rows * len(sizes)
    model, candidates = float(sum(sizes.values())), float(sum(sizes.values()))
    rounds, sized, offers, different = 0.0, 0.0, 0.0, 0.0
    if isinstance(mechanism, Adaptive) and mechanism.draft.rounds:
        plan, cliques = mechanism.plan, mechanism.draft.candidates.cliques
        rho = float(plan.total if plan.law is Law.ZCDP else plan.total / 2)
        strength = rows * sqrt(rho) / mechanism.unit.max_rows
        expected = 0.275 * len(sizes) * (strength / sqrt(len(sizes))) ** 0.29
        rounds = min(float(mechanism.draft.rounds), max(1.0, expected))
        sized = offers = rounds * len(cliques)
        different = float(len(cliques))
        if isinstance(mechanism, AIMGDP):
            offers = len(cliques) + (rounds - 1) * min(mechanism.config.max_candidates, len(cliques))
        candidates = float(sum(prod(sizes[name] for name in clique) for clique in cliques))
        limit = float(mechanism.config.max_model_size_mb) * _MEGABYTE / 8
        model = min(limit, max(model, 1.0 * _MEGABYTE / 8 * (strength / 3500) ** 2.37))
    if isinstance(mechanism, MST):
        rounds = float(len(sizes) - 1)
        offers = rounds * len(mechanism.pairs) / 2
        different = float(len(mechanism.pairs))
        candidates = float(sum(sizes[a] * sizes[b] for a, b in mechanism.pairs))
    modelled = isinstance(mechanism, (Adaptive, MST))
    counted = different + max(0.0, offers - different) * max(0.0, 1 - _KNOWN_CELLS / max(candidates, 1.0))
    seconds = (
        _SECONDS_START * modelled
        + sized * _SECONDS_PER_SIZE
        + offers * _SECONDS_PER_CANDIDATE
        + counted * rows * _SECONDS_PER_CANDIDATE_AND_ROW
        + rounds * (_SECONDS_PER_ROUND + model * _SECONDS_PER_MODEL_CELL)
        + values * _SECONDS_PER_VALUE
    )
    bytes_needed = values * _BYTES_PER_VALUE + candidates * _BYTES_PER_CANDIDATE_CELL + model * _BYTES_PER_MODEL_CELL
    return seconds, _MEGABYTES_START + _MEGABYTES_MODEL * modelled + bytes_needed / _MEGABYTE
