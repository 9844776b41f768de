"""``dprelease schema new`` at a terminal: the questions it asks, and the schema that the answers give."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accounting.schema import Schema

WAIT = 30.0


class Terminal:
    """A command at a terminal of its own: read what it asks, type answers."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.screen = ""
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "release.cli", *arguments],
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "dumb"},
            start_new_session=True,
            text=True,
        )
        os.close(slave)

    def answer(self, question: str, text: str) -> None:
        """Wait for a question, then type a line."""
        self.wait(question)
        os.write(self._master, text.encode() + b"\n")

    def wait(self, question: str) -> None:
        """Read until a question is asked, after all that was read before."""
        end = time.monotonic() + WAIT
        while question not in self.screen:
            assert time.monotonic() < end, self.screen
            self.screen += os.read(self._master, 4096).decode()
        self.screen = self.screen.partition(question)[2]

    def end(self) -> tuple[int, str]:
        """Return the exit code and what went to the standard output."""
        out, _ = self.process.communicate(timeout=WAIT)
        os.close(self._master)
        return self.process.returncode, out


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(tmp_path, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        if each.process.returncode is None:
            each.process.kill()
            each.process.communicate()


def test_the_answers_give_a_schema(terminal):
    asked = terminal("schema", "new", "--table", "visits", "--max-rows", "100")
    for question, text in (
        ("Column (empty to end)", "sex"),
        ("Kind", "categorical"),
        ("categories, separated by |", "female|male, or other"),
        ("May nulls occur?", ""),
        ("Column (empty to end)", "age: in years"),
        ("Kind", "integr"),
        ("Kind", "integer"),
        ("min", "0"),
        ("max", "110"),
        ("May nulls occur?", "n"),
        ("Value for nulls", "40"),
        ("Column (empty to end)", "day"),
        ("Kind", "date"),
        ("format", "%d.%m.%Y"),
        ("min", "2020-01-01"),
        ("max", "2020-12-31"),
        ("resolution", "day"),
        ("May nulls occur?", "y"),
        ("Column (empty to end)", "member"),
        ("Kind", "boolean"),
        ("May nulls occur?", "y"),
        ("Column (empty to end)", "pid"),
        ("Kind", "identifier"),
        ("Column (empty to end)", ""),
    ):
        asked.answer(question, text)
    code, out = asked.end()
    assert code == 0
    schema = Schema.from_text(out)
    assert schema.header == ("sex", "age: in years", "day", "member", "pid")
    assert schema.column("sex").labels() == ["female", "male, or other", "(null)"]
    assert schema.column("age: in years").text_of_ticks(schema.column("age: in years").ticks_of_text([""])) == ["40"]
    assert schema.max_rows == 100


def test_an_answer_that_does_not_fit_is_asked_again(terminal):
    asked = terminal("schema", "new")
    asked.answer("Column (empty to end)", "age")
    asked.answer("Kind", "integer")
    asked.answer("min", "young")
    asked.answer("is not a number\r\nmin", "0")
    asked.answer("max", "9")
    asked.answer("May nulls occur?", "y")
    asked.answer("Column (empty to end)", "")
    code, out = asked.end()
    assert code == 0
    assert Schema.from_text(out).column("age").ticks == 10


def test_an_interrupt_leaves_no_file_and_says_130(terminal, tmp_path):
    asked = terminal("schema", "new", "--out", "schema.toml")
    asked.answer("Column (empty to end)", "age")
    asked.wait("Kind")
    for _ in range(10):  # Python may be between writing the question and reading its answer: press Ctrl-C again
        asked.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            asked.process.wait(3)
            break
    code, out = asked.end()
    assert (code, out) == (130, "")
    assert not (tmp_path / "schema.toml").exists()


def test_without_a_terminal_nothing_is_asked(give, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = give("schema new")
    assert done.code == 2
    assert "--column NAME:KIND" in done.err
