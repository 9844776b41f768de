"""What a release takes out of the ledger: its dataset's entries up to a signed checkpoint, with their proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.budget import cap as cap_of
from accounting.canonical import Json
from accounting.ledger.amounts import in_law
from accounting.ledger.entries import statement_from
from accounting.ledger.history import History
from release.record import Look, RunSummary

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from accounting.ledger import Ledger
    from accounting.ledger.rules import Body, ReplayedDataset, ReplayedRelease

EVIDENCE_NAME = "evidence.json"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A dataset's entries and the proof that they are in the ledger.

    Args:
        lines: the entries in order, without line feeds.
        evidence: the signed checkpoint and the inclusion proof of the last line, whose chain binds the others.
    """

    lines: tuple[bytes, ...]
    evidence: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a dataset's entries say about it, for a manifest; amounts in the unit of its law now.

    Args:
        law: its composition law.
        cap: its cap.
        statement: the (ε, δ) for which the cap was computed, or None.
        runs: every run of it, released or not.
        looks: every unpaid look at it.
        entries: the number of its entries.
        head: the SHA-256 of the last one.
    """

    law: Law
    cap: Cap
    statement: EpsilonDelta | None
    runs: tuple[RunSummary, ...]
    looks: tuple[Look, ...]
    entries: int
    head: str


def take_excerpt(ledger: "Ledger", label: str, key: "Ed25519PrivateKey") -> Excerpt:
    """Sign a checkpoint of the ledger, and take a dataset's entries up to it with their proof."""
    evidence = ledger.evidence(label, ledger.checkpoint([key]))
    last = evidence["entry"]
    assert isinstance(last, int)
    return Excerpt(tuple(line[:-1] for line in ledger.export(label, size=last + 1)), evidence)


def summarise(lines: tuple[bytes, ...]) -> Summary:
    """Replay a dataset's entries and say what they say.

    Raises:
        LedgerDamaged: an entry contradicts those before it.
    """
    history = History(whole=False)
    bodies = [history.apply(line) for line in lines]
    return summary_of(history, looks_of(bodies), len(lines))


def summary_of(history: History, looks: tuple[Look, ...], entries: int) -> Summary:
    """Say what the replayed entries of one dataset say."""
    ((label, dataset),) = history.datasets.items()
    return Summary(
        dataset.law,
        cap_of(dataset.law, dataset.cap, dataset.cap_delta),
        None if dataset.statement is None else statement_from(dict(dataset.statement)),
        tuple(_run(release_id, release, dataset) for release_id, release in history.releases.items()),
        looks,
        entries,
        history.heads[label],
    )


def looks_of(bodies: "Sequence[Body]") -> tuple[Look, ...]:
    """Return the unpaid looks among a dataset's entries."""
    return tuple(Look(body["number"], body["what"], body["schema_digest"]) for body in bodies if body["kind"] == "look")


def _run(release_id: str, release: "ReplayedRelease", dataset: "ReplayedDataset") -> RunSummary:
    return RunSummary(
        release_id,
        dataset.purpose,  # type: ignore[arg-type]  # an allotment has set it
        cap_of(dataset.law, in_law(release.cap, release.law, dataset.law), release.cap_delta),
        in_law(release.settled, release.law, dataset.law),
        closed=release.closed,
        replaced=dataset.raised is not None and release.entry < dataset.raised,
        superseded_by=release.superseded_by,
        withdrawn=release.withdrawn,
    )
