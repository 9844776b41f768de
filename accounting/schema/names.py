"""Which texts can be the name of a category that is found in private rows, by public rules on the text alone."""

import unicodedata

LONGEST_NAME = 100
"""The most characters of a name, as written and in its canonical form."""

_JOINERS = "\u200c\u200d"
_UNNAMEABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def canonical_name(text: str) -> str | None:
    """Return the name that a text stands for, or None where it can be none; total.

    A name is a text of 1 to ``LONGEST_NAME`` characters in Unicode's canonical composed form (NFC) without control,
    format, private, unassigned or surrogate characters and line separators; the joiners of scripts and emoji are kept.
    """
    if not 1 <= len(text) <= LONGEST_NAME:
        return None
    name = unicodedata.normalize("NFC", text)
    if len(name) > LONGEST_NAME:
        return None
    plain = all(unicodedata.category(sign) not in _UNNAMEABLE or sign in _JOINERS for sign in name)
    return name if plain else None
