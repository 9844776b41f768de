"""``dprelease audit``: mechanisms, claims and releases, through the command line."""

import json
import re
import stat
from fractions import Fraction
from pathlib import Path

import pytest

import accounting.curator.table
import audits.mechanism
from accounting.noise import rounded_gaussian
from tests.cli.shell import rows, write_rows


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    monkeypatch.setattr(audits.mechanism, "_DRAWS", {"quick": (9000, 40)})
    real = audits.mechanism.audit_mechanism
    monkeypatch.setattr(
        audits.mechanism, "audit_mechanism", lambda *a, **o: real(*a, **{"seed": 3, **o, "runs": o.get("runs") or 25})
    )


def weak(variance, size, entropy):
    return rounded_gaussian(max(variance / 400, Fraction(1, 10**4)), size, entropy)


def test_a_right_mechanism_passes_and_says_that_this_is_no_proof(workspace, give):
    done = give("audit mechanism --runs 25 --out audit.json")
    assert done.code == 0, done.err
    assert "A pass is no proof" in done.out
    assert re.search(r"lone record +25 ", done.out)
    assert json.loads(Path("audit.json").read_bytes())["verdict"] == "not falsified"


def test_a_broken_one_leaves_with_1(workspace, give, monkeypatch):
    monkeypatch.setattr(accounting.curator.table, "rounded_gaussian", weak)
    done = give("audit mechanism --runs 100")
    assert done.code == 1
    assert "falsified" in done.err
    assert "stopped early" in done.out


def test_a_run_is_audited_first_signed_with_its_audit_and_attested_later(workspace, give):
    done = give("run --yes --audit quick")
    assert done.code == 0, done.err
    folder = next(Path("releases").iterdir())
    assert json.loads((folder / "audit.json").read_bytes())["format"] == "dprelease/audit/1"
    assert give(f"verify {folder}").code == 0
    assert give(f"audit mechanism --runs 25 --attest {folder}").code == 0
    assert give(f"verify {folder}").code == 0
    assert give(f"audit claim {folder}").code == 0
    attestation = next((folder / "attestations").iterdir())
    envelope = json.loads(attestation.read_bytes())
    envelope["payload"] = envelope["payload"][:-8] + "AAAAAA=="
    attestation.write_text(json.dumps(envelope))
    assert give(f"verify {folder}").code == 1


def test_a_falsified_claim_stops_a_run_before_it_spends(workspace, give, monkeypatch):
    monkeypatch.setattr(accounting.curator.table, "rounded_gaussian", weak)
    assert give("run --yes --audit quick").code == 1
    assert not list(Path("releases").iterdir()) if Path("releases").exists() else True
    shown = json.loads(give("ledger show visits --json").out)
    assert "settled" not in json.dumps(shown) or '"releases": []' in json.dumps(shown)


def test_an_output_audit_is_confidential_and_a_look(workspace, give):
    assert give("run --yes").code == 0
    folder = next(Path("releases").iterdir())
    write_rows(Path("holdout.csv"), rows()[:150])
    done = give(f"audit release {folder} --holdout holdout.csv --target town")
    assert done.code == 0, done.err
    place = Path("confidential") / folder.name
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {
        "output-audit.json": 0o600,
        "output-audit.html": 0o600,
    }
    assert "For the curator's eyes only" in (place / "output-audit.html").read_text(encoding="utf-8")
    result = json.loads((place / "output-audit.json").read_bytes())
    assert result["confidential"] is True
    assert set(result["attacks"]) >= {"membership", "singling_out", "linkability", "inference", "exact_copies"}
    assert 0 <= result["utility"]["variation_1_way"]["value"] <= 1
    assert "audit-release" in give("ledger export visits").out
    (folder / "output-audit.json").write_bytes((place / "output-audit.json").read_bytes())
    assert give(f"verify {folder}").code == 1


def test_without_held_out_rows_no_attack_is_made(workspace, give):
    assert give("run --yes").code == 0
    folder = next(Path("releases").iterdir())
    assert give(f"audit release {folder}").code == 0
    result = json.loads((Path("confidential") / folder.name / "output-audit.json").read_bytes())
    assert result["attacks"] == {"not_computable_because": "no held-out rows were given"}
    assert give(f"audit release {folder} --target nothing").code == 2
