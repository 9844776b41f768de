"""The bugs that reports say are caught are those that the tests plant."""

import re
from pathlib import Path

from audits.planted_bugs import PLANTED_BUGS
from tests.audits.mutants import MUTANTS


def test_reports_name_exactly_the_planted_bugs_that_are_tested():
    planted = {(mutant.audit, re.sub(r" \(P\d+\)$", "", mutant.name)) for mutant in MUTANTS}
    assert {(bug.audit, bug.name) for bug in PLANTED_BUGS} == planted
    assert len(PLANTED_BUGS) == len(planted)


def test_the_documentation_has_one_row_for_each():
    text = Path("docs/audits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (transcripts|samplers|record and replay) \|$", text, re.MULTILINE)
    audits = {"transcripts": "transcripts", "goodness": "samplers", "replay": "record and replay"}
    assert rows == [(bug.name, audits[bug.audit]) for bug in PLANTED_BUGS]
