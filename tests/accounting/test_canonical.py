import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.canonical import canonical_bytes, digest, plain_bytes, sha256
from accounting.errors import ConfigError


def test_rfc_8785_example():
    # The example of RFC 8785, section 3.2.2, with its output of section 3.2.3 and 3.2.4.
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_bytes(value) == expected.encode()


def test_rfc_8785_sorts_by_utf16_code_units():
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert canonical_bytes(value).decode() == '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"😀":5,"\ufb33":3}'


def test_tuples_and_lists_are_one_form():
    assert canonical_bytes({"a": (1, ("x",))}) == canonical_bytes({"a": [1, ["x"]]}) == b'{"a":[1,["x"]]}'


def test_digest_is_the_sha_256_of_the_bytes():
    assert digest({"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest() == sha256(b'{"a":2,"b":1}')


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        b"bytes",
        bytearray(b"x"),
        {1: 2},
        {"a": {None: 1}},
        "\ud800",
        np.int64(1),
        object(),
        {"secret": object()},
    ],
)
def test_what_has_no_canonical_form_is_refused_without_showing_it(value):
    with pytest.raises(ConfigError) as caught:
        canonical_bytes(value)
    assert str(caught.value) == "a value to be hashed or signed has no canonical JSON form"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_the_largest_integers_pass():
    assert canonical_bytes([2**53 - 1, -(2**53) + 1]) == b"[9007199254740991,-9007199254740991]"


_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner),
)


@given(_PLAIN)
def test_plain_values_have_the_same_bytes_both_ways(value):
    assert plain_bytes(value) == canonical_bytes(value)


def test_plain_values_that_are_not_unicode_are_refused():
    with pytest.raises(UnicodeEncodeError):
        plain_bytes("\ud800")
