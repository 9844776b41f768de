"""Approve a release: add one more key's signature to its envelope; the release itself does not change."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.errors import ConfigError
from release.dsse import add_signature, key_ids
from release.keys import fingerprint
from release.statement import MANIFEST_NAME
from release.verify import Verified, verify_release

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def check_approvable(folder: Path, key: "Ed25519PrivateKey", trusted: "Mapping[str, Ed25519PublicKey]") -> Verified:
    """Verify the release that is about to be approved.

    Args:
        folder: the release.
        key: the approver's key.
        trusted: the public keys that may have signed it so far, by fingerprint.

    Raises:
        VerificationFailed: the release does not verify, so that nobody should approve it.
        ConfigError: there is no such release, or the key has signed it already.
    """
    verified = verify_release(folder, trusted)
    if fingerprint(key.public_key()) in key_ids((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME):
        raise ConfigError("this key has signed the release already; an approval needs a key of its own")
    return verified


def approve(folder: Path, key: "Ed25519PrivateKey") -> tuple[str, ...]:
    """Add a key's signature to a release's envelope, in one step.

    Returns:
        The fingerprints of all keys that have signed it now.
    """
    path = folder / MANIFEST_NAME
    beside = folder.with_name(f".{folder.name}.approval")
    with beside.open("xb") as file:  # the one approval that is being added; another one has to wait
        try:
            envelope = add_signature(path.read_bytes(), key, file=MANIFEST_NAME)
            file.write(envelope)
            file.flush()
            os.fsync(file.fileno())
            day = path.stat().st_mtime_ns
            os.utime(beside, ns=(day, day))
        except BaseException:
            beside.unlink()
            raise
    before = folder.stat()
    beside.replace(path)
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))  # only its day is public
    return key_ids(envelope, file=MANIFEST_NAME)
