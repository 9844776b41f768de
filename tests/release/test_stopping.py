"""Signals: at once outside a question, after it inside one, never in the last step."""

import os
import signal
import threading

import pytest

from release.stopping import StoppableTable, Stopper, StopRequested

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


@SIGNALS
def test_a_stop_is_taken_at_once_outside_a_question(number):
    with Stopper(), pytest.raises(StopRequested):
        os.kill(os.getpid(), number)


@SIGNALS
def test_a_stop_waits_for_the_end_of_a_question(number):
    done = []

    class Table:
        schema = None
        remaining = None

        def ask(self, query):
            os.kill(os.getpid(), number)
            done.append(query)
            return "answer"

    with Stopper() as stopper, pytest.raises(StopRequested):
        StoppableTable(Table(), stopper).ask("question")
    assert done == ["question"]


def test_a_failing_question_fails_as_itself():
    class Table:
        schema = None
        remaining = None

        def ask(self, query):
            os.kill(os.getpid(), signal.SIGINT)
            raise ValueError(query)

    with Stopper() as stopper, pytest.raises(ValueError, match="broken"):
        StoppableTable(Table(), stopper).ask("broken")


def test_the_last_step_takes_no_stop():
    with Stopper() as stopper:
        stopper.ignore()
        os.kill(os.getpid(), signal.SIGINT)
        with stopper.whole():
            pass


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Stopper():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_handles_no_signals():
    def enter():
        with Stopper() as stopper, stopper.whole():
            entered.append(signal.getsignal(signal.SIGTERM))

    entered = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.getsignal(signal.SIGTERM)]


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Stopper():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
