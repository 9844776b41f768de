"""The handle: charges each question durably, counts exactly, adds noise, and stores the answer before giving it."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import final

from accounting.curator.counting import check_question_size, count_tables, l1_errors, selection_scores
from accounting.curator.measured import count_intervals, count_names, names_above
from accounting.curator.rows import Opaque, PrivateRows
from accounting.curator.voting import count_votes
from accounting.errors import ConfigError, StoppedAfterSpending
from accounting.events import price
from accounting.exact import decimal_above
from accounting.ledger import Account, Stored
from accounting.noise import Entropy, check_variance, rounded_gaussian, select_softmax
from accounting.queries import (
    Answer,
    Categories,
    Errors,
    FoundCategories,
    Marginals,
    NoisyErrors,
    NoisyMarginals,
    NoisyQuantiles,
    NoisyTotal,
    NoisyVotes,
    PrivateTable,
    Quantiles,
    Query,
    Select,
    Selected,
    Total,
    Votes,
    answer_from_bytes,
    answer_to_bytes,
    check_query,
    describe_query,
    description_digest,
    question_event,
    selection_scale,
)
from accounting.schema import Schema
from accounting.unit import PrivacyUnit

_UNSETTLED = -1
"""The entry of an answer until the ledger has settled it."""


def private_table(
    rows: PrivateRows, account: Account, entropy: Entropy, *, after: PrivateTable | None = None
) -> PrivateTable:
    """Open the handle through which a mechanism asks about private rows, paid from one release's account.

    Args:
        rows: the loaded rows.
        account: the release's account; its unit must be the one for which the rows were bounded.
        entropy: the noise source that the account's allotment states.
        after: the handle that asked for the domains of these rows; the numbers of its questions are gone on with.

    Raises:
        ConfigError: unit or noise source differ, or ``after`` is no handle of this account; nothing was spent.

    Privacy:
        The handle lives in the asker's process. No attribute of it holds rows, and it can be neither copied nor
        pickled; a wall against hostile code in the same process it is not (docs/guarantees.md, Isolation).
    """
    if account.unit != rows.unit:
        raise ConfigError("the rows were bounded for another privacy unit than the dataset's: load them for its unit")
    if entropy.source != account.noise:
        raise ConfigError(f"the release states noise from {account.noise!r}, not from {entropy.source!r}")

    def noisy(query: Query) -> Answer:
        return _noisy_answer(query, rows, entropy)

    handle = _Handle(rows.schema, rows.unit, account, noisy)
    return handle if after is None else _gone_on(handle, after)


@final
class _Handle(Opaque):
    """A :class:`PrivateTable` on rows in this process.

    ``remaining`` counts what this handle was charged or had been charged for the questions it asked. So a run that is
    repeated after a crash sees, question by question, what the first run saw, and gets the stored answers; the
    account's filter stays the judge of every charge.
    """

    __slots__ = ("_account", "_asked", "_noisy", "_schema", "_spent", "_unit")

    def __init__(self, schema: Schema, unit: PrivacyUnit, account: Account, noisy: Callable[[Query], Answer]) -> None:
        self._schema = schema
        self._unit = unit
        self._account = account
        self._noisy = noisy
        self._asked = 0
        self._spent = Fraction(0)

    @property
    def schema(self) -> Schema:
        """The public description of the table."""
        return self._schema

    @property
    def remaining(self) -> Fraction:
        """What is left of the release's cap, in the ledger's unit (ρ or μ²)."""
        return self._account.cap.value - self._spent

    def ask(self, query: Query) -> Answer:
        """Answer a question after its price was durably charged; a question settled before gives its stored answer.

        Questions are numbered in the order of asking, refused ones included.

        Raises:
            QueryRefused: invalid public fields, or the number is bound to another question; nothing spent.
            ConfigError: noise that is not drawn; nothing spent.
            BudgetRefused: it does not fit; nothing spent.
            AnswerLost: a run before this one was charged for it and its answer is lost; it stays spent.
            StoppedAfterSpending: it failed or was interrupted after the charge; it stays spent.
            LedgerError: the ledger failed; what it recorded counts.

        Privacy:
            Nothing looks at rows before the question is charged and durably started, in one transaction. After it, no
            error shows why it happened: the text is constant, and no context or frame that held counts is attached.
        """
        check_query(query, self._schema)
        check_question_size(query, self._schema)
        if not isinstance(query, Select):
            check_variance(query.variance)
        event = question_event(query, self._unit)
        cost = price(event, self._account.law)
        self._asked += 1
        request = str(self._asked)
        description = describe_query(query)
        granted = self._account.authorise(request, description_digest(description), event, description, start=True)
        self._spent += cost
        if isinstance(granted, Stored):
            return answer_from_bytes(granted.answer, query, self._schema, granted.entry)
        answered = self._answer(query)
        if answered is None:
            raise StoppedAfterSpending(
                f"question {request} was charged {self._account.law.unit} {decimal_above(cost)} and then failed or was "
                "interrupted: it stays spent, and its answer will not be drawn again"
            )
        answer, data = answered
        return replace(answer, entry=self._account.settle(granted, data))

    def _answer(self, query: Query) -> tuple[Answer, bytes] | None:
        """Return the noisy answer and its bytes; None for every failure, whose reason may be private."""
        try:
            answer = self._noisy(query)
            return answer, answer_to_bytes(answer)
        except BaseException:  # noqa: BLE001  # an interrupt's frames hold counts as an error's do
            return None


def _gone_on(handle: _Handle, after: PrivateTable) -> _Handle:
    """Let a handle's numbers follow those of one of the same account."""
    if type(after) is not _Handle or after._account is not handle._account:  # noqa: SLF001 - of this module
        raise ConfigError("the handle that asked before belongs to another release")
    handle._asked, handle._spent = after._asked, after._spent  # noqa: SLF001 - of this module
    return handle


def _noisy_answer(query: Query, rows: PrivateRows, entropy: Entropy) -> Answer:
    """Count exactly and add noise: the only function that holds exact counts; what outlives it stays with the rows."""
    schema, cells = rows.schema, rows.cells_for_curator()
    if isinstance(query, Total):
        return NoisyTotal(_UNSETTLED, cells.rows + int(rounded_gaussian(query.variance, 1, entropy)[0]))
    if isinstance(query, Marginals):
        sizes = [math.prod(query.coding.shape(schema, clique)) for clique in query.cliques]
        noise = rounded_gaussian(query.variance, sum(sizes), entropy)
        tables = []
        for table, end in zip(count_tables(cells, schema, query.cliques, query.coding), accumulate(sizes), strict=True):
            noisy = noise[end - table.size : end].reshape(table.shape)
            noisy += table
            tables.append(noisy)
        return NoisyMarginals(_UNSETTLED, tuple(tables))
    if isinstance(query, Errors):
        errors = l1_errors(query, cells, schema)
        return NoisyErrors(_UNSETTLED, errors + rounded_gaussian(query.variance, errors.size, entropy))
    if isinstance(query, Quantiles):
        counts = count_intervals(query, rows.measured_for_curator())
        return NoisyQuantiles(_UNSETTLED, counts + rounded_gaussian(query.variance, counts.size, entropy))
    if isinstance(query, Categories):
        texts, counts = count_names(query, rows.measured_for_curator())
        noisy = counts + rounded_gaussian(query.variance, counts.size, entropy)
        return FoundCategories(_UNSETTLED, *names_above(query, texts, noisy))
    if isinstance(query, Votes):
        votes = count_votes(query, cells, schema)
        return NoisyVotes(_UNSETTLED, votes + rounded_gaussian(query.variance, votes.size, entropy))
    scores = selection_scores(query, cells, schema)
    return Selected(_UNSETTLED, select_softmax(scores, selection_scale(query, rows.unit), entropy))
