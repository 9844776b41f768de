"""SUMMARY.md: what a portal's reader has to know, on one page."""

import base64
import hashlib
import json
import re

import pytest

from release.exports import export_release
from release.exports.summary_page import _escaped, _percent
from release.exports.usage import NOT_FOR


@pytest.fixture
def page(released, tmp_path):
    export_release(released, None, kind="summary", out=tmp_path / "SUMMARY.md")
    return (tmp_path / "SUMMARY.md").read_text(encoding="utf-8")


def test_it_says_what_who_how_strongly_what_for_and_how_to_check(page, released):
    assert page.startswith("# stays \\| 2020 (synthetic)\n")
    assert "One row a stay." in page
    assert "Each row of the private table is protected" in page
    assert re.search(r"ρ at most 0\.25: epsilon 3\.\d+ at delta 0\.000001", page)
    assert re.search(r"All releases of the dataset together keep ρ at most 1: epsilon 7\.\d+", page)
    assert all(sentence in page for sentence in NOT_FOR)
    assert f"dprelease verify {released.name} --key PUBLIC-KEY.pem" in page
    payload = base64.b64decode(json.loads((released / "manifest.dsse.json").read_bytes())["payload"])
    assert hashlib.sha256(payload).hexdigest() in page
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        "# stays \\| 2020 (synthetic)",
        "## Who is protected, and how strongly",
        "## What it can be used for",
        "## What it must not be used for",
        "## Check it",
    ]


def test_it_names_every_column_once_by_what_it_can_be_used_for(page):
    use = page.split("## What it can be used for")[1].split("##")[0]
    for name in ("ward", "insured", "hours", "cost per day", "day", "seen", "born"):
        assert len(re.findall(rf"[:,] {name}(?=,|\n)", use)) == 1, name


def test_it_fits_one_page(page):
    assert len(page.splitlines()) < 70
    assert not re.search(r"\n\n\n", page)


def test_the_publisher_is_named_when_known(released, tmp_path, publication):
    export_release(released, None, kind="summary", out=tmp_path / "s.md", publication=publication)
    page = (tmp_path / "s.md").read_text(encoding="utf-8")
    assert page.startswith("# Stays, synthetic\n")
    assert "| Published by | Office of Examples |" in page
    assert "\nTeaching.\n" in page


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.02911, "2.92 %"), (0.029, "2.9 %"), (0.5, "50 %"), (0.0, "0 %"), (1.0, "100 %"), (0.5001, "50.1 %")],
)
def test_a_bound_is_rounded_up(share, text):
    assert _percent(share) == text


@pytest.mark.parametrize("text", ["a|b", "<script>", "[x](y)", "`c`", "line\nbreak", "*b*"])
def test_no_text_from_outside_is_markdown(text):
    escaped = _escaped(text)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)[|<>`*\[\]]", escaped)
