"""The user guide, the page for auditors and the page on choosing: every command runs as it stands, in one workspace."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Done
from tests.docs.pages import ROOT, blocks, commands, missing_lines

GUIDE, AUDITORS, CHOOSING, FORMATS = (
    ROOT / "docs" / f"{name}.md" for name in ("user-guide", "auditors", "choosing", "formats")
)


def follow(page, folder, capfd):
    """Type a page's commands in a folder; dprelease runs in this process, everything else in a shell."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in commands(page):
        line = command.line
        if "RELEASE-ID" in line:
            (release,) = (path.name for path in (folder / "releases").iterdir() if not path.name.startswith("."))
            line = line.replace("RELEASE-ID", release)
        done = _in_process(line, capfd) if line.startswith("dprelease ") else _in_shell(line, folder, environment)
        assert done.code == command.code, (line, done)
        assert missing_lines(command.shows, done.out + done.err) == [], (line, done.out + done.err)


def _in_process(line, capfd):
    from release.cli import dprelease
    from release.cli.exits import run_guarded

    words, _, target = line.partition(" > ")
    capfd.readouterr()
    code = run_guarded(dprelease, shlex.split(words)[1:])
    captured = capfd.readouterr()
    if target:
        Path(target).write_text(captured.out, encoding="utf-8")
    return Done(code, captured.out, captured.err)


def _in_shell(line, folder, environment):
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The workspace that the user guide makes and the other pages look at."""
    return tmp_path_factory.mktemp("guide")


@pytest.fixture
def followed(folder, monkeypatch, capfd):
    """Go to the workspace after the user guide was followed once."""
    pytest.importorskip("statsmodels")
    monkeypatch.chdir(folder)
    if not (folder / "dprelease.toml").exists():
        follow(GUIDE, folder, capfd)
    return folder


def programs(folder):
    """Save the pages' programs as they say, beside the signer's public key."""
    (check,) = blocks(AUDITORS, "python")
    (verify,) = blocks(FORMATS, "python")
    (folder / "check_release.py").write_text(check, encoding="utf-8")
    (folder / "verify_ledger.py").write_text(verify, encoding="utf-8")
    shutil.copy(folder / "keys" / "signing-key.pub.pem", folder / "signing-key.pub.pem")


def test_the_user_guide(followed):
    (release,) = (followed / "releases").iterdir()
    exports = {"SUMMARY.md", "croissant.json", "datapackage.json"}
    assert {path.name for path in (followed / "public").iterdir()} == exports | {release.name}
    assert (release / "report.html").exists()


def test_the_page_for_auditors(followed, capfd):
    programs(followed)
    follow(AUDITORS, followed, capfd)
    assert b'"predicateType"' in (followed / "statement.json").read_bytes()


def test_the_page_on_choosing(followed, capfd):
    text = (followed / "release.toml").read_text(encoding="utf-8")
    (followed / "release.toml").write_text(text.replace("epsilon = 2.5", "epsilon = 1"), encoding="utf-8")
    follow(CHOOSING, followed, capfd)


@pytest.mark.parametrize(
    ("name", "edit", "complaint"),
    [
        ("synthetic.csv", (b"0.0", b"0.1"), "synthetic.csv was changed"),
        ("manifest.dsse.json", (b'"payload":"ey', b'"payload":"eZ'), "no signature"),
        ("extra", (b"", b""), "not listed"),
    ],
)
def test_the_auditors_program_finds_what_was_changed(followed, tmp_path, name, edit, complaint):
    programs(followed)
    (release,) = (followed / "releases").iterdir()
    copy = tmp_path / release.name
    shutil.copytree(release, copy)
    content = (copy / name).read_bytes() if (copy / name).exists() else b""
    assert edit[0] in content
    (copy / name).write_bytes(content.replace(*edit, 1))
    done = subprocess.run(
        [sys.executable, "check_release.py", copy, "signing-key.pub.pem"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert complaint in done.stderr


def test_the_auditors_program_recomputes_costs_and_epsilon(followed, tmp_path):
    """A signer who lies is found: sign a manifest with another ε, or another cost."""
    programs(followed)
    source = (followed / "check_release.py").read_text(encoding="utf-8")
    (release,) = (followed / "releases").iterdir()
    for old, new, complaint in (
        (
            'manifest = statement["predicate"]',
            'manifest["guarantee"]["release_curve"][0]["epsilon"] = "1.7"',
            "epsilon",
        ),
        ('manifest = statement["predicate"]', 'manifest["questions"][0]["cost"] = "1/1000"', "price"),
        ('manifest = statement["predicate"]', 'manifest["settled"] = "1/1000"', "costs"),
    ):
        program = tmp_path / "lying.py"
        program.write_text(source.replace(old, f"{old}\n{new}"), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, program, release, "signing-key.pub.pem"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert complaint in done.stderr
