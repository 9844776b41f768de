"""A public sample as a drafted schema: every key is a guess, since the private table may hold what the sample lacks."""

import csv
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path

from accounting.errors import InputFileError
from accounting.schema.decimals import read_number
from accounting.schema.declared import BLANKS
from release.authoring.draft import BINS, MANY_CELLS, REAL_BINS, DraftColumn, Guess, Setting

MOST_ROWS = 1_000_000
_MANY_CATEGORIES = 1000
_FEW_ROWS = 50
_MOST_DECIMALS = 9
_NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", ".", "-")
_NUMERIC_NULLS = ("N", "n/a", "X")
_BOOLEANS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_CODE = re.compile(r"[+-]?0\d+")
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%Y%m%d")
_TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")


def draft_sample(path: Path, encoding: str = "utf-8") -> list[DraftColumn]:
    """Guess a schema from a public sample in CSV.

    Args:
        path: a public file with a header; its first million rows are read.
        encoding: its text encoding.

    Raises:
        InputFileError: missing, another encoding, no header, or rows of uneven length.
    """
    try:
        with path.open(encoding="utf-8-sig" if encoding.lower() in {"utf-8", "utf8"} else encoding, newline="") as file:
            rows = [row for row in islice(csv.reader(file), MOST_ROWS + 1) if row]
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, LookupError):
        raise InputFileError(f"{path} cannot be read as {encoding}; name its encoding with --encoding") from None
    except csv.Error:
        raise InputFileError(f"{path} is not a CSV file") from None
    if not rows:
        raise InputFileError(f"{path} is empty; a sample begins with a header")
    header, *body = rows
    if any(len(row) != len(header) for row in body):
        raise InputFileError(f"{path}: a row has not one cell for each name of the header")
    columns = list(zip(*body, strict=True)) or [()] * len(header)
    return [guess_column(name.strip(), texts) for name, texts in zip(header, columns, strict=True)]


def guess_column(name: str, texts: Sequence[str]) -> DraftColumn:
    """Guess a column's keys from its texts in a public sample."""
    strip = any(text != text.strip(BLANKS) for text in texts)
    distinct = dict.fromkeys(text.strip(BLANKS) if strip else text for text in texts)
    nulls = [text for text in _NULLS if text in distinct]
    values = [text for text in distinct if text not in nulls]
    extra = [text for text in values if text in _NUMERIC_NULLS]
    if (
        extra
        and len(values) > len(extra)
        and all(read_number(text) is not None for text in values if text not in extra)
    ):
        nulls, values = [*nulls, *extra], [text for text in values if text not in extra]
    guessed = _kind(values, len(texts))
    keys: dict[str, Setting | Guess] = {"kind": Guess(guessed.pop("kind").value, "by the sample's texts")}
    if strip:
        keys["strip"] = Guess(True, "the sample has blanks around texts")
    if keys["kind"] == Guess("identifier", "by the sample's texts"):
        return DraftColumn(name, keys)
    keys["nullable"] = Guess(True, "the sample has nulls" if nulls else "the sample has no nulls")
    if nulls and nulls != [""]:
        keys["null_strings"] = Guess(tuple(nulls), "nulls of the sample")
    return DraftColumn(name, {**keys, **guessed})


def _kind(values: list[str], rows: int) -> dict[str, Guess]:
    if not values:
        return {"kind": Guess("categorical", ""), "categories": Guess(("(unknown)",), "the sample has no value")}
    if all(_WHOLE.fullmatch(text) for text in values) and not any(_CODE.fullmatch(text) for text in values):
        return _dates(values, _DATES[-1:]) or _whole(values, rows)
    return _booleans(values) or _reals(values) or _dates(values, _DATES) or _times(values) or _categories(values, rows)


def _booleans(values: list[str]) -> dict[str, Guess] | None:
    for true, false in _BOOLEANS:
        if {text.lower() for text in values} == {true, false}:
            texts = {text: tuple(t for t in values if t.lower() == text) for text in (true, false)}
            return {
                "kind": Guess("boolean", ""),
                "true_values": Guess(texts[true], "the sample's texts"),
                "false_values": Guess(texts[false], "the sample's texts"),
            }
    return None


def _whole(values: list[str], rows: int) -> dict[str, Guess]:
    numbers = [int(text) for text in values]
    low, high = min(numbers), max(numbers)
    if len(values) == rows > _FEW_ROWS and high - low + 1 == rows:
        return {"kind": Guess("identifier", "")}
    found = {
        "kind": Guess("integer", ""),
        "min": Guess(low, "the sample's least"),
        "max": Guess(high, "the sample's greatest"),
    }
    if high - low >= MANY_CELLS:
        found["bins"] = Guess(BINS, f"{high - low + 1} values")
    return found


def _reals(values: list[str]) -> dict[str, Guess] | None:
    if any(_CODE.fullmatch(text) for text in values):
        return None
    numbers = []
    for text in values:
        number = read_number(text)
        if number is None or not number.is_finite():
            return None
        numbers.append(number)
    decimals = min(_MOST_DECIMALS, max(0, *(-int(number.as_tuple().exponent) for number in numbers)))
    step = Decimal(1).scaleb(-decimals)
    low, high = min(numbers).quantize(step), max(numbers).quantize(step)
    return {
        "kind": Guess("real", ""),
        "decimals": Guess(decimals, "the sample's most"),
        "min": Guess(low, "the sample's least"),
        "max": Guess(high, "the sample's greatest"),
        "bins": Guess(REAL_BINS if high > low else 1, "equal bins"),
    }


def _dates(values: list[str], formats: Sequence[str]) -> dict[str, Guess] | None:
    for form in formats:
        days = _parsed(values, form)
        if days is None or (form == "%Y%m%d" and not all(len(text) == len("20200131") for text in values)):
            continue
        low, high = min(days).year, max(days).year
        return {
            "kind": Guess("date", ""),
            "format": Guess(form, "it reads every text of the sample"),
            "resolution": Guess("day", "days"),
            "min": Guess(date(low, 1, 1), "the sample's first year"),
            "max": Guess(date(high, 12, 31), "the sample's last year"),
            "bins": Guess(BINS, "equal bins"),
        }
    return None


def _times(values: list[str]) -> dict[str, Guess] | None:
    for form in _TIMES:
        moments = _parsed(values, form)
        if moments is None:
            continue
        return {
            "kind": Guess("datetime", ""),
            "format": Guess(form, "it reads every text of the sample"),
            "resolution": Guess("second" if form.endswith("%S") else "minute", "the sample's step"),
            "min": Guess(datetime(min(moments).year, 1, 1), "the sample's first year"),  # noqa: DTZ001 - local times
            "max": Guess(datetime(max(moments).year, 12, 31, 23, 59, 59), "the sample's last year"),  # noqa: DTZ001
            "bins": Guess(BINS, "equal bins"),
        }
    return None


def _parsed(values: list[str], form: str) -> list[datetime] | None:
    try:
        return [datetime.strptime(text, form) for text in values]  # noqa: DTZ007 - local times
    except ValueError:
        return None


def _categories(values: list[str], rows: int) -> dict[str, Guess]:
    if len(values) == rows > _FEW_ROWS:
        return {"kind": Guess("identifier", "")}
    reason = "the sample's values" if len(values) <= _MANY_CATEGORIES else f"{len(values)} values; rather fewer"
    return {"kind": Guess("categorical", ""), "categories": Guess(tuple(sorted(values)), reason)}
