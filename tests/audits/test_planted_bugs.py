"""The bugs that reports say are caught are those that the tests plant."""

import re

from audits.planted_bugs import PLANTED_BUGS
from tests.audits.mutants import MUTANTS


def test_reports_name_exactly_the_planted_bugs_that_are_tested():
    planted = {(mutant.audit, re.sub(r" \(P\d+\)$", "", mutant.name)) for mutant in MUTANTS}
    assert {(bug.audit, bug.name) for bug in PLANTED_BUGS} == planted
    assert len(PLANTED_BUGS) == len(planted)
