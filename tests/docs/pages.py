"""The project's pages: their blocks, the commands in them, their headings and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_EXIT = re.compile(r"\s+# exit (\d+).*$")
_HERE = re.compile(r"<<'(\w+)'$")


@dataclass(frozen=True)
class Command:
    """One command of a page.

    Args:
        line: as it is typed, with the lines of a here-document.
        code: the exit code that the page promises.
        shows: the lines of output that the page shows; … stands for anything.
    """

    line: str
    code: int
    shows: tuple[str, ...]


def text_of(page: Path) -> str:
    """Read a page."""
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return [body for name, body in _FENCE.findall(text_of(page)) if name == language]


def commands(page: Path) -> Iterator[Command]:
    """Yield the commands of a page's console blocks in order."""
    for block in blocks(page, "console"):
        lines = block.splitlines()
        while lines:
            line = lines.pop(0)
            assert line.startswith("$ "), f"{page.name}: a block begins with a command, not with {line!r}"
            line = line.removeprefix("$ ")
            if here := _HERE.search(line):
                while lines[0] != here[1]:
                    line += "\n" + lines.pop(0)
                line += "\n" + lines.pop(0)
            code = _EXIT.search(line)
            shows = []
            while lines and not lines[0].startswith("$ "):
                shows.append(lines.pop(0))
            yield Command(_EXIT.sub("", line), int(code[1]) if code else 0, tuple(shows))


def missing_lines(shown: tuple[str, ...], printed: str) -> list[str]:
    """Return the shown lines that were not printed in this order."""
    rest = iter(printed.splitlines())
    missing = []
    for line in shown:
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("…"))))
        if not any(pattern.fullmatch(found.strip()) for found in rest):
            missing.append(line)
    return missing


def without_code(page: Path) -> str:
    """Return a page's text without its blocks and its code in the line."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text_of(page)))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    found: dict[str, int] = {}
    result = set()
    for heading in _HEADING.findall(_FENCE.sub("", text_of(page))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        result.add(f"{slug}-{count}" if count else slug)
    return result


def links(page: Path) -> list[tuple[bool, str, str]]:
    """Return each link: whether it is a picture, its text, its target."""
    return [(bool(mark), text, target) for mark, text, target in _LINK.findall(without_code(page))]
