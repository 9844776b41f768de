"""One catalogue, two languages: no message lacks one, both name the same values, and none is dead."""

import re
import string
from pathlib import Path

import pytest

import release.report
from audits.document import NO_PROOF
from audits.planted_bugs import PLANTED_BUGS
from release.manifest import CONVERSION, NOT_PROTECTED
from release.report.attacks import SOURCE
from release.report.language import LANGUAGES, Words, catalogue
from release.report.others import OTHERS

PACKAGE = Path(release.report.__file__).parent
EN, JA = Words("en"), Words("ja")
PREFIXES = ("words.", "others.", "bugs.", "cover.not-", "guarantee.conversion-", "annex.undeclared-", "annex.outside-")
BUILT = {
    *(f"use.{use}" for use in ("rare", "linking", "exact", "tests", "relations")),
    *("guarantee.zcdp", "guarantee.gdp", "evidence.quick", "evidence.thorough", "evidence.no-proof"),
    f"guarantee.{SOURCE}",
}
"""Keys that code puts together or finds by their English text."""


def placeholders(text: str) -> set[tuple[str, str]]:
    return {(name, spec or "") for _, name, spec, _ in string.Formatter().parse(text) if name is not None}


def test_every_message_has_both_languages_with_the_same_values():
    for key, texts in catalogue().items():
        assert set(LANGUAGES) <= set(texts) <= {*LANGUAGES, *(f"{language}_one" for language in LANGUAGES)}, key
        assert all(text.strip() == text and text for text in texts.values()), key
        assert placeholders(texts["en"]) == placeholders(texts["ja"]), key
        for language in LANGUAGES:
            assert placeholders(texts.get(f"{language}_one", "")) <= placeholders(texts[language]) | {("n", "")}, key
            assert re.findall(r"</?\w+>", texts[language]) == re.findall(r"</?\w+>", texts["en"]), key


def test_japanese_is_written_with_its_own_punctuation():
    letter = "[ぁ-んァ-ヶ一-龠]"
    for key, texts in catalogue().items():
        text = re.sub(r"\{[^}]*\}|<[^>]*>", "", texts["ja"])
        assert not re.search(rf"{letter}[(:;,)!?]|[(]{letter}|{letter} *[.]$", text), key


def test_no_message_is_dead_and_none_is_missing():
    files = (path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".j2"})
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    stems = "|".join(path.stem for path in (PACKAGE / "messages").glob("*.toml"))
    used = set(re.findall(rf"\"((?:{stems})\.[a-z0-9-]*[a-z0-9])\"", sources)) - BUILT
    assert used <= set(catalogue())
    dead = [key for key in catalogue() if key not in used | BUILT and not key.startswith(PREFIXES)]
    assert dead == []


@pytest.mark.parametrize(
    ("prefix", "texts"),
    [
        ("cover.not-", NOT_PROTECTED),
        ("guarantee.conversion-", CONVERSION.values()),
        ("guarantee.", [SOURCE]),
        ("evidence.", [NO_PROOF]),
        ("bugs.", [bug.name for bug in PLANTED_BUGS]),
        ("others.", [text for other in OTHERS for text in (other.name, other.unit, other.epsilon)]),
    ],
)
def test_texts_of_a_release_are_translated(prefix, texts):
    for text in texts:
        assert JA.known(prefix, text) != text
        assert EN.known(prefix, text) == text


def test_numbers_and_days_are_written_as_each_language_writes_them():
    assert (EN.count(1234567), JA.count(1234567)) == ("1\u202f234\u202f567", "1,234,567")
    assert (EN.percent(0.0567), JA.percent(0.0567)) == ("5.7 %", "5.7%")
    assert (EN.percent(0.5), EN.percent(1.0), EN.percent(0.0), EN.percent(0.09)) == ("50.0 %", "100 %", "0 %", "9 %")
    assert [EN.at_most(share) for share in (0.0302, 0.03, 0.00701, 0.3161, 0.316, 0.0991, 0.09999, 0.0, 1.0)] == [
        "3.1 %", "3 %", "0.71 %", "31.7 %", "31.6 %", "10.0 %", "10.0 %", "0 %", "100 %",
    ]  # fmt: skip
    assert EN.at_most(None) == EN.percent(None)
    assert (EN.percent(None), JA.percent(None)) == ("unknown", "不明")
    assert (EN.day("2026-03-01"), JA.day("2026-03-01")) == ("1 March 2026", "2026年3月1日")
    exact = {
        "1/1000000": "1e-6",
        "1/2000000": "5e-7",
        "9/1000000000": "9e-9",
        "0/1": "0",
        "1/1000": "0.001",
        "3/1": "3",
    }
    assert {text: EN.exact(text) for text in exact} == exact
    assert EN.exact("43/625000000") == "6.88e-8"
    assert EN.exact("1/3000000") == "3.334e-7"
    assert EN.exact("999999/1000000000") == "10e-4"  # rounded up, never down
    assert EN.below("2/3") == "0.6666"


def test_values_are_escaped_and_marks_are_not():
    page = JA.html("cover.what", n=1, columns=1, table="<script>", dataset="a&b", day="2026-01-01")
    assert "&lt;script&gt;" in page
    assert "<code>a&amp;b</code>" in page


def test_one_is_said_as_one():
    assert EN.text("budget.looks", n=1).startswith("The curator looked at the private table once")
    assert "3 times" in EN.text("budget.looks", n=3)
    with pytest.raises(KeyError):
        EN.text("budget.looks-nowhere")


def test_a_value_is_written_alike_before_and_after_it_was_signed():
    assert EN.plain(2.0) == EN.plain(2) == "2"
    assert EN.plain({"b": [1.0, None], "a": "é"}) == '{"a": "é", "b": [1, null]}'
    assert (EN.plain(None), JA.plain(None)) == ("not set", "指定なし")
