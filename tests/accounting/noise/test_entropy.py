"""Entropy sources: no word twice in threads, forks or copies; only the operating system's is a release's."""

import ast
import copy
import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from inspect import Parameter, signature
from pathlib import Path

import numpy as np
import pytest

import accounting.noise
from accounting.errors import ConfigError
from accounting.noise import OsEntropy, ScriptedEntropy, SeededEntropy, entropy, rounded_gaussian, select_softmax

_ROOM = Path(accounting.noise.__file__).parent
_ROOT = _ROOM.parent.parent

_FORK = """
import json, os, sys, threading
from accounting.noise import OsEntropy
entropy = OsEntropy()
before = entropy.words(10).tolist()
if {locked}:
    taken = threading.Event()
    def hold():
        with entropy._lock:
            taken.set()
            threading.Event().wait()
    threading.Thread(target=hold, daemon=True).start()
    taken.wait()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.write(writing, json.dumps(entropy.words(100).tolist()).encode())
    os._exit(0)
os.waitpid(child, 0)
parent = [] if {locked} else entropy.words(100).tolist()
print(json.dumps([before, parent, json.loads(os.read(reading, 65536))]))
"""


def _forked(*, locked: bool) -> list[list[int]]:
    """Return the words taken before a fork, by the parent after it, and by the child."""
    done = subprocess.run(
        [sys.executable, "-c", _FORK.format(locked=locked)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def test_p36_a_forked_child_shares_no_word_with_its_parent():
    before, parent, child = _forked(locked=False)
    assert len({*before, *parent, *child}) == 210


def test_a_child_forked_while_a_thread_draws_is_not_stuck():
    before, _, child = _forked(locked=True)
    assert len({*before, *child}) == 110


def test_p36_a_fork_that_python_did_not_see_drops_the_buffer(monkeypatch):
    source = OsEntropy()
    source.words(1)
    inherited = set(source._buffer.tolist())
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not inherited & set(source.words(500).tolist())


def test_p36_the_hook_of_a_child_drops_every_buffer():
    first, second = OsEntropy(), OsEntropy()
    inherited = set()
    for source in (first, second):
        source.words(1)
        inherited |= set(source._buffer.tolist())
    entropy._forget_all()
    assert not inherited & {*first.words(500).tolist(), *second.words(500).tolist()}


def test_p36_threads_share_no_word():
    source = OsEntropy()
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda _: source.words(7), range(4000)))
    words = np.concatenate(parts)
    assert words.size == 28_000
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("source", [OsEntropy(), SeededEntropy(4)])
def test_p36_consecutive_requests_share_no_word(source):
    words = np.concatenate([source.words(count) for count in (1, 700, 0, 700, 1023, 1024, 1025, 8192, 3, 1020)])
    assert words.dtype == np.uint64
    assert np.unique(words).size == 13_688


@pytest.mark.parametrize("source", [OsEntropy(), SeededEntropy(4), ScriptedEntropy([1])])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_p36_a_source_cannot_be_copied(source, duplicate):
    with pytest.raises(TypeError, match="copied or pickled"):
        duplicate(source)


def test_p36_two_draws_from_one_source_are_not_the_same_noise():
    source = SeededEntropy(1)
    first, second = (rounded_gaussian(Fraction(10**6), 50, source) for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.intersect1d(SeededEntropy(1).words(1000), SeededEntropy(2).words(1000)).size == 0


def test_p34_words_are_the_operating_systems(monkeypatch):
    asked = []

    def fake(count: int) -> bytes:
        asked.append(count)
        return bytes(range(256)) * (count // 256) + bytes(count % 256)

    monkeypatch.setattr(entropy.os, "urandom", fake)
    source = OsEntropy()
    assert source.words(2).tobytes() == bytes(range(16))
    assert source.words(1).tobytes() == bytes(range(16, 24))
    assert source.words(5000).tobytes()[:256] == bytes(range(256))
    assert [count for count in asked if count] == [8192, 40_000]


def test_p34_no_other_generator_is_used_in_the_room():
    found = set()
    for path in _ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"random", "Generator", "default_rng", "urandom"}:
                found.add((path.name, ast.unparse(node)))
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
                assert not names & {"random", "secrets", "numpy.random"}
    assert found == {("entropy.py", "np.random"), ("entropy.py", "os.urandom")}


def test_p35_no_default_entropy_and_no_default_seed():
    for sampler in (rounded_gaussian, select_softmax):
        assert signature(sampler).parameters["entropy"].default is Parameter.empty
    assert signature(SeededEntropy).parameters["seed"].default is Parameter.empty
    assert not signature(OsEntropy).parameters


def test_p35_only_the_operating_systems_source_is_not_a_test():
    assert OsEntropy().source == "os"
    assert SeededEntropy(0).source == "test-seeded"
    assert ScriptedEntropy([]).source == "test-scripted"
    for source in (OsEntropy(), SeededEntropy(0), ScriptedEntropy([])):
        with pytest.raises(AttributeError):
            source.source = "os"


def test_a_seed_gives_the_same_words_for_ever():
    assert SeededEntropy(2024).words(3).tolist() == SeededEntropy(2024).words(3).tolist()
    assert SeededEntropy(0).words(2).tolist() == [9887066351946439688, 1215887292015699657]


@pytest.mark.parametrize("seed", [-1, 1.0, True, "1", None])
def test_a_seed_is_a_natural_number(seed):
    with pytest.raises(ConfigError, match="seed"):
        SeededEntropy(seed)


def test_a_script_hands_out_its_words_in_order_and_then_refuses():
    source = ScriptedEntropy([1, 2**64 - 1, 3])
    assert source.words(2).tolist() == [1, 2**64 - 1]
    with pytest.raises(ConfigError, match="1 words left and 2 were asked for"):
        source.words(2)
    assert source.words(1).tolist() == [3]
