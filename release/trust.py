"""Which public keys a verification trusts: those that are given, else the workspace's; never one inside a release."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.errors import ConfigError
from release.keys import fingerprint, load_public
from release.workspace import FILE, open_workspace

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def trusted_keys(folder: Path | None, given: Sequence[Path], workspace: Path) -> Mapping[str, "Ed25519PublicKey"]:
    """Return the trusted keys by fingerprint.

    Args:
        folder: the release, only to name its signers where no key is trusted; None where there is none.
        given: public key files; where there are none, the workspace's trusted keys serve.
        workspace: the workspace's folder, which need not be one.

    Raises:
        ConfigError: there is no trusted key; the message holds the fingerprints found in the release.
    """
    keys = known_keys(given, workspace)
    if not keys:
        named = "" if folder is None else _signers(folder)
        raise ConfigError(
            f"no public key is trusted here, so nothing can be verified. {named}"
            "Get that public key from the signer, compare its fingerprint, and give it as --key FILE"
        )
    return keys


def known_keys(given: Sequence[Path], workspace: Path) -> Mapping[str, "Ed25519PublicKey"]:
    """Return the keys that are given, else the workspace's trusted ones, by fingerprint; there may be none."""
    paths = tuple(given)
    if not paths and (workspace / FILE).is_file():
        paths = tuple(path for path in open_workspace(workspace).trusted_keys if path.is_file())
    keys = [load_public(path) for path in paths]
    return {fingerprint(key): key for key in keys}


def _signers(folder: Path) -> str:
    from release.dsse import key_ids
    from release.statement import MANIFEST_NAME, check_release_folder

    check_release_folder(folder)
    names = ", ".join(key_ids((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME))
    return f"The release names the signing key {names}. "
