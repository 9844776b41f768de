from fractions import Fraction

import pytest

from accounting import errors
from accounting.errors import (
    AnswerLost,
    BudgetRefused,
    Cancelled,
    ConfigError,
    DpReleaseError,
    InputFileError,
    LedgerError,
    QueryRefused,
    SchemaError,
    StoppedAfterSpending,
    VerificationFailed,
)

CODES = {
    DpReleaseError: 70,
    ConfigError: 2,
    SchemaError: 2,
    InputFileError: 2,
    QueryRefused: 2,
    BudgetRefused: 3,
    LedgerError: 4,
    AnswerLost: 5,
    StoppedAfterSpending: 5,
    VerificationFailed: 1,
    Cancelled: 130,
}


def test_every_error_is_of_the_family_and_has_its_exit_code():
    family = {item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, Exception)}
    assert family == set(CODES)
    for error, code in CODES.items():
        assert issubclass(error, DpReleaseError)
        assert error.exit_code == code


def test_a_schema_error_names_its_column():
    assert str(SchemaError("give bounds", column="age")) == "column 'age': give bounds"
    error = SchemaError("no columns")
    assert (str(error), error.rule, error.column) == ("no columns", "no columns", None)


def test_a_refusal_carries_public_amounts():
    error = BudgetRefused("no", asked=Fraction(1, 2), left=Fraction(1, 3), unit="rho")
    assert (error.asked, error.left, error.unit) == (Fraction(1, 2), Fraction(1, 3), "rho")


def test_a_failed_check_names_its_file():
    error = VerificationFailed("the digest differs", file="synthetic.csv")
    assert (str(error), error.file, error.reason) == (
        "synthetic.csv: the digest differs",
        "synthetic.csv",
        "the digest differs",
    )
    assert str(VerificationFailed("no signature")) == "no signature"


def test_a_refusal_is_not_a_damaged_ledger():
    with pytest.raises(LedgerError):
        raise AnswerLost
    assert not issubclass(BudgetRefused, LedgerError)
