"""Typed values, as Parquet and Arrow files hold them, written as the texts that the declared kinds read."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # the calendar's own zero, not a moment
_FIRST = (datetime.min - _EPOCH) // timedelta(seconds=1)  # noqa: DTZ901  # the calendar's own bounds
_LAST = (datetime.max - _EPOCH) // timedelta(seconds=1)  # noqa: DTZ901
_DAY = 86400
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGE_BITS = 1000
_LARGE_EXPONENT = 40


class NoText(Enum):
    """The mark of a value that has no text form: a list, a duration, a time without a date."""

    NO_TEXT = "no text"


Spelled: TypeAlias = str | NoText | None
"""The text of a value; None for null."""


def text_of_value(value: object) -> Spelled:  # noqa: C901  # one case for each type
    """Write a typed value as the text that stands for it in a CSV file.

    Whole numbers, and whole floats below 2^53, have no decimal point; other floats have their shortest exact text; NaN
    is null; dates and times are as in ISO 8601; bytes are read as UTF-8, and what is not UTF-8 stays distinct.
    """
    match value:
        case None | str():
            return value
        case np.datetime64():
            return text_of_value(_numpy_values(np.array([value]))[0])
        case np.integer() | np.bool_():
            return text_of_value(value.item())
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if value.bit_length() < _LARGE_BITS else f"{'-' * (value < 0)}1e300"
        case float() | np.floating():
            return _text_of_float(value)
        case Decimal():
            return _text_of_decimal(value)
        case date():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case UUID():
            return str(value)
        case _:
            return NoText.NO_TEXT


def plain_values(values: Any) -> Sequence[object]:  # noqa: ANN401  # whatever a typed file holds
    """Return the Python values of a pyarrow array, a NumPy array or a sequence; no content ever raises.

    Moments beyond the years 1 to 9999 become the first or the last of those years; fractions of a second are cut off.
    """
    if isinstance(values, np.ndarray):
        return _numpy_values(values.ravel())
    return _arrow_values(values) if hasattr(values, "to_pylist") else list(values)


def _text_of_float(value: "float | np.floating[Any]") -> str | None:
    if math.isnan(value):
        return None
    number = float(value)
    whole = -(2**53) < number < 2**53 and number.is_integer()
    return str(int(number)) if whole else str(value)


def _text_of_decimal(value: Decimal) -> str | None:
    if value.is_nan():
        return None
    plain = value.is_finite() and abs(value.adjusted()) <= _LARGE_EXPONENT
    return format(value, "f") if plain else str(value)


def _numpy_values(values: "np.ndarray[Any, np.dtype[Any]]") -> Sequence[object]:
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]").astype(np.int64).tolist()
        return _moments(None if nat else second for second, nat in zip(seconds, np.isnat(values), strict=True))
    if values.dtype.kind == "m":
        return [None if nat else NoText.NO_TEXT for nat in np.isnat(values)]
    narrow = values.dtype.kind == "f" and values.dtype.itemsize < 8  # bytes of a float64
    return list(values) if narrow else values.tolist()


def _arrow_values(values: Any) -> Sequence[object]:  # noqa: ANN401  # pyarrow ships no types
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if kinds.is_date(kind):
        whole, per_day = (pa.int32(), 1) if kinds.is_date32(kind) else (pa.int64(), _DAY * _UNITS["ms"])
        days = (count and count // per_day for count in values.cast(whole).to_pylist())
        return [moment and moment.date() for moment in _moments(day and day * _DAY for day in days)]
    if kinds.is_timestamp(kind):
        counts = values.cast(pa.int64()).to_pylist()
        return _moments((count and count // _UNITS[kind.unit] for count in counts), zoned=kind.tz is not None)
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return values.cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]  # may hold what is not UTF-8
    if kinds.is_float32(kind):
        return [None if value is None else np.float32(value) for value in values.to_pylist()]
    if kind == pa.uuid() or any(is_kind(kind) for is_kind in _plain_kinds(kinds)):
        return values.to_pylist()  # type: ignore[no-any-return]
    return [None if null else NoText.NO_TEXT for null in values.is_null().to_pylist()]


def _plain_kinds(kinds: Any) -> Sequence[Callable[[Any], bool]]:  # noqa: ANN401  # the module pyarrow.types
    return (
        kinds.is_null,
        kinds.is_boolean,
        kinds.is_integer,
        kinds.is_floating,
        kinds.is_decimal,
        kinds.is_binary,
        kinds.is_large_binary,
        kinds.is_fixed_size_binary,
        kinds.is_binary_view,
    )


def _moments(seconds: Iterable[int | None], *, zoned: bool = False) -> list[datetime | None]:
    """Return the moments that many seconds after the start of 1970; in UTC where ``zoned``, else without a zone."""
    zone = UTC if zoned else None
    held = (None if second is None else min(max(second, _FIRST), _LAST) for second in seconds)
    return [None if second is None else (_EPOCH + timedelta(seconds=second)).replace(tzinfo=zone) for second in held]
