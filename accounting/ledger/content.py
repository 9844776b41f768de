"""What an entry may say: a closed allow-list of kinds and fields, and the one byte form of an entry.

Only what is listed here can enter the ledger: public names, digests that bind public values, exact amounts and calendar
dates. There is no field for a row count, an exact answer, an unsalted hash of rows, a time of day or a duration.
"""

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from accounting.budget import Law
from accounting.canonical import Json, plain_bytes
from accounting.errors import ConfigError, LedgerError, QueryRefused
from accounting.ledger.amounts import from_text
from accounting.ledger.values import PURPOSES
from accounting.unit import NEIGHBOURING, unit_from_json

FORMAT = 1
"""The version of the entries' format."""

THEOREMS = MappingProxyType({Law.ZCDP: "zcdp-filter arXiv:2203.05481", Law.GDP: "gdp-filter arXiv:2210.17520"})
"""The filter theorem that each entry relies on, by law; ``accounting.filters.THEOREMS`` cites them in full."""

LONGEST_LIST = 16
"""Longer lists of a question are named by their length; the question's digest binds their content."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HEX = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+:/=,-]{0,127}")
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
_NOTE = re.compile(r"(?:[A-Za-z0-9 .,_/-]+\n)+\n(?:\u2014 [a-z0-9/]+ [A-Za-z0-9+/]+={0,2}\n)+")
_NOTE_LENGTH = 4096

_QUESTIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "total": frozenset({"variance"}),
        "marginals": frozenset({"cliques", "variance", "coding"}),
        "select": frozenset({"candidates", "estimates", "grid", "coding", "weights", "penalties", "epsilon"}),
        "errors": frozenset({"candidates", "estimates", "grid", "coding", "variance"}),
        "votes": frozenset({"candidates", "embedding", "votes", "within", "variance"}),
        "quantiles": frozenset({"column", "intervals", "variance"}),
        "categories": frozenset({"column", "threshold", "most", "variance"}),
    }
)
_CONTEXT_TOKENS = frozenset({"mechanism", "code_version", "sampler", "isolation", "rng_seed"})
_CONTEXT_DIGESTS = frozenset({"mechanism_digest", "config_digest", "plan_digest", "schema_digest"})


def check_name(name: object, what: str) -> str:
    """Take a label, release id or request id: 1 to 64 letters, digits, dots, underscores and hyphens."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise ConfigError(f"a {what} is 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or digit")
    return name


def check_digest(value: object, what: str) -> str:
    """Take a lower-case hexadecimal SHA-256."""
    if not isinstance(value, str) or HEX.fullmatch(value) is None:
        raise ConfigError(f"a {what} is a SHA-256 in 64 lower-case hexadecimal digits")
    return value


def check_token(value: object, what: str) -> str:
    """Take a short public text: 1 to 128 characters of letters, digits, blanks and ``._+:/=,-``."""
    if not isinstance(value, str) or _TOKEN.fullmatch(value) is None:
        raise ConfigError(f"{what} is a short text of letters, digits, blanks and ._+:/=,- (at most 128 characters)")
    return value


def check_context(context: Mapping[str, Json]) -> dict[str, Json]:
    """Take the public facts about a release that its allotment states.

    Raises:
        ConfigError: a field that is not on the allow-list, or a value of another form.
    """
    for key, value in context.items():
        if key in _CONTEXT_TOKENS:
            check_token(value, f"the context's {key}")
        elif key in _CONTEXT_DIGESTS:
            check_digest(value, f"context's {key}")
        else:
            allowed = ", ".join(sorted(_CONTEXT_TOKENS | _CONTEXT_DIGESTS))
            raise ConfigError(f"the ledger takes no context field {key!r}; it takes {allowed}")
    return dict(context)


def check_question(description: Mapping[str, Json]) -> Mapping[str, Json]:
    """Take a question's public description, as ``describe_query`` writes it.

    Raises:
        QueryRefused: a question or field that is not on the allow-list; nothing was spent.
    """
    kind = description.get("question")
    fields = _QUESTIONS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        raise QueryRefused(f"the ledger takes the questions {', '.join(_QUESTIONS)} and no other; nothing was spent")
    if not description.keys() - {"question"} <= fields:
        raise QueryRefused("the question's description has a field that the ledger does not take; nothing was spent")
    return description


def shorten_question(description: Mapping[str, Json]) -> dict[str, Json]:
    """Write a description as an entry holds it: long lists by their length."""
    short: dict[str, Json] = {}
    for key, value in description.items():
        long = isinstance(value, (list, tuple)) and len(value) > LONGEST_LIST
        short[key] = {"items": len(cast("list[Json]", value))} if long else value
    return short


def to_line(body: Mapping[str, Json]) -> bytes:
    """Serialise an entry by RFC 8785: its keys are ASCII and its numbers small integers."""
    try:
        return plain_bytes(body)
    except UnicodeEncodeError:
        raise LedgerError("has text that is not valid Unicode") from None


def from_line(line: bytes) -> dict[str, Json]:
    """Read an entry and check it against the allow-list.

    Raises:
        LedgerError: not canonical JSON, or a kind, field or value that no entry may have.
    """
    try:
        body = _DECODER.decode(line.decode("utf-8"))
        if not isinstance(body, dict) or to_line(body) != line:
            raise LedgerError("is not canonical JSON")
    except (ValueError, RecursionError):
        raise LedgerError("is not canonical JSON") from None
    check_body(body)
    return body


def check_body(body: Mapping[str, Json]) -> None:
    """Check an entry's kind, fields and values against the allow-list.

    Raises:
        LedgerError: anything that no entry may have.
    """
    kind = body.get("kind")
    fields = FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        raise LedgerError("has an unknown kind; it may come from a newer program")
    if body.keys() != fields.keys():
        raise LedgerError(f"does not have the fields of the kind {kind!r}")
    for name, is_valid in fields.items():
        if not is_valid(body[name]):
            raise LedgerError(f"has an invalid field {name!r}")


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError
    return fields


def _refuse(_: str) -> float:
    raise ValueError


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_refuse)


_Check = Callable[[Json], bool]


def _is(pattern: re.Pattern[str]) -> _Check:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _one_of(*allowed: Json) -> _Check:
    return lambda value: any(type(value) is type(option) and value == option for option in allowed)


def _or_null(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _natural(value: Json) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _flag(value: Json) -> bool:
    return isinstance(value, bool)


def _rational(value: Json) -> bool:
    try:
        return isinstance(value, str) and from_text(value) is not None
    except ValueError:
        return False


def _record(**fields: _Check) -> _Check:
    def check(value: Json) -> bool:
        if not isinstance(value, dict) or value.keys() != fields.keys():
            return False
        return all(is_valid(value[name]) for name, is_valid in fields.items())

    return check


def _unit(value: Json) -> bool:
    try:
        return isinstance(value, dict) and type(value.get("max_rows")) is int and unit_from_json(value) is not None
    except ConfigError:
        return False


def _context(value: Json) -> bool:
    try:
        return isinstance(value, dict) and check_context(value) == value
    except ConfigError:
        return False


def _question(value: Json) -> bool:
    try:
        return isinstance(value, dict) and bool(check_question(value)) and all(map(_question_value, value.values()))
    except QueryRefused:
        return False


def _question_value(value: Json) -> bool:
    if isinstance(value, dict):
        return value.keys() == {"items"} and _natural(value["items"])
    if isinstance(value, (list, tuple)):
        return len(value) <= LONGEST_LIST and all(_public_item(item) for item in value)
    return _public_item(value)


def _public_item(value: Json) -> bool:
    if isinstance(value, (list, tuple)):
        return all(isinstance(name, str) for name in value)
    return isinstance(value, str) or _natural(value)


def _names(value: Json) -> bool:
    names = value if isinstance(value, (list, tuple)) else []
    return bool(names) and all(isinstance(name, str) and NAME.fullmatch(name) for name in names)


def _note(value: Json) -> bool:
    return isinstance(value, str) and len(value) <= _NOTE_LENGTH and _NOTE.fullmatch(value) is not None


def _event(value: Json) -> bool:
    gaussian = _record(kind=_one_of("gaussian"), sensitivity_squared=_rational, variance=_rational)
    selection = _record(kind=_one_of("selection"), epsilon=_rational)
    threshold = _record(
        kind=_one_of("threshold"),
        sensitivity_squared=_rational,
        variance=_rational,
        threshold=_natural,
        names=_natural,
    )
    return gaussian(value) or selection(value) or threshold(value)


_LAW = _one_of(*(law.value for law in Law))
_PURPOSE = _one_of(*PURPOSES)
_STATEMENT = _record(epsilon=_rational, delta=_rational)
_DATASET = _record(
    law=_LAW,
    statement=_or_null(_STATEMENT),
    cap=_rational,
    cap_delta=_rational,
    allotted=_rational,
    allotted_delta=_rational,
    purpose=_or_null(_PURPOSE),
    looks=_natural,
    raised=_or_null(_natural),
    closed=_flag,
)
_RELEASE = _record(granted=_rational, granted_delta=_rational, settled=_rational, settled_delta=_rational, closed=_flag)
_COMMON: Mapping[str, _Check] = {
    "format": _one_of(FORMAT),
    "number": _natural,
    "label": _is(NAME),
    "kind": _is(NAME),
    "date": _is(_DATE),
    "previous": _or_null(_is(HEX)),
    "theorem": _one_of(*THEOREMS.values()),
}
_OF_DATASET: Mapping[str, _Check] = {**_COMMON, "dataset": _DATASET}
_OF_QUESTION: Mapping[str, _Check] = {
    **_COMMON,
    "release": _is(NAME),
    "request": _is(NAME),
    "digest": _is(HEX),
    "grant": _natural,
    "amount": _rational,
    "delta": _rational,
    "unit": _one_of(*(law.unit for law in Law)),
    "totals": _RELEASE,
}

FIELDS: Mapping[str, Mapping[str, _Check]] = MappingProxyType(
    {
        "dataset-opened": {
            **_OF_DATASET,
            "ledger": _is(HEX),
            "privacy_unit": _unit,
            "neighbouring": _one_of(NEIGHBOURING),
        },
        "look": {**_OF_DATASET, "what": _is(_TOKEN), "schema_digest": _is(HEX)},
        "allotted": {
            **_OF_DATASET,
            "release": _is(NAME),
            "purpose": _PURPOSE,
            "noise": _is(_TOKEN),
            "unit": _one_of(*(law.unit for law in Law)),
            "amount": _rational,
            "delta": _rational,
            "context": _context,
            "commitment": _or_null(_is(HEX)),
            "salt_digest": _or_null(_is(HEX)),
            "totals": _RELEASE,
        },
        "reserved": {**_OF_QUESTION, "event": _event, "question": _question},
        "started": _OF_QUESTION,
        "settled": {**_OF_QUESTION, "answer": _is(HEX)},
        "voided": _OF_QUESTION,
        "closed": {**_OF_DATASET, "release": _is(NAME), "totals": _RELEASE},
        "dataset-closed": _OF_DATASET,
        "law-changed": _OF_DATASET,
        "cap-raised": {**_OF_DATASET, "approval": _note},
        "superseded": {**_COMMON, "about": _is(NAME), "by": _is(NAME)},
        "withdrawn": {**_COMMON, "about": _is(NAME)},
        "disjoint": {**_COMMON, "others": _names, "approval": _note},
    }
)
"""The allow-list: every kind of entry, its exact fields and what each may hold."""
