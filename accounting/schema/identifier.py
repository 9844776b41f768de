"""The identifier column: which texts name the same person, and which name nobody."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, Self

from pydantic import model_validator

from accounting.errors import SchemaError
from accounting.schema.declared import BLANKS, DeclaredColumn
from accounting.schema.typed import plain_values, text_of_value

Step = Literal["nfkc", "strip", "casefold", "digits", "drop-leading-zeros"]


def _digits(text: str) -> str:
    """Keep decimal digits of any script, written in ASCII."""
    return "".join(str(unicodedata.decimal(letter)) for letter in text if letter.isdecimal())


_FORMS: Final[Mapping[Step, Callable[[str], str]]] = {
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip": str.strip,
    "casefold": str.casefold,
    "digits": _digits,
    "drop-leading-zeros": lambda text: text.lstrip("0") or text[:1],
}


_LOOSE: Final[tuple[Step, ...]] = ("nfkc", "strip", "casefold", "drop-leading-zeros")


def loose_form(identity: str) -> str:
    """Return a form in which spellings of one id are likely to meet: blanks, width, case, leading zeros left aside."""
    for step in _LOOSE:
        identity = _FORMS[step](identity)
    return identity


class IdentifierColumn(DeclaredColumn):
    """A column that identifies a person or a row: never modelled, never released.

    A person is a canonical form: two spellings of one id that differ in it would count as two persons, with k rows
    each. Null is decided on the text after ``strip``; a canonical form that is empty names nobody either.

    Args:
        canonical: what is done to a text before ids are compared, in this order: "nfkc" (Unicode's compatibility form),
            "strip" (no blanks of any kind around it), "casefold" (upper and lower case alike), "digits" (nothing but
            the digits, of any script), "drop-leading-zeros".
        null_ids: what becomes of rows without an id: "drop", or "person": each row is a person of its own.
    """

    kind: Literal["identifier"] = "identifier"
    canonical: tuple[Step, ...] = ()
    null_ids: Literal["drop", "person"] = "drop"

    def ids_of_text(self, texts: Iterable[str]) -> list[str | None]:
        """Return each text's canonical id, or None for a null; private, for the curator only."""
        return [self._canonical(text) for text in texts]

    def ids_of_values(self, values: Any) -> list[str | None]:  # noqa: ANN401  # whatever a typed file holds
        """Return each typed value's canonical id by its text, or None for a null; private, for the curator only."""
        texts = [text_of_value(value) for value in plain_values(values)]
        return [self._canonical(text) if isinstance(text, str) else None for text in texts]

    def _canonical(self, text: str) -> str | None:
        text = text.strip(BLANKS) if self.strip else text
        if text in self.null_strings:
            return None
        for step in self.canonical:
            text = _FORMS[step](text)
        return text or None

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_strings()
        for step in self.canonical:
            if self.canonical.count(step) > 1:
                raise SchemaError(f"canonical names the step {step!r} twice", column=self.name)
        return self
