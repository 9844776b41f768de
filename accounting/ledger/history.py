"""The replay of a ledger from its lines alone: form, order, chains, rules and every total that an entry states."""

import hashlib
from collections.abc import Iterable

from accounting.errors import ConfigError, LedgerError
from accounting.ledger.amounts import to_text
from accounting.ledger.content import THEOREMS, from_line
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.rules import RULES, Body, Replayed


class History(Replayed):
    """Everything that a sequence of entries says, rebuilt and checked line by line.

    Args:
        whole: whether the lines are the whole ledger, so that no number may be missing; else one dataset's export.

    ``heads`` holds the SHA-256 of each dataset's last entry, ``last`` the number of the last entry of all.
    """

    __slots__ = ("heads", "last")

    def __init__(self, *, whole: bool = True) -> None:
        super().__init__(whole)
        self.last = -1
        self.heads: dict[str, str] = {}

    def apply(self, line: bytes) -> Body:
        """Read the next entry and check that it follows from those before.

        Raises:
            LedgerDamaged: names the entry and what is wrong with it.
        """
        number = self.last + 1
        try:
            body: Body = from_line(line)
            number = number if self.whole else body["number"]
            self._check_place(body)
            RULES[body["kind"]](self, body)
            self._check_totals(body)
        except LedgerDamaged as error:
            raise LedgerDamaged(error.kind, str(error), entry=number) from None
        except (LedgerError, ConfigError) as error:
            raise LedgerDamaged(Damage.RULES, str(error), entry=number) from None
        self.last = body["number"]
        self.heads[body["label"]] = hashlib.sha256(line).hexdigest()
        return body

    def check_answers(self, answers: Iterable[tuple[int, bytes]]) -> None:
        """Check that the stored answers are exactly those of the settled entries.

        Raises:
            LedgerDamaged: an answer is missing, damaged or belongs to no settled entry.
        """
        missing = dict(self.answers)
        for entry, answer in answers:
            if missing.pop(entry, None) != hashlib.sha256(answer).hexdigest():
                raise LedgerDamaged(Damage.ANSWER, "the stored answer is not the one that was settled", entry=entry)
        if missing:
            raise LedgerDamaged(Damage.ANSWER, "the answer that was settled is missing", entry=min(missing))

    def _check_place(self, body: Body) -> None:
        if body["number"] <= self.last:
            raise LedgerDamaged(Damage.REORDERED, f"says that it is entry {body['number']}; entries were reordered")
        if self.whole and body["number"] != self.last + 1:
            raise LedgerDamaged(Damage.MISSING, f"is missing; entry {body['number']} stands in its place")
        if body["previous"] != self.heads.get(body["label"]):
            raise LedgerDamaged(
                Damage.CHAIN, "does not continue the chain of its dataset; an entry was changed, removed or inserted"
            )
        if body["kind"] != "dataset-opened" and body["label"] not in self.datasets:
            raise LedgerError("belongs to a dataset that was never opened")

    def _check_totals(self, body: Body) -> None:
        dataset = self.datasets[body["label"]]
        law = dataset.law
        if "dataset" in body and body["dataset"] != {
            "law": law.value,
            "statement": dataset.statement,
            "cap": to_text(dataset.cap),
            "cap_delta": to_text(dataset.cap_delta),
            "allotted": to_text(dataset.allotted),
            "allotted_delta": to_text(dataset.allotted_delta),
            "purpose": dataset.purpose,
            "looks": dataset.looks,
            "raised": dataset.raised,
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
