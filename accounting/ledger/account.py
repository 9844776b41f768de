"""One release's account: the only giver of grants."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from accounting.budget import Cap, Law
from accounting.canonical import Json, sha256
from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError, QueryRefused
from accounting.events import Event, GaussianEvent, SelectionEvent, ThresholdEvent, delta_price, price
from accounting.filters import Filter
from accounting.ledger.amounts import check_short, check_sum
from accounting.ledger.content import check_digest, check_name, check_question
from accounting.ledger.entries import describes
from accounting.ledger.store import (
    DatasetDraft,
    Question,
    QuestionDraft,
    Reading,
    Release,
    ReleaseTotals,
    Store,
    Writing,
)
from accounting.ledger.values import Grant, Purpose, Stored
from accounting.unit import PrivacyUnit

NOTHING_LEFT = Fraction(0)


class Account:
    """A release's allotment: checks, charges durably, and only then gives a grant.

    Any number of processes may hold accounts of one release or dataset at the same time: each step is one transaction.
    """

    __slots__ = ("_release", "_store", "_unit")

    def __init__(self, store: Store, release: Release, unit: PrivacyUnit) -> None:
        self._store = store
        self._release = release
        self._unit = unit

    @property
    def label(self) -> str:
        """The dataset that pays."""
        return self._release.label

    @property
    def release_id(self) -> str:
        """The release that was allotted."""
        return self._release.release_id

    @property
    def law(self) -> Law:
        """The law of all amounts here."""
        return self._release.cap.law

    @property
    def cap(self) -> Cap:
        """The allotment: the release's guarantee."""
        return self._release.cap

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit of the dataset."""
        return self._unit

    @property
    def purpose(self) -> Purpose:
        """What the release is for: "release", "test" or "audit"."""
        return self._release.purpose

    @property
    def noise(self) -> str:
        """The name of the noise source that the allotment states."""
        return self._release.noise

    @property
    def remaining(self) -> Fraction:
        """What is left of the cap, in the law's unit (ρ or μ²); 0 once closed."""
        with self._store.read() as view:
            totals = view.totals(self._release.release_id)
        return NOTHING_LEFT if totals.closed else self._release.cap.value - totals.granted

    def authorise(
        self, request_id: str, digest: str, event: Event, description: Mapping[str, Json], *, start: bool = False
    ) -> Grant | Stored:
        """Charge a question durably and give the grant for it, or give the stored answer of one asked before.

        Args:
            request_id: the question's number within the release.
            digest: the SHA-256 that binds the id to one question.
            event: what the question costs.
            description: its public description, as ``describe_query`` writes it.
            start: start the question in the same transaction, for an asker that touches the table at once; such a
                grant is never void, and one sync to the disk is saved.

        Raises:
            BudgetRefused: it does not fit, or the release is closed; nothing was spent.
            QueryRefused: the id is bound to another question, or a public field is invalid; nothing was spent.
            AnswerLost: granted earlier, and its answer is not stored: it stays spent and is not drawn again.
        """
        release = self._release
        check_name(request_id, "request id")
        check_digest(digest, "question's digest")
        question = check_question(description)
        law = release.cap.law
        amount, delta = _prices(event, law)
        if not describes(question, event):
            raise QueryRefused("the question's description states another noise than its event; nothing was spent")
        with self._store.write() as ledger:
            totals, earlier = ledger.step(release.label, release.release_id, request_id)
            if earlier is not None:
                stored = self._repeat(ledger, request_id, digest, earlier)
                if stored is not None:
                    return stored
            if totals.closed:
                raise BudgetRefused(
                    f"release {release.release_id!r} is closed and takes no further question; nothing was spent",
                    asked=amount,
                    left=NOTHING_LEFT,
                    unit=law.unit,
                )
            Filter(release.cap, totals.granted, totals.granted_delta).check(amount, delta)
            after = totals._replace(granted=totals.granted + amount, granted_delta=totals.granted_delta + delta)
            check_sum(after.granted)
            check_sum(after.granted_delta)
            entry = ledger.append(
                QuestionDraft(
                    "reserved",
                    release.label,
                    law,
                    release.release_id,
                    request_id,
                    digest,
                    amount,
                    delta,
                    None,
                    event,
                    question,
                    None,
                    after,
                )
            )
            grant = Grant(release.release_id, request_id, digest, entry, amount, delta)
            if start:
                ledger.append(self._draft("started", grant, after))
        return grant

    def start(self, grant: Grant) -> None:
        """Make durable that the private table is about to be touched; the grant can no longer be voided.

        Raises:
            LedgerError: the grant was already used or voided, is another release's, or the release is closed.
        """
        with self._store.write() as ledger:
            totals = self._granted(ledger, grant, "reserved")
            ledger.append(self._draft("started", grant, totals))

    def settle(self, grant: Grant, answer: bytes) -> int:
        """Store the answer and settle the question in one transaction; return the entry's number.

        Raises:
            LedgerError: the grant was not started, was settled before, or the release is closed; it stays spent.
        """
        if not isinstance(answer, bytes):
            raise ConfigError("an answer is stored as bytes")
        answer_digest = sha256(answer)
        with self._store.write() as ledger:
            totals = self._granted(ledger, grant, "started")
            settled, settled_delta = totals.settled + grant.amount, totals.settled_delta + grant.delta
            after = ReleaseTotals(totals.granted, totals.granted_delta, settled, settled_delta, closed=False)
            entry = ledger.append(self._draft("settled", grant, after, answer_digest))
            ledger.keep_answer(entry, answer)
        return entry

    def void(self, grant: Grant) -> None:
        """Take back a reservation whose question was never started; the budget is whole again.

        Raises:
            LedgerError: the question was started (then it stays spent), the grant is void, or the release is closed.
        """
        with self._store.write() as ledger:
            totals = self._granted(ledger, grant, "reserved")
            after = totals._replace(
                granted=totals.granted - grant.amount, granted_delta=totals.granted_delta - grant.delta
            )
            ledger.append(self._draft("voided", grant, after))

    def close(self) -> None:
        """Free what was never granted, for good; what was granted stays charged. Closing twice changes nothing."""
        with self._store.write() as ledger:
            close_release(ledger, self._release)

    def _repeat(self, ledger: Reading, request_id: str, digest: str, earlier: Question) -> Stored | None:
        if earlier.digest != digest:
            raise QueryRefused(
                f"request {request_id!r} of release {self.release_id!r} is bound to another question; nothing was spent"
            )
        if earlier.status == "voided":
            return None
        if earlier.status != "settled":
            raise AnswerLost(
                f"request {request_id!r} of release {self.release_id!r} was granted earlier (entry {earlier.grant}) "
                "and its answer is not stored: it stays spent and is not drawn again"
            )
        answer = ledger.answer(earlier.entry)
        if answer is None or sha256(answer) != earlier.answer:
            raise LedgerError(f"the stored answer of entry {earlier.entry} is damaged; verify the ledger")
        return Stored(earlier.entry, answer)

    def _granted(self, ledger: Reading, grant: Grant, status: str) -> ReleaseTotals:
        if not isinstance(grant, Grant) or grant.release_id != self.release_id:
            raise LedgerError("the grant is not of this release")
        totals, question = ledger.step(self.label, grant.release_id, grant.request_id)
        if question is None or (question.grant, question.digest, question.amount, question.delta) != (
            grant.entry,
            grant.digest,
            grant.amount,
            grant.delta,
        ):
            raise LedgerError("the grant is not in the ledger")
        if question.status != status:
            raise LedgerError(f"the grant of entry {grant.entry} is {question.status}, not {status}")
        if totals.closed:
            raise LedgerError(f"release {self.release_id!r} is closed; the grant of entry {grant.entry} stays spent")
        return totals

    def _draft(self, kind: str, grant: Grant, totals: ReleaseTotals, answer: str | None = None) -> QuestionDraft:
        return QuestionDraft(
            kind,  # type: ignore[arg-type]  # the four callers above name a status
            self._release.label,
            self._release.cap.law,
            grant.release_id,
            grant.request_id,
            grant.digest,
            grant.amount,
            grant.delta,
            grant.entry,
            None,
            None,
            answer,
            totals,
        )


def close_release(ledger: Writing, release: Release) -> None:
    """Close a release inside a transaction: free the never-granted part of its allotment in the dataset's totals."""
    totals = ledger.totals(release.release_id)
    dataset = ledger.dataset(release.label)
    if totals.closed or dataset is None:
        return
    before = dataset.totals
    after = replace(
        before,
        allotted=before.allotted - (release.cap.value - totals.granted),
        allotted_delta=before.allotted_delta - (release.cap.delta - totals.granted_delta),
    )
    closed = totals._replace(closed=True)
    ledger.append(DatasetDraft("closed", release.label, after, {}, release.release_id, closed))


def _prices(event: Event, law: Law) -> tuple[Fraction, Fraction]:
    if type(event) is GaussianEvent or type(event) is ThresholdEvent:
        check_short(event.sensitivity_squared, "squared sensitivity")
        check_short(event.variance, "variance")
    elif type(event) is SelectionEvent:
        check_short(event.epsilon, "epsilon")
    else:
        raise QueryRefused("the event is not in the closed table of priced events; nothing was spent")
    return price(event, law), delta_price(event)
