"""Stopping a run by a signal at a place where the ledger is whole: never in the middle of a question."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import FrameType, TracebackType
from typing import Self

from accounting.queries import Answer, PrivateTable, Query
from accounting.schema import Schema

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(KeyboardInterrupt):
    """The user or the system asked this run to stop."""


class Stopper:
    """While entered, SIGINT, SIGTERM and SIGHUP raise :class:`StopRequested`: at once, or where :meth:`whole` ends.

    A signal that the process was started to ignore stays ignored. In another thread than the main one, which alone may
    handle signals, a stopper changes nothing.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._wanted = False
        self._ignored = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._stop) for number in heeded}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal returned

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let a step finish before a stop takes effect, so that an answer that was paid for is never lost."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
        self._stop_if_wanted()

    def ignore(self) -> None:
        """Take no stop any more: what is left to do is one step."""
        self._ignored = True

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._wanted = not self._ignored
        self._stop_if_wanted()

    def _stop_if_wanted(self) -> None:
        if self._wanted and not self._inside:
            self._wanted = False
            raise StopRequested


class StoppableTable:
    """A handle whose questions are whole: a stop that is asked for during one takes effect after it."""

    __slots__ = ("_stopper", "_table")

    def __init__(self, table: PrivateTable, stopper: Stopper) -> None:
        self._table = table
        self._stopper = stopper

    @property
    def schema(self) -> Schema:
        """The public description of the table."""
        return self._table.schema

    @property
    def remaining(self) -> Fraction:
        """What is left of the release's cap."""
        return self._table.remaining

    def ask(self, query: Query) -> Answer:
        """Ask, and let the answer be stored before a stop takes effect."""
        with self._stopper.whole():
            return self._table.ask(query)
