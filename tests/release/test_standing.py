"""Releases that are superseded, withdrawn, replaced or approved: what ledger, checkpoint and policy say of them."""

import json
import shutil
import sqlite3

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.ledger import Ledger
from release.keys import new_key, public_pem
from release.report.writing import regenerate_report
from tests.release.small_release import command, make_release


@pytest.fixture(name="made", scope="module")
def fixture_made(tmp_path_factory):
    """Give a workspace with two releases of one dataset and a second dataset, and the checkpoint after them."""
    workspace = tmp_path_factory.mktemp("standing") / "workspace"
    first = make_release(workspace, formats='["csv"]')
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    (second,) = (folder for folder in (workspace / "releases").iterdir() if folder != first)
    command(workspace, "ledger", "open", "others", "--unit", "row", "--law", "gdp", "--mu", "1")
    command(workspace, "ledger", "checkpoint", "--out", str(workspace / "early.note"))
    return workspace, first.name, second.name


@pytest.fixture(name="workspace")
def fixture_workspace(made, tmp_path):
    return shutil.copytree(made[0], tmp_path / "workspace")


def document(workspace, *arguments, code=0):
    output = command(workspace, *arguments, "--json", code=code)
    return json.loads(output[output.index("{") :])


def refusal(workspace, *arguments):
    from release.cli import dprelease
    from release.cli.exits import run_guarded

    return run_guarded(dprelease, [*arguments, "--workspace", str(workspace)])


def head_of(workspace, label="small"):
    return document(workspace, "ledger", "show", label)["datasets"][0]["head"]


def standing(workspace, release, *asked):
    return document(workspace, "verify", str(workspace / "releases" / release), *asked)["standing"]


def ledger_url(workspace):
    return f"sqlite:///{workspace}/ledger.db"


def test_offline_nobody_knows_whether_a_release_stands(made, workspace):
    _, first, _ = made
    folder = str(workspace / "releases" / first)
    assert "Offline nobody can know" in command(workspace, "verify", folder)
    assert standing(workspace, first) is None
    for asked in (("--ledger", ledger_url(workspace)), ("--checkpoint", str(workspace / "early.note"))):
        assert "neither superseded nor withdrawn, says the" in command(workspace, "verify", folder, *asked)
        assert standing(workspace, first, *asked)["superseded_by"] is None


def test_a_superseded_release_keeps_what_it_says_and_a_withdrawn_one_is_refused(made, workspace, capfd):
    _, first, second = made
    command(workspace, "ledger", "supersede", first, "--by", second, "--yes")
    command(workspace, "ledger", "checkpoint", "--out", str(workspace / "late.note"))
    assert standing(workspace, first, "--ledger", ledger_url(workspace))["superseded_by"] == second
    late = ("--checkpoint", str(workspace / "late.note"))
    assert standing(workspace, first, *late)["superseded_by"].startswith("the release of entry ")
    assert standing(workspace, second, *late)["superseded_by"] is None
    command(workspace, "ledger", "withdraw", second, "--yes")
    command(workspace, "ledger", "checkpoint", "--out", str(workspace / "later.note"))
    folder = str(workspace / "releases" / second)
    for asked in (("--ledger", ledger_url(workspace)), ("--checkpoint", str(workspace / "later.note"))):
        assert refusal(workspace, "verify", folder, *asked) == 1
        assert "the release was withdrawn, says the" in capfd.readouterr().err
    assert refusal(workspace, "verify", folder) == 0
    shown = command(workspace, "ledger", "show", "small")
    assert "withdrawn" in shown
    assert "superseded" in shown
    assert "superseded" in command(workspace, "ledger", "log", "small", "--release", first)
    assert refusal(workspace, "ledger", "supersede", first, "--by", second, "--yes") == 2
    assert refusal(workspace, "ledger", "withdraw", second, "--yes") == 2
    assert refusal(workspace, "ledger", "withdraw", "nobody", "--yes") == 2


def test_a_raised_cap_replaces_earlier_guarantees_and_not_later_ones(made, workspace, capfd):
    _, first, second = made
    head = head_of(workspace)
    assert refusal(workspace, "ledger", "raise", "small", "--continues", "0" * 64, "--rho", "2", "--yes") == 2
    assert f"has the head {head} by now" in capfd.readouterr().err
    assert refusal(workspace, "ledger", "raise", "small", "--continues", head, "--rho", "1/2", "--yes") == 2
    assert refusal(workspace, "ledger", "raise", "small", "--continues", head, "--mu", "2", "--yes") == 2
    too_much = ("--epsilon", "9", "--delta", "1e-5", "--yes")
    assert refusal(workspace, "ledger", "raise", "small", "--continues", head, *too_much) == 2
    assert head_of(workspace) == head
    raised = document(workspace, "ledger", "raise", "small", "--continues", head, "--rho", "2", "--yes")
    assert (raised["cap"], [run["replaced"] for run in raised["releases"]]) == ("2/1", [True, True])
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    command(workspace, "ledger", "checkpoint", "--out", str(workspace / "late.note"))
    capfd.readouterr()
    for release in (first, second):
        for asked in (("--ledger", ledger_url(workspace)), ("--checkpoint", str(workspace / "late.note"))):
            assert refusal(workspace, "verify", str(workspace / "releases" / release), *asked) == 1
            assert "cap was raised after the release" in capfd.readouterr().err
    (third,) = {folder.name for folder in (workspace / "releases").iterdir()} - {first, second}
    for asked in (("--ledger", ledger_url(workspace)), ("--checkpoint", str(workspace / "late.note"))):
        assert standing(workspace, third, *asked)["superseded_by"] is None
    command(workspace, "ledger", "verify", "--checkpoint", str(workspace / "early.note"))


def test_a_release_after_a_change_of_law_verifies(made, workspace):
    config = (workspace / "release.toml").read_text().replace("small", "others").replace('rho = "1/4"', 'mu = "1/2"')
    private = (workspace / "private.csv").read_text().splitlines()
    (workspace / "more.csv").write_text("\n".join([*private, private[1]]) + "\n")
    (workspace / "others.toml").write_text(config.replace("private.csv", "more.csv"))
    command(workspace, "run", str(workspace / "others.toml"), "--yes")
    assert document(workspace, "ledger", "change-law", "others", "--yes")["cap"] == "1/2"
    (workspace / "others.toml").write_text((workspace / "others.toml").read_text().replace('mu = "1/2"', 'rho = "1/8"'))
    command(workspace, "run", str(workspace / "others.toml"), "--yes")
    releases = sorted(folder for folder in (workspace / "releases").iterdir() if folder.name.startswith("others"))
    for folder in releases:
        assert standing(workspace, folder.name, "--ledger", ledger_url(workspace)) is not None
    runs = document(workspace, "ledger", "show", "others")["datasets"][0]["releases"]
    assert [run["cap"] for run in runs] == ["1/8", "1/8"]  # a cap of μ = 1/2 is one of ρ = 1/8
    assert refusal(workspace, "ledger", "change-law", "others", "--yes") == 2


def test_a_closed_dataset_spends_nothing_more(workspace, capfd):
    closed = document(workspace, "ledger", "close", "small", "--yes")
    assert (closed["closed"], closed["left"]) == (True, "0/1")
    assert refusal(workspace, "run", str(workspace / "release.toml"), "--yes") == 3
    head = head_of(workspace)
    assert refusal(workspace, "ledger", "raise", "small", "--continues", head, "--rho", "2", "--yes") == 3
    capfd.readouterr()


def test_a_steward_signs_that_labels_share_nobody(workspace):
    done = document(workspace, "ledger", "declare-disjoint", "small", "others", "--yes")
    assert done["others"] == ["others"]
    assert "disjoint   from others" in command(workspace, "ledger", "show", "small")
    assert refusal(workspace, "ledger", "declare-disjoint", "small", "small", "--yes") == 2


@pytest.mark.parametrize(
    "line",
    [
        "ledger close small",
        "ledger raise small --continues x --rho 2",
        "ledger change-law others",
        "ledger supersede a --by b",
        "ledger withdraw a",
        "ledger declare-disjoint small others",
    ],
)
def test_what_cannot_be_undone_needs_a_terminal_or_yes(made, workspace, capfd, line):
    _, first, second = made
    before = Ledger.open(ledger_url(workspace)).verify().size
    words = [{"a": first, "b": second}.get(word, word) for word in line.split()]
    assert refusal(workspace, *words) == 2
    assert "add --yes to change the ledger without being asked" in capfd.readouterr().err
    assert Ledger.open(ledger_url(workspace)).verify().size == before


def test_a_checkpoint_is_a_new_file_signed_by_the_keys_given(workspace, tmp_path, capfd):
    other, public = new_key(tmp_path / "other")
    out = workspace / "two.note"
    command(workspace, "ledger", "checkpoint", "--out", str(out), "--key", str(other))
    assert refusal(workspace, "ledger", "verify", "--checkpoint", str(out)) == 1
    command(workspace, "ledger", "verify", "--checkpoint", str(out), "--key", str(public))
    assert refusal(workspace, "ledger", "checkpoint", "--out", str(out)) == 2
    assert "nothing was overwritten" in capfd.readouterr().err
    out.write_bytes(b"\xff")
    assert refusal(workspace, "ledger", "verify", "--checkpoint", str(out)) == 2


def test_the_ledger_is_held_against_what_was_kept_elsewhere(made, workspace, tmp_path, capfd):
    _, first, _ = made
    old = shutil.copytree(workspace, tmp_path / "old")
    command(workspace, "ledger", "withdraw", first, "--yes")
    command(workspace, "ledger", "checkpoint", "--out", str(workspace / "late.note"))
    release = str(workspace / "releases" / first)
    kept = ("--checkpoint", str(workspace / "late.note"), "--release", release)
    assert "2 checked" in command(workspace, "ledger", "verify", *kept)
    capfd.readouterr()
    assert refusal(old, "ledger", "verify", *kept) == 4
    assert "an older copy was put back, or its end was cut off" in capfd.readouterr().err
    assert refusal(old, "verify", release, "--ledger", ledger_url(old)) == 0  # an old ledger cannot know
    command(old, "ledger", "close", "small", "--yes")
    command(old, "ledger", "close", "others", "--yes")
    capfd.readouterr()
    assert refusal(old, "ledger", "verify", *kept) == 4
    assert "the history was rewritten or forked" in capfd.readouterr().err
    keyless = shutil.copytree(old, tmp_path / "keyless")
    (keyless / "keys" / "signing-key.pub.pem").unlink()
    assert refusal(keyless, "ledger", "verify") == 0
    assert refusal(keyless, "ledger", "verify", *kept) == 2
    assert "no public key is trusted here" in capfd.readouterr().err
    tampered = shutil.copytree(workspace / "releases" / first, tmp_path / "tampered")
    (tampered / "ledger.jsonl").write_bytes((tampered / "ledger.jsonl").read_bytes().replace(b"1/4", b"1/5"))
    assert refusal(workspace, "ledger", "verify", "--release", str(tampered)) == 1
    assert "ledger.jsonl: this file is missing or was changed" in capfd.readouterr().err


def test_a_checkpoint_that_cannot_know_the_release(made, workspace, tmp_path, capfd):
    _, first, second = made
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    (third,) = {folder.name for folder in (workspace / "releases").iterdir()} - {first, second}
    early = str(workspace / "early.note")
    capfd.readouterr()
    assert refusal(workspace, "verify", str(workspace / "releases" / third), "--checkpoint", early) == 1
    assert "cannot know the release" in capfd.readouterr().err
    other = tmp_path / "other"
    command(other, "init", str(other))
    shutil.copytree(workspace / "keys", other / "keys")
    command(other, "ledger", "open", "x", "--unit", "row", "--law", "zcdp", "--rho", "1")
    command(other, "ledger", "checkpoint", "--out", str(other / "x.note"))
    foreign = str(other / "x.note")
    assert refusal(workspace, "verify", str(workspace / "releases" / first), "--checkpoint", foreign) == 1
    assert "another ledger than the release" in capfd.readouterr().err
    assert refusal(workspace, "verify", str(workspace / "releases" / first), "--ledger", ledger_url(other)) == 4
    both = ("--ledger", ledger_url(other), "--checkpoint", foreign)
    assert refusal(workspace, "verify", str(workspace / "releases" / first), *both) == 2


def test_the_log_is_filtered_and_refuses_what_it_does_not_know(made, workspace, capfd):
    _, first, _ = made
    kinds = [entry["kind"] for entry in document(workspace, "ledger", "log", "small", "--release", first)["entries"]]
    assert kinds == ["allotted", "reserved", "started", "settled", "closed"]
    opened = document(workspace, "ledger", "log", "--kind", "dataset-opened")["entries"]
    assert [entry["label"] for entry in opened] == ["small", "others"]
    for asked in (("nobody",), ("--release", "nobody"), ("--kind", "nothing")):
        assert refusal(workspace, "ledger", "log", *asked) == 2
    capfd.readouterr()


DAMAGES = {
    "text in the place of bytes": lambda path: _sql(path, "UPDATE dprelease_entries SET line = CAST(line AS TEXT)"),
    "a missing table": lambda path: _sql(path, "DROP TABLE dprelease_entries"),
    "no tables": lambda path: (path.unlink(), _sql(path, "CREATE TABLE x (y)")),
    "zero bytes": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"no database" * 200),
    "half a file": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


def _sql(path, statement):
    with sqlite3.connect(path) as connection:
        for table in ("entries", "hashes"):
            connection.execute(f"DROP TRIGGER IF EXISTS dprelease_{table}_no_update")
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_ledger_gives_one_sentence_and_code_4(workspace, capfd, damage):
    for extra in workspace.glob("ledger.db-*"):
        extra.unlink()
    DAMAGES[damage](workspace / "ledger.db")
    lines = ["ledger verify", "ledger show"]
    if damage != "text in the place of bytes":
        lines.append("ledger open more --unit row --law zcdp --rho 1")  # never makes a new ledger over an old one
    for line in lines:
        capfd.readouterr()
        assert refusal(workspace, *line.split()) == 4, line
        shown = capfd.readouterr().err
        assert shown.count("\n") == 1
        assert "Traceback" not in shown


POLICY = """
version = 1
{more}
[[issuers]]
file = "keys/signing-key.pub.pem"
{issuer}
"""
APPROVERS = """
[[approvers]]
file = "ann.pem"
[[approvers]]
file = "bob.pem"
"""


def judged(workspace, release, more="", issuer="", approvers=""):
    (workspace / "policy.toml").write_text(POLICY.format(more=more, issuer=issuer) + approvers)
    return refusal(
        workspace, "verify", str(workspace / "releases" / release), "--policy", str(workspace / "policy.toml")
    )


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (('epsilon = 1\ndelta = "1e-6"',), "the release may have epsilon"),
        (('dataset_epsilon = 5\ndelta = "1e-6"',), "all releases together may have epsilon"),
        (('unit = "person"',), "asks for unit person"),
        (("", "expires = 2020-01-01"), "had expired when the release was made"),
        (("", "revoked = true"), "was revoked"),
    ],
)
def test_a_policy_refuses(made, workspace, capfd, terms, sentence):
    assert judged(workspace, made[1], *terms) == 1
    assert sentence in capfd.readouterr().err


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (("threshold = 1",), "threshold goes with"),
        (("threshold = 3", "", APPROVERS), "threshold goes with"),
        (("", "", APPROVERS), "threshold goes with"),
        (("threshold = 0", "", APPROVERS), "threshold"),
        (("epsilon = 1",), "epsilon needs delta"),
        (("delta = 1",), "strictly between 0 and 1"),
        (("threshold = 1", "", APPROVERS.replace("bob", "ann")), "is a key that is listed already"),
        (("", 'until = "x"'), "until"),
    ],
)
def test_a_policy_that_breaks_a_rule(made, workspace, capfd, terms, sentence):
    for name in ("ann", "bob"):
        (workspace / f"{name}.pem").write_bytes(public_pem(Ed25519PrivateKey.generate().public_key()))
    assert judged(workspace, made[1], *terms) == 2
    assert sentence in capfd.readouterr().err


def test_a_policy_accepts_and_names_the_keys(made, workspace, capfd):
    accepted = 'epsilon = 4\ndataset_epsilon = 8\ndelta = "1e-6"\nunit = "row"'
    assert judged(workspace, made[1], accepted, "expires = 2999-12-31") == 0
    assert "policy.toml accepts it" in capfd.readouterr().out
    key = str(workspace / "keys" / "signing-key.pub.pem")
    folder, policy = str(workspace / "releases" / made[1]), str(workspace / "policy.toml")
    assert refusal(workspace, "verify", folder, "--policy", policy, "--key", key) == 2


def test_two_of_two_approvers_must_sign_with_keys_of_their_own(made, workspace, tmp_path, capfd):
    _, first, _ = made
    folder = workspace / "releases" / first
    report, seen = (folder / "report.html").read_bytes(), folder.stat().st_mtime_ns
    pairs = {name: new_key(tmp_path / name) for name in ("ann", "bob")}
    for name, (_, public) in pairs.items():
        shutil.copy(public, workspace / f"{name}.pem")
    assert judged(workspace, first, "threshold = 2", "", APPROVERS) == 1
    assert "0 of the policy's approvers signed it, and 2 must" in capfd.readouterr().err
    assert refusal(workspace, "approve", str(folder), "--key", str(pairs["ann"][0])) == 2
    assert "add --yes to sign" in capfd.readouterr().err
    command(workspace, "approve", str(folder), "--key", str(pairs["ann"][0]), "--yes")
    assert refusal(workspace, "approve", str(folder), "--key", str(pairs["ann"][0]), "--yes") == 2
    assert refusal(workspace, "approve", str(folder), "--key", str(workspace / "keys/signing-key.pem"), "--yes") == 2
    assert judged(workspace, first, "threshold = 2", "", APPROVERS) == 1
    assert "1 of the policy's approvers" in capfd.readouterr().err
    trust = ("--trust", str(workspace / "keys" / "signing-key.pub.pem"))
    done = document(workspace, "approve", str(folder), "--key", str(pairs["bob"][0]), "--yes", *trust)
    assert len(done["signers"]) == 3
    assert judged(workspace, first, "threshold = 2", "", APPROVERS) == 0
    late = APPROVERS + "expires = 2020-01-01\n"
    assert judged(workspace, first, "threshold = 2", "", late) == 1
    assert refusal(workspace, "verify", str(folder)) == 0  # who knows the issuer only ignores the others
    assert folder.stat().st_mtime_ns == seen
    regenerate_report(folder, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == report
    (folder / "bounds.csv").write_text("changed")
    other, _ = new_key(tmp_path / "carl")
    assert refusal(workspace, "approve", str(folder), "--key", str(other), "--yes") == 1  # nobody approves what fails
