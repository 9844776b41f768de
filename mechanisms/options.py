"""Check the options of a mechanism as written in release.toml: whole numbers, shares and exact texts, never a guess."""

from fractions import Fraction
from typing import cast

from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.exact import positive, to_text


def whole(value: object, name: str, low: int, high: int) -> int:
    """Take a whole number from ``low`` to ``high``; booleans, floats and texts are refused.

    Raises:
        ConfigError: with the option's name and its allowed range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(f"option {name!r} must be a whole number from {low} to {high}")
    return value


def exact_number(value: object, name: str) -> Fraction:
    """Take an exact number greater than 0, written as 80, 0.5 in TOML, or a text such as "1/3".

    Raises:
        ConfigError: for zero, negatives, floats, booleans, NaN and infinities.
    """
    return positive(value, f"option {name!r}")


def share(value: object, name: str) -> Fraction:
    """Take an exact share strictly between 0 and 1.

    Raises:
        ConfigError: with the option's name.
    """
    result = exact_number(value, name)
    if result >= 1:
        raise ConfigError(f"option {name!r} must lie strictly between 0 and 1")
    return result


def to_json(value: object) -> Json:
    """Write one option for the manifest: rationals as ``p/q``, tuples as lists, structures by their own ``to_json``."""
    if isinstance(value, Fraction):
        return to_text(value)
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return cast("Json", value.to_json())  # type: ignore[attr-defined]  # the only other options are workload marginals
