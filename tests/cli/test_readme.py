"""README's commands, as they stand there, lead from nothing to a verified release and a refusal."""

import re
import shlex
from pathlib import Path

import pytest

from release.cli import dprelease
from release.cli.exits import run_guarded
from tests.release.small_release import RELEASE, SCHEMA, write_private

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text):
    return re.findall(r"```\n(.*?)```", text, re.DOTALL)


def own_release():
    [block] = [block for block in blocks(README) if "dprelease init" in block]
    return [line.split("#")[0].strip() for line in block.splitlines()]


def test_readmes_own_release_runs_as_typed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    codes = []
    for line in own_release():
        if line.startswith("edit"):
            (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
            config = RELEASE.format(mechanism="aim", formats='["csv"]')
            config = config.replace('"small"', '"my-table"').replace('rho = "1/4"', "epsilon = 2.5\ndelta = 1e-6")
            (tmp_path / "release.toml").write_text(config, encoding="utf-8")
            write_private(tmp_path / "private.csv")
            continue
        _, *arguments = shlex.split(line)
        if arguments == ["run"]:
            arguments.append("--yes")
        if "releases/ID" in arguments:
            arguments[-1] = str(next((tmp_path / "releases").iterdir()))
        codes.append((line, run_guarded(dprelease, arguments)))
    assert codes == [(line, 0) for line, _ in codes]
    assert len(codes) == 9
    capsys.readouterr()
    assert run_guarded(dprelease, ["run", "--yes"]) == 3
    refusal = capsys.readouterr().err
    assert "asks for" in refusal
    assert "left" in refusal
    assert "Nothing was spent" in refusal


@pytest.mark.parametrize("target", ["demo", "test"])
def test_readmes_two_commands_are_targets(target):
    [block] = [block for block in blocks(README) if "make demo" in block]
    assert f"make {target}" in block.splitlines()
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_linked_document_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 5
    for link in links:
        assert (ROOT / link).is_file(), link
