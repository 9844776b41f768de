"""The sums of a release's ledger lines, added up a second time with integers only, from the questions themselves.

The first code is the ledger's replay (``accounting.ledger.history``). This one shares nothing with it: it takes Δ² from
the question and the unit, the price from Δ² and the noise, δ from the threshold by another special function, and adds
numerators over a common denominator.
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
        dataset_delta: the dataset's cap of δ; this and the following ones are the same for δ.
    """

    law: str
    dataset_cap: str
    cap: str
    granted: str
    settled: str
    allotted: str
    dataset_delta: str
    cap_delta: str
    granted_delta: str
    settled_delta: str
    allotted_delta: str


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


Cost: TypeAlias = tuple[Ratio, Ratio]
"""An amount in the law's unit, and a δ."""


@dataclass(slots=True)
class _Release:
    cap: Cost
    granted: dict[str, Cost] = field(default_factory=dict)
    settled: list[Cost] = field(default_factory=list)
    closed: bool = False


@dataclass(slots=True)
class _Tally:
    file: str
    law: str = ""
    rows: int = 0
    cap: Cost = ((0, 1), (0, 1))
    releases: dict[str, _Release] = field(default_factory=dict)

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add one entry."""
        kind = entry["kind"]
        if kind == "dataset-opened":
            self.law, self.rows = entry["dataset"]["law"], entry["privacy_unit"]["max_rows"]
            self.cap = _ratio(entry["dataset"]["cap"]), _ratio(entry["dataset"]["cap_delta"])
        elif kind == "cap-raised":
            self.cap = _ratio(entry["dataset"]["cap"]), _ratio(entry["dataset"]["cap_delta"])
        elif kind == "law-changed":
            self._halve()
        elif kind == "allotted":
            self.releases[entry["release"]] = _Release((_ratio(entry["amount"]), _ratio(entry["delta"])))
        elif kind in ("reserved", "voided", "settled", "closed"):
            self._move(kind, entry, self.releases[entry["release"]])

    def _move(self, kind: str, entry: Mapping[str, Any], release: _Release) -> None:
        if kind == "reserved":
            own, delta = _price(entry["question"], self.rows, self.law), _ratio(entry["delta"])
            if not _equal(own, _ratio(entry["amount"])) or not _costs(entry["question"], self.rows, delta):
                reason = f"entry {entry['number']} charges another price than its question has"
                raise VerificationFailed(reason, file=self.file)
            release.granted[entry["request"]] = own, delta
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
            release.granted = {request: _half(cost) for request, cost in release.granted.items()}
            release.settled = [_half(cost) for cost in release.settled]

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
        caps = self.cap, own.cap, _add(own.granted.values()), _add(own.settled), _add(taken)
        return Sums(self.law, *(_text(amount) for amount, _ in caps), *(_text(delta) for _, delta in caps))


def _price(question: Mapping[str, Any], rows: int, law: str) -> Ratio:
    """Return ρ or μ² of a question: Δ²/(2σ²) or Δ²/σ² for Gaussian noise, ε²/8 or 11ε²/28 for a selection.

    With k rows a unit, Δ² is k² times a number of tables; for names it is k, one for each of k names.
    """
    if question["question"] == "select":
        top, bottom = _ratio(question["epsilon"])
        return (top * top, 8 * bottom * bottom) if law == "zcdp" else (11 * top * top, 28 * bottom * bottom)
    kind = question["question"]
    tables = {"marginals": "cliques", "errors": "candidates"}.get(kind)
    sensitivity_squared = rows * rows * (1 if tables is None else _length(question[tables]))
    if kind == "categories":
        sensitivity_squared = rows
    elif kind == "errors":
        sensitivity_squared *= question["grid"] * question["grid"]
    elif kind == "votes":
        sensitivity_squared *= question["votes"]
    top, bottom = _ratio(question["variance"])
    return sensitivity_squared * bottom, (2 * top if law == "zcdp" else top)


def _costs(question: Mapping[str, Any], rows: int, charged: Ratio) -> bool:
    """Say whether a question's δ is the one charged: 0, or rows·P(N(0, 1) ≥ (τ − 3/2)/σ), rounded up a little."""
    if question["question"] != "categories":
        return charged[0] == 0
    from mpmath.ctx_mp import MPContext

    mp = MPContext()
    mp.prec = 200
    top, bottom = _ratio(question["variance"])
    own = min(1, rows * mp.ncdf(-mp.mpf(2 * question["threshold"] - 3) / (2 * mp.sqrt(mp.mpf(top) / bottom))))
    return bool(own <= mp.mpf(charged[0]) / charged[1] <= own * (1 + mp.mpf(2) ** -39) + rows * mp.mpf(2) ** -1000)


def _length(items: Any) -> int:  # noqa: ANN401 - a list, or the length that stands for a long one
    return int(items["items"]) if isinstance(items, dict) else len(items)


def _ratio(text: str) -> Ratio:
    top, bottom = text.split("/")
    return int(top), int(bottom)


def _add(costs: Iterable[Cost]) -> Cost:
    listed = list(costs)
    return _sum([amount for amount, _ in listed]), _sum([delta for _, delta in listed])


def _sum(ratios: Sequence[Ratio]) -> Ratio:
    common = math.lcm(*(bottom for _, bottom in ratios)) if ratios else 1
    return sum(top * (common // bottom) for top, bottom in ratios), common


def _half(cost: Cost) -> Cost:
    (top, bottom), delta = cost
    return (top, 2 * bottom), delta


def _fits(cost: Cost, cap: Cost) -> bool:
    return all(one[0] * other[1] <= other[0] * one[1] for one, other in zip(cost, cap, strict=True))


def _equal(one: Ratio, other: Ratio) -> bool:
    return one[0] * other[1] == other[0] * one[1]


def _text(ratio: Ratio) -> str:
    divisor = math.gcd(*ratio)
    return f"{ratio[0] // divisor}/{ratio[1] // divisor}"
