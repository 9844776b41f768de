"""Signed notes and checkpoints in the forms of C2SP: a text, a blank line, and Ed25519 signature lines.

Source:
    C2SP signed-note v1 and tlog-checkpoint v1 (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounting.errors import ConfigError, VerificationFailed
from accounting.ledger.standings import are_standings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MOST_SIGNATURES = 16
"""The most signature lines that a note may have."""

_ED25519 = b"\x01"
_SIGNATURE = re.compile("\u2014 ([^\\s+]+) ([A-Za-z0-9+/]+={0,2})")
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A ledger's identity, size and Merkle root, as signed.

    Args:
        origin: ``dprelease/`` and the ledger's identity.
        size: the number of entries.
        root: the RFC 6962 root over them, 32 bytes.
        standings: what the entries say of releases that stand no longer, as extension lines.
    """

    origin: str
    size: int
    root: bytes
    standings: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return the lines that are signed."""
        lines = [self.origin, str(self.size), base64.b64encode(self.root).decode(), *self.standings]
        return "".join(f"{line}\n" for line in lines)


def origin_of(identity: str) -> str:
    """Return the name under which a ledger signs."""
    return f"dprelease/{identity}"


def verifier_key(name: str, key: "Ed25519PublicKey") -> str:
    """Return the text form of a public key under which other C2SP tools check the notes of a name."""
    public = _ED25519 + key.public_bytes_raw()
    return f"{name}+{_key_id(name, key).hex()}+{base64.b64encode(public).decode()}"


def sign_note(text: str, name: str, keys: "Sequence[Ed25519PrivateKey]") -> str:
    """Sign a text that ends in a line feed with one or more keys.

    Raises:
        ConfigError: no key, more than 16, or the same key twice.
    """
    if not 0 < len(keys) <= MOST_SIGNATURES:
        raise ConfigError(f"a note is signed by 1 to {MOST_SIGNATURES} keys")
    lines = []
    for key in keys:
        signature = _key_id(name, key.public_key()) + key.sign(text.encode())
        lines.append(f"\u2014 {name} {base64.b64encode(signature).decode()}\n")
    if len(set(lines)) != len(lines):
        raise ConfigError("a note is signed once by each key")
    return f"{text}\n{''.join(lines)}"


def open_note(note: str, name: str, keys: "Sequence[Ed25519PublicKey]") -> "tuple[str, list[Ed25519PublicKey]]":
    """Return a note's text and those of the trusted keys that signed it.

    Raises:
        VerificationFailed: not a note, signed by none of the keys, or a known key's signature is wrong.
    """
    from cryptography.exceptions import InvalidSignature

    text, signatures = split_note(note)
    signers: list[Ed25519PublicKey] = []
    for key in keys:
        for signer, signature in signatures:
            if signer != name or signature[:4] != _key_id(name, key):
                continue
            try:
                key.verify(signature[4:], text.encode())
            except InvalidSignature:
                raise VerificationFailed("the signature of a trusted key on the note is wrong") from None
            signers.append(key)
            break
    if not signers:
        raise VerificationFailed("the note is signed by none of the trusted keys under this ledger's name")
    return text, signers


def split_note(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return a note's text and its signatures with their key names, none of them checked.

    Raises:
        VerificationFailed: not the form of a signed note, or a signature is not in its one base64 spelling.
    """
    text, blank, rest = note.rpartition("\n\n")
    lines = rest.removesuffix("\n").split("\n")
    if not text or not blank or not rest.endswith("\n") or len(lines) > MOST_SIGNATURES or _CONTROL.search(note):
        raise VerificationFailed("this is not a signed note")
    signatures = []
    for line in lines:
        match = _SIGNATURE.fullmatch(line)
        if match is None:
            raise VerificationFailed("the note has a line that is no signature")
        signatures.append((match[1], _strict_base64(match[2])))
    return text + "\n", signatures


def parse_checkpoint(note: str) -> Checkpoint:
    """Read a checkpoint without checking who signed it.

    Raises:
        VerificationFailed: not the form of a checkpoint.
    """
    text, _ = split_note(note)
    lines = text.removesuffix("\n").split("\n")
    standings = tuple(lines[3:])
    if len(lines) < 3 or not lines[0] or _SIZE.fullmatch(lines[1]) is None or not are_standings(standings):
        raise VerificationFailed("this is not a checkpoint of a ledger")
    root = _strict_base64(lines[2])
    if len(root) != 32:
        raise VerificationFailed("this is not a checkpoint of a ledger")
    return Checkpoint(lines[0], int(lines[1]), root, standings)


def open_checkpoint(note: str, keys: "Sequence[Ed25519PublicKey]") -> Checkpoint:
    """Read a checkpoint that a trusted key signed under its own origin.

    Raises:
        VerificationFailed: not a checkpoint, or not signed by a trusted key.
    """
    checkpoint = parse_checkpoint(note)
    open_note(note, checkpoint.origin, keys)
    return checkpoint


def _key_id(name: str, key: "Ed25519PublicKey") -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + key.public_bytes_raw()).digest()[:4]


def _strict_base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise VerificationFailed("the note has a line that is not base64") from None
    if base64.b64encode(data).decode() != text:
        raise VerificationFailed("the note has base64 with unused bits set")
    return data
