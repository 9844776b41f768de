"""The page as a browser draws it: nothing runs out of its margins, on a telephone, on a screen and on A4 paper."""

import re
from pathlib import Path

import pytest

from release.report import pictures
from release.report.build import build_report
from release.report.files import read_release
from release.report.language import LANGUAGES
from release.report.model import Report
from release.report.page import report_html
from tests.release.report.browser import measure, needs_chromium
from tests.release.small_release import make_release

STYLE = Path(pictures.__file__).parent / "templates" / "style.css"
A4_TEXT = 680
"""The width of A4 paper between the margins, in CSS pixels."""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Report:
    release = make_release(tmp_path_factory.mktemp("small") / "workspace", mechanism="aim", formats='["csv"]')
    return build_report(read_release(release))


def with_long_names(report: Report) -> Report:
    columns = tuple(c.model_copy(update={"name": f"{c.name}_" + "x" * 120}) for c in report.accuracy.columns)
    accuracy = report.accuracy.model_copy(update={"columns": columns})
    return report.model_copy(update={"accuracy": accuracy, "release_id": "long-" * 40})


def printed(page: bytes) -> bytes:
    """Turn the rules for print into rules for the screen."""
    text = page.decode("utf-8")
    assert "@media print" in text
    return text.replace("@media print", "@media all").encode("utf-8")


@needs_chromium
def test_nothing_runs_out_of_the_margins(tmp_path, report):
    pages = {"long": report_html(with_long_names(report))}
    pages |= {language: report_html(report, language) for language in LANGUAGES}
    found = measure(
        tmp_path,
        {
            **{f"{name}-{width}": (page, width) for name, page in pages.items() for width in (375, 1280)},
            **{f"{name}-paper": (printed(pages[name]), A4_TEXT) for name in LANGUAGES},
        },
    )
    assert len(found) == 8
    for name, layout in found.items():
        assert layout["beyond"] == [], name
        assert layout["width"] <= {"375": 375, "1280": 1280, "paper": A4_TEXT}[name.split("-")[1]], name
        assert layout["images"] == 5
        assert layout["broken"] == 0
        if name.endswith("paper"):
            assert layout["scrolling"] == [], name


@needs_chromium
def test_a_page_that_is_too_wide_is_found(tmp_path, report):
    wide = report_html(report).replace(b"<main>", b'<main><div style="width:1500px">x</div>')
    table = report_html(report).replace(b'<table class="small">', b'<table class="small" style="width:1500px">')
    found = measure(tmp_path, {"wide": (wide, 1280), "table": (printed(table), A4_TEXT)})
    assert found["wide"]["width"] > 1280
    assert len(found["wide"]["beyond"]) == 1
    assert found["table"]["scrolling"]


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb, as WCAG 2.2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_what_its_definition_gives():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)


def test_text_and_pictures_have_contrast():
    """WCAG 2.2 AA: 4.5 for text, 3 for what a picture says."""
    style = STYLE.read_text(encoding="utf-8")
    named = dict(re.findall(r"--(\w+): (#\w+);", style))
    grounds = ["#fff", named["wash"], *re.findall(r"background: (#fd\w+)", style)]
    assert len(grounds) == 3
    for ground in grounds:
        assert contrast(named["ink"], ground) >= 4.5
        assert contrast(named["soft"], ground) >= 4.5
    for colour in (pictures.BLUE, pictures.ORANGE, pictures.GREY, pictures.INK, *pictures.STAGES):
        assert contrast(colour, "#fff") >= 3, colour


def test_the_style_has_the_pictures_colours():
    style = STYLE.read_text(encoding="utf-8")
    assert tuple(re.findall(r"\.stage\d \{ background: (#\w+); \}", style)) == pictures.STAGES
    for colour in (pictures.BLUE, pictures.ORANGE, pictures.GREY, pictures.UNUSED):
        assert colour in style
