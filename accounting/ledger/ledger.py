"""The ledger: many datasets, each with one unit, one law and one cap; the only place where budget is given out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.ledger import stewardship
from accounting.ledger.account import Account, close_release
from accounting.ledger.allotment import Recognition, allotted, check_allotment, commitment_fields
from accounting.ledger.amounts import check_short
from accounting.ledger.content import check_digest, check_name, check_token
from accounting.ledger.evidence import consistency, evidence, make_checkpoint
from accounting.ledger.memory import MemoryStore
from accounting.ledger.states import dataset_state, in_flight, known_dataset, known_release
from accounting.ledger.store import NOTHING_GRANTED, DatasetDraft, DatasetTotals, Salt, Store
from accounting.ledger.values import Commitment, DatasetState, Entry, Head, InFlight, Purpose, Recovered
from accounting.ledger.verification import verify
from accounting.unit import NEIGHBOURING, PersonUnit, PrivacyUnit, RowUnit, unit_to_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class Ledger:
    """A durable, append-only account of what was spent on whom.

    A dataset's cap holds its releases' allotments, an allotment holds its questions; each level is a filter, and caps,
    not spends, are the guarantee. Every change is one transaction; any number of processes may work at once.
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
        }
        totals = DatasetTotals(cap, statement, Fraction(0), Fraction(0), None, 0, None, closed=False)
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
            return dataset_state(view, label)

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
        fields = check_allotment(cap, purpose, noise, context, commitment)
        recognition = Recognition(commitment, label) if commitment is not None else None
        fields |= commitment_fields(recognition)
        if recognition is not None:
            with self._store.read() as view:
                known = view.salts()
            recognition.refuse_known(known)  # slow for large tables, so before the others have to wait
        with self._store.write() as ledger:
            dataset = known_dataset(ledger, label)
            if ledger.release(release_id) is not None:
                raise ConfigError(
                    f"release {release_id!r} was allotted already; resume it or choose another release id"
                )
            if recognition is not None:
                recognition.refuse_known(ledger.salts())
            totals = allotted(dataset, cap, purpose)
            ledger.append(DatasetDraft("allotted", label, totals, fields, release_id, NOTHING_GRANTED))
            if recognition is not None:
                ledger.keep_salt(Salt(label, release_id, str(fields["commitment"]), recognition.salt))
        return self.resume(release_id)

    def resume(self, release_id: str) -> Account:
        """Return the account of a release that was allotted; settled questions give their stored answers again.

        Raises:
            ConfigError: the release was never allotted.
        """
        with self._store.read() as view:
            release = known_release(view, release_id)
            return Account(self._store, release, known_dataset(view, release.label).unit)

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
            before = known_dataset(ledger, label).totals
            totals = replace(before, looks=before.looks + 1)
            return ledger.append(DatasetDraft("look", label, totals, fields, None, None))

    def in_flight(self, label: str) -> tuple[InFlight, ...]:
        """Return a dataset's questions that are charged and have no stored answer, of open and closed releases."""
        with self._store.read() as view:
            known_dataset(view, label)
            return tuple(found for release in view.releases(label) for found in in_flight(view, release.release_id))

    def recover(self, release_id: str) -> Recovered:
        """Close a release whose process died, and say what was in flight; nothing granted is given back.

        A release that is still running is stopped by this: its next step is refused.

        Raises:
            ConfigError: the release was never allotted, or is closed already.
        """
        with self._store.write() as ledger:
            release = known_release(ledger, release_id)
            if release.totals.closed:
                raise ConfigError(f"release {release_id!r} is closed already; there is nothing to recover")
            lost = in_flight(ledger, release_id)
            close_release(ledger, release)
        freed = release.cap.value - release.totals.granted
        return Recovered(release_id, lost, freed, release.cap.delta - release.totals.granted_delta)

    def close_dataset(self, label: str) -> DatasetState:
        """Close a dataset for good: its open releases are closed with it, and no further one is taken."""
        with self._store.write() as ledger:
            stewardship.close_dataset(ledger, label)
        return self.dataset(label)

    def change_law(self, label: str) -> DatasetState:
        """Change a dataset's law from gdp to zcdp, once, at half of every μ²; all its releases must be closed.

        Raises:
            ConfigError: the law is zcdp already, or a release is open.
            BudgetRefused: the dataset is closed.

        Source:
            A μ-GDP mechanism is dominated by one Gaussian of sensitivity μ and noise 1 (Dong, Roth and Su 2022,
            theorem 2), whose Rényi divergence of order α is αμ²/2; so it is μ²/2-zCDP (Bun and Steinke 2016,
            definition 1.1).
        """
        with self._store.write() as ledger:
            stewardship.change_law(ledger, label)
        return self.dataset(label)

    def raise_cap(
        self,
        label: str,
        cap: Cap,
        *,
        continues: str,
        keys: "Sequence[Ed25519PrivateKey]",
        statement: EpsilonDelta | None = None,
    ) -> DatasetState:
        """Raise a dataset's cap, signed; this replaces the guarantee of everything released from it before.

        Args:
            label: the dataset.
            cap: the new cap, no part of it below the old one.
            continues: the dataset's head that the signers looked at.
            keys: the signers.
            statement: the (ε, δ) for which the new cap was computed.

        Raises:
            ConfigError: not a raise, another law, or the dataset moved on since that head; nothing changed.
            BudgetRefused: the dataset is closed.
        """
        with self._store.write() as ledger:
            stewardship.raise_cap(
                ledger, self.identity, label, cap, statement=statement, continues=continues, keys=keys
            )
        return self.dataset(label)

    def supersede(self, release_id: str, *, by: str) -> int:
        """Record that a release is replaced by a later one of the same dataset; return the entry's number."""
        with self._store.write() as ledger:
            return stewardship.supersede(ledger, release_id, by)

    def withdraw(self, release_id: str) -> int:
        """Record that a release is withdrawn; return the entry's number. What it cost stays spent."""
        with self._store.write() as ledger:
            return stewardship.withdraw(ledger, release_id)

    def declare_disjoint(self, label: str, others: Sequence[str], *, keys: "Sequence[Ed25519PrivateKey]") -> int:
        """Record, signed, that a dataset shares no people with others; return the entry's number.

        Without it, the budgets of two labels add up for a person who may be in both.
        """
        with self._store.write() as ledger:
            return stewardship.declare_disjoint(ledger, self.identity, label, others, keys)

    def entries(
        self, label: str | None = None, *, release_id: str | None = None, kind: str | None = None
    ) -> Iterator[Entry]:
        """Return the entries in order: of one dataset or of all, of or about one release, of one kind."""
        after = -1
        while page := self._page(label, after):
            for entry in page:
                body = entry.body if release_id is not None or kind is not None else {}
                if release_id in (None, body.get("release"), body.get("about")) and kind in (None, body.get("kind")):
                    yield entry
            after = page[-1].number

    def export(self, label: str | None = None, *, size: int | None = None) -> Iterator[bytes]:
        """Return the entries as canonical JSON lines, each ended by a line feed: exactly the bytes that are hashed.

        Args:
            label: one dataset, or None for all.
            size: only entries among the first ``size`` of the ledger, such as a checkpoint's.
        """
        for entry in self.entries(label):
            if size is None or entry.number < size:
                yield entry.line + b"\n"

    def checkpoint(self, keys: "Sequence[Ed25519PrivateKey]") -> str:
        """Sign the ledger's size and Merkle root as they are now; the note is stored and returned.

        Keep it where those who can write the ledger cannot: it makes a later change of anything before it visible.
        """
        with self._store.write() as ledger:
            return make_checkpoint(ledger, self.identity, keys)

    def checkpoints(self) -> tuple[str, ...]:
        """Return the notes that were signed here, in order."""
        with self._store.read() as view:
            return tuple(note for _, note in view.checkpoints())

    def evidence(self, label: str, checkpoint: str) -> dict[str, Json]:
        """Return what proves that a dataset's entries are in a checkpoint: the note and one inclusion proof.

        The proof is of the dataset's last entry before the checkpoint; the chain binds all earlier ones to it.
        """
        with self._store.read() as view:
            return evidence(view, self.identity, label, checkpoint)

    def consistency(self, older: str, newer: str) -> dict[str, Json]:
        """Return the proof that the ledger of one checkpoint is the beginning of that of another."""
        with self._store.read() as view:
            return consistency(view, self.identity, older, newer)

    def verify(
        self,
        *,
        checkpoints: Sequence[str] = (),
        excerpts: Sequence[Sequence[bytes]] = (),
        keys: "Sequence[Ed25519PublicKey]" = (),
    ) -> Head:
        """Replay the whole ledger: bytes, tree, chains, every sum and state change, stored answers and salts.

        Args:
            checkpoints: signed notes kept elsewhere; each must be signed by one of the keys.
            excerpts: the lines of ``ledger.jsonl`` of earlier releases.
            keys: the trusted public keys; the signatures of raised caps and statements about people are checked too.

        Raises:
            LedgerDamaged: names the kind of damage and the entry.
            VerificationFailed: a note is not signed as it must be, or an excerpt is itself damaged.
            ConfigError: checkpoints without keys.
        """
        with self._store.read() as view:
            return verify(view, self.identity, checkpoints=checkpoints, excerpts=excerpts, keys=keys)

    def _page(self, label: str | None, after: int) -> list[Entry]:
        with self._store.read() as view:
            return view.entries(label, after)
