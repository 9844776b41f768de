"""docs/cli.md: every command's help as it is, and every example run.

``python -m tests.cli.test_documentation`` puts the present help pages into the document.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from release.cli import dprelease

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"
FORMATS = DOCUMENT.with_name("formats.md").read_text(encoding="utf-8")
WIDTH = 98
EXAMPLE = re.compile(r"\$ dprelease (?P<line>.*?)(?:\s+# exit (?P<code>\d+).*)?")


def helps(
    command: click.Command, parent: click.Context | None = None, name: str = "dprelease"
) -> Iterator[tuple[str, str]]:
    """Yield each command's path and help page."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from helps(found, context, inner)


def sections() -> dict[str, str]:
    parts = re.split(r"^## (dprelease.*)$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("path", "page"), list(helps(dprelease)), ids=lambda text: text.splitlines()[0][:40])
def test_the_help_pages_are_documented_word_for_word(path, page):
    if "COMMAND [ARGS]" in page and path != "dprelease":
        return
    section = sections()[path]
    assert f"```text\n{page}\n```" in section
    if path != "dprelease":
        assert "$ " + path in section


def test_every_section_is_a_command():
    assert set(sections()) <= {path for path, _ in helps(dprelease)}


def test_the_examples_run_as_one_story(tmp_path, monkeypatch, give):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{'female' if i % 2 else 'male'},{i % 90},{i * 17 % 90000}" for i in range(400)]
    Path("private.csv").write_text("\n".join(["id,sex,age,income", *rows]))
    Path("dictionary.csv").write_text(
        "column,kind,values,min,max\nsex,categorical,1=female|2=male,,\nage,integer,,0,110\n"
    )
    Path("public-sample.csv").write_text("sex,age\nfemale,30\nmale,\n")
    [publication] = [text for text in re.findall(r"```toml\n(.*?)```", FORMATS, re.DOTALL) if "[[publishers]]" in text]
    Path("publication.toml").write_text(publication, encoding="utf-8")
    Path("messy.csv").write_text("id,sex,age,income\n1,female,200,5\n")
    for block in re.findall(r"```console\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL):
        for text in block.splitlines():
            match = EXAMPLE.fullmatch(text)
            assert match is not None, text
            line = match["line"]
            if "RELEASE-ID" in line:
                names = sorted(path.name for path in Path("releases").iterdir())
                line = line.replace("RELEASE-ID", names[0]).replace("OTHER-ID", names[-1])
            if "too-much.toml" in line:
                Path("too-much.toml").write_text(Path("release.toml").read_text().replace("epsilon = 1", "epsilon = 3"))
            done = give("", *shlex.split(line))
            assert done.code == int(match["code"] or 0), (line, done)
            if line == "init":
                with Path("release.toml").open("a") as file:
                    file.write("model = true\n")
    assert len(list(Path("releases").iterdir())) == 2


def test_the_exit_codes_are_documented():
    table = re.findall(r"^\| (\d+) \|", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert table == ["0", "1", "2", "3", "4", "5", "70", "130"]


def refresh() -> None:
    """Put the present help pages into the document's sections; a section must be there already."""
    pages = dict(helps(dprelease))
    head, *parts = re.split(r"^(## dprelease.*)$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        page = pages[title.removeprefix("## ")]
        head += title + re.sub(r"```text\n.*?```", lambda _, page=page: f"```text\n{page}\n```", body, flags=re.DOTALL)
    DOCUMENT.write_text(head, encoding="utf-8")


if __name__ == "__main__":
    refresh()
