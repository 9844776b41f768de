"""Every exit code, its message, and what it leaves behind."""

import io
import os
import pty
import select
import shutil
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import click
import pytest

import release.running
from mechanisms.asking import Asker
from mechanisms.independent import Independent
from tests.cli.shell import RELEASE, manifest, release_of

CANARY = "Zebulon-4711"


def budget(give) -> dict:
    (dataset,) = give("ledger show visits --json").document["datasets"]
    return dataset


def untouched(give) -> bool:
    state = budget(give)
    return (state["allotted"], state["settled"], state["releases"]) == ("0/1", "0/1", [])


# 0: done


def test_0_help_and_version(give):
    assert give("--help").code == 0
    assert give("--version").code == 0
    assert give("run --help").code == 0


# 1: the honest no


def test_1_a_changed_release(workspace, give):
    give("run --yes")
    release = release_of(workspace)
    with (release / "synthetic.csv").open("ab") as file:
        file.write(b"north,1,1.00\r\n")
    refused = give(f"verify {release} --json")
    assert refused.code == 1
    assert refused.document["error"] == "VerificationFailed"
    assert "synthetic.csv" in refused.err


def test_1_an_unknown_signer(workspace, give):
    give("run --yes")
    shutil.rmtree(workspace / "keys")
    give("keys new")
    refused = give(f"verify {release_of(workspace)}")
    assert refused.code == 1
    assert "signed by no key that is trusted here" in refused.err


# 2: usage, configuration, files


@pytest.mark.parametrize(
    ("typed", "meant"), [("verfy", "verify"), ("ledger shwo", "show"), ("plan --row-guess 3", "--rows-guess")]
)
def test_2_a_misspelt_word_is_answered_with_the_near_one(give, typed, meant):
    refused = give(typed)
    assert refused.code == 2
    assert f"Did you mean '{meant}'" in refused.err


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nonsense",
        "run --nonsense",
        "plan --rows-guess 0",
        "ledger",
        "ledger open visits2 --unit row --law zcdp",
        "ledger open visits2 --unit row --law zcdp --epsilon 1",
        "ledger open visits2 --unit row --law zcdp --epsilon 0 --delta 1e-6",
        "ledger open visits2 --unit row --law zcdp --epsilon nan --delta 1e-6",
        "ledger open visits2 --unit row --law zcdp --epsilon 1 --delta 1e-3",
        "ledger open visits2 --unit row --law zcdp --epsilon 1 --delta 1e-6 --rho 1",
        "ledger open visits2 --unit row --law zcdp --mu 1",
        "ledger open visits2 --unit row --law gdp --rho 1",
        "ledger open visits2 --unit person --law zcdp --rho 1",
        "ledger open visits2 --unit row --max-rows 3 --law zcdp --rho 1",
        "ledger open visits2 --unit household --law zcdp --rho 1",
        "ledger open visits --unit row --law zcdp --rho 1",
        "ledger open bad/label --unit row --law zcdp --rho 1",
        "ledger show nobody",
        "ledger log nobody",
        "ledger export nobody",
        "budget --epsilon 1",
        "budget --rho 1 --mu 1 --delta 1e-6",
        "budget --rho one --delta 1e-6",
        "verify nowhere",
        "verify .",
        "schema show --schema nowhere.toml",
        "schema check nowhere.csv",
        "schema check private.csv --dataset nobody",
        "plan nowhere.toml",
        "run nowhere.toml --yes",
        "run --yes --resume nobody",
        "plan --workspace nowhere",
    ],
)
def test_2_usage(workspace, give, line):
    done = give(line)
    assert done.code == 2, done
    assert done.err
    assert "Traceback" not in done.err
    assert untouched(give)


@pytest.mark.parametrize("line", ["verify", "report --out x.html", "export --format summary --out x.md"])
def test_2_the_folder_above_a_release_is_answered_with_the_release(workspace, give, line):
    (workspace / "releases" / "visits-1").mkdir(parents=True)
    (workspace / "releases" / "visits-1" / "manifest.dsse.json").write_text("{}")
    for folder in (".", "releases"):
        refused = give(f"{line} {folder}")
        assert refused.code == 2
        assert "did you mean releases/visits-1?" in refused.err


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("ledger open b --unit person --law zcdp --rho 1", "--id-column and --max-rows"),
        ("ledger show", "dprelease ledger open LABEL --unit"),
        ("run --yes", 'encoding = "utf-16" in release.toml'),
    ],
)
def test_2_the_message_says_what_to_write(workspace, give, typed, advice):
    (workspace / "private.csv").write_text("town,age\n", encoding="utf-16")
    if typed == "ledger show":
        (workspace / "ledger.db").unlink()
    refused = give(typed)
    assert refused.code == 2
    assert advice in refused.err


def test_2_no_terminal_and_no_yes(workspace, give, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done = give("run")
    assert done.code == 2
    assert "--yes" in done.err
    assert untouched(give)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("release.toml", "[unit]", "[unti]"),
        ("release.toml", 'kind = "row"', 'kind = "person"\nid_column = "person"\nmax_rows = 2'),
        ("release.toml", '"visits"', '"nobody"'),
        ("release.toml", "schema.toml", "nowhere.toml"),
        ("release.toml", "private.csv", "nowhere.csv"),
        ("release.toml", 'rho = "1/4"', 'mu = "1/4"'),
        ("release.toml", "delta = 1e-6", "delta = 1e-3"),
        ("release.toml", '"independent"', '"independant"'),
        ("release.toml", '"independent"', '"independent"\nrounds = 3'),
        ("release.toml", "[mechanism]", "[output]\nrows = 1001\n[mechanism]"),
        ("release.toml", "version = 1", 'version = 1\nencoding = "klingon"'),
        ("schema.toml", 'kind = "integer"', 'kind = "integre"'),
        ("schema.toml", "max = 9\n", "maxx = 9\n"),
        ("private.csv", "town,age", "age"),
        ("private.csv", "town,age", "town;age"),
        ("private.csv", "north,", "north,north,"),
        ("dprelease.toml", "ledger =", "leger ="),
        ("dprelease.toml", "ledger.db", "other.db"),
        ("dprelease.toml", "signing-key.pem", "other.pem"),
    ],
)
def test_2_whatever_does_not_fit_is_found_before_spending(workspace, give, file, old, new):
    path = workspace / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    done = give("run --yes")
    assert done.code == 2, done
    assert not (workspace / "runs").exists() or not list((workspace / "runs").iterdir())
    path.write_text(text, encoding="utf-8")
    assert untouched(give)
    assert give("run --yes").code == 0


def test_2_no_trusted_key_names_the_fingerprint_found(workspace, give, tmp_path):
    give("run --yes")
    fingerprint = give(f"verify {release_of(workspace)} --json").document["signers"][0]
    done = give(f"verify {release_of(workspace)} --workspace {tmp_path}")
    assert done.code == 2
    assert fingerprint in done.err


def test_2_a_damaged_file_of_a_run_cannot_be_resumed(workspace, give):
    folder = workspace / "runs" / "visits-x"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{")
    done = give("run --yes --resume visits-x")
    assert done.code == 2
    assert "damaged" in done.err


def test_2_a_full_disk_is_found_before_spending(workspace, give, monkeypatch):
    usage = shutil.disk_usage(workspace)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**6))
    done = give("run --yes")
    assert done.code == 2
    assert "MB free" in done.err
    assert untouched(give)


# 3: budget refused


def test_3_a_plan_over_what_is_left(workspace, give):
    path = workspace / "release.toml"
    path.write_text(RELEASE.replace("1/4", "3/4"))
    done = give("plan --json")
    assert done.code == 3
    assert done.document["fits"] is False
    assert "3/4" in done.err
    assert "1/2" in done.err


def test_3_runs_until_nothing_is_left(workspace, give):
    assert [give("run --yes").code for _ in range(3)] == [0, 0, 3]
    refused = give("run --yes --json")
    assert refused.code == 3
    assert (refused.document["asked"], refused.document["left"], refused.document["unit"]) == ("1/4", "0/1", "rho")
    assert "Nothing was spent" in refused.err
    assert budget(give)["settled"] == "1/2"
    assert len(list((workspace / "runs").iterdir())) == 2


def test_3_a_budget_that_is_taken_between_plan_and_allotment(workspace, give, monkeypatch):
    from release.planning import ReleasePlan

    monkeypatch.setattr(ReleasePlan, "check_fits", lambda _: None)
    (workspace / "release.toml").write_text(RELEASE.replace("1/4", "3/4"))
    assert give("run --yes").code == 3
    assert untouched(give)
    assert not list((workspace / "runs").iterdir())
    assert not (workspace / "releases").exists() or not list((workspace / "releases").iterdir())


# 4: the ledger


def test_4_a_damaged_ledger(workspace, give):
    for path in workspace.glob("ledger.db*"):
        path.unlink()
    (workspace / "ledger.db").write_bytes(b"this is no database" * 100)
    for line in ("ledger show", "plan", "run --yes", "ledger verify"):
        done = give(line)
        assert done.code == 4, done
        assert "Traceback" not in done.err


def test_4_an_edited_entry(workspace, give):
    give("run --yes")
    connection = sqlite3.connect(workspace / "ledger.db")
    for name, kind in connection.execute("SELECT name, type FROM sqlite_master").fetchall():
        if kind == "trigger":
            connection.execute(f'DROP TRIGGER "{name}"')
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [column[1] for column in connection.execute(f'PRAGMA table_info("{name}")')]
        if "line" in columns:
            edited = """CAST(replace(line, '"1/4"', '"1/5"') AS BLOB)"""
            changed = connection.execute(f'UPDATE "{name}" SET line = {edited}').rowcount
    assert changed
    connection.commit()
    connection.close()
    done = give("ledger verify --json")
    assert done.code == 4
    assert "entry" in done.document["message"]


# 5: stopped after spending


def breaking_after_the_first_answer(monkeypatch, error):
    whole = Independent.run

    def run(self, table, rng, watch=None, *, rows=None):
        whole(self, table, rng, rows=rows)
        raise error

    monkeypatch.setattr(Independent, "run", run)


@pytest.mark.parametrize("error", [RuntimeError(CANARY), KeyboardInterrupt(), MemoryError(), OSError(28, CANARY)])
def test_5_says_how_much_and_goes_on_without_a_second_charge(workspace, give, monkeypatch, error):
    with monkeypatch.context() as patched:
        breaking_after_the_first_answer(patched, error)
        done = give("run --yes --json")
    assert done.code == 5
    assert done.document["exit_code"] == 5
    assert "ρ = 0.25 of the release's ρ = 0.25 was spent" in done.err
    assert CANARY not in done.err + done.out
    state = budget(give)
    assert (state["settled"], state["in_flight"]) == ("1/4", "0/1")
    release_id = state["releases"][0]["release"]
    assert f"--resume {release_id}" in done.err
    assert not (workspace / "releases" / release_id).exists()
    resumed = give(f"run --yes --resume {release_id}")
    assert resumed.code == 0, resumed.err
    assert budget(give)["settled"] == "1/4"
    assert len(manifest(workspace / "releases" / release_id)["questions"]) == 1
    assert give(f"verify releases/{release_id}").code == 0
    again = give(f"run --yes --resume {release_id}")
    assert again.code == 2
    assert "already" in again.err


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        ("private.csv", ("p0,", "p0,south,1,1.00\np0,")),
        ("release.toml", ('rho = "1/4"', 'rho = "1/8"')),
        ("release.toml", ("[mechanism]", "[output]\nrows = 3\n[mechanism]")),
        ("schema.toml", ("hamlet", "town")),
    ],
)
def test_p16_a_run_goes_on_with_what_it_began_with_only(workspace, give, monkeypatch, file, edit):
    with monkeypatch.context() as patched:
        breaking_after_the_first_answer(patched, RuntimeError())
        give("run --yes")
    release_id = budget(give)["releases"][0]["release"]
    path = workspace / file
    text = path.read_text()
    path.write_text(text.replace(*edit))
    done = give(f"run --yes --resume {release_id}")
    assert done.code == 2, done
    assert "restore" in done.err
    path.write_text(text)
    assert give(f"run --yes --resume {release_id}").code == 0


def test_5_a_lost_answer_ends_the_run_and_frees_what_it_had_not_spent(workspace, give, monkeypatch):
    from accounting.ledger import Account

    with monkeypatch.context() as patched:
        patched.setattr(Account, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        done = give("run --yes")
    assert done.code == 5
    assert "cannot be gone on with" in done.err
    state = budget(give)
    assert state["releases"][0]["closed"] is True
    assert (state["settled"], state["in_flight"], state["left"]) == ("0/1", "1/4", "1/4")
    lost = give(f"run --yes --resume {state['releases'][0]['release']}")
    assert lost.code == 5
    assert "cannot be gone on with" in lost.err
    assert budget(give)["in_flight"] == "1/4"


# 70: our bug


def test_70_shows_no_value_and_no_traceback(workspace, give, monkeypatch):
    def broken(*_):
        raise RuntimeError(CANARY)

    monkeypatch.setattr("release.prepared.read_config", broken)
    done = give("plan --json")
    assert done.code == 70
    assert CANARY not in done.err + done.out
    assert "Traceback" not in done.err
    assert "RuntimeError" in done.err
    assert "release/prepared.py" in done.err


def test_70_before_spending_frees_the_allotment(workspace, give, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(Independent, "run", broken)
    done = give("run --yes")
    assert done.code == 70
    assert CANARY not in done.err
    state = budget(give)
    assert (state["allotted"], state["left"]) == ("0/1", "1/2")


# 130: stopped before spending


def test_130_stopped_before_the_first_question(workspace, give, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Independent, "run", stopped)
    done = give("run --yes")
    assert done.code == 130
    assert "nothing was spent" in done.err
    assert Fraction(budget(give)["left"]) == Fraction(1, 2)


def test_130_stopped_while_loading(workspace, give, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(release.running, "load", stopped)
    assert give("run --yes").code == 130
    assert untouched(give)


@pytest.mark.parametrize(("typed", "code"), [(b"n\n", 130), (b"\x03", 130), (b"y\n", 0)])
def test_130_on_a_terminal(workspace, give, typed, code):
    done, shown = on_a_terminal(workspace, typed)
    assert done == code, shown
    assert b"Spend this?" in shown
    assert untouched(give) is (code == 130)


def on_a_terminal(folder: Path, typed: bytes) -> tuple[int, bytes]:
    """Run ``dprelease run`` on a pseudo-terminal and type an answer once it asks."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(sys.executable, [sys.executable, "-W", "ignore", "-m", "release.cli", "run"])
    shown, silences = b"", 0
    while True:
        # A key pressed just before the program waits for one can be missed, so it is pressed again.
        if not select.select([terminal], [], [], 10)[0]:
            silences += 1
            if silences > 12:
                break
            if b"Spend this?" in shown and b"stopped" not in shown:
                os.write(terminal, typed)
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(terminal)  # hangs up, which ends a child that still waits
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


def test_130_when_nobody_can_read_the_plan(workspace, give, monkeypatch):
    def closed(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("release.cli.plan_view.plan_text", closed)
    assert give("run --yes").code == 130
    assert untouched(give)


def test_a_closed_pipe_changes_no_exit_code(workspace):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "release.cli", "ledger", "log"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_clicks_own_exit_code_1_is_remapped(monkeypatch, give):
    from release.cli import budget as module

    def failing(*_, **__):
        raise click.ClickException("some refusal")

    monkeypatch.setattr(module.budget, "callback", failing)
    done = give("budget --rho 1 --delta 1e-6")
    assert done.code == 2
    assert "some refusal" in done.err


def test_a_stopped_run_can_be_given_up(workspace, give, monkeypatch):
    (workspace / "release.toml").write_text(RELEASE.replace('"independent"', '"mst"'))
    whole = Asker.ask

    def stopped(self, query):
        if self.transcript:
            raise KeyboardInterrupt
        return whole(self, query)

    with monkeypatch.context() as patched:
        patched.setattr(Asker, "ask", stopped)
        done = give("run --yes")
    assert done.code == 5
    release_id = budget(give)["releases"][0]["release"]
    assert f"ledger recover {release_id}" in done.err
    granted = Fraction(budget(give)["releases"][0]["settled"])
    assert 0 < granted < Fraction(1, 4)
    recovered = give(f"ledger recover {release_id} --json").document
    assert Fraction(recovered["freed"]) == Fraction(1, 4) - granted
    assert recovered["in_flight"] == []
    assert Fraction(budget(give)["left"]) == Fraction(1, 2) - granted
    again = give(f"ledger recover {release_id}")
    assert again.code == 2
    asked = give(f"run --yes --resume {release_id}")
    assert asked.code == 5
    assert "given up" in asked.err
    assert "--resume" not in asked.err


@pytest.mark.parametrize("kind", ["aim", "aim-gdp", "mst"])
def test_an_adaptive_run_goes_on_from_the_middle(workspace, give, monkeypatch, kind):
    (workspace / "release.toml").write_text(RELEASE.replace("independent", kind))
    whole = Asker.ask

    def stopped(self, query):
        if len(self.transcript) == 3:
            raise KeyboardInterrupt
        return whole(self, query)

    with monkeypatch.context() as patched:
        patched.setattr(Asker, "ask", stopped)
        assert give("run --yes").code == 5
    state = budget(give)["releases"][0]
    before = give("ledger log visits --kind settled --json").document["entries"]
    assert len(before) == 3
    resumed = give(f"run --yes --resume {state['release']}")
    assert resumed.code == 0, resumed.err
    after = give("ledger log visits --kind settled --json").document["entries"]
    assert after[:3] == before
    content = manifest(workspace / "releases" / state["release"])
    assert [question["entry"] for question in content["questions"]] == [entry["number"] for entry in after]
    assert sum(Fraction(question["cost"]) for question in content["questions"]) <= Fraction(1, 4)
    assert give(f"verify releases/{state['release']}").code == 0
