"""Date and time formats: a closed subset of strptime's directives, read strictly and written in one way."""

import re
from collections.abc import Callable, Sequence
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
_NAMED = {"b": "|".join(_SHORT), "B": "|".join(_MONTHS), "p": "|".join(_HALVES), "z": "Z|[+-][0-9]{2}:?[0-5][0-9]"}
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
    _pieces: tuple[str, ...] = field(init=False, repr=False)
    _pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pieces = tuple(re.findall(r"%.|.", self.text, re.DOTALL))
        letters = [piece[1:] for piece in pieces if _is_directive(piece)]
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
        if "%" in pieces:
            raise ValueError("the format ends in a lone %; write %% for a percent sign")
        object.__setattr__(self, "parts", frozenset(parts))
        object.__setattr__(self, "_pieces", pieces)
        object.__setattr__(self, "_pattern", re.compile(_pattern(pieces), re.ASCII))

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
        return "".join(_WRITERS[piece[1]](day, moment) if _is_directive(piece) else piece[-1] for piece in self._pieces)


def write_offset(seconds: int) -> str:
    """Write an offset from UTC in whole minutes as ``+HH:MM``."""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}:{rest // 60:02d}"


_WRITERS: dict[str, Callable[[date, Moment], str]] = {
    "Y": lambda day, _: f"{day.year:04d}",
    "m": lambda day, _: f"{day.month:02d}",
    "b": lambda day, _: _SHORT[day.month - 1],
    "B": lambda day, _: _MONTHS[day.month - 1],
    "d": lambda day, _: f"{day.day:02d}",
    "H": lambda _, moment: f"{moment.second // 3600:02d}",
    "I": lambda _, moment: f"{(moment.second // 3600 - 1) % 12 + 1:02d}",
    "p": lambda _, moment: _HALVES[moment.second // 43200],
    "M": lambda _, moment: f"{moment.second // 60 % 60:02d}",
    "S": lambda _, moment: f"{moment.second % 60:02d}",
    "f": lambda _day, _moment: "000000",
    "z": lambda _, moment: write_offset(moment.offset or 0),
}


def _offset(text: str) -> int:
    if text in "zZ":
        return 0
    digits = text[1:].replace(":", "")
    seconds = 3600 * int(digits[:2]) + 60 * int(digits[2:])
    return -seconds if text[0] == "-" else seconds


def _is_directive(piece: str) -> bool:
    return len(piece) == 2 and piece != "%%"


def _is_digits(piece: str) -> bool:
    return piece.isdigit() or (_is_directive(piece) and piece[1] not in _NAMED)


def _pattern(pieces: Sequence[str]) -> str:
    pattern = ""
    for index, piece in enumerate(pieces):
        if not _is_directive(piece):
            pattern += re.escape("%" if piece == "%%" else piece)
            continue
        letter = piece[1]
        before = index > 0 and _is_digits(pieces[index - 1])
        after = index + 1 < len(pieces) and _is_digits(pieces[index + 1])
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
