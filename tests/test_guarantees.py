"""docs/guarantees.md names tests, code and its own sections; all of them exist."""

import ast
import re
from pathlib import Path

import pytest

from accounting.events import MU_SQUARED_PER_EPSILON_SQUARED
from accounting.filters import THEOREMS
from accounting.queries import QUERY_TYPES

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py::[\w:]+)`", TEXT)))
NAMED_CODE = sorted(set(re.findall(r"`((?:accounting|release|mechanisms)/[\w/]+\.py(?:::\w+)?)`", TEXT)))
HEADINGS = re.findall(r"^## \d+\. (.+)$", TEXT, flags=re.MULTILINE)


def _defined(path, parts):
    nodes = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in parts:
        found = [node for node in nodes if getattr(node, "name", None) == part]
        if not found:
            return False
        nodes = getattr(found[0], "body", [])
    return True


def test_the_document_names_tests_and_code():
    assert len(NAMED_TESTS) > 40
    assert len(NAMED_CODE) > 4


@pytest.mark.parametrize("name", NAMED_TESTS + NAMED_CODE)
def test_what_the_document_names_exists(name):
    path, *parts = name.split("::")
    assert (ROOT / path).is_file()
    assert _defined(path, parts)


def test_a_name_that_does_not_exist_would_be_found():
    assert _defined("tests/test_guarantees.py", ["test_a_name_that_does_not_exist_would_be_found"])
    assert not _defined("tests/test_guarantees.py", ["test_of_nothing"])


def test_every_section_that_the_code_cites_exists():
    cited = set()
    for package in ("accounting", "mechanisms", "audits", "release"):
        for file in (ROOT / package).rglob("*.py"):
            cited |= set(
                re.findall(r"docs/guarantees\.md,\s+(?:#\s*)?([A-Z][a-z ]+?)[).]", file.read_text(encoding="utf-8"))
            )
    assert {"Selection", "Isolation"} <= cited
    assert cited <= set(HEADINGS)


def test_the_table_of_contents_is_complete():
    assert re.findall(r"^\d+\. \[(.+?)\]", TEXT, flags=re.MULTILINE) == HEADINGS


def test_every_question_has_its_proof_and_its_row():
    for kind in QUERY_TYPES:
        assert f"\n**{kind.__name__}.** " in TEXT
        assert len(re.findall(rf"^\| {kind.__name__}\b", TEXT, flags=re.MULTILINE)) == 2


def test_theorems_and_prices_are_those_of_the_code():
    for theorem in THEOREMS.values():
        assert re.search(r"arXiv:\d+\.\d+", theorem).group() in TEXT
    assert f"{MU_SQUARED_PER_EPSILON_SQUARED.numerator}ε²/{MU_SQUARED_PER_EPSILON_SQUARED.denominator}" in TEXT


def test_all_nine_rules_and_the_limits_are_there():
    rules = TEXT.split("## 13. What must never be")[1].split("\n## ")[0]
    assert re.findall(r"^(\d)\. ", rules, flags=re.MULTILINE) == list("123456789")
