"""The rounds of AIM and AIM-GDP: choose a marginal, measure it, fit, and spend more where nothing was learnt."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Law
from accounting.canonical import Json
from accounting.events import gaussian_variance
from accounting.exact import short_below
from mechanisms.asking import Asker, spendable
from mechanisms.base import Progress, Watcher
from mechanisms.fitting import Fitting
from mechanisms.pgm import BYTES_PER_CELL, candidate_cells
from mechanisms.selection import EXPECTED_NOISE, Pool
from mechanisms.workload import Candidates

_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class RoundSettings:
    """What a round needs besides the model.

    Args:
        candidates: the marginals that may be chosen.
        rounds: the most rounds, at least 1.
        max_model_size_mb: the memory of the model's tables at the end, in 10^6 bytes.
        anneal_factor: how many times more a round may spend after one that taught nothing.
        select_fraction: the share of a round's budget that choosing takes.
        law: the law of the cap.
        max_rows: the unit's contribution bound.
    """

    candidates: Candidates
    rounds: int
    max_model_size_mb: Fraction
    anneal_factor: int
    select_fraction: Fraction
    law: Law
    max_rows: int


Choose = Callable[[Asker, Fitting, Pool, Fraction, float], int]
"""Choose a candidate of a pool for at most an amount (ρ or μ²), given the σ at which it will be measured."""


def run_rounds(
    asker: Asker, fitting: Fitting, settings: RoundSettings, choose: Choose, watch: Watcher
) -> list[dict[str, Json]]:
    """Spend all that the asker has left, by rounds.

    Each round takes an equal amount. A round that did not move the model beyond the noise expected shows that this
    noise hides what is left to learn, so the next rounds spend ``anneal_factor`` times more each. The last round spends
    the rest.

    Returns:
        The public facts of every round: what was measured, at which σ, and whether it taught something.
    """
    log: list[dict[str, Json]] = []
    amount = spendable(asker.left / settings.rounds)
    steps = settings.rounds + 2
    for_choosing = asker.left * settings.select_fraction  # what rounding leaves over in a round is not chosen by twice
    last = False
    while not last:
        last = asker.left < 2 * amount
        if last:
            amount = asker.left
        fitting.offers.begin(len(log) + 1, last=last)
        choosing = short_below(min(amount * settings.select_fraction, for_choosing))
        for_choosing -= choosing
        measuring = spendable(amount - choosing)
        variance = gaussian_variance(Fraction(settings.max_rows**2), measuring, settings.law)
        sigma = float(variance) ** 0.5
        pool, model_cells = affordable(fitting, settings, asker.share_after(amount))
        index = choose(asker, fitting, pool, choosing, sigma)
        clique, cells = pool.cliques[index], pool.cells[index]
        size = model_cells[index] * BYTES_PER_CELL / _MEGABYTE
        message = f"model of {size:.3g} MB with {' × '.join(clique)}"
        watch(Progress(len(log) + 2, steps, message, asker.share))
        moved = fitting.add(asker.marginals((clique,), measuring, fitting.hybrid.coding))
        learnt = moved > EXPECTED_NOISE * sigma * cells
        log.append({"measured": list(clique), "sigma": round(sigma, 6), "learnt": learnt})
        if not learnt:
            amount *= settings.anneal_factor
    return log


def affordable(fitting: Fitting, settings: RoundSettings, share: float) -> tuple[Pool, tuple[int, ...]]:
    """Return the candidates that keep the model within its memory times the share of the budget used.

    Returns:
        the candidates, and for each the cells of the model with it.
    """
    candidates = settings.candidates
    limit = float(settings.max_model_size_mb) * _MEGABYTE / BYTES_PER_CELL * share
    now, *with_each = candidate_cells(fitting.domain, fitting.structure, ((), *candidates.cliques))
    kept = [index for index, cells in enumerate(with_each) if cells <= max(limit, now)]
    cliques = tuple(candidates.cliques[index] for index in kept)
    weights = tuple(candidates.weights[index] for index in kept)
    pool = Pool(cliques, weights, tuple(fitting.domain.cells(clique) for clique in cliques))
    return pool, tuple(with_each[index] for index in kept)
