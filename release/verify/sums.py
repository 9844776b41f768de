"""The sums of a release's ledger lines, added up a second time with integers only, from the questions themselves.

The first code is the ledger's replay (``accounting.ledger.history``). This one shares nothing with it: it takes Δ² from
the question and the unit, the price from Δ² and the noise, and adds numerators over a common denominator.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from accounting.errors import VerificationFailed

Ratio: TypeAlias = tuple[int, int]
"""A numerator and a denominator."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What the lines add up to, as exact texts ``p/q`` in the law's unit (ρ or μ²).

    Args:
        law: ``zcdp`` or ``gdp``.
        dataset_cap: the dataset's cap.
        cap: the release's cap.
        granted: what the release's questions were charged, in flight or lost ones included.
        settled: the part whose answers are stored.
        allotted: what all releases together take from the dataset's cap.
    """

    law: str
    dataset_cap: str
    cap: str
    granted: str
    settled: str
    allotted: str


def sum_lines(lines: Sequence[bytes], release_id: str, *, file: str) -> Sums:
    """Add up one dataset's lines.

    Args:
        lines: the entries in order, canonical JSON.
        release_id: the release whose sums are wanted.
        file: the lines' file, for messages.

    Raises:
        VerificationFailed: a price that the question does not have, a delta, or a cap that is passed.
    """
    tally = _Tally(file)
    for line in lines:
        tally.take(json.loads(line))
    return tally.sums(release_id)


@dataclass(slots=True)
class _Release:
    cap: Ratio
    granted: dict[str, Ratio] = field(default_factory=dict)
    settled: list[Ratio] = field(default_factory=list)
    closed: bool = False


@dataclass(slots=True)
class _Tally:
    file: str
    law: str = ""
    rows: int = 0
    cap: Ratio = (0, 1)
    releases: dict[str, _Release] = field(default_factory=dict)

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add one entry."""
        kind = entry["kind"]
        if kind == "dataset-opened":
            self.law, self.rows = entry["dataset"]["law"], entry["privacy_unit"]["max_rows"]
            self.cap = _ratio(entry["dataset"]["cap"])
        elif kind == "cap-raised":
            self.cap = _ratio(entry["dataset"]["cap"])
        elif kind == "law-changed":
            self._halve()
        elif kind == "allotted":
            self.releases[entry["release"]] = _Release(_ratio(entry["amount"]))
        elif kind in ("reserved", "voided", "settled", "closed"):
            self._move(kind, entry, self.releases[entry["release"]])

    def _move(self, kind: str, entry: Mapping[str, Any], release: _Release) -> None:
        if kind == "reserved":
            own = _price(entry["question"], self.rows, self.law)
            if not _equal(own, _ratio(entry["amount"])) or entry["delta"] != "0/1":
                reason = f"entry {entry['number']} charges another price than its question has"
                raise VerificationFailed(reason, file=self.file)
            release.granted[entry["request"]] = own
        elif kind == "voided":
            del release.granted[entry["request"]]
        elif kind == "settled":
            release.settled.append(release.granted[entry["request"]])
        else:
            release.closed = True

    def _halve(self) -> None:
        """Turn every μ² into a ρ of half its size; no release is open."""
        self.law, self.cap = "zcdp", _half(self.cap)
        for release in self.releases.values():
            release.cap = _half(release.cap)
            release.granted = {request: _half(amount) for request, amount in release.granted.items()}
            release.settled = [_half(amount) for amount in release.settled]

    def sums(self, release_id: str) -> Sums:
        """Check every cap and return the sums."""
        taken = []
        for name, release in self.releases.items():
            granted = _add(release.granted.values())
            if not _fits(granted, release.cap):
                raise VerificationFailed(f"the questions of release {name!r} cost more than its cap", file=self.file)
            taken.append(granted if release.closed else release.cap)
        if not _fits(_add(taken), self.cap):
            raise VerificationFailed("the releases together take more than the dataset's cap", file=self.file)
        if release_id not in self.releases:
            raise VerificationFailed("the ledger's lines do not hold this release", file=self.file)
        own = self.releases[release_id]
        return Sums(
            law=self.law,
            dataset_cap=_text(self.cap),
            cap=_text(own.cap),
            granted=_text(_add(own.granted.values())),
            settled=_text(_add(own.settled)),
            allotted=_text(_add(taken)),
        )


def _price(question: Mapping[str, Any], rows: int, law: str) -> Ratio:
    """Return ρ or μ² of a question: Δ²/(2σ²) or Δ²/σ² for Gaussian noise, ε²/8 or 11ε²/28 for a selection."""
    if question["question"] == "select":
        top, bottom = _ratio(question["epsilon"])
        return (top * top, 8 * bottom * bottom) if law == "zcdp" else (11 * top * top, 28 * bottom * bottom)
    kind = question["question"]
    tables = {"total": None, "marginals": "cliques", "errors": "candidates", "votes": None}[kind]
    sensitivity_squared = rows * rows * (1 if tables is None else _length(question[tables]))
    if kind == "errors":
        sensitivity_squared *= question["grid"] * question["grid"]
    elif kind == "votes":
        sensitivity_squared *= question["votes"]
    top, bottom = _ratio(question["variance"])
    return sensitivity_squared * bottom, (2 * top if law == "zcdp" else top)


def _length(items: Any) -> int:  # noqa: ANN401 - a list, or the length that stands for a long one
    return int(items["items"]) if isinstance(items, dict) else len(items)


def _ratio(text: str) -> Ratio:
    top, bottom = text.split("/")
    return int(top), int(bottom)


def _add(ratios: Iterable[Ratio]) -> Ratio:
    listed = list(ratios)
    common = math.lcm(*(bottom for _, bottom in listed)) if listed else 1
    return sum(top * (common // bottom) for top, bottom in listed), common


def _half(amount: Ratio) -> Ratio:
    return amount[0], 2 * amount[1]


def _fits(amount: Ratio, cap: Ratio) -> bool:
    return amount[0] * cap[1] <= cap[0] * amount[1]


def _equal(one: Ratio, other: Ratio) -> bool:
    return one[0] * other[1] == other[0] * one[1]


def _text(ratio: Ratio) -> str:
    divisor = math.gcd(*ratio)
    return f"{ratio[0] // divisor}/{ratio[1] // divisor}"
