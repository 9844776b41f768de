"""The ledger: many datasets, each with one unit, one law and one cap; the only place where budget is given out."""

import secrets
from collections.abc import Iterator, Mapping
from fractions import Fraction

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.canonical import Json, sha256
from accounting.errors import BudgetRefused, ConfigError
from accounting.exact import to_text
from accounting.filters import Filter
from accounting.ledger.account import Account, check_short
from accounting.ledger.content import check_context, check_digest, check_name, check_token
from accounting.ledger.history import History
from accounting.ledger.memory import MemoryStore
from accounting.ledger.merkle import leaf_hash, root_hash
from accounting.ledger.store import (
    NOTHING_GRANTED,
    Dataset,
    DatasetDraft,
    DatasetTotals,
    Reading,
    Release,
    Salt,
    Store,
)
from accounting.ledger.values import (
    PURPOSES,
    Commitment,
    DatasetState,
    Entry,
    Head,
    Purpose,
    ReleaseState,
)
from accounting.unit import NEIGHBOURING, PersonUnit, PrivacyUnit, RowUnit, unit_to_json


class Ledger:
    """A durable, append-only account of what was spent on whom.

    A dataset's cap holds its releases' allotments, an allotment holds its questions; each level is a filter, and caps,
    not spends, are the guarantee.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    @staticmethod
    def open(url: str, *, must_exist: bool = False) -> "Ledger":
        """Open the ledger at a URL, made anew where there is none.

        Args:
            url: ``sqlite:///path/ledger.db`` or ``postgresql+psycopg://…``.
            must_exist: refuse instead of making a new ledger.

        Raises:
            ConfigError: the URL is of another kind, or the ledger must exist and does not.
            LedgerError: it cannot be opened, is damaged, or was made by a newer program.
        """
        from accounting.ledger.sql import open_store

        return Ledger(open_store(url, must_exist=must_exist))

    @staticmethod
    def in_memory() -> "Ledger":
        """Make a ledger that lives in this process only, for audits and tests on planted tables."""
        return Ledger(MemoryStore())

    @property
    def identity(self) -> str:
        """The ledger's random identity, 64 hexadecimal digits."""
        return self._store.identity

    def open_dataset(
        self, label: str, *, unit: PrivacyUnit, cap: Cap, statement: EpsilonDelta | None = None
    ) -> DatasetState:
        """Open the one budget of a dataset.

        Args:
            label: names the people behind the data: a new version, extract or join of the same people keeps the label.
            unit: the privacy unit of everything released from it.
            cap: the most that all releases together may ever cost.
            statement: the (ε, δ) for which the cap was computed, for reports.

        Raises:
            ConfigError: the label has a budget already, or an argument is invalid; nothing was spent.
        """
        check_name(label, "label")
        if not isinstance(unit, (RowUnit, PersonUnit)):
            raise ConfigError("a privacy unit is a RowUnit or a PersonUnit")
        if not isinstance(cap, Cap):
            raise ConfigError("a dataset needs a Cap")
        if statement is not None and not isinstance(statement, EpsilonDelta):
            raise ConfigError("a statement is an EpsilonDelta or None")
        check_short(cap.value, "cap")
        check_short(cap.delta, "cap's delta")
        fields: dict[str, Json] = {
            "ledger": self._store.identity,
            "privacy_unit": unit_to_json(unit),
            "neighbouring": NEIGHBOURING,
            "statement": None
            if statement is None
            else {"epsilon": to_text(statement.epsilon), "delta": to_text(statement.delta)},
        }
        totals = DatasetTotals(cap, Fraction(0), Fraction(0), None, 0, closed=False)
        with self._store.write() as ledger:
            if ledger.dataset(label) is not None:
                raise ConfigError(
                    f"dataset {label!r} has a budget already; a dataset has one budget for ever, see its ledger"
                )
            ledger.append(DatasetDraft("dataset-opened", label, totals, fields, None, None))
        return self.dataset(label)

    def dataset(self, label: str) -> DatasetState:
        """Return what a dataset's budget is and what became of it.

        Raises:
            ConfigError: the label was never opened.
        """
        with self._store.read() as view:
            dataset = _known(view, label)
            return _dataset_state(dataset, view.releases(label), view.head(label))

    def datasets(self) -> tuple[str, ...]:
        """Return the labels in order of opening."""
        with self._store.read() as view:
            return view.labels()

    def allot(
        self,
        label: str,
        release_id: str,
        cap: Cap,
        *,
        purpose: Purpose,
        noise: str,
        context: Mapping[str, Json],
        commitment: Commitment | None,
    ) -> Account:
        """Allot a release its share of the dataset's cap, in one transaction, before its first question.

        Args:
            label: the dataset.
            release_id: a name that no release of this ledger has.
            cap: the release's guarantee; its law is the dataset's.
            purpose: "release", "test" or "audit"; one dataset has releases of one purpose only.
            noise: the noise source's name; a release needs "os".
            context: public facts on the allow-list, such as ``mechanism`` and ``code_version``.
            commitment: computes the salted hash of the rows; needed for a release.

        Raises:
            BudgetRefused: the cap does not fit into what is left, or the dataset is closed; nothing was spent.
            ConfigError: the arguments are invalid, or the rows are known under another label; nothing was spent.

        Privacy:
            The commitment is SHA-256 of a fresh 256-bit salt and the rows. Only the salt's own SHA-256 and the
            commitment are public; the salt stays in a private table, so nobody else can test a guess of the rows or
            compare releases.
        """
        check_name(release_id, "release id")
        _check_allotment(cap, purpose, noise, commitment)
        fields: dict[str, Json] = {
            "purpose": purpose,
            "noise": check_token(noise, "noise"),
            "unit": cap.law.unit,
            "amount": to_text(cap.value),
            "delta": to_text(cap.delta),
            "context": check_context(context),
            "commitment": None,
            "salt_digest": None,
        }
        secret = secrets.token_bytes(32)
        own = None
        compared: set[str] = set()
        if commitment is not None:
            own = fields["commitment"] = check_digest(commitment(secret), "commitment")
            fields["salt_digest"] = sha256(secret)
            with self._store.read() as view:
                known = view.salts()
            _refuse_known_rows(known, label, commitment, compared)
        with self._store.write() as ledger:
            dataset = _known(ledger, label)
            if ledger.release(release_id) is not None:
                raise ConfigError(
                    f"release {release_id!r} was allotted already; resume it or choose another release id"
                )
            if commitment is not None:
                _refuse_known_rows(ledger.salts(), label, commitment, compared)
            totals = _after_allotment(dataset, cap, purpose)
            ledger.append(DatasetDraft("allotted", label, totals, fields, release_id, NOTHING_GRANTED))
            if own is not None:
                ledger.keep_salt(Salt(label, release_id, own, secret))
        return self.resume(release_id)

    def resume(self, release_id: str) -> Account:
        """Return the account of a release that was allotted; settled questions give their stored answers again.

        Raises:
            ConfigError: the release was never allotted.
        """
        with self._store.read() as view:
            release = view.release(release_id)
            if release is None:
                raise ConfigError(f"release {release_id!r} is not in this ledger")
            return Account(self._store, release, _known(view, release.label).unit)

    def record_look(self, label: str, what: str, schema_digest: str) -> int:
        """Record an unpaid, curator-only look at the private table; return the entry's number.

        Args:
            label: the dataset.
            what: the kind of look, such as "schema-check".
            schema_digest: the digest of the schema at that time.
        """
        fields: dict[str, Json] = {
            "what": check_token(what, "a look's kind"),
            "schema_digest": check_digest(schema_digest, "schema digest"),
        }
        with self._store.write() as ledger:
            before = _known(ledger, label).totals
            totals = DatasetTotals(
                before.cap, before.allotted, before.allotted_delta, before.purpose, before.looks + 1, before.closed
            )
            return ledger.append(DatasetDraft("look", label, totals, fields, None, None))

    def entries(self, label: str | None = None) -> Iterator[Entry]:
        """Return the entries in order, of one dataset or of all."""
        with self._store.read() as view:
            yield from view.entries(label)

    def export(self, label: str | None = None) -> Iterator[bytes]:
        """Return the entries as canonical JSON lines, each ended by a line feed: exactly the bytes that are hashed."""
        for entry in self.entries(label):
            yield entry.line + b"\n"

    def verify(self) -> Head:
        """Replay the whole ledger: form, chain, every sum, every state change, every stored answer.

        Raises:
            LedgerError: names the entry and the kind of damage.
        """
        history = History()
        leaves: list[bytes] = []
        with self._store.read() as view:
            for entry in view.entries(None):
                history.apply(entry.line)
                leaves.append(leaf_hash(entry.line))
            history.check_answers(view.answers())
        return Head(self._store.identity, len(leaves), root_hash(leaves).hex())


def _known(view: Reading, label: str) -> Dataset:
    dataset = view.dataset(label)
    if dataset is None:
        raise ConfigError(f"no dataset {label!r} is open in this ledger; open its budget first")
    return dataset


def _check_allotment(cap: Cap, purpose: Purpose, noise: str, commitment: Commitment | None) -> None:
    if not isinstance(cap, Cap):
        raise ConfigError("a release needs a Cap")
    check_short(cap.value, "cap")
    check_short(cap.delta, "cap's delta")
    if purpose not in PURPOSES:
        raise ConfigError(f"a release's purpose is one of {', '.join(PURPOSES)}")
    if purpose == "release" and noise != "os":
        raise ConfigError("a release needs noise from the operating system; a seeded source is for purpose 'test' only")
    if purpose == "release" and commitment is None:
        raise ConfigError("a release needs the commitment to its rows")


def _after_allotment(dataset: Dataset, cap: Cap, purpose: Purpose) -> DatasetTotals:
    before = dataset.totals
    law: Law = before.cap.law
    if before.closed:
        raise BudgetRefused(
            f"dataset {dataset.label!r} is closed and takes no further release; nothing was spent",
            asked=cap.value,
            left=Fraction(0),
            unit=law.unit,
        )
    if cap.law is not law:
        raise ConfigError(f"dataset {dataset.label!r} composes under {law.value}; the release's cap must too")
    if before.purpose not in (None, purpose):
        raise ConfigError(
            f"dataset {dataset.label!r} has releases for purpose {before.purpose!r}; one dataset serves one purpose"
        )
    Filter(before.cap, before.allotted, before.allotted_delta).check(cap.value, cap.delta)
    return DatasetTotals(
        before.cap,
        before.allotted + cap.value,
        before.allotted_delta + cap.delta,
        purpose,
        before.looks,
        before.closed,
    )


def _refuse_known_rows(salts: list[Salt], label: str, commitment: Commitment, compared: set[str]) -> None:
    for salt in salts:
        if salt.label == label or salt.release_id in compared:
            continue
        if commitment(salt.salt) == salt.commitment:
            raise ConfigError(
                f"these rows were released under label {salt.label!r}; one group of people has one label and one cap"
            )
        compared.add(salt.release_id)


def _dataset_state(dataset: Dataset, releases: list[Release], head: str) -> DatasetState:
    totals = dataset.totals
    states = tuple(_release_state(release) for release in releases)
    return DatasetState(
        dataset.label,
        dataset.unit,
        totals.cap.law,
        totals.cap,
        dataset.statement,
        totals.allotted,
        totals.allotted_delta,
        sum((state.settled for state in states), Fraction(0)),
        sum((state.in_flight for state in states), Fraction(0)),
        totals.purpose,
        totals.closed,
        states,
        totals.looks,
        head,
    )


def _release_state(release: Release) -> ReleaseState:
    totals = release.totals
    return ReleaseState(
        release.release_id,
        release.label,
        release.purpose,
        release.noise,
        release.cap,
        totals.granted,
        totals.granted_delta,
        totals.settled,
        totals.settled_delta,
        totals.closed,
        release.commitment,
        None,
        withdrawn=False,
    )
