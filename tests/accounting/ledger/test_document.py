"""The verifier in docs/formats.md, run as it stands in the document, agrees with the ledger and finds what is wrong."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.budget import Cap, Rho
from accounting.events import ThresholdEvent, delta_price
from accounting.ledger import Damage, Ledger
from accounting.ledger.content import FIELDS
from accounting.unit import PersonUnit
from tests.accounting.ledger.story import KEY, every_kind

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "ledger.md").read_text()
VERIFIER = (DOCS / "formats.md").read_text().partition("## A verifier of one page\n")[2].partition("\n## ")[0]


@pytest.fixture
def folder(tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", VERIFIER, re.DOTALL)
    (tmp_path / "verify_ledger.py").write_text(program)
    ledger = Ledger.in_memory()
    _, late = every_kind(ledger)
    (tmp_path / "people.jsonl").write_bytes(b"".join(ledger.export("people")))
    (tmp_path / "whole.jsonl").write_bytes(b"".join(ledger.export()))
    (tmp_path / "evidence.json").write_text(json.dumps(ledger.evidence("people", late)))
    for name, key in (("key", KEY), ("other", Ed25519PrivateKey.from_private_bytes(bytes(32)))):
        pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        (tmp_path / f"{name}.pem").write_bytes(pem)
    return tmp_path, ledger


def run(folder, *arguments):
    command = [sys.executable, "-I", "-S", "verify_ledger.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_is_one_page_of_the_standard_library():
    (program,) = re.findall(r"```python\n(.*?)```", VERIFIER, re.DOTALL)
    assert program.count("\n") <= 110
    modules = set(re.findall(r"^(?:import|from) ([\w, ]+?)(?: import .*)?$", program, re.MULTILINE))
    names = {name.strip() for line in modules for name in line.split(",")}
    assert names <= sys.stdlib_module_names


def test_it_gives_the_same_sums(folder):
    path, ledger = folder
    for arguments, labels in ((("people.jsonl", "evidence.json", "key.pem"), ["people"]), (("whole.jsonl",), None)):
        done = run(path, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        expected = set()
        for label in labels or ledger.datasets():
            state = ledger.dataset(label)
            caps = f"cap {state.cap.value} {state.cap.delta} allotted {state.allotted} {state.allotted_delta}"
            expected.add(f"dataset {label} {state.law.unit} {caps}")
            for release in state.releases:
                sums = f"granted {release.granted} {release.granted_delta}"
                sums += f" settled {release.settled} {release.settled_delta}"
                expected.add(f"release {release.release_id} cap {release.cap.value} {release.cap.delta} {sums}")
        assert set(done.stdout.splitlines()) == expected


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b'"date":"2', b'"date":"1', "does not continue the chain"),
        (b'{"amount"', b'{ "amount"', "not canonical JSON"),
        (b'"granted":"1/16"', b'"granted":"1/32"', ""),
        (b'"amount":"1/16"', b'"amount":"1/32"', ""),
    ],
)
def test_it_finds_changed_lines(folder, old, new, complaint):
    path, _ = folder
    lines = (path / "people.jsonl").read_bytes()
    assert old in lines
    (path / "people.jsonl").write_bytes(lines.replace(old, new, 1))
    done = run(path, "people.jsonl")
    assert done.returncode == 1
    assert complaint in done.stderr


def test_it_finds_removed_and_doubled_lines(folder):
    path, _ = folder
    lines = (path / "people.jsonl").read_bytes().splitlines(keepends=True)
    for changed in (lines[1:], [*lines[:4], *lines[5:]], [*lines[:4], lines[3], *lines[4:]]):
        (path / "people.jsonl").write_bytes(b"".join(changed))
        assert run(path, "people.jsonl").returncode == 1
    (path / "people.jsonl").write_bytes(b"".join(lines[:-1]))
    assert run(path, "people.jsonl").returncode == 0
    assert "not what the evidence is about" in run(path, "people.jsonl", "evidence.json", "key.pem").stderr


def test_it_checks_the_proof_and_the_signature(folder):
    path, _ = folder
    assert "not signed by this key" in run(path, "people.jsonl", "evidence.json", "other.pem").stderr
    evidence = json.loads((path / "evidence.json").read_text())
    evidence["inclusion"] = evidence["inclusion"][::-1]
    (path / "evidence.json").write_text(json.dumps(evidence))
    assert "not in the ledger" in run(path, "people.jsonl", "evidence.json", "key.pem").stderr


def test_the_document_names_every_kind_of_entry_field_and_damage():
    for kind, fields in FIELDS.items():
        assert f"`{kind}`" in DOCUMENT
        assert all(f"`{name}`" in DOCUMENT for name in fields), kind
    for damage in Damage:
        assert f"`{damage.value}`" in DOCUMENT


def test_it_adds_up_delta_and_finds_one_that_the_threshold_does_not_have(folder):
    path, _ = folder
    ledger, cap = Ledger.in_memory(), Cap(Rho(Fraction(1)), Fraction(1, 10**6))
    ledger.open_dataset("towns", unit=PersonUnit("id", 3), cap=cap)
    account = ledger.allot("towns", "t1", cap, purpose="test", noise="seeded", context={}, commitment=None)
    event = ThresholdEvent(Fraction(3), Fraction(9), 20, 3)
    question = {"question": "categories", "column": "town", "variance": "9/1", "threshold": 20, "most": 9}
    grant = account.authorise("1", "a" * 64, event, question)
    account.start(grant)
    account.settle(grant, b"{}")
    lines = b"".join(ledger.export())
    (path / "towns.jsonl").write_bytes(lines)
    done = run(path, "towns.jsonl")
    delta = delta_price(event)
    assert f"release t1 cap 1 1/1000000 granted 1/6 {delta} settled 1/6 {delta}" in done.stdout.splitlines()
    (path / "towns.jsonl").write_bytes(lines.replace(f'"delta":"{delta}"'.encode(), b'"delta":"1/9999999"'))
    done = run(path, "towns.jsonl")
    assert done.returncode == 1
    assert "has another delta than its event" in done.stderr
