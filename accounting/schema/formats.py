"""Date and time formats: a closed subset of strptime's directives, read strictly and written in one way."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SHORT = tuple(name[:3] for name in _MONTHS)
_HALVES = ("AM", "PM")

_PART = {
    "Y": "year", "m": "month", "b": "month", "B": "month", "d": "day",
    "H": "hour", "I": "hour", "p": "half", "M": "minute", "S": "second", "f": "fraction", "z": "offset",
}  # fmt: skip
_NAMED = {"b": "|".join(_SHORT), "B": "|".join(_MONTHS), "p": "|".join(_HALVES), "z": "Z|[+-][0-9]{2}:?[0-9]{2}"}
_LONGEST_OFFSET = 24 * 3600


class Moment(NamedTuple):
    """A moment of the proleptic Gregorian calendar, to the second.

    Args:
        day: the ordinal of the day, 1 for the first day of year 1.
        second: the second of the day.
        offset: seconds ahead of UTC, or None where the text names no offset.
    """

    day: int
    second: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A format such as ``%Y-%m-%d``.

    Directives: %Y (four digits), %m, %b and %B (English month names), %d, %H, %I with %p, %M, %S, %f (cut off),
    %z (``+01:00``, ``+0100`` or ``Z``; written ``+01:00``), %%. One digit is read for two-digit numbers except where
    digits adjoin.

    Args:
        text: the format.

    Raises:
        ValueError: an unknown or doubled directive, or hours without their half of the day.
    """

    text: str
    parts: frozenset[str] = field(init=False)
    _tokens: tuple[str, ...] = field(init=False, repr=False)
    _pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tokens = tuple(re.findall(r"%.|.", self.text, re.DOTALL))
        letters = [token[1:] for token in tokens if _is_directive(token)]
        for letter in letters:
            if letter == "y":
                raise ValueError("%y leaves the century open; the file must write years with four digits, %Y")
            if letter not in _PART:
                raise ValueError(
                    f"the directive %{letter} is not read here; known: {' '.join('%' + k for k in _PART)} %%"
                )
        parts = [_PART[letter] for letter in letters]
        for part in parts:
            if parts.count(part) > 1:
                raise ValueError(f"the format names the {part} twice")
        if ("I" in letters) != ("p" in letters):
            raise ValueError("%I and %p belong together")
        if any(token == "%" for token in tokens):
            raise ValueError("the format ends in a lone %; write %% for a percent sign")
        object.__setattr__(self, "parts", frozenset(parts))
        object.__setattr__(self, "_tokens", tokens)
        object.__setattr__(self, "_pattern", re.compile(_pattern(tokens)))

    def read(self, text: str) -> Moment | None:
        """Read a text; None where it does not follow the format or names no day of the calendar."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        found = match.groupdict()
        month = found.get("m") or "1"
        for letter, names in (("b", _SHORT), ("B", _MONTHS)):
            if letter in found:
                month = str(names.index(found[letter].capitalize()) + 1)
        try:
            day = date(int(found.get("Y") or 1), int(month), int(found.get("d") or 1)).toordinal()
        except ValueError:
            return None
        hour = int(found.get("H") or 0)
        if "I" in found:
            if not 1 <= int(found["I"]) <= 12:
                return None
            hour = int(found["I"]) % 12 + 12 * (found["p"].upper() == "PM")
        minute, second = int(found.get("M") or 0), int(found.get("S") or 0)
        offset = _offset(found["z"]) if "z" in found else None
        if hour > 23 or minute > 59 or second > 59 or abs(offset or 0) >= _LONGEST_OFFSET:
            return None
        return Moment(day, 3600 * hour + 60 * minute + second, offset)

    def write(self, moment: Moment) -> str:
        """Write a moment."""
        day = date.fromordinal(moment.day)
        hour, rest = divmod(moment.second, 3600)
        texts = {
            "%Y": f"{day.year:04d}",
            "%m": f"{day.month:02d}",
            "%b": _SHORT[day.month - 1],
            "%B": _MONTHS[day.month - 1],
            "%d": f"{day.day:02d}",
            "%H": f"{hour:02d}",
            "%I": f"{(hour - 1) % 12 + 1:02d}",
            "%p": _HALVES[hour // 12],
            "%M": f"{rest // 60:02d}",
            "%S": f"{rest % 60:02d}",
            "%f": "000000",
            "%z": write_offset(moment.offset or 0),
            "%%": "%",
        }
        return "".join(texts.get(token, token) for token in self._tokens)


def write_offset(seconds: int) -> str:
    """Write an offset from UTC in whole minutes as ``+HH:MM``."""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}:{rest // 60:02d}"


def _offset(text: str) -> int:
    if text in "zZ":
        return 0
    digits = text[1:].replace(":", "")
    seconds = 3600 * int(digits[:2]) + 60 * int(digits[2:])
    return -seconds if text[0] == "-" else seconds


def _is_directive(token: str) -> bool:
    return len(token) == 2 and token != "%%"


def _is_digits(token: str) -> bool:
    return token.isdigit() or (_is_directive(token) and token[1] not in _NAMED)


def _pattern(tokens: Sequence[str]) -> str:
    pattern = ""
    for index, token in enumerate(tokens):
        if not _is_directive(token):
            pattern += re.escape("%" if token == "%%" else token)
            continue
        letter = token[1]
        before = index > 0 and _is_digits(tokens[index - 1])
        after = index + 1 < len(tokens) and _is_digits(tokens[index + 1])
        if letter in _NAMED:
            body = f"(?i:{_NAMED[letter]})"
        elif letter == "Y":
            body = "[0-9]{4}"
        elif letter == "f":
            body = "[0-9]{6}" if after else "[0-9]{1,9}"
        else:
            body = "[0-9]{2}" if before or after else "[0-9]{1,2}"
        pattern += f"(?P<{letter}>{body})"
    return pattern
