"""Every planted bug is caught by the audit that is named for it, and by none of them is right code accused."""

import pytest

from tests.audits.mutants import MUTANTS


def test_there_are_at_least_twenty_and_each_has_a_name():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_caught(mutant, monkeypatch):
    assert not mutant.caught()
    mutant.plant(monkeypatch)
    assert mutant.caught()
