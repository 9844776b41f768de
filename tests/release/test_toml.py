"""TOML files: exact numbers, unknown keys with a suggestion, sentences that name file and key."""

from fractions import Fraction
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from accounting.errors import ConfigError
from release.toml import Exact, exact_number, read_toml


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    epsilon: Exact


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    budget: Inner | None = None
    encoding: str = "utf-8"


def read(tmp_path: Path, text: str) -> Outer:
    path = tmp_path / "some.toml"
    path.write_text(text, encoding="utf-8")
    return read_toml(path, Outer)


def test_numbers_are_read_exactly_as_written(tmp_path):
    model = read(tmp_path, "[budget]\nepsilon = 0.1\n")
    assert model.budget is not None
    assert model.budget.epsilon == Fraction(1, 10)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("0.50", Fraction(1, 2)),
    ],
)
def test_exact_number_takes(value, expected):
    assert exact_number(value) == expected


@pytest.mark.parametrize(
    "value",
    [True, 0.1, None, "", "nan", "inf", "-1", "1e9999", "1e999999999", "1/0", "one", " 1", "1_0", [], "9" * 2000],
)
def test_exact_number_refuses(value):
    with pytest.raises(ConfigError):
        exact_number(value)


def test_nested_unknown_key_gets_a_suggestion(tmp_path):
    with pytest.raises(ConfigError, match=r"unknown key 'budget.epsilom'; did you mean 'epsilon'\?"):
        read(tmp_path, "[budget]\nepsilom = 1\n")


def test_unknown_key_without_a_near_one_lists_the_known(tmp_path):
    with pytest.raises(ConfigError, match="unknown key 'zzz'; known: budget, encoding"):
        read(tmp_path, "zzz = 1\n")


def test_missing_key_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"some.toml: 'budget.epsilon' is missing"):
        read(tmp_path, "[budget]\n")


def test_missing_file_broken_toml_and_other_encodings_are_sentences(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_toml(tmp_path / "none.toml", Outer)
    with pytest.raises(ConfigError, match="is not valid TOML"):
        read(tmp_path, "budget = ")
    (tmp_path / "latin.toml").write_bytes("encoding = 'é'".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_toml(tmp_path / "latin.toml", Outer)


def test_byte_order_mark_is_dropped(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text("encoding = 'latin-1'", encoding="utf-8-sig")
    assert read_toml(path, Outer).encoding == "latin-1"
