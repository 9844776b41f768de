"""Check the ledger itself against what was kept elsewhere: signed checkpoints and earlier releases."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.errors import ConfigError
from accounting.ledger.content import FIELDS
from release.trust import known_keys, trusted_keys

if TYPE_CHECKING:
    from accounting.ledger import Head, Ledger


def check_ledger(
    ledger: "Ledger", workspace: Path, *, checkpoints: Sequence[Path], releases: Sequence[Path], keys: Sequence[Path]
) -> "Head":
    """Replay the ledger, and compare it with checkpoints and releases that were kept elsewhere.

    Args:
        ledger: the ledger.
        workspace: the folder whose trusted keys serve where none are given.
        checkpoints: files that `ledger checkpoint` wrote.
        releases: folders of earlier releases.
        keys: files of public keys.

    Raises:
        LedgerDamaged: names the kind of damage.
        VerificationFailed: a checkpoint or release is not signed by a trusted key.
        ConfigError: there is something to compare with and no trusted key.
    """
    if checkpoints or releases:
        trusted = trusted_keys(releases[0] if releases else None, keys, workspace)
    else:
        trusted = known_keys(keys, workspace)
    if releases:
        from release.verify import signed_excerpt
    excerpts = [signed_excerpt(folder, trusted) for folder in releases]
    notes = [read_note(path) for path in checkpoints]
    notes += [str(excerpt.evidence["checkpoint"]) for excerpt in excerpts]
    return ledger.verify(
        checkpoints=notes, excerpts=[excerpt.lines for excerpt in excerpts], keys=list(trusted.values())
    )


def read_note(path: Path) -> str:
    """Read a file that `ledger checkpoint` wrote.

    Raises:
        ConfigError: it is no text.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no signed checkpoint") from None


def check_filters(ledger: "Ledger", label: str | None, release_id: str | None, kind: str | None) -> None:
    """Refuse a dataset, release or kind of entry that the ledger does not know.

    Raises:
        ConfigError: nothing can be listed by it.
    """
    if label is not None:
        ledger.dataset(label)
    if release_id is not None:
        ledger.resume(release_id)
    if kind is not None and kind not in FIELDS:
        raise ConfigError(f"there is no kind of entry {kind!r}; there are {', '.join(FIELDS)}")
