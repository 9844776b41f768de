"""Show a comparison as one self-contained page."""

from pathlib import Path
from typing import TYPE_CHECKING

from accounting.errors import ConfigError
from release.comparison.model import Comparison, MetricPart, Setting, Spread
from release.report.language import Words
from release.report.page import data_url, page_environment
from release.report.pictures import GREY, STAGES, picture
from release.statement import MANIFEST_NAME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vP"
_WIDE = 10


def write_page(comparison: Comparison, out: Path, confidential: Path | None) -> Path:
    """Write the page to a new file.

    Args:
        comparison: its content.
        out: the file.
        confidential: the workspace's confidential folder, into which a confidential page goes and nowhere else.

    Raises:
        ConfigError: the file is there already, does not end in .html, lies in a release, or would carry confidential
            figures out of their folder.
    """
    place = out.absolute().resolve()
    if out.suffix != ".html":
        raise ConfigError(f"{out} must end in .html")
    if any((parent / MANIFEST_NAME).exists() for parent in place.parents):
        raise ConfigError(f"{out} lies in a signed release, which nothing may be added to; choose another place")
    if confidential is not None:
        if confidential.resolve() not in place.parents:
            raise ConfigError(f"a confidential comparison stays in {confidential}; choose a file in there")
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if out.exists():
        raise ConfigError(f"{out} is there already; nothing was overwritten")
    with out.open("xb") as file:
        if confidential is not None:
            out.chmod(0o600)
        file.write(comparison_html(comparison))
    return out


def comparison_html(comparison: Comparison) -> bytes:
    """Return the page: a picture and a table for each figure, the releases below."""
    environment = page_environment(Words("en"))
    environment.globals |= {"spread": spread_text, "looks": looks(comparison)}
    page = environment.get_template("comparison.html.j2").render(
        comparison=comparison,
        drawn=[
            (metric, data_url(metric_picture(comparison, metric)), _alt(comparison, metric))
            for metric in comparison.metrics
            if _known(comparison, metric)
        ],
    )
    return page.encode("utf-8")


def spread_text(spread: Spread | None) -> str:
    """Write a mean with its standard deviation over runs."""
    if spread is None:
        return "not computable"
    return f"{spread.mean:.4g}" if spread.sd is None else f"{spread.mean:.4g} ± {spread.sd:.2g}"


def looks(comparison: Comparison) -> dict[str, int]:
    """Give each mechanism a colour of its own, by number."""
    names = dict.fromkeys(setting.mechanism for setting in comparison.settings)
    return {name: place % len(STAGES) for place, name in enumerate(names)}


def metric_picture(comparison: Comparison, metric: MetricPart) -> str:
    """Draw a figure against ε: a line a mechanism, with the standard deviation over runs."""
    lines: dict[str, list[tuple[Setting, Spread]]] = {}
    for setting, spread in _known(comparison, metric):
        lines.setdefault(setting.mechanism, []).append((setting, spread))
    colours = looks(comparison)
    epsilons = [setting.epsilon for setting, _ in _known(comparison, metric)]

    def draw(axes: "Axes") -> None:
        for name, points in lines.items():
            number = colours[name]
            axes.errorbar(
                [setting.epsilon for setting, _ in points],
                [spread.mean for _, spread in points],
                yerr=[spread.sd or 0 for _, spread in points],
                color=STAGES[number],
                marker=_MARKERS[number],
                ms=5,
                capsize=3,
            )
        if min(epsilons) > 0 and max(epsilons) > _WIDE * min(epsilons):
            axes.set_xscale("log")
        if metric.better == "lower":
            axes.set_ylim(bottom=0)
        axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
        axes.set_xlabel("epsilon")

    return picture(metric.key, (4.6, 2.8), draw, left=0.65, right=0.2)


def _known(comparison: Comparison, metric: MetricPart) -> list[tuple[Setting, Spread]]:
    found = [(setting, setting.metrics[metric.key]) for setting in comparison.settings]
    return [(setting, spread) for setting, spread in found if spread is not None]


def _alt(comparison: Comparison, metric: MetricPart) -> str:
    choose = min if metric.better == "lower" else max
    setting, spread = choose(_known(comparison, metric), key=lambda item: item[1].mean)
    return (
        f"{metric.label} against epsilon; the best is {spread_text(spread)}, by {setting.mechanism} at epsilon "
        f"{setting.epsilon:.4g}. All values are in the table below."
    )
