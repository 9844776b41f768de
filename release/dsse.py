"""The signed envelope: DSSE v1 over canonical JSON, one byte form only.

Source: Dead Simple Signing Envelope, protocol version 1.0.2 (secure-systems-lab/dsse): the signature covers the
pre-authentication encoding ``DSSEv1 len(type) type len(body) body``.
"""

import base64
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, ValidationError

from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError, VerificationFailed
from release.keys import fingerprint

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that a DSSE signature covers."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, keys: list[Ed25519PrivateKey]) -> bytes:
    """Sign a payload with each key and return the envelope in its one canonical byte form."""
    signed = pre_authentication_encoding(PAYLOAD_TYPE, payload)
    signatures = sorted((fingerprint(key.public_key()), _encode(key.sign(signed))) for key in keys)
    return _envelope(_encode(payload), signatures)


def key_ids(envelope: bytes, *, file: str) -> tuple[str, ...]:
    """Return the key ids that an envelope names, trusted or not."""
    return tuple(signature.keyid for signature in _parse(envelope, file).signatures)


def payload_of(envelope: bytes, *, file: str) -> bytes:
    """Return an envelope's payload without checking who signed it: to show what it says, never to trust it."""
    return _decode(_parse(envelope, file).payload, file)


def add_signature(envelope: bytes, key: Ed25519PrivateKey, *, file: str) -> bytes:
    """Return the envelope with one more key's signature over the same payload.

    Raises:
        ConfigError: the key has signed it already.
        VerificationFailed: not an envelope in its canonical byte form.
    """
    parsed = _parse(envelope, file)
    keyid = fingerprint(key.public_key())
    if any(signature.keyid == keyid for signature in parsed.signatures):
        raise ConfigError(f"the key {keyid} has signed this already")
    signed = pre_authentication_encoding(PAYLOAD_TYPE, _decode(parsed.payload, file))
    signatures = sorted([*((one.keyid, one.sig) for one in parsed.signatures), (keyid, _encode(key.sign(signed)))])
    return _envelope(parsed.payload, signatures)


def unseal(envelope: bytes, trusted: Mapping[str, Ed25519PublicKey], *, file: str) -> tuple[bytes, tuple[str, ...]]:
    """Check every trusted key's signature over the bytes, then hand out the payload.

    A signature by another key counts for nothing, so that others may add theirs.

    Args:
        envelope: the file's bytes.
        trusted: public keys by fingerprint; a key inside a release is never one of them.
        file: the file's name for messages.

    Returns:
        The payload and the fingerprints of the trusted keys that signed it.

    Raises:
        VerificationFailed: not the canonical byte form, no trusted key's signature, a wrong or doubled signature.
    """
    parsed = _parse(envelope, file)
    payload = _decode(parsed.payload, file)
    signed = pre_authentication_encoding(PAYLOAD_TYPE, payload)
    named = [signature.keyid for signature in parsed.signatures]
    if not named or named != sorted(set(named)):
        raise VerificationFailed("an envelope holds one signature per key, in the order of their ids", file=file)
    signers: list[str] = []
    for signature in parsed.signatures:
        key, mark = trusted.get(signature.keyid), _decode(signature.sig, file)
        if key is None:
            continue
        try:
            key.verify(mark, signed)
        except InvalidSignature:
            raise VerificationFailed("the signature does not belong to this content", file=file) from None
        signers.append(signature.keyid)
    if not signers:
        raise VerificationFailed(f"signed by no key that is trusted here, but by {', '.join(named)}", file=file)
    return payload, tuple(signers)


def _envelope(payload: str, signatures: list[tuple[str, str]]) -> bytes:
    return canonical_bytes(
        {
            "payload": payload,
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": keyid, "sig": sig} for keyid, sig in signatures],
        }
    )


class _Signature(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    keyid: str
    sig: str


class _Envelope(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    payload: str
    payloadType: str  # noqa: N815 - the name in the specification
    signatures: tuple[_Signature, ...]


def _parse(envelope: bytes, file: str) -> _Envelope:
    try:
        parsed = _Envelope.model_validate_json(envelope)
    except ValidationError:
        raise VerificationFailed("this is not a signed envelope", file=file) from None
    if parsed.payloadType != PAYLOAD_TYPE:
        raise VerificationFailed("the envelope holds another type of content", file=file)
    if canonical_bytes(parsed.model_dump(mode="json")) != envelope:
        raise VerificationFailed("the envelope is not in its one canonical byte form", file=file)
    return parsed


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(text: str, file: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise VerificationFailed("the envelope holds text that is not base64", file=file) from None
    if _encode(data) != text:
        raise VerificationFailed("the envelope holds base64 that is not in its canonical form", file=file)
    return data
