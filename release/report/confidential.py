"""The confidential report: an output audit as one watermarked page, for the curator alone.

It shows exact figures of private rows that nobody paid for. The signer and ``verify`` refuse it inside a release.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from audits.results import Figure, NotComputable, Result
from release.report import confidential_pictures as pictures
from release.report.language import Words
from release.report.page import data_url, page_environment

if TYPE_CHECKING:
    from audits.output_document import OutputAudit
    from audits.utility.columns import ColumnFigures, PairFigures

MOST_PICTURES = 24
"""The most columns that are drawn; the table holds all of them."""

MOST_NAMES = 40
"""The most columns of a heat map: those of the worst pairs."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture with what it shows.

    Args:
        name: of what is drawn.
        url: the picture.
        alt: the picture in words.
    """

    name: str
    url: str
    alt: str


def confidential_html(audit: "OutputAudit") -> bytes:
    """Return an output audit as one page that loads nothing and needs no script."""
    columns = sorted(audit.columns, key=lambda column: _worst(column.variation))
    pairs = sorted(audit.pairs, key=lambda pair: _worst(pair.variation))
    groups = sorted(audit.subgroups, key=lambda group: _worst(group.variation))
    names = _names(audit)
    environment = page_environment(Words("en"))
    environment.globals |= {"figure": figure_text, "computable": lambda result: isinstance(result, Figure)}
    page = environment.get_template("confidential.html.j2").render(
        audit=audit,
        columns=columns,
        pairs=pairs[:_SHOWN],
        groups=groups,
        drawn=[_column(place, column) for place, column in enumerate(columns[:MOST_PICTURES]) if column.bars],
        variation=_map("variation", names, audit, pictures.variation_map),
        correlation=_map("correlation", _correlated(names, audit), audit, pictures.correlation_map),
        names=names,
    )
    return page.encode("utf-8")


def figure_text(result: Result) -> str:
    """Write a figure with its interval, or why there is none."""
    if isinstance(result, NotComputable):
        return str(result)
    interval = "" if result.low is None or result.high is None else f" ({result.low:.3g} to {result.high:.3g})"
    return f"{result.value:.3g}{interval}"


def _worst(result: Result) -> float:
    """Order figures from the largest down; what does not exist comes last."""
    return -result.value if isinstance(result, Figure) else 1.0


def _column(place: int, column: "ColumnFigures") -> Drawn:
    largest = max(column.bars, key=lambda bar: abs(bar.private - bar.synthetic))
    alt = (
        f"Bars of the shares of {column.name} in private and synthetic rows; they differ most at {largest.label}: "
        f"{largest.private:.1%} of the private rows, {largest.synthetic:.1%} of the synthetic ones."
    )
    return Drawn(column.name, data_url(pictures.bars_picture(f"bars-{place}", column.bars)), alt)


def _names(audit: "OutputAudit") -> tuple[str, ...]:
    """Return the columns of the heat maps: all of them, or those of the worst pairs."""
    everyone = tuple(column.name for column in audit.columns)
    if len(everyone) <= MOST_NAMES:
        return everyone
    chosen: dict[str, None] = {}
    for pair in sorted(audit.pairs, key=lambda pair: _worst(pair.variation)):
        chosen |= {pair.first: None, pair.second: None}
        if len(chosen) >= MOST_NAMES:
            break
    return tuple(name for name in everyone if name in chosen)[:MOST_NAMES]


def _correlated(names: tuple[str, ...], audit: "OutputAudit") -> tuple[str, ...]:
    known = {name for pair in audit.pairs if _has_difference(pair) for name in (pair.first, pair.second)}
    return tuple(name for name in names if name in known)


def _has_difference(pair: "PairFigures") -> bool:
    return isinstance(pair.correlation_difference, Figure)


def _map(name: str, names: tuple[str, ...], audit: "OutputAudit", draw: pictures.Map) -> Drawn | None:
    """Draw a heat map over the columns named, or nothing where no pair has a figure."""
    inside = [pair for pair in audit.pairs if pair.first in names and pair.second in names]
    results = [(pair, pair.variation if name == "variation" else pair.correlation_difference) for pair in inside]
    known = [(pair, result.value) for pair, result in results if isinstance(result, Figure)]
    if not known:
        return None
    pair, value = max(known, key=lambda item: abs(item[1]))
    alt = f"Heat map over pairs of columns; the largest value is {value:.3g}, at {pair.first} and {pair.second}."
    cells = {(pair.first, pair.second): value for pair, value in known}
    return Drawn(name, data_url(draw(names, cells)), alt)
