"""Write a report as one self-contained page and as one JSON document."""

import base64
import json
from fractions import Fraction
from pathlib import Path

from accounting.canonical import canonical_bytes
from accounting.exact import decimal_above, decimal_below, from_text
from release.report import pictures
from release.report.build import short
from release.report.model import Report

_TEMPLATES = Path(__file__).parent / "templates"
_LONG = 200


def report_json(report: Report) -> bytes:
    """Return ``report.json``: canonical JSON."""
    return canonical_bytes(report.model_dump(mode="json"))


def report_html(report: Report) -> bytes:
    """Return ``report.html``: one file that loads nothing and needs no script."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "short": short,
        "below": _below,
        "decimal": _decimal,
        "percent": _percent,
        "count": _count,
        "plain": _plain,
    }
    page = environment.get_template("report.html.j2").render(
        report=report,
        pictures={
            "epsilon": _data(pictures.epsilon_picture(report)),
            "attack": _data(pictures.attack_picture(report)),
            "budget": _data(pictures.budget_picture(report)),
            "columns": _data(pictures.columns_picture(report)),
        },
    )
    return page.encode("utf-8")


def _data(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def _plain(value: object) -> str:
    """Write a JSON value for reading; a long one is left to ``report.json``."""
    if isinstance(value, str):
        return value
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else "see report.json"


def _below(text: str) -> str:
    """Write an exact text as a short decimal, rounded down: the safe side of a remainder."""
    return decimal_below(from_text(text), 4)


def _decimal(text: str) -> str:
    """Shorten a decimal, rounded up: the safe side of ε."""
    return decimal_above(Fraction(text), 4)


def _percent(share: float | None) -> str:
    if share is None:
        return "unknown"
    return f"{100 * share:.1f} %" if share >= 0.1 or share == 0 else f"{100 * share:.2g} %"


def _count(number: int) -> str:
    return f"{number:,}".replace(",", " ")
