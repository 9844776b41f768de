"""The one table of sensitivities: what each question costs, as an event, for its exact type and the privacy unit."""

from fractions import Fraction

from accounting.errors import QueryRefused
from accounting.events import Event, GaussianEvent, SelectionEvent, ThresholdEvent
from accounting.queries.questions import Categories, Errors, Marginals, Quantiles, Query, Select, Total, Votes
from accounting.unit import PrivacyUnit


def question_event(query: Query, unit: PrivacyUnit) -> Event:
    """Return the event of a question for a privacy unit; the one table of sensitivities (docs/guarantees.md).

    Privacy:
        A unit brings at most k = ``unit.max_rows`` rows. Total: Δ = k. Marginals: Δ = k·√m, since all k rows may fall
        into one cell of each of the m tables. Errors: each L1 error moves by at most k·grid, so Δ = k·grid·√m.
        Select: each score moves by at most k·grid·max weight, which the sampler divides by. Votes: a row adds 1 to at
        most v counts and changes no other row's votes, so Δ = k·√v, as all k rows may vote alike. Quantiles: each row
        lies in at most one interval, so Δ = k. Categories: a unit counts once for each of at most k names, so Δ = √k,
        and it may be the only one that has them, which costs δ.
    """
    k_squared = Fraction(unit.max_rows**2)
    if type(query) is Total:
        return GaussianEvent(k_squared, query.variance)
    if type(query) is Marginals:
        return GaussianEvent(k_squared * len(query.cliques), query.variance)
    if type(query) is Errors:
        return GaussianEvent(k_squared * query.grid**2 * len(query.candidates), query.variance)
    if type(query) is Votes:
        return GaussianEvent(k_squared * query.votes, query.variance)
    if type(query) is Select:
        return SelectionEvent(query.epsilon)
    if type(query) is Quantiles:
        return GaussianEvent(k_squared, query.variance)
    if type(query) is Categories:
        return ThresholdEvent(Fraction(unit.max_rows), query.variance, query.threshold, unit.max_rows)
    raise QueryRefused("this question is not in the closed set")


def selection_scale(query: Select, unit: PrivacyUnit) -> Fraction:
    """Return ε/(2Δ), the factor before a selection's integer scores, with Δ = k·grid·max weight."""
    return query.epsilon / (2 * unit.max_rows * query.grid * max(query.weights))
