"""What a release is good for and what it is not, in sentences for catalogues."""

from release.exports.facts import Facts

NOT_FOR = (
    "Rare events and small groups: a group below the noise on a count may be missing, or be there with nobody in it.",
    "Linking rows to people or to other files: no synthetic row stands for anybody, and a match is a coincidence.",
    "Exact counts: every count carries noise and a model's error; give the bound beside it.",
    "Significance tests without correction: a usual test takes the rows for a sample and its p-values are too small.",
    "Relations that were not measured: they are modelled as if they were not there.",
)

_LEVELS = {
    "good": "Shares of single columns, off by at most 2 %",
    "moderate": "Shares of single columns, off by at most 10 %",
    "poor": "Not to be used alone, off by more than 10 %",
    "unknown": "Error unknown",
}
_SHOWN = 5


def columns_by_use(facts: Facts) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group the columns by what their error bound allows, best first; empty groups are left out."""
    groups = {
        text: tuple(column.name for column in facts.report.accuracy.columns if column.reliability == level)
        for level, text in _LEVELS.items()
    }
    return tuple((text, names) for text, names in groups.items() if names)


def best_marginals(facts: Facts) -> tuple[tuple[str, float], ...]:
    """Return the cross-tables with the smallest error bounds, with their bounds."""
    return tuple((marginal.columns, marginal.error) for marginal in facts.report.accuracy.best[:_SHOWN])


def use_sentences(facts: Facts) -> tuple[str, ...]:
    """Say in sentences what the release is good for."""
    confidence = f"{facts.report.accuracy.confidence:.0%} confidence"
    sentences = [f"{text} ({confidence}): {', '.join(names)}." for text, names in columns_by_use(facts)]
    return (*([facts.intended_use] if facts.intended_use else []), *sentences)
