"""The allow-list: what an entry may say, in which one byte form, and nothing else."""

import json
import re

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import ConfigError, LedgerError, QueryRefused
from accounting.filters import THEOREMS as CITED
from accounting.ledger import Ledger
from accounting.ledger.content import (
    FIELDS,
    LONGEST_LIST,
    THEOREMS,
    check_body,
    check_context,
    check_digest,
    check_name,
    check_question,
    check_token,
    from_line,
    shorten_question,
    to_line,
)
from tests.accounting.ledger.story import every_kind


def lines():
    ledger = Ledger.in_memory()
    every_kind(ledger)
    return [entry.line for entry in ledger.entries()]


def test_every_kind_of_entry_is_written_and_read():
    bodies = [from_line(line) for line in lines()]
    assert {body["kind"] for body in bodies} == set(FIELDS)


def test_lines_are_rfc_8785():
    for line in lines():
        assert rfc8785.dumps(json.loads(line)) == line


@given(
    st.dictionaries(st.text("abcdez_", min_size=1), st.text() | st.integers(0, 2**53 - 1) | st.none() | st.booleans())
)
def test_plain_sorted_json_is_rfc_8785_for_ascii_keys(body):
    try:
        expected = rfc8785.dumps(body)
    except rfc8785.CanonicalizationError:
        with pytest.raises(LedgerError, match="not valid Unicode"):
            to_line(body)
    else:
        assert to_line(body) == expected


def test_each_theorem_names_the_paper_that_the_filter_cites():
    for law, name in THEOREMS.items():
        assert name.split()[-1] in CITED[law]
        assert name.startswith(law.value)


def test_every_field_of_every_entry_is_checked():
    wrong = [None, True, -1, 1.5, "\n", "", [], {}, {"x": 1}, "1/2/3", "2/4", 2**60, "Z" * 64, "2020-13-01", ["\n"]]
    for line in lines():
        body = from_line(line)
        for name in body:
            refused = 0
            for value in wrong:
                try:
                    check_body({**body, name: value})
                except LedgerError:
                    refused += 1
            assert refused >= len(wrong) - 4, name
        for changed in ({**body, "row_count": 5}, {name: body[name] for name in body if name != "date"}):
            with pytest.raises(LedgerError, match="does not have the fields"):
                check_body(changed)


@pytest.mark.parametrize(
    "name", ["seconds", "row_count", "rows", "count", "timestamp", "duration", "data_sha256", "memory"]
)
def test_p45_no_entry_has_a_place_for_what_depends_on_the_rows(name):
    assert all(name not in fields for fields in FIELDS.values())
    with pytest.raises(ConfigError):
        check_context({name: "1"})
    with pytest.raises(QueryRefused):
        check_question({"question": "total", "variance": "1/1", name: "1"})


def test_p45_entries_name_a_day_and_nothing_finer():
    for line in lines():
        body = from_line(line)
        assert len(str(body["date"])) == len("2020-01-01")
        assert re.search(rb"[0-9]:[0-9]", line) is None
        for date in ("2020-01-01T10:00", "2020-01-01 10", "1577836800"):
            with pytest.raises(LedgerError):
                check_body({**body, "date": date})


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"5",
        b"\xff",
        b'{"kind": "look"}',
        b'{"kind":"look","kind":"look"}',
        b'{"b":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":1e2}',
        b'{"a":' + b"1" * 5000 + b"}",
        b"[" * 100000,
    ],
)
def test_what_is_not_canonical_json_is_refused(line):
    with pytest.raises(LedgerError, match="canonical JSON"):
        from_line(line)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(LedgerError, match="not valid Unicode"):
        from_line(b'{"a":"\\ud800"}')


@pytest.mark.parametrize("line", [b"{}", b'{"kind":"unheard"}', b'{"kind":[]}'])
def test_unknown_kinds_are_refused(line):
    with pytest.raises(LedgerError, match="unknown kind"):
        from_line(line)


def test_long_lists_of_a_question_are_named_by_their_length():
    cliques = [[f"c{number}"] for number in range(LONGEST_LIST + 1)]
    short = shorten_question(
        {"question": "marginals", "cliques": cliques, "variance": "1/1", "coding": [["a", "1"], ["b", "2"]]}
    )
    assert short == {
        "question": "marginals",
        "cliques": {"items": LONGEST_LIST + 1},
        "variance": "1/1",
        "coding": [["a", "1"], ["b", "2"]],
    }
    assert shorten_question({"question": "marginals", "cliques": cliques[1:]})["cliques"] == cliques[1:]


def test_a_context_is_public_and_short():
    context = {"mechanism": "aim", "plan_digest": "0" * 64}
    assert check_context(context) == context
    for name, value in (("mechanism", 5), ("plan_digest", "x"), ("title", "x")):
        with pytest.raises(ConfigError):
            check_context({name: value})


@pytest.mark.parametrize(
    "unit", [{"kind": "row", "max_rows": True}, {"kind": [], "max_rows": 1}, {"kind": "row"}, "row"]
)
def test_a_unit_is_one_that_exists(unit):
    opened = next(body for body in map(from_line, lines()) if body["kind"] == "dataset-opened")
    with pytest.raises(LedgerError, match="invalid field 'privacy_unit'"):
        check_body({**opened, "privacy_unit": unit})


@pytest.mark.parametrize("question", [{}, {"question": []}, {"question": None}, {"question": "count"}])
def test_a_question_is_one_of_the_closed_set(question):
    with pytest.raises(QueryRefused, match="and no other"):
        check_question(question)


def test_only_names_counts_and_texts_are_items_of_a_question():
    reserved = next(body for body in map(from_line, lines()) if body["kind"] == "reserved")
    for value, allowed in (
        ({"items": 40}, True),
        ({"items": "40"}, False),
        ({"rows": 40}, False),
        ([["a", "b"], ["c"]], True),
        ([["a", 5]], False),
        ([1, 2], True),
        ([1.5], False),
        ([["a"]] * (LONGEST_LIST + 1), False),
        (5, True),
        (None, False),
    ):
        body = {**reserved, "question": {"question": "marginals", "variance": "1/1", "cliques": value}}
        if allowed:
            check_body(body)
        else:
            with pytest.raises(LedgerError, match="invalid field 'question'"):
                check_body(body)


@pytest.mark.parametrize("name", ["", "a b", "-a", ".a", "a" * 65, "ä", None, 5, True, "a\n"])
def test_names_are_short_and_plain(name):
    with pytest.raises(ConfigError, match="a label is 1 to 64"):
        check_name(name, "label")


def test_digests_and_tokens_are_plain():
    assert check_name("A.b_c-9", "label") == "A.b_c-9"
    assert check_digest("0" * 64, "digest") == "0" * 64
    assert check_token("dprelease 0.1 (x)".replace("(x)", "x"), "text") == "dprelease 0.1 x"
    for value in ("0" * 63, "A" * 64, None, 5):
        with pytest.raises(ConfigError, match="SHA-256"):
            check_digest(value, "digest")
    for value in ("", "a\n", " a", "a" * 129, None, "(", "ä"):
        with pytest.raises(ConfigError, match="short text"):
            check_token(value, "text")
