"""Where random words come from: the operating system for releases, seeded or scripted words for tests and audits.

A source is passed to the samplers as an argument. Its ``source`` is stamped into the ledger, and only ``"os"`` can
stand behind a signed release. No source hands out a word twice: none can be copied or pickled, and what the operating
system gave to a process is dropped in its forked children.
"""

import hashlib
import os
import threading
import weakref
from collections.abc import Iterable
from typing import NoReturn, Protocol, final

import numpy as np
from numpy.typing import NDArray

from accounting.errors import ConfigError

_WORD_BYTES = 8
_BUFFER_WORDS = 1024


class Entropy(Protocol):
    """A source of fresh uniform 64-bit words."""

    @property
    def source(self) -> str:
        """Name the kind of source, as stamped into the ledger; anything but ``"os"`` makes the ledger entry a TEST."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform words that nobody was given before.

        Returns:
            uint64 array of shape (count,); it may be read-only.
        """


class _Uncopyable:
    """A stream of words: a copy would hand out the same words again, so there is none."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an entropy source cannot be copied or pickled: a copy would repeat its words")


@final
class OsEntropy(_Uncopyable):
    """Words from the operating system's generator, for releases.

    Threads may share one. Requests below the buffer's size are served from a buffer that belongs to one process: a
    forked child drops it, whether the fork went through Python or not, so that parent and child never share a word.
    """

    __slots__ = ("__weakref__", "_buffer", "_lock", "_pid")

    _buffer: NDArray[np.uint64]
    _lock: threading.Lock
    _pid: int

    def __init__(self) -> None:
        self._forget()
        _living.add(self)

    @property
    def source(self) -> str:
        """Return ``"os"``."""
        return "os"

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words of the operating system's generator; see :class:`Entropy`."""
        if count >= _BUFFER_WORDS:
            return _os_words(count)
        with self._lock:
            if self._pid != os.getpid():
                self._buffer = _os_words(0)
                self._pid = os.getpid()
            if self._buffer.size < count:
                self._buffer = _os_words(_BUFFER_WORDS)
            taken, self._buffer = self._buffer[:count], self._buffer[count:]
            return taken

    def _forget(self) -> None:
        """Start empty in this process, with a lock that no other thread holds."""
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._buffer = _os_words(0)


def _os_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(count * _WORD_BYTES), dtype=np.uint64)


_living: weakref.WeakSet[OsEntropy] = weakref.WeakSet()


def _forget_all() -> None:
    for entropy in list(_living):
        entropy._forget()  # noqa: SLF001  # the hook belongs to the class; it stands outside so that no instance is kept alive


os.register_at_fork(after_in_child=_forget_all)


@final
class SeededEntropy(_Uncopyable):
    """Repeatable words for tests and audits, never for a release: the same seed gives the same words.

    The seed is hashed together with a name of this purpose, so that its words are unrelated to those of any other
    generator that was given the same number.

    Args:
        seed: any integer ≥ 0.
    """

    __slots__ = ("_generator",)

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ConfigError("the seed of a test must be an integer of at least 0")
        digest = hashlib.sha256(b"dprelease/noise/test-seeded/1:" + str(seed).encode()).digest()
        self._generator = np.random.Philox(key=int.from_bytes(digest[:16], "big"))

    @property
    def source(self) -> str:
        """Return ``"test-seeded"``."""
        return "test-seeded"

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words of the seed's stream; see :class:`Entropy`."""
        return self._generator.random_raw(count)


@final
class ScriptedEntropy(_Uncopyable):
    """Given words in their order, for tests that lead a sampler through a boundary, a tie or an extension.

    Args:
        words: integers in [0, 2^64).
    """

    __slots__ = ("_next", "_words")

    def __init__(self, words: Iterable[int]) -> None:
        self._words = np.array([int(word) for word in words], dtype=np.uint64)
        self._next = 0

    @property
    def source(self) -> str:
        """Return ``"test-scripted"``."""
        return "test-scripted"

    @property
    def left(self) -> int:
        """Return how many words were not handed out yet."""
        return self._words.size - self._next

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` scripted words; see :class:`Entropy`.

        Raises:
            ConfigError: when fewer are left.
        """
        if count > self.left:
            raise ConfigError(f"the script has {self.left} words left and {count} were asked for: script more words")
        taken = self._words[self._next : self._next + count]
        self._next += count
        return taken
