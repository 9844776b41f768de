"""Which texts name the same person: by the declared canonical form, which depends on the text and the schema alone."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import SchemaError
from accounting.schema import IdentifierColumn
from tests.accounting.schema.building import column

STEPS = ("nfkc", "strip", "casefold", "digits", "drop-leading-zeros")


def ids(texts, *steps: str, **keys):
    return column("identifier", canonical=list(steps), **keys).ids_of_text(texts)


def test_texts_are_ids_but_for_nulls_and_declared_blanks():
    known = column("identifier", strip=True, null_strings=["", "NA"])
    assert known.ids_of_text(["7", " 7", "007", "", " NA "]) == ["7", "7", "007", None, None]
    assert known.ids_of_values([7, 7.0, "7 ", None, float("nan"), [7], True]) == [
        "7",
        "7",
        "7",
        None,
        None,
        None,
        "true",
    ]
    assert column("identifier").ids_of_text(["7", " 7", ""]) == ["7", " 7", None]


@pytest.mark.parametrize(
    ("steps", "variants"),
    [
        (["casefold"], ["AB-12", "ab-12", "Ab-12"]),
        (["casefold"], ["STRASSE", "stra\u00dfe", "Strasse"]),
        (["nfkc"], ["caf\u00e9", "cafe\u0301"]),
        (["nfkc"], ["AB12", "\uff21\uff22\uff11\uff12", "A\uff2212"]),
        (["strip"], ["7", " 7", "7\u00a0", "\u30007\r\n"]),
        (["nfkc", "strip"], ["7", "\u00a07"]),
        (["drop-leading-zeros"], ["7", "007", "0000007"]),
        (["drop-leading-zeros"], ["0", "000"]),
        (["digits"], ["123-45-6789", "123 45 6789", "123456789", "\uff11\uff12\uff1345\u0666789", "No. 123456789"]),
        (["digits", "drop-leading-zeros"], ["P-0042", "42", "p 042"]),
        (["strip", "casefold", "drop-leading-zeros"], [" 0x1F", "X1f ", "x1F"]),
    ],
)
def test_spelling_variants_are_one_person(steps, variants):
    assert len(set(ids(variants, *steps))) == 1
    assert len(set(ids(variants))) == len(variants)


@pytest.mark.parametrize(
    ("steps", "different"),
    [
        (["casefold"], ["ab", "ab "]),
        (["drop-leading-zeros"], ["7", "70", "0"]),
        (["digits"], ["1-23", "12-4"]),
        (STEPS, ["12", "21", "120"]),
    ],
)
def test_a_form_joins_no_more_than_it_says(steps, different):
    assert len(set(ids(different, *steps))) == len(different)


def test_steps_are_done_in_the_declared_order():
    assert ids(["x0012"], "digits", "drop-leading-zeros") == ["12"]
    assert ids(["x0012"], "drop-leading-zeros", "digits") == ["0012"]


def test_p46_null_is_decided_on_the_text_as_written_and_an_empty_form_names_nobody():
    assert ids(["-9", "9", "n/a", "", " "], "digits", null_strings=["-9"]) == [None, "9", None, None, None]
    assert ids(["NA", "na"], "casefold", null_strings=["NA"]) == [None, "na"]
    assert ids(["", "x"], null_strings=["-"]) == [None, "x"]
    assert ids([" NA\t"], "casefold", strip=True, null_strings=["NA"]) == [None]


def test_typed_ids_have_the_form_of_their_text():
    known = column("identifier", canonical=["drop-leading-zeros"])
    assert known.ids_of_values([7, 7.0, "007", b"07", None]) == ["7", "7", "7", "7", None]


@given(st.text(st.characters(codec=None)), st.lists(st.sampled_from(STEPS), unique=True))
def test_p28_every_text_has_an_id_or_none_and_the_same_every_time(text, steps):
    """Lone surrogates, unassigned letters and digits of any script included."""
    (found,) = ids([text], *steps)
    assert ids([text, text], *steps) == [found, found]
    assert found is None or found
    if steps and steps[-1] == "nfkc" and found is not None:
        assert unicodedata.is_normalized("NFKC", found)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"canonical": ["upper"]}, "canonical, item 1 must be 'nfkc', 'strip', 'casefold'"),
        ({"canonical": ["digits", "digits"]}, "the step 'digits' twice"),
        ({"canonical": "digits"}, "canonical must be a list"),
        ({"null_ids": "keep"}, "null_ids must be 'drop' or 'person'"),
    ],
)
def test_an_unknown_form_is_refused(keys, message):
    with pytest.raises(SchemaError, match=message):
        column("identifier", **keys)


def test_the_form_is_part_of_the_declaration():
    known = IdentifierColumn(name="x", canonical=["nfkc", "casefold"], null_ids="person")
    assert known.to_json()["canonical"] == ["nfkc", "casefold"]
    assert IdentifierColumn(**known.to_json()) == known
