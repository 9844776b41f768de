"""The ledger against the transcript and the plan: whatever differs stops the release."""

from dataclasses import replace
from fractions import Fraction

import pytest

from accounting.budget import Cap, Law, Rho
from accounting.canonical import sha256
from accounting.errors import DpReleaseError, LedgerError
from accounting.events import GaussianEvent
from accounting.queries import NoisyTotal, Total, answer_to_bytes, describe_query, query_digest
from mechanisms.base import Asked, Plan, PlannedQuestions
from release.record import QuestionRecord
from release.settlement import Settlement, check_settlement, check_within_plan

QUERY = Total(Fraction(2))
COST = Fraction(1, 4)
ASKED = Asked("total", COST, NoisyTotal(3, 17), QUERY)
QUESTION = QuestionRecord(
    entry=3,
    request_id="1",
    question=describe_query(QUERY),
    digest=query_digest(QUERY),
    event=GaussianEvent(Fraction(1), Fraction(2)),
    cost=COST,
    answer_digest=sha256(answer_to_bytes(ASKED.answer)),
)
PLAN = Plan(Law.ZCDP, (PlannedQuestions("total", "rows", 1, COST),), COST)


def settlement(*questions: QuestionRecord) -> Settlement:
    return Settlement("2026-01-01", questions)


def test_equal_ones_pass():
    check_settlement(settlement(QUESTION), (ASKED,), COST)
    check_within_plan(settlement(QUESTION), PLAN, Cap(Rho(COST)))


@pytest.mark.parametrize(
    "change",
    [
        {"entry": 4},
        {"digest": "0" * 64},
        {"cost": Fraction(1, 8)},
        {"answer_digest": "0" * 64},
        {"question": {"question": "marginals"}},
    ],
)
def test_a_question_that_differs(change):
    with pytest.raises(LedgerError, match="entry"):
        check_settlement(settlement(replace(QUESTION, **change)), (ASKED,), COST)


def test_a_question_too_few_or_too_many():
    with pytest.raises(LedgerError, match="number"):
        check_settlement(settlement(), (ASKED,), COST)
    with pytest.raises(LedgerError, match="number"):
        check_settlement(settlement(QUESTION), (), COST)


def test_a_grant_that_was_never_settled():
    with pytest.raises(LedgerError, match="granted more"):
        check_settlement(settlement(QUESTION), (ASKED,), 2 * COST)


def test_a_question_without_its_query_is_still_bound_by_kind_entry_cost_and_answer():
    check_settlement(settlement(QUESTION), (replace(ASKED, query=None),), COST)
    with pytest.raises(LedgerError):
        check_settlement(settlement(QUESTION), (replace(ASKED, query=None, question="errors"),), COST)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(Law.ZCDP, (PlannedQuestions("marginals", "others", 9, Fraction(9)),), Fraction(9)),
        Plan(Law.ZCDP, (PlannedQuestions("total", "rows", 1, COST / 2),), COST),
        Plan(Law.ZCDP, (PlannedQuestions("total", "rows", 0, COST),), COST),
        Plan(Law.ZCDP, (PlannedQuestions("total", "rows", 1, COST),), COST / 2),
        Plan(Law.ZCDP, (PlannedQuestions("total", "rows", 1, COST),), 2 * COST),
    ],
)
def test_a_run_beyond_its_plan_or_a_plan_beyond_its_cap(plan):
    with pytest.raises(DpReleaseError, match="plan"):
        check_within_plan(settlement(QUESTION), plan, Cap(Rho(COST)))
