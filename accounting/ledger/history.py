"""The replay of a ledger from its lines alone: every rule of the writer, checked again by other code.

The writer adds to the totals of the last entry; the replay adds up the prices of all entries and compares.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from accounting.budget import Law
from accounting.errors import ConfigError, LedgerError
from accounting.events import Event, GaussianEvent, SelectionEvent, price
from accounting.exact import from_text, to_text
from accounting.ledger.content import THEOREMS, from_line

Body = Mapping[str, Any]
"""An entry's fields; :func:`from_line` has checked the type of each."""


@dataclass(slots=True)
class ReplayedQuestion:
    """A question as its entries so far tell it."""

    status: str
    digest: str
    amount: str
    grant: int


@dataclass(slots=True)
class ReplayedRelease:
    """A release as its entries so far tell it; amounts in the unit of its law."""

    label: str
    law: Law
    cap: Fraction
    cap_delta: Fraction
    granted: Fraction = Fraction(0)
    granted_delta: Fraction = Fraction(0)
    settled: Fraction = Fraction(0)
    settled_delta: Fraction = Fraction(0)
    closed: bool = False
    questions: dict[str, ReplayedQuestion] = field(default_factory=dict)


@dataclass(slots=True)
class ReplayedDataset:
    """A dataset as its entries so far tell it; amounts in the unit of its law."""

    law: Law
    cap: Fraction
    cap_delta: Fraction
    allotted: Fraction = Fraction(0)
    allotted_delta: Fraction = Fraction(0)
    purpose: str | None = None
    looks: int = 0
    closed: bool = False


class History:
    """Everything that a sequence of entries says, rebuilt and checked line by line.

    Args:
        whole: whether the lines are the whole ledger, so that no number may be missing; else one dataset's export.

    ``datasets``, ``releases``, ``heads`` and ``answers`` (entry number → SHA-256) hold what was read so far.
    """

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole
        self.last = -1
        self.ledger: str | None = None
        self.datasets: dict[str, ReplayedDataset] = {}
        self.releases: dict[str, ReplayedRelease] = {}
        self.heads: dict[str, str] = {}
        self.answers: dict[int, str] = {}

    def apply(self, line: bytes) -> Body:
        """Read the next entry and check that it follows from those before.

        Raises:
            LedgerError: names the entry and what is wrong with it.
        """
        try:
            body = from_line(line)
            self._check_place(body)
            _RULES[str(body["kind"])](self, body)
            self._check_totals(body)
        except (LedgerError, ConfigError) as error:
            raise LedgerError(f"entry {self.last + 1}: {error}") from None
        self.last = int(str(body["number"]))
        self.heads[str(body["label"])] = hashlib.sha256(line).hexdigest()
        return body

    def check_answers(self, answers: Iterable[tuple[int, bytes]]) -> None:
        """Check that the stored answers are exactly those of the settled entries.

        Raises:
            LedgerError: an answer is missing, damaged or belongs to no settled entry.
        """
        missing = dict(self.answers)
        for entry, answer in answers:
            if missing.pop(entry, None) != hashlib.sha256(answer).hexdigest():
                raise LedgerError(f"entry {entry}: the stored answer is not the one that was settled")
        if missing:
            raise LedgerError(f"entry {min(missing)}: the answer that was settled is missing")

    def _check_place(self, body: Body) -> None:
        if body["number"] <= self.last or (self.whole and body["number"] != self.last + 1):
            raise LedgerError(f"the entry found here says that it is entry {body['number']}")
        if body["previous"] != self.heads.get(body["label"]):
            raise LedgerError("does not continue the chain of its dataset; an entry was changed, removed or inserted")
        if body["kind"] != "dataset-opened" and body["label"] not in self.datasets:
            raise LedgerError("belongs to a dataset that was never opened")

    def _check_totals(self, body: Body) -> None:
        dataset = self.datasets[body["label"]]
        law = dataset.law
        if "dataset" in body and body["dataset"] != {
            "law": law.value,
            "cap": to_text(dataset.cap),
            "cap_delta": to_text(dataset.cap_delta),
            "allotted": to_text(dataset.allotted),
            "allotted_delta": to_text(dataset.allotted_delta),
            "purpose": dataset.purpose,
            "looks": dataset.looks,
            "closed": dataset.closed,
        }:
            raise LedgerError("states other totals of its dataset than its history gives")
        if dataset.allotted > dataset.cap or dataset.allotted_delta > dataset.cap_delta:
            raise LedgerError("allots more than the dataset's cap")
        if "totals" in body:
            release = self.releases[body["release"]]
            if body["totals"] != {
                "granted": to_text(release.granted),
                "granted_delta": to_text(release.granted_delta),
                "settled": to_text(release.settled),
                "settled_delta": to_text(release.settled_delta),
                "closed": release.closed,
            }:
                raise LedgerError("states other totals of its release than its history gives")
            if release.granted > release.cap or release.granted_delta > release.cap_delta:
                raise LedgerError("grants more than the release's cap")
        if body["theorem"] != THEOREMS[law]:
            raise LedgerError("names the filter theorem of another law")

    def _opened(self, body: Body) -> None:
        if body["label"] in self.datasets:
            raise LedgerError("opens a dataset that is open already")
        if self.ledger not in (None, body["ledger"]):
            raise LedgerError("comes from another ledger")
        self.ledger = body["ledger"]
        stated = body["dataset"]
        self.datasets[body["label"]] = ReplayedDataset(
            Law(stated["law"]), from_text(stated["cap"]), from_text(stated["cap_delta"])
        )

    def _looked(self, body: Body) -> None:
        self.datasets[body["label"]].looks += 1

    def _allotted(self, body: Body) -> None:
        dataset = self.datasets[body["label"]]
        if body["release"] in self.releases:
            raise LedgerError("allots a release for the second time")
        if dataset.closed:
            raise LedgerError("allots from a closed dataset")
        if dataset.purpose not in (None, body["purpose"]):
            raise LedgerError("mixes purposes in one dataset")
        if body["unit"] != dataset.law.unit:
            raise LedgerError("is in the unit of another law")
        if body["purpose"] == "release" and (body["noise"] != "os" or body["commitment"] is None):
            raise LedgerError("allots a release without operating system noise or without a commitment")
        if (body["commitment"] is None) != (body["salt_digest"] is None):
            raise LedgerError("has a commitment without a salt, or a salt without a commitment")
        release = ReplayedRelease(body["label"], dataset.law, from_text(body["amount"]), from_text(body["delta"]))
        if release.cap == 0:
            raise LedgerError("allots nothing")
        self.releases[body["release"]] = release
        dataset.purpose = body["purpose"]
        dataset.allotted += release.cap
        dataset.allotted_delta += release.cap_delta

    def _closed(self, body: Body) -> None:
        release = self._open_release(body)
        dataset = self.datasets[release.label]
        release.closed = True
        dataset.allotted -= release.cap - release.granted
        dataset.allotted_delta -= release.cap_delta - release.granted_delta

    def _reserved(self, body: Body) -> None:
        release = self._open_release(body)
        earlier = release.questions.get(body["request"])
        if earlier is not None and (earlier.status != "voided" or earlier.digest != body["digest"]):
            raise LedgerError("uses a request id again")
        if body["grant"] != body["number"]:
            raise LedgerError("is a reservation that names another entry as its grant")
        if price(_event_from(body["event"]), release.law) != from_text(body["amount"]):
            raise LedgerError("states another price than its event has")
        if not _describes(body["question"], body["event"]):
            raise LedgerError("describes another question than its event prices")
        self._check_unit(body, release)
        release.questions[body["request"]] = ReplayedQuestion("reserved", body["digest"], body["amount"], body["grant"])
        release.granted += from_text(body["amount"])
        release.granted_delta += from_text(body["delta"])

    def _started(self, body: Body) -> None:
        self._moved(body, "reserved")

    def _settled(self, body: Body) -> None:
        release = self._moved(body, "started")
        release.settled += from_text(body["amount"])
        release.settled_delta += from_text(body["delta"])
        self.answers[body["number"]] = body["answer"]

    def _voided(self, body: Body) -> None:
        release = self._moved(body, "reserved")
        release.granted -= from_text(body["amount"])
        release.granted_delta -= from_text(body["delta"])

    def _moved(self, body: Body, status: str) -> ReplayedRelease:
        release = self._open_release(body)
        self._check_unit(body, release)
        question = release.questions.get(body["request"])
        if question is None or question.status != status:
            raise LedgerError(f"says {body['kind']} of a question that is not {status}")
        if (body["digest"], body["amount"], body["grant"]) != (question.digest, question.amount, question.grant):
            raise LedgerError("names another question, price or grant than its reservation")
        question.status = body["kind"]
        return release

    def _open_release(self, body: Body) -> ReplayedRelease:
        release = self.releases.get(body["release"])
        if release is None or release.label != body["label"]:
            raise LedgerError("belongs to a release that its dataset never allotted")
        if release.closed:
            raise LedgerError("belongs to a release that is closed")
        return release

    def _check_unit(self, body: Body, release: ReplayedRelease) -> None:
        if body["unit"] != release.law.unit:
            raise LedgerError("is in the unit of another law")
        if body["delta"] != "0/1":
            raise LedgerError("charges a delta that no event has")


_RULES: Mapping[str, Callable[[History, Body], None]] = MappingProxyType(
    {
        "dataset-opened": History._opened,
        "look": History._looked,
        "allotted": History._allotted,
        "reserved": History._reserved,
        "started": History._started,
        "settled": History._settled,
        "voided": History._voided,
        "closed": History._closed,
    }
)


def _event_from(value: Body) -> Event:
    if value["kind"] == "gaussian":
        return GaussianEvent(from_text(value["sensitivity_squared"]), from_text(value["variance"]))
    return SelectionEvent(from_text(value["epsilon"]))


def _describes(question: Body, event: Body) -> bool:
    name = "variance" if event["kind"] == "gaussian" else "epsilon"
    return name in question and question[name] == event[name]
