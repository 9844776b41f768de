"""The pictures of a confidential report: paired bars of a column's shares, and heat maps over pairs of columns."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from release.report.pictures import BLUE, EM, ORANGE, clipped, ems, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from audits.utility.columns import Bar

Map: TypeAlias = Callable[[tuple[str, ...], Mapping[tuple[str, str], float]], str]

_MOST_EMS = 13.0
_CELL = 0.3


def bars_picture(name: str, bars: "tuple[Bar, ...]") -> str:
    """Draw the shares of a column's cells, private above synthetic."""
    labels = [clipped(bar.label, _MOST_EMS) for bar in bars]

    def draw(axes: "Axes") -> None:
        places = np.arange(len(bars))
        axes.barh(places - 0.2, [100 * bar.private for bar in bars], color=BLUE, height=0.36)
        axes.barh(places + 0.2, [100 * bar.synthetic for bar in bars], color=ORANGE, height=0.36)
        axes.set_yticks(places, labels)
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.set_xlabel("per cent of rows")

    left = 0.2 + EM * max(ems(label) for label in labels)
    return picture(name, (3.6, 0.7 + 0.2 * max(2, len(bars))), draw, left=left, right=0.15)


def variation_map(names: tuple[str, ...], cells: Mapping[tuple[str, str], float]) -> str:
    """Draw the total variation distance of each pair: light is near, dark is far."""
    return _heat_map("variation", names, cells, low=0.0, high=max(cells.values()), colours="Blues")


def correlation_map(names: tuple[str, ...], cells: Mapping[tuple[str, str], float]) -> str:
    """Draw how far each correlation moved: blue is lower in the synthetic rows, red is higher."""
    most = max(abs(value) for value in cells.values())
    return _heat_map("correlation", names, cells, low=-most, high=most, colours="RdBu_r")


def _heat_map(
    name: str, names: tuple[str, ...], cells: Mapping[tuple[str, str], float], *, low: float, high: float, colours: str
) -> str:
    """Draw a symmetric matrix with its scale; a pair without a figure stays white."""
    place = {column: number for number, column in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for (one, other), value in cells.items():
        matrix[place[one], place[other]] = matrix[place[other], place[one]] = value
    labels = [clipped(column, _MOST_EMS) for column in names]

    def draw(axes: "Axes") -> None:
        norm: dict[str, Any] = {"vmin": low, "vmax": high if high > low else low + 1e-9}
        shown = axes.pcolormesh(np.ma.masked_invalid(matrix), cmap=colours, edgecolors="white", linewidth=0.5, **norm)
        middles = np.arange(len(names)) + 0.5
        axes.set_xticks(middles, labels, rotation=90)
        axes.set_yticks(middles, labels)
        axes.set_ylim(len(names), 0)
        axes.tick_params(length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.figure.colorbar(shown, ax=axes, fraction=0.04, pad=0.02, aspect=30)

    margin = 0.2 + EM * max(ems(label) for label in labels)
    size = max(4, len(names)) * min(_CELL, 5.2 / max(4, len(names)))
    inches = (margin + size / 0.93 + 0.6, margin + size + 0.1)
    return picture(name, inches, draw, left=margin, right=0.5, bottom=margin)
