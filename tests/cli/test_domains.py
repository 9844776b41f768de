"""Domains that are not public, by command: planned, paid, found, resumed, verified; refused where nothing is paid."""

import base64
import contextlib
import hashlib
import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import accounting.curator.table
import release.running
from accounting.canonical import canonical_bytes
from accounting.schema import Schema
from release.dsse import seal
from release.keys import load_private
from release.prepared import Prepared
from tests.cli.shell import HEADER, RELEASE, SCHEMA, Give, manifest, release_of, rows, write_rows
from tests.cli.test_privacy_faults import names, repeatable, without_digits, without_noise

__all__ = ["repeatable"]

OPEN = "ledger open places --unit row --law {law} --epsilon 4 --delta 1e-6 --domain-delta 5e-7"
MEASURED = SCHEMA.replace(
    'categories = ["north", "south", "hamlet"]', 'domain = "measured"\nother = "elsewhere"'
).replace("bins = 10\npoints = [0]", 'bins = 5\ndomain = "measured"')
PAID = (
    RELEASE.replace('dataset = "visits"', 'dataset = "places"').replace('rho = "1/4"', "epsilon = 3")
    + '[domain]\nshare = "1/4"\ndelta = 1e-7\n'
)
CANARY = "Zebulon-4711"


@pytest.fixture
def places(workspace, give):
    """A workspace whose schema leaves two domains to be measured."""
    prepare_places(workspace, give)
    return workspace


def prepare_places(folder, give: Give, law: str = "zcdp") -> None:
    (folder / "schema.toml").write_text(MEASURED, encoding="utf-8")
    (folder / "release.toml").write_text(PAID, encoding="utf-8")
    assert give(OPEN.format(law=law)).code == 0


def spent(give: Give) -> tuple[str, str, int]:
    (state,) = [each for each in give("ledger show --json").document["datasets"] if each["dataset"] == "places"]
    return state["allotted"], state["domain_delta_left"], len(state["releases"])


@pytest.mark.parametrize("law", ["zcdp", "gdp"])
def test_the_whole_story(workspace, give, law):
    prepare_places(workspace, give, law)
    plan = give("plan --json").document
    lines = {line["question"]: line for line in plan["questions"]}
    assert (lines["quantiles"]["at_most"], lines["categories"]["at_most"]) == (5, 1)
    assert (lines["categories"]["delta"], lines["quantiles"]["delta"]) == ("1/10000000", "0/1")
    assert plan["domain_delta"] == "1/10000000"
    assert "δ = 1e-7" in give("plan").out
    assert give("run --yes").code == 0
    folder = release_of(workspace)
    verified = give(f"verify releases/{folder.name}")
    assert verified.code == 0, verified.err
    assert "2 measured domains follow from the settled answers" in verified.out
    content = manifest(folder)
    part = content["domain"]
    assert [column["column"] for column in part["columns"]] == ["town", "income"]
    assert [column["question"] for column in part["columns"]] == ["categories", "quantiles"]
    entries = [question["entry"] for question in content["questions"]]
    measured = [entry for column in part["columns"] for entry in column["entries"]]
    assert entries[: len(measured)] == measured
    assert (part["share"], part["delta"]) == ("1/4", "1/10000000")
    assert 0 < Fraction(content["settled_delta"]) <= Fraction(1, 10**7)
    assert content["guarantee"]["release_cap"]["delta"] == "1/10000000"
    assert give(f"audit release releases/{folder.name}").code == 0
    assert content["guarantee"]["groups"] == {}
    assert {point["delta"] for point in content["guarantee"]["release_curve"]} == {"1/100000", "1/1000000"}
    released = Schema.from_json(json.loads((folder / "schema.json").read_bytes()))
    assert released.column("town").categories == ("elsewhere", "north", "south")
    assert 0 <= released.column("income").min < released.column("income").max <= 1000
    assert released.digest == content["schema_digest"] != part["declared_schema_digest"]
    report = json.loads((folder / "report.json").read_bytes())
    assert {stage["name"]: stage["questions"] for stage in report["budget"]["stages"]}["domain"] == len(measured)
    assert sum(column["origin"] is not None for column in report["annex"]["columns"]) == 2
    assert give("schema check private.csv").code == 0
    assert give("ledger verify").code == 0


def test_p20_p23_nothing_is_measured_unless_a_share_is_declared(places, give):
    before = spent(give)
    for text in (
        PAID.split("[domain]")[0],
        PAID.replace('share = "1/4"', "share = 0"),
        PAID.replace('share = "1/4"\n', ""),
    ):
        (places / "release.toml").write_text(text, encoding="utf-8")
        for command in ("plan", "run --yes"):
            done = give(command)
            assert done.code == 2
            assert "share" in done.err
    (places / "release.toml").write_text(PAID.split("[domain]")[0], encoding="utf-8")
    assert "'town', 'income' are not public" in give("run --yes").err
    assert spent(give) == before


def test_categories_without_a_delta_and_deltas_without_categories_are_refused(places, give):
    (places / "release.toml").write_text(PAID.replace("delta = 1e-7\n", ""), encoding="utf-8")
    assert "costs δ" in give("plan").err
    (places / "release.toml").write_text(PAID.replace("delta = 1e-7", "delta = 1e-6"), encoding="utf-8")
    assert "must be below it" in give("plan").err
    (places / "release.toml").write_text(PAID, encoding="utf-8")
    (places / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    assert "the schema has none" in give("plan").err


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        (("delta = 1e-7", "delta = 6e-7"), "δ = 6e-7"),
        (("epsilon = 3", "epsilon = 9"), "ρ ="),
    ],
)
def test_what_does_not_fit_leaves_with_3_and_spends_nothing(places, give, change, asked):
    (places / "release.toml").write_text(PAID.replace(*change), encoding="utf-8")
    before = spent(give)
    for command in ("plan", "run --yes"):
        done = give(command)
        assert done.code == 3
        assert "Nothing was spent" in done.err
    assert spent(give) == before
    assert not list((places / "releases").iterdir() if (places / "releases").exists() else [])


def test_a_dataset_that_set_no_delta_aside_finds_no_categories(workspace, give):
    prepare_places(workspace, give)
    assert give("ledger open closed --unit row --law zcdp --rho 1 --delta 1e-6").code == 0
    (workspace / "release.toml").write_text(PAID.replace('"places"', '"closed"'), encoding="utf-8")
    done = give("run --yes")
    assert done.code == 3
    assert "--domain-delta" in done.err


def test_stopped_between_the_search_and_the_mechanism_it_goes_on_at_no_second_charge(places, give, monkeypatch):
    whole = Prepared.with_domain

    def stopped(self, schema):
        raise KeyboardInterrupt

    monkeypatch.setattr(Prepared, "with_domain", stopped)
    done = give("run --yes")
    assert done.code == 5
    release_id = re.search(r"--resume (\S+)`", done.err)[1]
    asked = [line for line in give("ledger export places").out.splitlines() if '"kind":"settled"' in line]
    monkeypatch.setattr(Prepared, "with_domain", whole)
    assert give(f"run --yes --resume {release_id}").code == 0
    content = manifest(release_of(places))
    after = [line for line in give("ledger export places").out.splitlines() if '"kind":"settled"' in line]
    assert after[: len(asked)] == asked
    assert len(asked) == sum(len(column["entries"]) for column in content["domain"]["columns"])
    assert give(f"verify releases/{release_id}").code == 0


PROGRAM = """
import os
from mechanisms.asking import Asker
from release.cli import main

whole, asked = Asker.ask, []

def ask(self, query):
    answer = whole(self, query)
    asked.append(answer)
    if len(asked) == 2:
        os.kill(os.getpid(), 9)
    return answer

Asker.ask = ask
main(["run", "--yes"])
"""


def test_killed_in_the_middle_of_the_search_it_goes_on_from_the_stored_answers(places, give):
    killed = subprocess.run([sys.executable, "-c", PROGRAM], cwd=places, capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr.decode()
    (run,) = (places / "runs").iterdir()
    assert give(f"run --yes --resume {run.name}").code == 0
    assert give(f"verify releases/{run.name}").code == 0


def private() -> list[str]:
    return [*rows(), f"p,{CANARY},3,5.00"]


CHANGES = {
    "a name that is not found becomes another one": [*rows(), "p,Atlantis,3,5.00"],
    "a name of another row": [*rows(), f"p,{CANARY},3,5.00"][::-1],
    "a name that can be none": [*rows(), "p,bad\x01name,3,5.00"],
}


@pytest.mark.parametrize("change", CHANGES)
def test_p23_given_equal_noise_what_is_not_found_changes_no_artefact(  # noqa: PLR0917 - fixtures
    template, tmp_path, give, repeatable, monkeypatch, change
):
    monkeypatch.setattr(
        accounting.curator.table, "rounded_gaussian", lambda variance, size, _: np.full(size, 3, dtype=np.int64)
    )
    monkeypatch.setattr(release.running, "new_release_id", lambda label: f"{label}-same")
    stories = []
    for number, lines in enumerate((private(), CHANGES[change])):
        folder = tmp_path / str(number) / "workspace"
        shutil.copytree(template, folder)
        write_rows(folder / "private.csv", lines)
        with contextlib.chdir(folder):
            prepare_places(folder, give)
            told = [give(line) for line in ("plan", "run --yes", "verify releases/places-same", "ledger show")]
        assert [done.code for done in told] == [0] * 4, [done.err for done in told]
        released = release_of(folder)
        public = without_noise(released)
        public.pop("domain")
        files = {name: (released / name).read_bytes() for name in ("domain.json", "schema.json", "synthetic.csv")}
        stories.append(([without_digits(done, folder) for done in told], names(released), public, files))
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "private.csv":
                assert CANARY.encode() not in path.read_bytes(), path
    assert stories[0] == stories[1]


class Forged:
    """A release whose files and manifest are changed and signed again with the workspace's own key."""

    def __init__(self, workspace):
        self.folder = release_of(workspace)
        self._key = load_private(workspace / "keys" / "signing-key.pem", passphrase=None)
        envelope = json.loads((self.folder / "manifest.dsse.json").read_bytes())
        self.statement = json.loads(base64.b64decode(envelope["payload"]))
        self.predicate = self.statement["predicate"]
        self.domain = json.loads((self.folder / "domain.json").read_bytes())
        self.schema = json.loads((self.folder / "schema.json").read_bytes())

    def write(self) -> None:
        for name, document in (("domain.json", self.domain), ("schema.json", self.schema)):
            if document is not None:
                (self.folder / name).write_bytes(canonical_bytes(document))
        self.statement["subject"] = [
            {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
            for path in sorted(self.folder.iterdir())
            if path.name != "manifest.dsse.json"
        ]
        payload = canonical_bytes(self.statement)
        (self.folder / "manifest.dsse.json").write_bytes(seal(payload, [self._key]))


def another_answer(forged):
    forged.domain["answers"][0]["values"][0] += 1


def another_name(forged):
    forged.domain["answers"][0]["names"][0] = "nowhere"


def one_answer_more(forged):
    forged.domain["answers"].append(forged.domain["answers"][-1])


def one_answer_less(forged):
    forged.domain["answers"].pop()


def another_declared_schema(forged):
    forged.domain["declared"]["columns"][2]["max"] = "10"


def another_released_schema(forged):
    forged.schema["columns"][1]["categories"].append("nowhere")
    forged.predicate["schema_digest"] = hashlib.sha256(canonical_bytes(forged.schema)).hexdigest()


def another_share(forged):
    forged.predicate["domain"]["share"] = "1/3"


def other_entries(forged):
    forged.predicate["domain"]["columns"][0]["entries"][0] += 1


def no_part_in_the_manifest(forged):
    forged.predicate["domain"] = None


def no_file(forged):
    forged.domain = None
    (forged.folder / "domain.json").unlink()


def no_document(forged):
    forged.domain = {"format": "dprelease.domain"}


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """One release with measured domains, in a workspace that is copied for each forgery."""
    from release.cli import dprelease
    from release.cli.exits import run_guarded

    folder = tmp_path_factory.mktemp("genuine") / "workspace"
    with contextlib.chdir(folder.parent):
        assert run_guarded(dprelease, ["init", str(folder)]) == 0
    (folder / "schema.toml").write_text(MEASURED, encoding="utf-8")
    (folder / "release.toml").write_text(PAID, encoding="utf-8")
    write_rows(folder / "private.csv", rows())
    with contextlib.chdir(folder):
        for line in ("keys new", OPEN.format(law="zcdp"), "run --yes"):
            assert run_guarded(dprelease, line.split()) == 0
    return folder


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (another_answer, "not the one that the ledger settled"),
        (another_name, "not the one that the ledger settled"),
        (one_answer_more, "not the ones that the manifest lists"),
        (one_answer_less, "not those of a search"),
        (another_declared_schema, "another schema than the manifest names"),
        (another_released_schema, "another schema than the released one"),
        (another_share, "not the one that the ledger settled"),
        (other_entries, "not the ones that the manifest lists"),
        (no_part_in_the_manifest, "exactly where domains were measured"),
        (no_file, "exactly where domains were measured"),
        (no_document, "not the record of a search"),
    ],
)
def test_verify_repeats_the_search(genuine, tmp_path, give, monkeypatch, change, reason):  # noqa: PLR0917 - fixtures
    folder = tmp_path / "workspace"
    shutil.copytree(genuine, folder)
    monkeypatch.chdir(folder)
    forged = Forged(folder)
    change(forged)
    forged.write()
    done = give(f"verify releases/{forged.folder.name}")
    assert done.code == 1, done.out + done.err
    assert "domain.json" in done.out + done.err
    assert reason in done.out + done.err


def test_the_header_of_the_private_file_is_the_declared_one(places, give):
    (places / "private.csv").write_text(HEADER.replace("town", "city") + "\n", encoding="utf-8")
    assert give("run --yes").code == 2
