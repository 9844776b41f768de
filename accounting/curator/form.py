"""The form of a private file, which is all that can make it unreadable: its kind, its header and its size.

A file is refused for its form only, before anything is spent. Messages name the schema's columns, positions in the
header and public limits; never a cell, a line number or a count of rows, which are the private table's. A file without
a header has its first row where the names should be, so that no name found in a file is quoted either.
"""

import codecs
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar

from accounting.curator.rows import MAX_ROWS, cell_dtype
from accounting.errors import ConfigError, DpReleaseError, InputFileError
from accounting.schema import CategoricalColumn, Schema
from accounting.unit import PersonUnit, PrivacyUnit

T = TypeVar("T")

_DIGEST_BYTES = 32
_PERSON_BYTES = 200
"""An id as text in a dictionary, its number, and the copies made while rows are bounded."""
_NAME_BYTES = 600
"""A name of the greatest length as text in a dictionary, its number, its hash, and the copies made while loading."""
_TICK_BYTES = 16
"""A tick within the limits of a column whose domain is measured, and the copy made while rows are bounded."""

FileKind = Literal["csv", "csv.gz", "parquet", "arrow"]

_MAGIC: Final[tuple[tuple[bytes, FileKind], ...]] = (
    (b"\x1f\x8b", "csv.gz"),
    (b"PAR1\x15", "parquet"),
    (b"ARROW1\0\0", "arrow"),
)
_REFUSED: Final = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet: save the table as CSV or Parquet"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet: save the table as CSV or Parquet"),
    (b"BZh91AY&SY", "compressed by bzip2: unpack it, or compress it by gzip"),
    (b"\xfd7zXZ\x00", "compressed by xz: unpack it, or compress it by gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it, or compress it by gzip"),
    (b"FEA1\0", "Feather of version 1: write it as version 2 or as Parquet"),
)
_HEAD_BYTES: Final = 16
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_LISTED: Final = 10
_CONTAINER_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")
_OTHER_DELIMITERS: Final = ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"))


@dataclass(frozen=True, slots=True)
class FileForm:
    """What is known of a file that passed the check of its form; public.

    Args:
        kind: the format, told by the file's first bytes and not by its name.
        encoding: the encoding of a CSV file; None for typed files.
    """

    kind: FileKind
    encoding: str | None


def without_rows(what: str, work: Callable[[], T]) -> T:
    """Run ``work`` so that nothing which it raises carries rows: no context, no frames, no foreign message.

    Raises:
        ConfigError: as ``work`` raised it, with the same class and message (InputFileError, SchemaError, …).
        DpReleaseError: for everything else, with the kind of error and the place in the code.
    """
    try:
        return work()
    except ConfigError as error:
        known, text = type(error) is InputFileError, str(error)
        refusal: DpReleaseError = InputFileError(text) if known else ConfigError(text)
    except Exception as error:  # noqa: BLE001  # whatever it is, its message and frames may hold cells
        refusal = DpReleaseError(f"{what} failed by an error of the program ({type(error).__name__}{_place(error)})")
    raise refusal


def _place(error: Exception) -> str:
    trace = error.__traceback__
    place = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if Path(code.co_filename).is_relative_to(Path(__file__).parents[1]):
            place = f" at {Path(code.co_filename).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def check_unit(schema: Schema, unit: PrivacyUnit) -> None:
    """Check that a person unit names an identifier column of the schema.

    Raises:
        ConfigError: it does not; nothing was spent.
    """
    if isinstance(unit, PersonUnit) and unit.id_column not in schema.identifiers:
        raise ConfigError(
            f"the privacy unit's id column {unit.id_column!r} is not an identifier column of the schema: declare it "
            'with kind = "identifier"'
        )


def text_encoding(name: str) -> str:
    """Return the canonical name of a text encoding.

    Raises:
        ConfigError: Python knows no text encoding of that name.
    """
    try:
        codec = codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        raise ConfigError(f"no text encoding is called {name!r}: try utf-8, latin-1, cp1252 or utf-16") from None
    return codec.name


def file_form(path: Path, encoding: str) -> FileForm:
    """Tell a file's kind by its first bytes.

    Raises:
        InputFileError: no readable regular file, or of a kind that is not read.
        ConfigError: an unknown encoding.
    """
    encoding = text_encoding(encoding)
    try:
        if not path.is_file():
            raise InputFileError(f"{path} is not a file: give the path of the private table")
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}") from None
    for magic, advice in _REFUSED:
        if head.startswith(magic):
            raise InputFileError(f"{path} is {advice}")
    if head.startswith(_WIDE_MARKS) and encoding == "utf-8":
        raise InputFileError(
            f"{path} is encoded as UTF-16: give the encoding, as --encoding utf-16, or as "
            'encoding = "utf-16" in release.toml'
        )
    kind: FileKind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "csv")
    return FileForm(kind, None if kind in ("parquet", "arrow") else encoding)


def match_header(found: Sequence[str], schema: Schema) -> dict[str, int]:
    """Find the schema's columns in a file's header, in any order.

    Args:
        found: the header's names, without the blanks around them.
        schema: the schema.

    Returns:
        column name → position in the file, for every column of the schema.

    Raises:
        InputFileError: not the same set of names, or a name twice.
    """
    position = {name: index for index, name in reversed(list(enumerate(found)))}
    missing = [name for name in schema.header if name not in position]
    if len(missing) == len(schema.header):
        raise InputFileError(_no_header(found, schema))
    for index, name in enumerate(found):
        if position[name] != index:
            raise InputFileError(
                f"columns {position[name] + 1} and {index + 1} of the file's header have the same name"
            )
    unknown = [index + 1 for index, name in enumerate(found) if name not in schema.header]
    if missing or unknown:
        raise InputFileError(
            "the file's header is not the schema's: "
            + "; ".join(
                [f"the file lacks {_list(missing)}"] * bool(missing)
                + [f"the schema does not name the file's columns number {_list(unknown)}"] * bool(unknown)
            )
            + ". Names are compared exactly; declare a column that is not to be released as an identifier"
        )
    return {name: position[name] for name in schema.header}


def _list(items: Sequence[object]) -> str:
    shown = ", ".join(repr(item) for item in items[:_LISTED])
    return shown if len(items) <= _LISTED else f"{shown} and {len(items) - _LISTED} more"


def _no_header(found: Sequence[str], schema: Schema) -> str:
    line = ",".join(found)
    for delimiter, name in _OTHER_DELIMITERS:
        names = {part.strip().strip('"') for part in line.split(delimiter)}
        if names & set(schema.header):
            return f"the file's columns are separated by {name}: write it with commas"
    folded = {name.casefold() for name in found}
    if folded & {name.casefold() for name in schema.header}:
        return "the schema's names are in the file's header in other upper and lower case: write them as in the file"
    return (
        "no name in the file's first line is a column of the schema: if the file has no header, add a first line with "
        "the column names"
    )


def check_size(rows: int, schema: Schema, unit: PrivacyUnit) -> None:
    """Check that so many rows can be held; called while rows are streamed.

    Raises:
        InputFileError: over the limit of memory or of rows, with the limit and not with the number of rows.
    """
    row_bytes = bytes_per_row(schema, unit)
    limit = min(MAX_ROWS, memory_limit() // row_bytes)
    if rows > limit:
        raise InputFileError(
            f"the file is too large: by the schema a row takes {row_bytes} bytes, and half of this machine's memory "
            f"holds {limit} such rows. Use a machine with more memory, or release fewer columns"
        )


def bytes_per_row(schema: Schema, unit: PrivacyUnit) -> int:
    """Estimate the memory that loading one row takes at its peak, from public values alone."""
    codes = sum(cell_dtype(column).itemsize for column in schema.columns)
    names = sum(isinstance(column, CategoricalColumn) for column in schema.measured) * _NAME_BYTES
    measured = len(schema.measured) * _TICK_BYTES + names
    return 2 * (codes + _DIGEST_BYTES) + measured + (_PERSON_BYTES if isinstance(unit, PersonUnit) else 0)


def memory_limit() -> int:
    """Return how many bytes a table may take: half of the memory of this machine, or of its container."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, int(_CONTAINER_LIMIT.read_text(encoding="ascii")))
    return memory // 2
