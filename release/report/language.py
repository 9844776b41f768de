"""What reports say, in English and Japanese, from one catalogue; and how each language writes numbers and days.

The catalogue is the folder ``messages/``: in ``NAME.toml`` the table ``[key]`` holds the message ``NAME.key`` in every
language. A message names its values in braces, with how they are written: ``{rows:count}``, ``{share:percent}``,
``{day:day}``, ``{amount:exact}``. Where ``en_one`` is given, it is the English message for ``n`` = 1.
"""

import json
import math
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from accounting.canonical import canonical_bytes
from accounting.exact import decimal_above, decimal_below, from_text

Language = Literal["en", "ja"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja")

_FOLDER = Path(__file__).parent / "messages"
_DIGITS = 4
_LONG = 200
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Read the catalogue: each message's key and its texts by language."""
    return {
        f"{path.stem}.{key}": texts
        for path in sorted(_FOLDER.glob("*.toml"))
        for key, texts in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def short(text: str, digits: int = _DIGITS) -> str:
    """Write an exact text ``p/q`` as a short decimal, rounded up; below 1/1000 as 5e-7."""
    value = from_text(text)
    if not 0 < value < Fraction(1, 1000):
        return decimal_above(value, digits)
    power = len(str(value.denominator // value.numerator)) - 1
    power += value * 10**power < 1
    return f"{decimal_above(value * 10**power, digits)}e-{power}"


class Words(string.Formatter):
    """One language of the catalogue."""

    def __init__(self, language: Language = "en") -> None:
        self.language: Language = language

    def text(self, key: str, **values: object) -> str:
        """Return a message as plain text.

        Raises:
            KeyError: there is no such message, or a value is missing.
        """
        return self.vformat(self._template(key, values), (), values)

    def html(self, key: str, **values: object) -> Any:  # noqa: ANN401 - jinja2's Markup; loaded with the page only
        """Return a message for a page: its own marks as they are, its values escaped."""
        from markupsafe import Markup, escape

        marked = {name: _Escaped(value, escape) for name, value in values.items()}
        text = self.vformat(self._template(key, values), (), marked).replace(" %", "\u00a0%")
        return Markup(text)  # noqa: S704 - the catalogue is our own, and the values are escaped

    def word(self, text: str) -> str:
        """Return a word of the catalogue by its key or its English text, else the text itself."""
        texts = catalogue().get(f"words.{text}")
        return texts[self.language] if texts is not None else self.known("words.", text)

    def known(self, prefix: str, text: str) -> str:
        """Return the translation of an English text whose key begins with a prefix, else the text itself."""
        for key, texts in catalogue().items():
            if key.startswith(prefix) and texts["en"] == text:
                return texts[self.language]
        return text

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - any value of a message
        """Write a value as its message asks."""
        if isinstance(value, _Escaped):
            return str(value.escape(self.format_field(value.value, format_spec) if format_spec else value.value))
        if not format_spec:
            return str(value)
        return str(getattr(self, format_spec)(value))

    def percent(self, share: float | None) -> str:
        """Write a share from 0 to 1."""
        if share is None:
            return self.text("words.unknown")
        number = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.1f}".replace("100.0", "100")
        return f"{number}%" if self.language == "ja" else f"{number} %"

    def at_most(self, share: float | None) -> str:
        """Write a bound from 0 to 1 as a percentage, rounded up at its last digit."""
        if share is None:
            return self.percent(None)
        parts = Decimal(repr(round(100 * share, 9)))  # a float's own rounding error raises no digit
        digit = Decimal((0, (1,), max(parts.adjusted() - 1, -9))) if share < 0.1 else Decimal("0.1")
        return self.percent(float(parts.quantize(digit, ROUND_CEILING)) / 100)

    def count(self, number: int) -> str:
        """Write a whole number with its thousands apart."""
        return f"{number:,}" if self.language == "ja" else f"{number:,}".replace(",", "\u202f")

    def day(self, day: str) -> str:
        """Write a day ``YYYY-MM-DD`` in words."""
        year, month, date = map(int, day.split("-"))
        return f"{year}年{month}月{date}日" if self.language == "ja" else f"{date} {_MONTHS[month - 1]} {year}"

    def plain(self, value: Any) -> str:  # noqa: ANN401 - JSON
        """Write a JSON value for reading; a long one is left to ``report.json``."""
        if isinstance(value, str):
            return value
        if value is None:
            return self.text("words.not-set")
        text = json.dumps(json.loads(canonical_bytes(value)), ensure_ascii=False)  # 2.0 as the manifest has it, 2
        return text if len(text) <= _LONG else self.text("words.see-json")

    def hundred(self, share: float) -> int:
        """Write a share as so many in a hundred, rounded up."""
        return math.ceil(round(100 * share, 6))

    def rows(self, margin: float) -> str:
        """Write a number of rows that need not be whole."""
        return f"{margin:g}"

    def listing(self, items: Sequence[str]) -> str:
        """Join names."""
        return ("、" if self.language == "ja" else ", ").join(items)

    def series(self, items: Sequence[str]) -> str:
        """Join parts that may hold commas of their own."""
        return ("、" if self.language == "ja" else "; ").join(items)

    exact = staticmethod(short)
    below = staticmethod(lambda text: decimal_below(from_text(text), _DIGITS))
    decimal = staticmethod(lambda text: decimal_above(Fraction(text), _DIGITS))

    def _template(self, key: str, values: Mapping[str, object]) -> str:
        texts = catalogue()[key]
        one = f"{self.language}_one"
        return texts[one] if values.get("n") == 1 and one in texts else texts[self.language]


class _Escaped:
    """A value on its way into a page: written first, then escaped."""

    __slots__ = ("escape", "value")

    def __init__(self, value: object, escape: Callable[[Any], str]) -> None:
        self.value, self.escape = value, escape
