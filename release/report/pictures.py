"""The pictures of a report as SVG, whose every byte follows from the report's content."""

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from accounting.exact import float_above, from_text
from release.report.model import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY, INK = "#1f5a96", "#b3500b", "#8a8f98", "#1c1f24"
_STAGE_COLOURS = (BLUE, "#5d8fc4", ORANGE, "#4f7f52", "#7a5195")
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
    "legend.frameon": False,
}
_MOST_COLUMNS = 40


def epsilon_picture(report: Report) -> str:
    """Draw ε against δ for this release and for all releases of the dataset."""

    def draw(axes: "Axes") -> None:
        for curve, colour, style, label in (
            (report.guarantee.dataset_curve, ORANGE, "s--", "all releases of the dataset"),
            (report.guarantee.release_curve, BLUE, "o-", "this release"),
        ):
            deltas = [float_above(from_text(point.delta)) for point in curve]
            axes.plot(deltas, [float(point.epsilon) for point in curve], style, color=colour, label=label, ms=4.5)
        axes.set_xscale("log")
        axes.set_xticks(deltas, [f"{delta:.4g}" for delta in deltas])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("delta")
        axes.set_ylabel("epsilon")
        axes.legend(loc="lower left")

    return _picture("epsilon", (4.6, 3.0), draw)


def attack_picture(report: Report) -> str:
    """Draw the largest true-positive rate against the false-positive rate."""

    def draw(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], ":", color=GREY, label="guessing")
        for gain, colour, style, label in (
            (report.guarantee.attacks[1], ORANGE, "--", "all releases of the dataset"),
            (report.guarantee.attacks[0], BLUE, "-", "this release"),
        ):
            axes.plot([x for x, _ in gain.curve], [y for _, y in gain.curve], style, color=colour, label=label)
        axes.axvline(0.01, color=GREY, linewidth=0.6)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.01)
        axes.set_xlabel("false alarms (share of those not in the table)")
        axes.set_ylabel("hits at most")
        axes.legend(loc="lower right")

    return _picture("attack", (4.6, 3.0), draw)


def budget_picture(report: Report) -> str:
    """Draw where this release's cap went, as one bar."""
    stages = [(stage.name, stage.share) for stage in report.budget.stages]
    unused = max(0.0, 1 - sum(share for _, share in stages))

    def draw(axes: "Axes") -> None:
        left = 0.0
        parts = [*((name, share, _STAGE_COLOURS[i % 5]) for i, (name, share) in enumerate(stages))]
        for name, share, colour in (*parts, ("not used", unused, "#d7dae0")):
            if round(share, 4) > 0:
                axes.barh([0], [100 * share], left=[100 * left], color=colour, label=f"{name}: {100 * share:.3g} %")
            left += share
        axes.set_xlim(0, 100)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("per cent of this release's cap")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

    return _picture("budget", (7.4, 1.9), draw)


def columns_picture(report: Report) -> str:
    """Draw the error bound of each column, largest first, with the bound that holds for all marginals together."""
    known = [
        (column.name, column.error, column.error_together or column.error)
        for column in report.accuracy.columns
        if column.error is not None
    ]
    known = sorted(known, key=lambda item: (-item[1], item[0]))[:_MOST_COLUMNS]

    def draw(axes: "Axes") -> None:
        places = range(len(known))
        axes.barh(places, [100 * error for _, error, _ in known], color=BLUE, height=0.62, label="this column alone")
        axes.plot(
            [100 * together for _, _, together in known], places, "|", color=ORANGE, ms=10, mew=2, label="all together"
        )
        axes.set_yticks(places, [_clipped(name) for name, _, _ in known])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("bound on the total variation distance, per cent")
        axes.legend(loc="lower right")

    return _picture("columns", (7.4, 1.3 + 0.24 * max(1, len(known))), draw)


def _clipped(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _picture(name: str, inches: Sequence[float], draw: Callable[[Any], None]) -> str:
    """Draw one picture; no date, and identifiers that follow from its name."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "svg.hashsalt": name}  # matplotlib's types list every key of its settings
    with mpl.rc_context(style):
        figure = Figure(figsize=(inches[0], inches[1]), layout="constrained")
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
