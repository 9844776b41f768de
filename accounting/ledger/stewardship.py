"""What a steward may change about a dataset after it was opened: each step is an entry, most are irrevocable."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta, Law, Rho
from accounting.errors import BudgetRefused, ConfigError
from accounting.ledger.account import close_release
from accounting.ledger.amounts import check_short, to_text
from accounting.ledger.notes import origin_of, sign_note
from accounting.ledger.states import known_dataset, known_release
from accounting.ledger.store import DatasetDraft, StandingDraft, Writing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def close_dataset(ledger: Writing, label: str) -> None:
    """Close a dataset and every open release of it."""
    if known_dataset(ledger, label).totals.closed:
        return
    for release in ledger.releases(label):
        close_release(ledger, release)
    totals = replace(known_dataset(ledger, label).totals, closed=True)
    ledger.append(DatasetDraft("dataset-closed", label, totals, {}, None, None))


def change_law(ledger: Writing, label: str) -> None:
    """Change a dataset's law from gdp to zcdp: every μ² becomes a ρ of half its size."""
    before = known_dataset(ledger, label).totals
    _refuse_closed(before.closed, label, before.cap)
    if before.cap.law is not Law.GDP:
        raise ConfigError(f"dataset {label!r} composes under zcdp; a law changes once, from gdp to zcdp")
    still_open = [release.release_id for release in ledger.releases(label) if not release.totals.closed]
    if still_open:
        raise ConfigError(f"close or recover {', '.join(still_open)} before the law of dataset {label!r} changes")
    totals = replace(
        before, cap=Cap(Rho(before.cap.value / 2), before.cap.delta), statement=None, allotted=before.allotted / 2
    )
    ledger.append(DatasetDraft("law-changed", label, totals, {}, None, None))


def raise_cap(
    ledger: Writing,
    identity: str,
    label: str,
    cap: Cap,
    *,
    statement: EpsilonDelta | None,
    continues: str,
    keys: "Sequence[Ed25519PrivateKey]",
) -> int:
    """Raise a dataset's cap, signed; return the entry's number."""
    before = known_dataset(ledger, label).totals
    _refuse_closed(before.closed, label, before.cap)
    if not isinstance(cap, Cap) or cap.law is not before.cap.law:
        raise ConfigError(f"dataset {label!r} composes under {before.cap.law.value}; the raised cap must too")
    check_short(cap.value, "cap")
    check_short(cap.delta, "cap's delta")
    if cap.value < before.cap.value or cap.delta < before.cap.delta or cap == before.cap:
        raise ConfigError(
            f"a cap is only ever raised; dataset {label!r} has {to_text(before.cap.value)} and δ = "
            f"{to_text(before.cap.delta)}"
        )
    head = ledger.head(label)
    if continues != head:
        raise ConfigError(f"dataset {label!r} has the head {head} by now; look at its entries and raise it from there")
    approval = sign_note(raise_text(identity, label, cap, head), origin_of(identity), keys)
    totals = replace(before, cap=cap, statement=statement, raised=ledger.size())
    return ledger.append(DatasetDraft("cap-raised", label, totals, {"approval": approval}, None, None))


def supersede(ledger: Writing, release_id: str, by: str) -> int:
    """Say that a release is replaced by a later one of the same dataset; return the entry's number."""
    release, newer = known_release(ledger, release_id), known_release(ledger, by)
    if newer.label != release.label or newer.entry <= release.entry:
        raise ConfigError("a release is superseded by a later one of the same dataset")
    if any(said.about == release_id and said.by is not None for said in ledger.standings(release.label)):
        raise ConfigError(f"release {release_id!r} was superseded before")
    law = known_dataset(ledger, release.label).totals.cap.law
    return ledger.append(StandingDraft("superseded", release.label, law, {"about": release_id, "by": by}))


def withdraw(ledger: Writing, release_id: str) -> int:
    """Say that a release is withdrawn; return the entry's number."""
    release = known_release(ledger, release_id)
    if any(said.about == release_id and said.kind == "withdrawn" for said in ledger.standings(release.label)):
        raise ConfigError(f"release {release_id!r} was withdrawn before")
    law = known_dataset(ledger, release.label).totals.cap.law
    return ledger.append(StandingDraft("withdrawn", release.label, law, {"about": release_id}))


def declare_disjoint(
    ledger: Writing, identity: str, label: str, others: Sequence[str], keys: "Sequence[Ed25519PrivateKey]"
) -> int:
    """Sign that a dataset shares no people with others; return the entry's number."""
    dataset = known_dataset(ledger, label)
    names = sorted(set(others))
    if not names or label in names:
        raise ConfigError("name the other labels that share no people with this one")
    for name in names:
        known_dataset(ledger, name)
    approval = sign_note(disjoint_text(identity, label, names), origin_of(identity), keys)
    fields = {"others": names, "approval": approval}
    return ledger.append(StandingDraft("disjoint", label, dataset.totals.cap.law, fields))


def raise_text(identity: str, label: str, cap: Cap, head: str) -> str:
    """Return the text that the signers of a raised cap sign."""
    amounts = f"{cap.law.value} {to_text(cap.value)} {to_text(cap.delta)}"
    return f"dprelease ledger raise\n{identity}\n{label}\n{amounts}\ncontinues {head}\n"


def disjoint_text(identity: str, label: str, others: Sequence[str]) -> str:
    """Return the text that the signers of a statement about people sign."""
    return f"dprelease ledger disjoint\n{identity}\n{label}\n{' '.join(others)}\n"


def _refuse_closed(closed: bool, label: str, cap: Cap) -> None:  # noqa: FBT001  # one caller's fact
    if closed:
        raise BudgetRefused(
            f"dataset {label!r} is closed for good; nothing was spent",
            asked=cap.value,
            left=cap.value * 0,
            unit=cap.law.unit,
        )
