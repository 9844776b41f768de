"""Links lead somewhere, pictures have words, and no page is left out of the index."""

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, links, missing_lines

PICTURE_BYTES = 200_000


def targets(page):
    return [
        (is_picture, text, *target.partition("#")[::2])
        for is_picture, text, target in links(page)
        if not target.startswith(("http://", "https://", "mailto:"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_a_file_and_a_heading(page):
    for _, text, name, anchor in targets(page):
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"[{text}]({name}) leads nowhere"
        assert file.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(file), f"[{text}]({name}#{anchor}): there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_say_in_words_what_they_show(page):
    for is_picture, text, name, _ in targets(page):
        if is_picture:
            assert len(text.split()) >= 5, f"{name} has no alternative text that says what it shows"
            assert (page.parent / name).stat().st_size < PICTURE_BYTES


def test_addresses_are_written_in_full():
    for page in PAGES:
        for _, _, target in links(page):
            assert not target.startswith(("www.", "//", "file:")), target


def test_the_index_leads_to_every_page():
    index = ROOT / "docs" / "README.md"
    led = {name for _, _, name, _ in targets(index)}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= led
    readme = {name for _, _, name, _ in targets(ROOT / "README.md")}
    assert "docs/README.md" in readme


def test_every_picture_is_shown():
    shown = {(page.parent / name).resolve() for page in PAGES for is_picture, _, name, _ in targets(page) if is_picture}
    assert set((ROOT / "docs" / "images").iterdir()) <= shown


def test_shown_lines_are_looked_for_in_order():
    assert missing_lines(("a … c", "d"), "x\na b c\nd") == []
    assert missing_lines(("d", "a … c"), "a b c\nd") == ["a … c"]
    assert missing_lines(("a",), "ab") == ["a"]
