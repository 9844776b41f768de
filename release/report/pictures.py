"""The pictures of a report as SVG, whose every byte follows from the report's content and the language.

Keys to the colours stand beside the pictures, in the page's own text. Margins are set here, not measured: matplotlib
knows the widths of its own font only, while names of columns may be in any script.
"""

import io
import math
import unicodedata
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from accounting.exact import float_above, from_text
from release.report.language import Words
from release.report.model import ColumnPart, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY, INK, UNUSED = "#1f5a96", "#b3500b", "#6b717b", "#1c1f24", "#d7dae0"
STAGES: Final = (BLUE, "#5d8fc4", ORANGE, "#4f7f52", "#7a5195", "#8a6d1f")
"""The colours of kinds of questions; style.css holds the same."""

EM = 9 / 72
"""The size of text, in inches."""

_MOST_COLUMNS = 40
_MOST_EMS = 22.0
_MOST_TICKS = 15
_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "text.parse_math": False,
}


def epsilon_picture(report: Report, words: Words) -> str:
    """Draw ε against δ for this release and for all releases of the dataset."""

    def draw(axes: "Axes") -> None:
        for curve, colour, style in (
            (report.guarantee.dataset_curve, ORANGE, "s--"),
            (report.guarantee.release_curve, BLUE, "o-"),
        ):
            deltas = [float_above(from_text(point.delta)) for point in curve]
            axes.plot(deltas, [float(point.epsilon) for point in curve], style, color=colour, ms=4.5)
        axes.set_xscale("log")
        axes.set_xticks(deltas, [f"{delta:.4g}" for delta in deltas])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(words.text("guarantee.delta"))
        axes.set_ylabel(words.text("guarantee.epsilon"))

    return picture("epsilon", (4.6, 3.0), draw, left=0.55, right=0.2)


def attack_picture(report: Report, words: Words) -> str:
    """Draw the largest true-positive rate against the false-positive rate."""

    def draw(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], ":", color=GREY)
        for gain, colour, style in (
            (report.guarantee.attacks[1], ORANGE, "--"),
            (report.guarantee.attacks[0], BLUE, "-"),
        ):
            axes.plot([x for x, _ in gain.curve], [y for _, y in gain.curve], style, color=colour)
        axes.axvline(0.01, color=GREY, linewidth=0.6)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.01)
        axes.set_xlabel(words.text("guarantee.false-alarms"))
        axes.set_ylabel(words.text("guarantee.hits"))

    return picture("attack", (4.6, 3.0), draw, left=0.55, right=0.2)


def budget_picture(report: Report, words: Words) -> str:
    """Draw where this release's cap went, as one bar."""
    parts = [(stage.share, STAGES[place % len(STAGES)]) for place, stage in enumerate(report.budget.stages)]
    unused = max(0.0, 1 - sum(share for share, _ in parts))

    def draw(axes: "Axes") -> None:
        left = 0.0
        for share, colour in (*parts, (unused, UNUSED)):
            axes.barh([0], [100 * share], left=[100 * left], color=colour)
            left += share
        axes.set_xlim(0, 100)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(words.text("budget.axis"))

    return picture("budget", (7.4, 0.9), draw, left=0.15, right=0.25)


def rounds_picture(report: Report, words: Words) -> str:
    """Draw what each round cost, the choice above the measurement."""
    rounds = report.budget.rounds

    def draw(axes: "Axes") -> None:
        places = [part.number for part in rounds]
        measured = [100 * part.measuring for part in rounds]
        axes.bar(places, measured, color=BLUE, width=0.7)
        axes.bar(places, [100 * part.choosing for part in rounds], bottom=measured, color=ORANGE, width=0.7)
        axes.set_xlim(0.4, len(rounds) + 0.6)
        axes.set_xticks(places[:: max(1, math.ceil(len(places) / _MOST_TICKS))])
        axes.set_ylim(bottom=0)
        axes.set_xlabel(words.text("budget.round"))
        axes.set_ylabel(words.text("budget.axis-short"))

    return picture("rounds", (7.4, 2.1), draw, left=0.6, right=0.15)


def columns_drawn(report: Report) -> tuple[ColumnPart, ...]:
    """Return the columns whose bounds are drawn: the largest known ones."""
    known = [column for column in report.accuracy.columns if column.error is not None]
    return tuple(sorted(known, key=lambda column: -(column.error or 0))[:_MOST_COLUMNS])


def columns_picture(report: Report, words: Words) -> str:
    """Draw the error bound of each column, largest first, with the bound that holds for all marginals together."""
    drawn = columns_drawn(report)
    names = [clipped(column.name) for column in drawn]

    def draw(axes: "Axes") -> None:
        places = range(len(drawn))
        axes.barh(places, [100 * (column.error or 0) for column in drawn], color=BLUE, height=0.62)
        together = [100 * (column.error_together or column.error or 0) for column in drawn]
        axes.plot(together, places, "|", color=ORANGE, ms=10, mew=2)
        axes.set_yticks(places, names)
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.set_xlabel(words.text("use.axis"))

    left = 0.25 + EM * max((ems(name) for name in names), default=0.0)
    return picture("columns", (7.4, 0.8 + 0.24 * max(1, len(drawn))), draw, left=left, right=0.2)


def ems(text: str) -> float:
    """Estimate the width of a text in any script, in multiples of its size."""
    return sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.62 for sign in text)


def clipped(name: str, most: float = _MOST_EMS) -> str:
    """Shorten a name that would leave no room for the picture; ``most`` is in multiples of the text's size."""
    if ems(name) <= most:
        return name
    while ems(name) > most - 1:
        name = name[:-1]
    return f"{name}…"


def picture(
    name: str,
    inches: tuple[float, float],
    draw: Callable[[Any], None],
    *,
    left: float,
    right: float,
    bottom: float = 0.5,
) -> str:
    """Draw one picture; no date, and identifiers that follow from its name.

    Args:
        name: a name of its own within the page.
        inches: its width and height.
        draw: draws into the axes.
        left: the margin on the left, in inches.
        right: the margin on the right.
        bottom: the margin below.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    width, height = inches
    style: Any = {**_STYLE, "svg.hashsalt": name}  # matplotlib's types list every key of its settings
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser has the fonts
        figure = Figure(figsize=(width, height))
        figure.subplots_adjust(left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - 0.1 / height)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
