"""Ed25519 keys: PKCS#8 private keys that only their owner can read, PEM public keys, and their fingerprints."""

import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from accounting.canonical import sha256
from accounting.errors import ConfigError

PRIVATE_NAME = "signing-key.pem"
PUBLIC_NAME = "signing-key.pub.pem"


def new_key(folder: Path, *, passphrase: bytes | None = None) -> tuple[Path, Path]:
    """Write a fresh key pair into a folder; nothing is overwritten.

    Args:
        folder: created with mode 0700 where it is missing.
        passphrase: encrypts the private key; None leaves it to the file's mode 0600.

    Returns:
        The paths of the private and of the public key.

    Raises:
        ConfigError: a key is there already.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    private_path, public_path = folder / PRIVATE_NAME, folder / PUBLIC_NAME
    if private_path.exists() or public_path.exists():
        raise ConfigError(f"there is a key in {folder} already; it was left as it is")
    key = Ed25519PrivateKey.generate()
    protection = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)
    with os.fdopen(os.open(private_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private)
    with public_path.open("xb") as file:
        file.write(public_pem(key.public_key()))
    return private_path, public_path


def load_private(path: Path, *, passphrase: bytes | None = None) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        ConfigError: missing, unreadable, of another kind, readable by others, or the passphrase is missing or wrong.
    """
    if path.is_file() and path.stat().st_mode & 0o077:
        raise ConfigError(f"others may read the private key {path}; run chmod 600 on it")
    data = _read(path)
    try:
        key = serialization.load_pem_private_key(data, passphrase)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        raise ConfigError(f"{path} is no Ed25519 private key that this passphrase opens") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{path} is not an Ed25519 private key")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        ConfigError: missing, unreadable or of another kind.
    """
    try:
        key = serialization.load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigError(f"{path} is not an Ed25519 public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigError(f"{path} is not an Ed25519 public key")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return a key's id: the hexadecimal SHA-256 of its SubjectPublicKeyInfo in DER form."""
    return sha256(key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))


def public_pem(key: Ed25519PublicKey) -> bytes:
    """Return a public key in PEM form."""
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise ConfigError(f"the key file {path} is missing or cannot be read") from None
