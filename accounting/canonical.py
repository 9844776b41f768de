"""Canonical JSON (RFC 8785) and SHA-256 digests: the one byte form of everything that is hashed or signed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

from accounting.errors import ConfigError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def canonical_bytes(value: Json) -> bytes:
    """Serialise a JSON value by RFC 8785; integers beyond ±(2^53 - 1) must be written as text by the caller.

    Raises:
        ConfigError: NaN, an infinity, an integer beyond that range or anything that is not JSON.
    """
    try:
        return rfc8785.dumps(_plain(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        raise ConfigError("a value to be hashed or signed has no canonical JSON form") from None


def plain_bytes(value: Json) -> bytes:
    """Serialise a JSON value whose keys are ASCII and whose numbers are integers within ±(2^53 - 1).

    For such values RFC 8785 is JSON without blanks and with sorted keys, which the standard library writes many times
    faster than :func:`canonical_bytes`.

    Raises:
        UnicodeEncodeError: text that is not valid Unicode.
    """
    return _ENCODER.encode(value).encode("utf-8")


def digest(value: Json) -> str:
    """Return the lower-case hexadecimal SHA-256 of the canonical bytes of a JSON value."""
    return sha256(canonical_bytes(value))


def sha256(data: bytes) -> str:
    """Return the lower-case hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Json) -> "rfc8785._impl._Value":
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [_plain(item) for item in value]
    return value
