"""Whether a release still stands: what its ledger says today, or a later checkpoint. The release alone cannot know."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.errors import VerificationFailed
from accounting.ledger import Ledger, open_checkpoint
from release.checking import read_note
from release.verify.entries import read_evidence, read_lines

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from release.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Standing:
    """What a ledger or checkpoint says of a release.

    Args:
        source: "ledger" or "checkpoint".
        entries: how many entries it covers.
        replaced: whether the dataset's cap was raised afterwards, which replaces the release's guarantee.
        superseded_by: the release that replaces it, or None; a checkpoint names the entry that allotted it.
        withdrawn: whether it was withdrawn.
    """

    source: str
    entries: int
    replaced: bool
    superseded_by: str | None
    withdrawn: bool


def standing_in_ledger(url: str, folder: Path, manifest: "Manifest", keys: "Sequence[Ed25519PublicKey]") -> Standing:
    """Verify the ledger against a verified release, and return what it says of it.

    Args:
        url: the ledger's URL.
        folder: the release, verified.
        manifest: its manifest.
        keys: the trusted public keys.

    Raises:
        LedgerError: the ledger cannot be used, or is damaged, older than the release, or another one.
    """
    ledger = Ledger.open(url, must_exist=True)
    note = str(read_evidence(folder)["checkpoint"])
    head = ledger.verify(checkpoints=[note], excerpts=[read_lines(folder)], keys=keys)
    releases = ledger.dataset(manifest.dataset).releases
    state = next(state for state in releases if state.release_id == manifest.release_id)
    return Standing("ledger", head.size, state.replaced, state.superseded_by, state.withdrawn)


def standing_in_checkpoint(
    path: Path, folder: Path, manifest: "Manifest", keys: "Sequence[Ed25519PublicKey]"
) -> Standing:
    """Return what a later checkpoint of its ledger says of a verified release.

    Args:
        path: a file that `ledger checkpoint` wrote.
        folder: the release, verified.
        manifest: its manifest.
        keys: the trusted public keys.

    Raises:
        VerificationFailed: not signed by a trusted key, of another ledger, or older than the release.
    """
    later = open_checkpoint(read_note(path), keys)
    own = open_checkpoint(str(read_evidence(folder)["checkpoint"]), keys)
    if later.origin != own.origin:
        raise VerificationFailed("the checkpoint is of another ledger than the release", file=path.name)
    if later.size < own.size or (later.size == own.size and later.root != own.root):
        raise VerificationFailed(
            f"the checkpoint covers {later.size} entries and the release's own covers {own.size}: it is older, or of a "
            "fork, and cannot know the release",
            file=path.name,
        )
    entry = _allotted_entry(folder, manifest.release_id)
    said = [line.split() for line in later.standings if line.split()[1] == str(entry)]
    return Standing(
        "checkpoint",
        later.size,
        any(words[0] == "replaced" for words in said),
        next((f"the release of entry {words[3]}" for words in said if words[0] == "superseded"), None),
        any(words[0] == "withdrawn" for words in said),
    )


def check_standing(standing: Standing) -> None:
    """Refuse a release that was withdrawn, or whose guarantee was replaced; a superseded one keeps what it says.

    Raises:
        VerificationFailed: the release stands no longer.
    """
    if standing.withdrawn:
        raise VerificationFailed(f"the release was withdrawn, says the {standing.source}: it must not be used")
    if standing.replaced:
        raise VerificationFailed(
            f"the dataset's cap was raised after the release, says the {standing.source}: the guarantee for all "
            "releases together that its manifest states holds no longer"
        )


def _allotted_entry(folder: Path, release_id: str) -> int:
    bodies = (json.loads(line) for line in read_lines(folder))
    return next(
        int(body["number"]) for body in bodies if (body["kind"], body.get("release")) == ("allotted", release_id)
    )
