"""What every export has in common: verified first, never into a release, the same bytes, public facts only."""

import json
import shutil

import pytest

from accounting.errors import ConfigError, VerificationFailed
from release.exports import FORMATS, export_release
from tests.cli.shell import Done

ENDINGS = {"summary": ".md", "croissant": ".json", "frictionless": ".json", "opendp": ".yaml"}


@pytest.fixture
def here(released, monkeypatch):
    monkeypatch.chdir(released.parents[1])
    return released


@pytest.fixture
def give(capfd):
    from release.cli import dprelease
    from release.cli.exits import run_guarded

    def command(*line: object) -> Done:
        capfd.readouterr()
        code = run_guarded(dprelease, [str(part) for part in line])
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return command


@pytest.mark.parametrize("kind", FORMATS)
def test_the_command_writes_the_same_bytes_each_time(here, give, tmp_path, publication, kind):
    outs = [tmp_path / f"{number}{ENDINGS[kind]}" for number in (1, 2)]
    for out in outs:
        done = give("export", here, "--format", kind, "--out", out, "--publication", publication)
        assert done.code == 0, done.err
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert outs[0].read_bytes().endswith(b"\n")


def test_as_a_document(here, give, tmp_path):
    out = tmp_path / "SUMMARY.md"
    document = give("export", here, "--format", "summary", "--out", out, "--json").document
    assert document == {
        "format": "dprelease.export",
        "version": 1,
        "file": str(out),
        "export": "summary",
        "verified": True,
    }


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_private_and_no_path_of_this_machine_is_said(released, tmp_path, publication, kind):
    out = tmp_path / f"export{ENDINGS[kind]}"
    export_release(released, None, kind=kind, out=out, publication=publication)
    text = out.read_text(encoding="utf-8")
    assert "private.csv" not in text
    assert str(released.parent) not in text
    rows = (released.parents[1] / "private.csv").read_text(encoding="utf-8").count("\n") - 1
    noisy = json.loads((released / "report.json").read_bytes())["rows"]
    assert rows == noisy or f"{rows} " not in text


@pytest.mark.parametrize("kind", FORMATS)
def test_an_ending_a_file_or_a_release_in_the_way_is_refused(released, tmp_path, publication, kind):
    ending = ENDINGS[kind]
    with pytest.raises(ConfigError, match=f"must end in {ending}"):
        export_release(released, None, kind=kind, out=tmp_path / "export.txt", publication=publication)
    with pytest.raises(ConfigError, match="signed release"):
        export_release(released, None, kind=kind, out=released / f"x{ending}", publication=publication)
    (tmp_path / f"there{ending}").write_text("mine")
    with pytest.raises(ConfigError, match="nothing was overwritten"):
        export_release(released, None, kind=kind, out=tmp_path / f"there{ending}", publication=publication)
    assert (tmp_path / f"there{ending}").read_text() == "mine"


def test_a_release_that_is_not_what_was_signed_is_refused(released, give, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(released, copy)
    with (copy / "synthetic.csv").open("ab") as file:
        file.write(b"N,,N,0.00,,,201001\r\n")
    monkeypatch.chdir(released.parents[1])
    assert give("export", copy, "--format", "summary", "--out", tmp_path / "s.md").code == 1
    assert give("export", copy, "--format", "summary", "--out", tmp_path / "s.md", "--unverified").code == 1
    assert not (tmp_path / "s.md").exists()


def test_without_a_trusted_key_only_when_told(released, give, tmp_path):
    line = ("export", released, "--format", "summary", "--out", tmp_path / "s.md", "--workspace", tmp_path)
    refused = give(*line)
    assert refused.code == 2
    assert "--key FILE" in refused.err
    told = give(*line, "--unverified")
    assert told.code == 0
    assert "not verified" in told.err


def test_a_wrong_signer_is_refused(released, give, tmp_path):
    workspace = tmp_path / "other"
    workspace.mkdir()
    assert give("init", workspace).code == 0
    assert give("keys", "new", "--workspace", workspace).code == 0
    done = give("export", released, "--format", "summary", "--out", tmp_path / "s.md", "--workspace", workspace)
    assert done.code == VerificationFailed.exit_code == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('titel = "x"', "did you mean 'title'"),
        ('url = "example.org"', "url"),
        ('files = "https://example.org/data"', "files"),
        ('sector = "Sports"', "sector"),
        ('[[publishers]]\nname = "x"\ntype = "University"', "publishers"),
        ("title = 3", "title"),
        ("title", "not valid TOML"),
    ],
)
def test_a_publication_that_breaks_a_rule_is_refused(released, tmp_path, text, complaint):
    path = tmp_path / "publication.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=complaint):
        export_release(released, None, kind="summary", out=tmp_path / "s.md", publication=path)
