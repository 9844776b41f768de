"""SUMMARY.md: one page that can be pasted into a data portal."""

import re
from fractions import Fraction
from pathlib import Path

from accounting.exact import decimal_above
from release.exports.facts import Facts
from release.exports.usage import NOT_FOR, best_marginals, columns_by_use

_TEMPLATES = Path(__file__).parent / "templates"
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def summary_page(facts: Facts) -> bytes:
    """Return the summary of a release in Markdown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=False,  # noqa: S701 - Markdown; every text from outside passes the filter "md"
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": _escaped, "percent": _percent}
    page = environment.get_template("summary.md.j2").render(
        facts=facts, uses=columns_by_use(facts), best=best_marginals(facts), not_for=NOT_FOR
    )
    return page.encode("utf-8")


def _percent(share: float) -> str:
    """Write a bound as a share of the rows, rounded up."""
    return f"{decimal_above(100 * Fraction(repr(share)), 3)} %"


def _escaped(text: object) -> str:
    """Keep a text from being read as Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
