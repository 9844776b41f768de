"""Every command that a page names exists, with the options that the page gives it."""

import re
import shlex

import click
import pytest

from release.cli import dprelease
from tests.docs.pages import PAGES, blocks, text_of

SIGNED_TEXTS = {"dprelease ledger disjoint"}  # the first line of a signed note, not a command
INLINE = re.compile(r"`(dprelease [^`\n]+)`")


def named(page):
    lines = [line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()]
    return [*INLINE.findall(text_of(page)), *(line for line in lines if line.startswith("dprelease "))]


def unknown(line):
    """Return the first word of a command line that the program does not know, or None."""
    command, words = dprelease, shlex.split(line.split(" #")[0].split(" > ")[0], posix=False)[1:]
    while words and isinstance(command, click.Group):
        word = words.pop(0)
        if word.startswith("-"):
            return None if word in {"--help", "--version"} else word
        found = command.get_command(click.Context(command), word)
        if found is None:
            return word
        command = found
    options = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    return next((word for word in words if word.startswith("--") and word.split("=")[0] not in options), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_named_command_exists_with_its_options(page):
    for line in set(named(page)) - SIGNED_TEXTS:
        assert unknown(line) is None, line


def test_an_unknown_word_is_noticed():
    assert unknown("dprelease verify X --key K") is None
    assert unknown("dprelease ledger show # what is left") is None
    assert unknown("dprelease verfy X") == "verfy"
    assert unknown("dprelease verify X --keys K") == "--keys"
    assert unknown("dprelease ledger shwo") == "shwo"
