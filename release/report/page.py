"""Write a report as one self-contained page, in a language of the catalogue, and as one JSON document."""

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accounting.canonical import canonical_bytes
from release.manifest import RunPart
from release.report import pictures
from release.report.language import Language, Words
from release.report.model import Report, Sentence

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def report_json(report: Report) -> bytes:
    """Return ``report.json``: canonical JSON, in English and the same for every language of the page."""
    return canonical_bytes(report.model_dump(mode="json"))


def report_html(report: Report, language: Language = "en") -> bytes:
    """Return ``report.html``: one file that loads nothing and needs no script.

    Args:
        report: the content.
        language: of the page.
    """
    words = Words(language)
    rounds = report.budget.rounds
    page = (
        page_environment(words)
        .get_template("report.html.j2")
        .render(
            report=report,
            shown_columns=len(pictures.columns_drawn(report)),
            largest_round=max(rounds, key=lambda part: part.choosing + part.measuring, default=None),
            pictures={
                "epsilon": data_url(pictures.epsilon_picture(report, words)),
                "attack": data_url(pictures.attack_picture(report, words)),
                "budget": data_url(pictures.budget_picture(report, words)),
                "rounds": data_url(pictures.rounds_picture(report, words)) if rounds else "",
                "columns": data_url(pictures.columns_picture(report, words)),
            },
        )
    )
    return page.encode("utf-8")


def page_environment(words: Words) -> "Environment":
    """Return the environment that pages are rendered in: strict, escaping, and with one language's words."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def codes(texts: tuple[str, ...]) -> Markup:
        return Markup(words.listing([str(Markup("<code>{}</code>").format(text)) for text in texts]))  # noqa: S704

    def key(look: str, text: str) -> Markup:
        return Markup('<span class="key"><span class="swatch {}"></span>{}</span>').format(look, text)

    def say(sentence: Sentence) -> Any:  # noqa: ANN401 - Markup
        return words.html(sentence.key, **sentence.values)

    def state(run: RunPart) -> Any:  # noqa: ANN401 - Markup
        return words.html(_state(run), by=run.superseded_by)

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        name: getattr(words, name) for name in ("exact", "below", "decimal", "percent", "at_most", "count", "plain")
    }
    environment.globals |= {
        "words": words,
        "t": words.html,
        "say": say,
        "known": words.known,
        "word": words.word,
        "codes": codes,
        "key": key,
        "state": state,
    }
    return environment


def data_url(svg: str) -> str:
    """Return a picture as an address that a page can hold."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def _state(run: RunPart) -> str:
    """Name what became of a run, as a message."""
    if run.withdrawn:
        return "budget.withdrawn"
    if run.superseded_by is not None:
        return "budget.superseded"
    if run.replaced:
        return "budget.replaced"
    return "budget.closed" if run.closed else "budget.open"
