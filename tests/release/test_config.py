"""release.toml: what is taken, what is refused, and what of it is public."""

from fractions import Fraction
from pathlib import Path

import pytest

from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho
from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError
from accounting.unit import PersonUnit, RowUnit
from release.budgets import BudgetChoice, convert
from release.config import ReleaseConfig, read_config

VALID = """\
version = 1
dataset = "people"
schema = "schema.toml"
data = "secret-folder/people.csv"
[unit]
kind = "person"
id_column = "id"
max_rows = 5
[budget]
epsilon = 3
delta = 1e-6
[mechanism]
kind = "independent"
"""


def read(tmp_path: Path, text: str) -> ReleaseConfig:
    path = tmp_path / "release.toml"
    path.write_text(text, encoding="utf-8")
    return read_config(path)


def test_a_release_is_read(tmp_path):
    config = read(tmp_path, VALID)
    assert config.unit.unit == PersonUnit("id", 5)
    assert config.budget.choice.statement == EpsilonDelta(Fraction(3), Fraction(1, 10**6))
    assert config.output.rows == "noisy"
    assert config.output.formats == ("csv",)
    assert config.mechanism_options == {}


def test_row_unit(tmp_path):
    config = read(tmp_path, VALID.replace('kind = "person"\nid_column = "id"\nmax_rows = 5', 'kind = "row"'))
    assert config.unit.unit == RowUnit()


def test_the_public_form_never_names_the_private_file(tmp_path):
    assert b"secret-folder" not in canonical_bytes(read(tmp_path, VALID).to_json())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", "version"),
        ("[unit]", "[units]", "did you mean 'unit'"),
        ("epsilon = 3", "epsilom = 3", "did you mean 'epsilon'"),
        ("epsilon = 3", "epsilon = 0", "greater than 0"),
        ("epsilon = 3", "epsilon = -1", "negative|like 1"),
        ("epsilon = 3", "epsilon = nan", "number"),
        ("epsilon = 3", "epsilon = inf", "number"),
        ("epsilon = 3", "epsilon = true", "number"),
        ("epsilon = 3\n", "", "exactly one budget"),
        ("delta = 1e-6\n", "", "delta"),
        ("delta = 1e-6", "delta = 1", "between 0 and 1"),
        ("delta = 1e-6", "delta = 0", "between 0 and 1"),
        ("epsilon = 3", "epsilon = 3\nrho = 1", "exactly one budget"),
        ("max_rows = 5", "max_rows = 0", "max_rows"),
        ("max_rows = 5", "max_rows = true", "max_rows"),
        ("max_rows = 5\n", "", "max_rows"),
        ('kind = "person"', 'kind = "row"', "neither"),
        ('kind = "independent"', "rounds = 3", "needs kind"),
        ('dataset = "people"\n', "", "'dataset' is missing"),
    ],
)
def test_refused(tmp_path, old, new, message):
    assert old in VALID
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, VALID.replace(old, new))


@pytest.mark.parametrize(
    "output", ['rows = "exact"', "rows = -1", "rows = true", "formats = []", 'formats = ["csv", "csv"]']
)
def test_refused_output(tmp_path, output):
    with pytest.raises(ConfigError, match="output"):
        read(tmp_path, VALID + f"[output]\n{output}\n")


def test_caps_never_exceed_what_was_stated():
    from accounting.convert import epsilon

    choice = BudgetChoice(epsilon=Fraction(3), delta=Fraction(1, 10**6))
    for law in Law:
        assert epsilon(choice.cap(law).amount, Fraction(1, 10**6)) <= 3
    assert BudgetChoice(rho=Fraction(1, 8)).cap(Law.ZCDP) == Cap(Rho(Fraction(1, 8)))
    assert BudgetChoice(mu=Fraction(1, 2)).cap(Law.GDP) == Cap(Mu(Fraction(1, 4)))


def test_a_budget_in_the_other_laws_unit_is_refused():
    with pytest.raises(ConfigError, match="state mu"):
        BudgetChoice(rho=Fraction(1)).check_law(Law.GDP, "people")
    with pytest.raises(ConfigError, match="state rho"):
        BudgetChoice(mu=Fraction(1)).check_law(Law.ZCDP, "people")
    with pytest.raises(ConfigError):
        BudgetChoice(mu=Fraction(1)).cap(Law.ZCDP)


def test_delta_ceiling():
    choice = BudgetChoice(epsilon=Fraction(1), delta=Fraction(1, 10**5))
    choice.check_delta(Fraction(1, 10**5))
    with pytest.raises(ConfigError, match="max_delta"):
        choice.check_delta(Fraction(1, 10**6))


def test_conversions_need_a_delta_and_keep_to_their_law():
    with pytest.raises(ConfigError, match="delta"):
        convert(BudgetChoice(rho=Fraction(1)))
    both = convert(BudgetChoice(epsilon=Fraction(1), delta=Fraction(1, 10**6)))
    assert [row.law for row in both] == [Law.ZCDP, Law.GDP]
    assert all(row.epsilon <= 1 for row in both)
    only = convert(BudgetChoice(mu=Fraction(1), delta=Fraction(1, 10**6)))
    assert [(row.law, row.amount) for row in only] == [(Law.GDP, Fraction(1))]
