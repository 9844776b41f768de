"""``domain.json``: the answers that measured domains follow from, so that anyone can repeat the search for them."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from accounting.budget import cap
from accounting.canonical import Json, canonical_bytes, plain_bytes, sha256
from accounting.errors import ConfigError, DpReleaseError, VerificationFailed
from accounting.exact import from_text
from accounting.queries import Answer, Query, answer_from_bytes, answer_to_bytes, query_digest
from accounting.schema import Schema
from accounting.unit import unit_from_json
from mechanisms.base import Asked
from mechanisms.domain import DomainSearch, FoundDomain, domain_cap
from release.record import DomainRecord
from release.statement import DOMAIN_NAME

if TYPE_CHECKING:
    from release.manifest import DomainPart, Manifest, QuestionPart

_FORM: Final[dict[str, Json]] = {"format": "dprelease.domain", "version": 1}


def write_domain(folder: Path, declared: Schema, transcript: Sequence[Asked]) -> None:
    """Write the schema before the search and every answer, in the order of asking; all of it was paid for."""
    answers = [json.loads(answer_to_bytes(asked.answer)) for asked in transcript]
    document: dict[str, Json] = {**_FORM, "declared": declared.to_json(), "answers": answers}
    (folder / DOMAIN_NAME).write_bytes(canonical_bytes(document))


def domain_record(search: DomainSearch, share: Fraction, found: FoundDomain) -> DomainRecord:
    """Say what was measured, for the manifest."""
    return DomainRecord(search.schema.digest, share, search.cap.delta, found.columns)


def check_domain(folder: Path, manifest: "Manifest") -> int:
    """Repeat the search from the released answers: its questions and its schema must be those of the manifest.

    The ledger's entries of the manifest's questions are checked elsewhere; here each answer is held against them.

    Returns:
        How many columns' domains were measured.

    Raises:
        VerificationFailed: names the file and what is wrong with it.
    """
    part, path = manifest.domain, folder / DOMAIN_NAME
    if part is None or not path.is_file():
        if part is not None or path.is_file():
            raise VerificationFailed("a release holds it exactly where domains were measured", file=DOMAIN_NAME)
        return 0
    declared, answers = _read(path.read_bytes())
    if declared.digest != part.declared_schema_digest:
        raise VerificationFailed("it begins with another schema than the manifest names", file=DOMAIN_NAME)
    table = _Answered(declared, manifest.questions, answers)
    try:
        found = _search(manifest, part, declared).run(table)
    except VerificationFailed:
        raise
    except (DpReleaseError, LookupError, TypeError, ValueError):
        raise VerificationFailed("its answers are not those of a search", file=DOMAIN_NAME) from None
    columns = tuple((column.column, column.question, column.entries) for column in found.columns)
    if table.used != len(answers) or columns != tuple((c.column, c.question, c.entries) for c in part.columns):
        raise VerificationFailed("its answers are not the ones that the manifest lists", file=DOMAIN_NAME)
    if found.schema.digest != manifest.schema_digest:
        raise VerificationFailed("its answers lead to another schema than the released one", file=DOMAIN_NAME)
    return len(columns)


class _Answered:
    """A table that gives the released answers, each only to the question that the manifest lists it for."""

    def __init__(self, declared: Schema, questions: "Sequence[QuestionPart]", answers: Sequence[Any]) -> None:
        self.schema = declared
        self.remaining = Fraction(0)
        self.used = 0
        self._questions = questions
        self._answers = answers

    def ask(self, query: Query) -> Answer:
        question, answer = self._questions[self.used], plain_bytes(self._answers[self.used])
        if query_digest(query) != question.digest or sha256(answer) != question.answer_digest:
            raise VerificationFailed(
                f"question {question.request_id} or its answer is not the one that the ledger settled", file=DOMAIN_NAME
            )
        self.used += 1
        return answer_from_bytes(answer, query, self.schema, question.entry)


def _search(manifest: "Manifest", part: "DomainPart", declared: Schema) -> DomainSearch:
    stated = manifest.guarantee.release_cap
    release_cap = cap(manifest.guarantee.law, from_text(stated.amount), from_text(part.delta))
    return DomainSearch(declared, unit_from_json(manifest.unit), domain_cap(release_cap, from_text(part.share)))


def _read(content: bytes) -> tuple[Schema, list[Any]]:
    try:
        document = json.loads(content)
        known = canonical_bytes(document) == content and {**document, **_FORM} == document
        if known and document.keys() == {*_FORM, "declared", "answers"} and isinstance(document["answers"], list):
            return Schema.from_json(document["declared"]), document["answers"]
    except (ValueError, TypeError, ConfigError):
        pass
    raise VerificationFailed("this is not the record of a search for domains", file=DOMAIN_NAME)
