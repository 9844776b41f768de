"""The rules of a ledger: what each kind of entry does to what was read before it, and when it may not come.

The writer adds to the totals of the last entry; these rules add up the prices of all entries. ``history`` compares.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from accounting.budget import Law
from accounting.budget import cap as cap_of
from accounting.errors import LedgerError, VerificationFailed
from accounting.events import Event, GaussianEvent, SelectionEvent, ThresholdEvent, delta_price, price
from accounting.ledger.amounts import from_text
from accounting.ledger.entries import describes
from accounting.ledger.notes import split_note
from accounting.ledger.standings import in_order, replaced, superseded, withdrawn
from accounting.ledger.stewardship import disjoint_text, raise_text

Body = Mapping[str, Any]
"""An entry's fields; :func:`from_line` has checked the type of each."""


@dataclass(slots=True)
class ReplayedQuestion:
    """A question as its entries so far tell it."""

    status: str
    digest: str
    amount: str
    delta: str
    grant: int


@dataclass(slots=True)
class ReplayedRelease:
    """A release as its entries so far tell it; amounts in the unit of its law."""

    label: str
    law: Law
    cap: Fraction
    cap_delta: Fraction
    entry: int
    granted: Fraction = Fraction(0)
    granted_delta: Fraction = Fraction(0)
    settled: Fraction = Fraction(0)
    settled_delta: Fraction = Fraction(0)
    closed: bool = False
    withdrawn: bool = False
    superseded_by: str | None = None
    questions: dict[str, ReplayedQuestion] = field(default_factory=dict)


@dataclass(slots=True)
class ReplayedDataset:
    """A dataset as its entries so far tell it; amounts in the unit of its law."""

    law: Law
    cap: Fraction
    cap_delta: Fraction
    statement: Body | None
    allotted: Fraction = Fraction(0)
    allotted_delta: Fraction = Fraction(0)
    purpose: str | None = None
    looks: int = 0
    raised: int | None = None
    closed: bool = False


@dataclass(slots=True)
class Replayed:
    """What a sequence of entries says so far.

    Args:
        whole: whether the entries are the whole ledger; else one dataset's.
        ledger: the ledger's identity, once a dataset was opened.
        datasets: the datasets by label.
        releases: the releases by id.
        answers: the SHA-256 of the answer of each ``settled`` entry.
        salts: the label, commitment and SHA-256 of the salt of each release that has them.
        approvals: the signed notes.
        standings: what was said of releases that stand no longer, with the number of the entry that said it first.
    """

    whole: bool = True
    ledger: str | None = None
    datasets: dict[str, ReplayedDataset] = field(default_factory=dict)
    releases: dict[str, ReplayedRelease] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    salts: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    approvals: list[str] = field(default_factory=list)
    standings: dict[str, int] = field(default_factory=dict)

    def standings_at(self, size: int) -> tuple[str, ...]:
        """Return what the first ``size`` entries say of releases that stand no longer, as a checkpoint lists it."""
        return in_order(line for line, entry in self.standings.items() if entry < size)


def _opened(history: Replayed, body: Body) -> None:
    if body["label"] in history.datasets:
        raise LedgerError("opens a dataset that is open already")
    if history.ledger not in (None, body["ledger"]):
        raise LedgerError("comes from another ledger")
    history.ledger = body["ledger"]
    stated = body["dataset"]
    if stated["cap"] == "0/1":
        raise LedgerError("opens a budget of nothing")
    history.datasets[body["label"]] = ReplayedDataset(
        Law(stated["law"]), from_text(stated["cap"]), from_text(stated["cap_delta"]), stated["statement"]
    )


def _looked(history: Replayed, body: Body) -> None:
    history.datasets[body["label"]].looks += 1


def _allotted(history: Replayed, body: Body) -> None:
    dataset = _open_dataset(history, body)
    if body["release"] in history.releases:
        raise LedgerError("allots a release for the second time")
    if dataset.purpose not in (None, body["purpose"]):
        raise LedgerError("mixes purposes in one dataset")
    if body["unit"] != dataset.law.unit:
        raise LedgerError("is in the unit of another law")
    if body["purpose"] == "release" and (body["noise"] != "os" or body["commitment"] is None):
        raise LedgerError("allots a release without operating system noise or without a commitment")
    if (body["commitment"] is None) != (body["salt_digest"] is None):
        raise LedgerError("has a commitment without a salt, or a salt without a commitment")
    amount, delta = from_text(body["amount"]), from_text(body["delta"])
    release = ReplayedRelease(body["label"], dataset.law, amount, delta, body["number"])
    if release.cap == 0:
        raise LedgerError("allots nothing")
    if body["commitment"] is not None:
        history.salts[body["release"]] = (body["label"], body["commitment"], body["salt_digest"])
    history.releases[body["release"]] = release
    dataset.purpose = body["purpose"]
    dataset.allotted += release.cap
    dataset.allotted_delta += release.cap_delta


def _closed(history: Replayed, body: Body) -> None:
    release = _open_release(history, body)
    dataset = history.datasets[release.label]
    release.closed = True
    dataset.allotted -= release.cap - release.granted
    dataset.allotted_delta -= release.cap_delta - release.granted_delta


def _dataset_closed(history: Replayed, body: Body) -> None:
    _refuse_open_releases(history, body["label"])
    dataset = _open_dataset(history, body)
    dataset.closed = True


def _law_changed(history: Replayed, body: Body) -> None:
    _refuse_open_releases(history, body["label"])
    dataset = _open_dataset(history, body)
    if dataset.law is not Law.GDP:
        raise LedgerError("changes a law that is zcdp already")
    dataset.law, dataset.statement = Law.ZCDP, None
    dataset.cap /= 2
    dataset.allotted /= 2


def _cap_raised(history: Replayed, body: Body) -> None:
    dataset = _open_dataset(history, body)
    cap, delta = from_text(body["dataset"]["cap"]), from_text(body["dataset"]["cap_delta"])
    if cap < dataset.cap or delta < dataset.cap_delta or (cap, delta) == (dataset.cap, dataset.cap_delta):
        raise LedgerError("raises a cap to one that is not higher")
    dataset.cap, dataset.cap_delta, dataset.raised = cap, delta, body["number"]
    dataset.statement = body["dataset"]["statement"]
    for release in history.releases.values():
        if release.label == body["label"]:
            history.standings.setdefault(replaced(release.entry), body["number"])
    text = raise_text(str(history.ledger), body["label"], cap_of(dataset.law, cap, delta), body["previous"])
    _approved(history, body["approval"], text)


def _superseded(history: Replayed, body: Body) -> None:
    release = _own_release(history, body["about"], body["label"])
    newer = _own_release(history, body["by"], body["label"])
    if newer.entry <= release.entry or release.superseded_by is not None:
        raise LedgerError("supersedes a release for the second time, or by one that is not later")
    release.superseded_by = body["by"]
    history.standings[superseded(release.entry, newer.entry)] = body["number"]


def _withdrawn(history: Replayed, body: Body) -> None:
    release = _own_release(history, body["about"], body["label"])
    if release.withdrawn:
        raise LedgerError("withdraws a release for the second time")
    release.withdrawn = True
    history.standings[withdrawn(release.entry)] = body["number"]


def _disjoint(history: Replayed, body: Body) -> None:
    others = body["others"]
    if others != sorted(set(others)) or body["label"] in others:
        raise LedgerError("names its own dataset or one twice")
    if history.whole and not history.datasets.keys() >= set(others):
        raise LedgerError("names a dataset that was never opened")
    _approved(history, body["approval"], disjoint_text(str(history.ledger), body["label"], others))


def _reserved(history: Replayed, body: Body) -> None:
    release = _open_release(history, body)
    earlier = release.questions.get(body["request"])
    if earlier is not None and (earlier.status != "voided" or earlier.digest != body["digest"]):
        raise LedgerError("uses a request id again")
    if body["grant"] != body["number"]:
        raise LedgerError("is a reservation that names another entry as its grant")
    event = _event_from(body["event"])
    prices = price(event, release.law), delta_price(event)
    if prices != (from_text(body["amount"]), from_text(body["delta"])):
        raise LedgerError("states another price than its event has")
    if not describes(body["question"], event):
        raise LedgerError("describes another question than its event prices")
    _check_unit(body, release)
    release.questions[body["request"]] = ReplayedQuestion(
        "reserved", body["digest"], body["amount"], body["delta"], body["grant"]
    )
    release.granted += from_text(body["amount"])
    release.granted_delta += from_text(body["delta"])


def _started(history: Replayed, body: Body) -> None:
    _moved(history, body, "reserved")


def _settled(history: Replayed, body: Body) -> None:
    release = _moved(history, body, "started")
    release.settled += from_text(body["amount"])
    release.settled_delta += from_text(body["delta"])
    history.answers[body["number"]] = body["answer"]


def _voided(history: Replayed, body: Body) -> None:
    release = _moved(history, body, "reserved")
    release.granted -= from_text(body["amount"])
    release.granted_delta -= from_text(body["delta"])


def _moved(history: Replayed, body: Body, status: str) -> ReplayedRelease:
    release = _open_release(history, body)
    _check_unit(body, release)
    question = release.questions.get(body["request"])
    if question is None or question.status != status:
        raise LedgerError(f"says {body['kind']} of a question that is not {status}")
    stated = (body["digest"], body["amount"], body["delta"], body["grant"])
    if stated != (question.digest, question.amount, question.delta, question.grant):
        raise LedgerError("names another question, price or grant than its reservation")
    question.status = body["kind"]
    return release


def _open_release(history: Replayed, body: Body) -> ReplayedRelease:
    release = _own_release(history, body["release"], body["label"])
    if release.closed:
        raise LedgerError("belongs to a release that is closed")
    return release


def _own_release(history: Replayed, release_id: str, label: str) -> ReplayedRelease:
    release = history.releases.get(release_id)
    if release is None or release.label != label:
        raise LedgerError("belongs to a release that its dataset never allotted")
    return release


def _open_dataset(history: Replayed, body: Body) -> ReplayedDataset:
    dataset = history.datasets[body["label"]]
    if dataset.closed:
        raise LedgerError("belongs to a dataset that is closed")
    return dataset


def _refuse_open_releases(history: Replayed, label: str) -> None:
    if any(release.label == label and not release.closed for release in history.releases.values()):
        raise LedgerError("comes while a release of its dataset is open")


def _approved(history: Replayed, note: str, text: str) -> None:
    try:
        signed, _ = split_note(note)
    except VerificationFailed as error:
        raise LedgerError(f"has a broken approval: {error}") from None
    if signed != text:
        raise LedgerError("has an approval of something else")
    history.approvals.append(note)


def _check_unit(body: Body, release: ReplayedRelease) -> None:
    if body["unit"] != release.law.unit:
        raise LedgerError("is in the unit of another law")


def _event_from(value: Body) -> Event:
    if value["kind"] == "gaussian":
        return GaussianEvent(from_text(value["sensitivity_squared"]), from_text(value["variance"]))
    if value["kind"] == "threshold":
        sensitivity_squared, variance = from_text(value["sensitivity_squared"]), from_text(value["variance"])
        return ThresholdEvent(sensitivity_squared, variance, value["threshold"], value["names"])
    return SelectionEvent(from_text(value["epsilon"]))


RULES: Mapping[str, Callable[[Replayed, Body], None]] = MappingProxyType(
    {
        "dataset-opened": _opened,
        "look": _looked,
        "allotted": _allotted,
        "reserved": _reserved,
        "started": _started,
        "settled": _settled,
        "voided": _voided,
        "closed": _closed,
        "dataset-closed": _dataset_closed,
        "law-changed": _law_changed,
        "cap-raised": _cap_raised,
        "superseded": _superseded,
        "withdrawn": _withdrawn,
        "disjoint": _disjoint,
    }
)
"""What each kind of entry does; each raises LedgerError when the entry may not come."""
