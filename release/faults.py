"""Describe unexpected errors without showing anything that they hold."""

import errno
import os
import traceback
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_OURS = tuple(_ROOT / name for name in ("accounting", "mechanisms", "audits", "release"))
_FRAMES = 100


def describe_fault(error: BaseException) -> str:
    """Describe an error by its kind and by our own line of code; never by its message, which may quote a cell."""
    if isinstance(error, MemoryError):
        return "the memory of this machine did not suffice"
    if isinstance(error, OSError):
        return describe_os_error(error)
    frames = traceback.extract_tb(error.__traceback__, limit=-_FRAMES)
    ours = [frame for frame in frames if any(Path(frame.filename).is_relative_to(folder) for folder in _OURS)]
    place = f" at {Path(ours[-1].filename).relative_to(_ROOT)}, line {ours[-1].lineno}" if ours else ""
    return f"a fault of the program ({type(error).__name__}{place}); please report it with this line"


def describe_os_error(error: OSError) -> str:
    """Describe a failed file operation by the file's name and the system's reason."""
    known = error.errno is not None and error.errno in errno.errorcode
    reason = os.strerror(error.errno or 0) if known else "the system refused"
    return reason if error.filename is None else f"{error.filename}: {reason}"
