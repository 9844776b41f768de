"""The plain values that the ledger gives and takes; all frozen, all public unless a line says otherwise."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, cast

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.canonical import Json
from accounting.unit import PrivacyUnit

Purpose = Literal["release", "test", "audit"]
PURPOSES: tuple[Purpose, ...] = ("release", "test", "audit")

Commitment: TypeAlias = Callable[[bytes], str]
"""Computes the SHA-256, in hexadecimal, of a salt and the canonical bytes of the private rows; held by the curator."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The one-use permission for one question; its price is durably charged.

    Args:
        release_id: the release whose allotment paid.
        request_id: the question's number within the release.
        digest: the SHA-256 that binds the request id to one question.
        entry: the number of the ``reserved`` entry.
        amount: the price in the law's unit (ρ or μ²).
        delta: the price in δ.
    """

    release_id: str
    request_id: str
    digest: str
    entry: int
    amount: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer of a question that was settled before; giving it again costs nothing.

    Args:
        entry: the number of the ``settled`` entry.
        answer: the bytes given to ``settle``, checked against the entry's SHA-256.
    """

    entry: int
    answer: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger.

    Args:
        number: its place in the whole ledger, from 0; also its leaf in the Merkle tree.
        line: its canonical JSON, the bytes that are hashed and exported.
    """

    number: int
    line: bytes

    @property
    def body(self) -> dict[str, Json]:
        """The entry's fields, freshly parsed."""
        return cast("dict[str, Json]", json.loads(self.line))


@dataclass(frozen=True, slots=True)
class ReleaseState:
    """What a release was allotted and what became of it; amounts in the unit of its law (ρ or μ²).

    Args:
        release_id: the release.
        label: its dataset.
        purpose: "release", "test" or "audit".
        noise: the name of the noise source.
        cap: the allotment: the release's guarantee.
        granted: the sum of all prices charged: settled, in flight and lost in a crash.
        granted_delta: the same for δ.
        settled: the part of ``granted`` whose answers are stored.
        settled_delta: the same for δ.
        closed: whether its never-granted part was freed and no further question is taken.
        entry: the number of its ``allotted`` entry.
        commitment: the salted commitment to its rows, or None.
        replaced: whether the dataset's cap was raised afterwards, which replaces the guarantee of its manifest.
        superseded_by: the release that replaces it, or None.
        withdrawn: whether it was withdrawn.
    """

    release_id: str
    label: str
    purpose: Purpose
    noise: str
    cap: Cap
    granted: Fraction
    granted_delta: Fraction
    settled: Fraction
    settled_delta: Fraction
    closed: bool
    entry: int
    commitment: str | None
    replaced: bool
    superseded_by: str | None
    withdrawn: bool

    @property
    def in_flight(self) -> Fraction:
        """What is charged but has no stored answer: running questions, or lost in a crash."""
        return self.granted - self.settled

    @property
    def allotted(self) -> Fraction:
        """What the release takes from the dataset's cap: its cap while open, what was granted once closed."""
        return self.granted if self.closed else self.cap.value


@dataclass(frozen=True, slots=True)
class DatasetState:
    """What a dataset's budget is and what became of it; amounts in the unit of its law (ρ or μ²).

    Args:
        label: the dataset.
        unit: the privacy unit of everything released from it.
        law: its composition law.
        cap: the dataset's guarantee.
        statement: the (ε, δ) for which the cap was computed, or None, as after a change of law.
        allotted: the sum taken by releases: caps of open ones, granted parts of closed ones.
        allotted_delta: the same for δ.
        settled: the sum of settled prices.
        in_flight: the sum of prices that were charged and have no stored answer.
        purpose: what its releases are for, or None before the first.
        closed: whether no further release is taken.
        releases: every release, in order of allotment.
        looks: the number of unpaid curator-only looks.
        raised: the entry that last raised the cap, or None.
        disjoint: the labels that share no people with this one, as a steward signed.
        head: the SHA-256 of its last entry; names its whole history.
    """

    label: str
    unit: PrivacyUnit
    law: Law
    cap: Cap
    statement: EpsilonDelta | None
    allotted: Fraction
    allotted_delta: Fraction
    settled: Fraction
    in_flight: Fraction
    purpose: Purpose | None
    closed: bool
    releases: tuple[ReleaseState, ...]
    looks: int
    raised: int | None
    disjoint: tuple[str, ...]
    head: str

    @property
    def left(self) -> Fraction:
        """What can still be allotted; 0 once closed."""
        return Fraction(0) if self.closed else self.cap.value - self.allotted

    @property
    def delta_left(self) -> Fraction:
        """The δ that can still be allotted; 0 once closed."""
        return Fraction(0) if self.closed else self.cap.delta - self.allotted_delta


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a whole ledger in one hash.

    Args:
        ledger: the ledger's random identity.
        size: the number of entries.
        root: the RFC 6962 Merkle root over them, in hexadecimal.
    """

    ledger: str
    size: int
    root: str


@dataclass(frozen=True, slots=True)
class InFlight:
    """A question that is charged and has no stored answer: running now, or lost in a crash.

    Args:
        release_id: its release.
        request_id: its number within the release.
        status: "reserved" or "started".
        amount: its price in the law's unit (ρ or μ²).
        entry: the number of its ``reserved`` entry.
    """

    release_id: str
    request_id: str
    status: Literal["reserved", "started"]
    amount: Fraction
    entry: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """What closing a release after a crash found; nothing granted is given back.

    Args:
        release_id: the release, closed now.
        in_flight: its questions without an answer; they stay spent.
        freed: the never-granted part of its allotment, in the law's unit (ρ or μ²).
        freed_delta: the same for δ.
    """

    release_id: str
    in_flight: tuple[InFlight, ...]
    freed: Fraction
    freed_delta: Fraction
