"""What every handle on a private table keeps: charge before touch, refusal spends nothing, a crash stays spent."""

import copy
import json
import math
import pickle
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accounting.budget import Cap, Law, Mu, Rho
from accounting.curator import counting, load, private_table, table
from accounting.errors import AnswerLost, BudgetRefused, ConfigError, LedgerError, QueryRefused, StoppedAfterSpending
from accounting.events import price
from accounting.ledger import Account, Ledger
from accounting.noise import SeededEntropy
from accounting.planted import planted_table
from accounting.queries import (
    Coding,
    Errors,
    Marginals,
    NoisyErrors,
    NoisyMarginals,
    NoisyTotal,
    NoisyVotes,
    Placement,
    PrivateTable,
    Select,
    Selected,
    Total,
    Votes,
    question_event,
)
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit

SCHEMA = Schema(
    table={"name": "toy"},
    columns=[
        {"name": "letter", "kind": "categorical", "categories": ["a", "b", "c"], "nullable": True},
        {"name": "age", "kind": "integer", "min": 0, "max": 3, "nullable": False, "replacement": 0},
        {"name": "who", "kind": "identifier"},
    ],
)
HEADER = "letter,age,who\n"
ROWS = "a,0,x\nb,1,x\nb,2,x\n,3,y\nc,0,z\n"
CLIQUES = (("letter",), ("age",), ("letter", "age"))
ESTIMATES = tuple(np.full(shape, 3, dtype=np.int64) for shape in ((4,), (4,), (4, 4)))
MERGED = Coding({"letter": np.array([0, 1, 1, 0])})

QUESTIONS = {
    "total": Total(Fraction(4)),
    "marginals": Marginals(CLIQUES, Fraction(9)),
    "coded marginals": Marginals((("letter",), ("letter", "age")), Fraction(9), MERGED),
    "errors": Errors(CLIQUES, ESTIMATES, 4, Fraction(900)),
    "select": Select(CLIQUES, (1, 2, 3), ESTIMATES, (0, 5, -5), 4, Fraction(1, 3)),
    "votes": Votes(
        np.array([[0, 0], [1, 3], [3, 1]], dtype=np.int32),
        {"letter": Placement(np.zeros(4), np.arange(4), 9), "age": Placement(np.arange(4), np.zeros(4), 0)},
        2,
        None,
        Fraction(9),
    ),
}
ANSWERS = {Total: NoisyTotal, Marginals: NoisyMarginals, Errors: NoisyErrors, Select: Selected, Votes: NoisyVotes}
UNITS = {"row": RowUnit(), "person": PersonUnit("who", 2)}


def same(one, other) -> bool:
    """Whether two answers are equal, their entries included."""
    if isinstance(one, NoisyMarginals):
        parts = zip(one.tables, other.tables, strict=True)
        return one.entry == other.entry and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in parts)
    if isinstance(one, (NoisyErrors, NoisyVotes)):
        return one.entry == other.entry and np.array_equal(one.values, other.values)
    return repr(one) == repr(other)


@dataclass
class Release:
    """A release on a ledger of its own: handles can be opened again and again, as after a crash."""

    folder: Path
    unit: PrivacyUnit
    cap: Cap
    text: str
    ledger: Ledger
    seed: int = 1

    @classmethod
    def make(cls, folder: Path, store: str, unit: PrivacyUnit, cap: Cap, text: str = ROWS) -> "Release":
        ledger = Ledger.in_memory() if store == "memory" else Ledger.open(f"sqlite:///{folder}/ledger.db")
        ledger.open_dataset("toy", unit=unit, cap=cap)
        ledger.allot("toy", "toy-1", cap, purpose="test", noise="test-seeded", context={}, commitment=None)
        return cls(folder, unit, cap, text, ledger)

    @property
    def account(self) -> Account:
        return self.ledger.resume("toy-1")

    def handle(self) -> PrivateTable:
        path = self.folder / "t.csv"
        path.write_text(HEADER + self.text, encoding="utf-8")
        self.seed += 1
        return private_table(load(path, SCHEMA, self.unit), self.account, SeededEntropy(self.seed))

    def cost(self, query) -> Fraction:
        return price(question_event(query, self.unit), self.cap.law)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """What is granted, and what of it is settled."""
        state = self.ledger.dataset("toy").releases[0]
        return state.granted, state.settled


@pytest.fixture(params=["memory", "sqlite"])
def store(request):
    return request.param


@pytest.fixture(params=list(UNITS))
def unit(request):
    return UNITS[request.param]


@pytest.fixture(params=list(QUESTIONS))
def query(request):
    return QUESTIONS[request.param]


@pytest.fixture(params=["loaded", "planted"])
def handle(request, tmp_path, unit):
    """Every kind of handle, with a large cap."""
    if request.param == "loaded":
        return Release.make(tmp_path, "memory", unit, Cap(Rho(Fraction(1000)))).handle()
    ticks = {"letter": np.array([0, 1, 1, -1, 2]), "age": np.array([0, 1, 2, 3, 0])}
    ids = ["x", "x", "x", "y", "z"] if isinstance(unit, PersonUnit) else None
    return planted_table(SCHEMA, ticks, unit, Cap(Rho(Fraction(1000))), entropy=SeededEntropy(0), ids=ids)


class TestEveryHandle:
    def test_is_a_private_table_and_shows_only_what_the_protocol_names(self, handle):
        assert isinstance(handle, PrivateTable)
        assert [name for name in dir(handle) if not name.startswith("_")] == ["ask", "remaining", "schema"]
        assert handle.schema == SCHEMA
        assert handle.remaining == 1000

    def test_answers_each_question_by_its_kind_and_charges_its_exact_price(self, handle, unit, query):
        answer = handle.ask(query)
        assert type(answer) is ANSWERS[type(query)]
        assert answer.entry >= 0
        assert handle.remaining == 1000 - price(question_event(query, unit), Law.ZCDP)
        if isinstance(answer, NoisyMarginals):
            assert [part.shape for part in answer.tables] == [query.coding.shape(SCHEMA, c) for c in query.cliques]
            assert all(part.dtype == np.int64 for part in answer.tables)
        if isinstance(answer, NoisyErrors):
            assert answer.values.shape == (3,)
            assert answer.values.dtype == np.int64

    def test_entries_grow_and_noise_is_fresh(self, handle, query):
        answers = [handle.ask(query) for _ in range(30)]
        entries = [answer.entry for answer in answers]
        assert entries == sorted(set(entries))
        if not isinstance(query, Select):
            assert not same(answers[0], answers[1])

    @pytest.mark.parametrize(
        "wrong",
        [
            "total",
            Marginals((("who",),), Fraction(1)),
            Marginals((("age", "letter"),), Fraction(1)),
            Errors((("age",),), ESTIMATES[2:], 4, Fraction(1)),
            Marginals((("age",),), Fraction(1), MERGED.__class__({"age": np.array([0, 1])})),
            Total(Fraction(1, 10**5)),
            Total(Fraction(10**19)),
        ],
        ids=["no question", "identifier", "order", "shape", "coding", "too little noise", "too much noise"],
    )
    def test_an_invalid_question_is_refused_and_spends_nothing(self, handle, wrong):
        with pytest.raises(ConfigError) as caught:
            handle.ask(wrong)
        assert caught.value.exit_code == 2
        assert handle.remaining == 1000
        assert handle.ask(QUESTIONS["total"]).entry >= 0

    def test_a_question_beyond_the_machines_memory_is_refused_and_spends_nothing(self, handle, monkeypatch):
        monkeypatch.setattr(counting, "memory_limit", lambda: 100)
        for name in ("marginals", "errors", "select"):
            with pytest.raises(QueryRefused, match="half of this machine's memory"):
                handle.ask(QUESTIONS[name])
        assert handle.remaining == 1000
        assert handle.ask(QUESTIONS["total"]).entry >= 0

    def test_can_neither_be_copied_nor_pickled_nor_shown(self, handle):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(ConfigError, match="neither be copied nor pickled"):
                attempt(handle)
        with pytest.raises(TypeError):
            vars(handle)
        with pytest.raises(TypeError):
            json.dumps(handle)
        with pytest.raises(AttributeError):
            handle.rows = 1
        assert repr(handle) == str(handle) == "<_Handle: contents withheld>"

    def test_p19_no_attribute_leads_to_rows(self, handle):
        """Follow every path of plain attributes, slots and containers: no array but the schema's own.

        Closures are not opened: in one process nothing can hide from code that does (docs/guarantees.md).
        """
        seen: set[int] = set()
        waiting: list[object] = [handle]
        while waiting:
            value = waiting.pop()
            if id(value) in seen or isinstance(value, (str, bytes, int, Fraction, type, Schema)):
                continue
            seen.add(id(value))
            assert not isinstance(value, np.ndarray)
            if isinstance(value, dict):
                waiting += [*value, *value.values()]
            elif isinstance(value, (list, tuple, set)):
                waiting += value
            elif type(value).__module__.startswith("accounting"):
                waiting += [getattr(value, name) for name in dir(value) if not name.startswith("__")]
        assert len(seen) > 5


class TestBudget:
    def test_beyond_the_cap_is_refused_and_spends_nothing(self, tmp_path, store, unit, query):
        release = Release.make(tmp_path, store, unit, Cap(Rho(Fraction(10**6))))
        cost = release.cost(query)
        (tmp_path / "small").mkdir()
        release = Release.make(tmp_path / "small", store, unit, Cap(Rho(cost * Fraction(3, 2))))
        handle = release.handle()
        handle.ask(query)
        with pytest.raises(BudgetRefused) as caught:
            handle.ask(query)
        assert (caught.value.asked, caught.value.left) == (cost, cost / 2)
        assert release.spent == (cost, cost)
        assert handle.remaining == release.account.remaining == cost / 2

    def test_a_cap_is_used_up_exactly(self, tmp_path, store):
        query = Total(Fraction(7))
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(11, 14))))
        handle = release.handle()
        for _ in range(11):
            handle.ask(query)
        assert handle.remaining == 0
        with pytest.raises(BudgetRefused):
            handle.ask(Total(Fraction(10**18)))
        assert release.spent == (Fraction(11, 14), Fraction(11, 14))

    def test_under_gdp_the_same_questions_cost_mu_squared(self, tmp_path, unit, query):
        release = Release.make(tmp_path, "memory", unit, Cap(Mu(Fraction(1000))))
        handle = release.handle()
        handle.ask(query)
        assert handle.remaining == 1000 - price(question_event(query, unit), Law.GDP)

    def test_unit_and_noise_must_be_the_accounts(self, tmp_path):
        release = Release.make(tmp_path, "memory", RowUnit(), Cap(Rho(Fraction(1))))
        release.handle()
        person_rows = load(tmp_path / "t.csv", SCHEMA, PersonUnit("who", 2))
        with pytest.raises(ConfigError, match="another privacy unit"):
            private_table(person_rows, release.account, SeededEntropy(1))
        os_account = Release.make(tmp_path, "memory", RowUnit(), Cap(Rho(Fraction(1)))).ledger
        os_account.open_dataset("other", unit=RowUnit(), cap=Cap(Rho(Fraction(1))))
        account = os_account.allot(
            "other", "other-1", Cap(Rho(Fraction(1))), purpose="test", noise="os", context={}, commitment=None
        )
        with pytest.raises(ConfigError, match="states noise from 'os', not from 'test-seeded'"):
            private_table(load(tmp_path / "t.csv", SCHEMA, RowUnit()), account, SeededEntropy(1))


class TestResume:
    def test_p47_a_repeated_run_gets_the_stored_answers_and_pays_once(self, tmp_path, store, unit):
        release = Release.make(tmp_path, store, unit, Cap(Rho(Fraction(1000))))
        first, script = release.handle(), list(QUESTIONS.values())
        answers, remaining = [], []
        for query in script[:3]:
            answers.append(first.ask(query))
            remaining.append(first.remaining)
        spent = release.spent
        again = release.handle()
        for query, answer, left in zip(script[:3], answers, remaining, strict=True):
            assert same(again.ask(query), answer)
            assert again.remaining == left
        assert release.spent == spent
        again.ask(script[3])
        assert release.spent[0] > spent[0]

    def test_stored_answers_draw_no_noise_and_count_nothing(self, tmp_path, monkeypatch, query):
        release = Release.make(tmp_path, "memory", RowUnit(), Cap(Rho(Fraction(1000))))
        answer = release.handle().ask(query)
        monkeypatch.setattr(table, "_noisy_answer", lambda *_: pytest.fail("the rows were touched"))
        assert same(release.handle().ask(query), answer)

    def test_p47_a_number_bound_to_another_question_is_refused(self, tmp_path, store):
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(1000))))
        release.handle().ask(Total(Fraction(4)))
        spent = release.spent
        with pytest.raises(QueryRefused, match="bound to another question"):
            release.handle().ask(Total(Fraction(5)))
        assert release.spent == spent

    def test_a_refused_question_keeps_its_number_so_that_a_repeated_run_takes_the_same_way(self, tmp_path):
        release = Release.make(tmp_path, "memory", RowUnit(), Cap(Rho(Fraction(1, 4))))

        def run():
            handle, story = release.handle(), []
            for variance in (4, 1, 8, 1, 10**4):
                try:
                    story.append(handle.ask(Total(Fraction(variance))).value)
                except BudgetRefused:
                    story.append("refused")
            return story

        first, spent = run(), release.spent
        assert first.count("refused") == 2
        assert run() == first
        assert release.spent == spent


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _exit(*_: object) -> None:
    raise SystemExit(3)


def _no_memory(*_: object) -> None:
    raise MemoryError("4096 rows")


def _value(*_: object) -> None:
    raise ValueError("cell Kanarienvogel")


class TestCrash:
    @pytest.mark.parametrize("crash", [_interrupt, _exit, _no_memory, _value])
    @pytest.mark.parametrize("place", ["count_tables", "rounded_gaussian", "answer_to_bytes"])
    def test_p28_a_failure_after_the_charge_stays_spent_and_shows_nothing(
        self, tmp_path, store, monkeypatch, crash, place
    ):
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(1000))))
        handle, query = release.handle(), QUESTIONS["marginals"]
        with monkeypatch.context() as patched:
            patched.setattr(table, place, crash)
            with pytest.raises(StoppedAfterSpending) as caught:
                handle.ask(query)
        error = caught.value
        assert error.exit_code == 5
        cost = release.cost(query)
        assert release.spent == (cost, 0)
        assert str(error).startswith("question 1 was charged rho 0.166667 and then failed or was interrupted")
        assert error.__cause__ is None
        assert error.__context__ is None
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame)
            trace = trace.tb_next
        assert [frame.f_code.co_name for frame in frames[1:]] == ["ask"]
        assert not any(isinstance(value, np.ndarray) for value in frames[1].f_locals.values())
        with pytest.raises(AnswerLost):
            release.handle().ask(query)
        assert release.spent == (cost, 0)

    def test_killed_between_charge_and_touch_stays_spent(self, tmp_path, store, monkeypatch):
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(1000))))
        handle = release.handle()
        monkeypatch.setattr(table, "_noisy_answer", lambda *_: pytest.fail("the rows were touched"))
        with monkeypatch.context() as patched:
            charge = Account.authorise
            patched.setattr(Account, "authorise", lambda *of, **more: _exit(charge(*of, **more)))
            with pytest.raises(SystemExit):
                handle.ask(QUESTIONS["total"])
        assert release.spent == (Fraction(1, 8), 0)
        with pytest.raises(AnswerLost):
            release.handle().ask(QUESTIONS["total"])

    def test_an_answer_that_could_not_be_stored_is_not_given(self, tmp_path, store, monkeypatch):
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(1000))))

        def fails(*_: object) -> None:
            raise LedgerError("the disk is full")

        monkeypatch.setattr(Account, "settle", fails)
        with pytest.raises(LedgerError):
            release.handle().ask(QUESTIONS["total"])
        assert release.spent == (Fraction(1, 8), 0)

    def test_rows_are_touched_only_after_a_durable_start(self, tmp_path, store, monkeypatch):
        release = Release.make(tmp_path, store, RowUnit(), Cap(Rho(Fraction(1000))))
        kinds: list[list[str]] = []
        real = table._noisy_answer

        def watched(*args: object):
            kinds.append([json.loads(line)["kind"] for line in release.ledger.export()])
            return real(*args)

        monkeypatch.setattr(table, "_noisy_answer", watched)
        release.handle().ask(QUESTIONS["total"])
        assert kinds[0][-2:] == ["reserved", "started"]
        assert [json.loads(line)["kind"] for line in release.ledger.export()][-1] == "settled"


DEGENERATE = {
    "no rows": "",
    "one row": "a,1,x\n",
    "all null": ",,x\n,,y\n",
    "all ids null": "a,1,\nb,2,\n",
    "unseen category": "zebra,1,x\n",
    "infinite": "a,inf,x\na,-inf,y\na,nan,z\n",
    "one person, many rows": "a,1,x\n" * 50,
    "long": "a," + "9" * 4400 + ",x\n",
}


@pytest.mark.parametrize("text", list(DEGENERATE.values()), ids=list(DEGENERATE))
def test_p28_degenerate_tables_are_answered_like_any_other(tmp_path, unit, text):
    release = Release.make(tmp_path, "memory", unit, Cap(Rho(Fraction(1000))), text)
    handle = release.handle()
    answers = [handle.ask(query) for query in QUESTIONS.values()]
    total = answers[0].value
    rows = 0 if isinstance(unit, PersonUnit) and "1,\n" in text else min(text.count("\n"), unit.max_rows * 3 + 50)
    assert abs(total - rows) < 60
    assert all(math.prod(part.shape) == part.size for part in answers[1].tables)
    kinds = [json.loads(line)["kind"] for line in release.ledger.export("toy")]
    assert kinds == ["dataset-opened", "allotted"] + ["reserved", "started", "settled"] * len(QUESTIONS)


def test_p27_only_the_curator_opens_private_rows():
    """The one method that gives rows out is called in accounting/curator alone, and mechanisms never name it."""
    root = Path(table.__file__).parents[2]
    callers = {
        path.relative_to(root).parts[:2]
        for package in ("accounting", "mechanisms", "audits", "release")
        for path in (root / package).rglob("*.py")
        if "cells_for_curator" in path.read_text(encoding="utf-8")
    }
    assert callers == {("accounting", "curator")}
