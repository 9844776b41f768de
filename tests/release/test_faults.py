"""Unexpected errors are described by kind and place, never by what they hold."""

import errno

from release.faults import describe_fault, describe_os_error
from release.summary import summarise_schema

CANARY = "Zebulon-4711"


def caught(raise_it) -> BaseException:
    try:
        raise_it()
    except BaseException as error:  # noqa: BLE001  # whatever it is
        return error
    raise AssertionError


def test_kind_and_place_of_our_code():
    error = caught(lambda: summarise_schema(CANARY))
    text = describe_fault(error)
    assert "AttributeError at release/summary.py, line " in text
    assert CANARY not in text


def test_foreign_errors_have_no_place():
    text = describe_fault(caught(lambda: int(CANARY)))
    assert "ValueError" in text
    assert CANARY not in text


def test_memory_and_files():
    assert "memory" in describe_fault(MemoryError(CANARY))
    assert describe_fault(OSError(errno.ENOSPC, CANARY, "some.csv")) == "some.csv: No space left on device"
    assert describe_os_error(OSError(errno.ENOSPC, CANARY)) == "No space left on device"
    assert describe_os_error(OSError(CANARY)) == "the system refused"
