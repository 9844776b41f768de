"""What a release carries: its dataset's lines, a signed checkpoint, and proofs as long as the tree is high."""

from dataclasses import replace

import pytest

from accounting.errors import ConfigError, VerificationFailed
from accounting.ledger import Damage, Ledger, LedgerDamaged, check_consistency, check_evidence
from accounting.ledger.notes import open_checkpoint, sign_note
from tests.accounting.ledger.story import KEY, every_kind
from tests.accounting.ledger.support import allot, ask, digest_of, open_rows

PUBLIC = [KEY.public_key()]


@pytest.fixture(scope="module")
def told():
    ledger = Ledger.in_memory()
    return ledger, *every_kind(ledger)


def lines_of(ledger, label, size=None):
    return [line.rstrip(b"\n") for line in ledger.export(label, size=size)]


def test_a_datasets_lines_are_proved_by_one_path(told):
    ledger, early, late = told
    for note, label, size in ((early, "people", 10), (early, "visits", 10), (late, "people", 26), (late, "visits", 26)):
        lines = lines_of(ledger, label, size)
        history, checkpoint = check_evidence(lines, ledger.evidence(label, note), PUBLIC)
        assert (set(history.datasets), checkpoint.size) == ({label}, size)


def test_evidence_on_every_store(ledger):
    early, late = every_kind(ledger)
    check_evidence(lines_of(ledger, "people", 10), ledger.evidence("people", early), PUBLIC)
    older, newer = check_consistency(ledger.consistency(early, late), PUBLIC)
    assert (older.size, newer.size) == (10, 26)


def test_a_checkpoint_says_what_stands_no_longer_on_every_store(ledger):
    early, late = every_kind(ledger)
    entry = {release.release_id: release.entry for release in ledger.dataset("people").releases}
    assert open_checkpoint(early, PUBLIC).standings == ()
    assert open_checkpoint(late, PUBLIC).standings == (
        f"replaced {entry['p1']}",
        f"superseded {entry['p1']} by {entry['p2']}",
        f"withdrawn {entry['p2']}",
    )
    ledger.verify(checkpoints=[early, late], keys=PUBLIC)
    for false in ((), (f"withdrawn {entry['p1']}",)):
        checkpoint = replace(open_checkpoint(late, PUBLIC), standings=false)
        note = sign_note(checkpoint.to_text(), checkpoint.origin, [KEY])
        with pytest.raises(LedgerDamaged, match="says of releases what these entries do not say") as found:
            ledger.verify(checkpoints=[note], keys=PUBLIC)
        assert found.value.kind is Damage.FORKED


def test_proofs_grow_with_the_logarithm():
    ledger = Ledger.in_memory()
    open_rows(ledger)
    for number in range(600):
        ledger.record_look("rand", "report", digest_of(str(number)))
    early = ledger.checkpoint([KEY])
    for number in range(500):
        ledger.record_look("rand", "report", digest_of(str(number)))
    late = ledger.checkpoint([KEY])
    assert len(ledger.evidence("rand", late)["inclusion"]) <= 11
    assert len(ledger.consistency(early, late)["consistency"]) <= 12


def test_altered_lines_or_evidence_are_refused(told):
    ledger, _, late = told
    lines, evidence = lines_of(ledger, "people"), ledger.evidence("people", late)
    for changed, reason in (
        ({**evidence, "checkpoint": 5}, "not the evidence"),
        ({**evidence, "more": 5}, "not the evidence"),
        ({**evidence, "entry": evidence["entry"] - 1}, "not in the ledger"),
        ({**evidence, "entry": 5.0}, "not in the ledger"),
        ({**evidence, "inclusion": evidence["inclusion"][1:]}, "not in the ledger"),
        ({**evidence, "inclusion": evidence["inclusion"][::-1]}, "not in the ledger"),
        ({**evidence, "inclusion": [text.upper() for text in evidence["inclusion"]]}, "not a list of hashes"),
        ({**evidence, "inclusion": ["00"]}, "not a list of hashes"),
        ({**evidence, "inclusion": ["x"]}, "not a list of hashes"),
        ({**evidence, "inclusion": 5}, "not a list of hashes"),
        ({**evidence, "inclusion": [5]}, "not a list of hashes"),
    ):
        with pytest.raises(VerificationFailed, match=reason):
            check_evidence(lines, changed, PUBLIC)
    with pytest.raises(VerificationFailed, match="not in the ledger"):
        check_evidence(lines[:-1], evidence, PUBLIC)
    with pytest.raises(VerificationFailed, match="not those of one dataset"):
        check_evidence([], evidence, PUBLIC)
    with pytest.raises(LedgerDamaged):
        check_evidence(lines[1:], evidence, PUBLIC)
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        check_evidence(lines, evidence, [])
    other = Ledger.in_memory()
    _, foreign = every_kind(other)
    with pytest.raises(VerificationFailed, match="another ledger than the entries"):
        check_evidence(lines, {**evidence, "checkpoint": foreign}, PUBLIC)


def test_evidence_needs_a_checkpoint_that_covers_the_dataset():
    ledger = Ledger.in_memory()
    empty = ledger.checkpoint([KEY])
    open_rows(ledger, "a")
    before = ledger.checkpoint([KEY])
    open_rows(ledger, "b")
    with pytest.raises(ConfigError, match="not open when this checkpoint"):
        ledger.evidence("b", before)
    with pytest.raises(ConfigError, match="no dataset"):
        ledger.evidence("c", before)
    for older, newer in ((empty, before), (ledger.checkpoint([KEY]), before)):
        with pytest.raises(ConfigError, match="from an older checkpoint"):
            ledger.consistency(older, newer)


def test_a_fork_has_no_consistency_proof(told):
    ledger, early, late = told
    proof = ledger.consistency(early, late)
    for changed, reason in (
        ({**proof, "more": 1}, "not a consistency proof"),
        ({**proof, "older": late}, "forked or rewritten"),
        ({**proof, "consistency": proof["consistency"][1:]}, "forked or rewritten"),
        ({**proof, "consistency": None}, "not a list of hashes"),
        ({**proof, "newer": "x"}, "not a signed note"),
    ):
        with pytest.raises(VerificationFailed, match=reason):
            check_consistency(changed, PUBLIC)
    other = Ledger.in_memory()
    foreign, _ = every_kind(other)
    with pytest.raises(VerificationFailed, match="different ledgers"):
        check_consistency({**proof, "older": foreign}, PUBLIC)
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        check_consistency(proof, [])


def test_a_release_is_proved_while_others_go_on(ledger):
    open_rows(ledger, "a")
    open_rows(ledger, "b")
    account = allot(ledger, "a", "r1")
    ask(account, 1, "1/8")
    account.close()
    note = ledger.checkpoint([KEY])
    size = int(note.split("\n")[1])
    ask(allot(ledger, "b", "r2"), 1, "1/8")
    ask(allot(ledger, "a", "r3", "1/8"), 1, "1/8")
    history, _ = check_evidence(lines_of(ledger, "a", size), ledger.evidence("a", note), PUBLIC)
    assert set(history.releases) == {"r1"}
