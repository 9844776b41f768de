"""A comparison as text."""

from release.cli.console import table
from release.comparison.model import Comparison
from release.comparison.page import spread_text
from release.report.language import short


def comparison_text(comparison: Comparison) -> str:
    """Lay out a comparison for a terminal: a line a setting, a column a figure."""
    header = ("mechanism", "epsilon", "runs", *(metric.key for metric in comparison.metrics))
    rows = [
        (
            setting.mechanism,
            f"{setting.epsilon:.4g}",
            str(setting.runs),
            *(spread_text(setting.metrics[metric.key]) for metric in comparison.metrics),
        )
        for setting in comparison.settings
    ]
    lines = [
        *(["CONFIDENTIAL: for the curator's eyes only."] if comparison.confidential else []),
        f"{len(comparison.releases)} releases; epsilon at delta {short(comparison.delta)}; mean ± sd over runs",
        "",
        table(header, rows),
        "",
        *(f"{metric.key}: {metric.label}; {metric.better} is better" for metric in comparison.metrics),
    ]
    return "\n".join(lines)
