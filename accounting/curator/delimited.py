"""CSV files as text: RFC 4180 with commas, streamed in chunks, nothing guessed from cells.

A record is a line, except where a quoted cell holds line breaks. Quoting is strict: a quote that opens a cell must be
closed at the cell's end. A quote inside an unquoted cell is an ordinary character. Empty lines are no records, nor are
blank ones where a record has more than one cell; a table of one column writes an empty cell as "". Blanks before a cell
belong to it, except in tables of which every column is declared with ``strip = true``: there they are dropped even
before an opening quote, as some published files need.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from accounting.curator.form import match_header
from accounting.errors import InputFileError
from accounting.schema import CategoricalColumn, Column, IdentifierColumn, Problem, Schema

if TYPE_CHECKING:
    import _csv

_CELLS_PER_CHUNK = 2**19

_BYTE_ORDER_MARK = "\ufeff"
_UNEVEN = "a row has more or fewer cells than the header"

TextChunk = dict[str, list[str]]


class FormFault(NamedTuple):
    """Where a file breaks a rule of its form; confidential.

    Args:
        line: the line at which the row ends, counted from 1; for a wrong encoding a line shortly before.
        rule: the rule, as the public refusal words it.
    """

    line: int
    rule: str


class DelimitedFile:
    """A CSV file whose header is the schema's.

    Args:
        path: the file.
        schema: the schema.
        encoding: the name of a text encoding, as :func:`accounting.curator.form.text_encoding` gives it.
        compressed: whether the file is compressed by gzip.

    Raises:
        InputFileError: in the constructor for the header; while streaming for whatever comes later in the file.
    """

    def __init__(self, path: Path, schema: Schema, encoding: str, *, compressed: bool) -> None:
        self._path = path
        self._encoding = encoding
        self._compressed = compressed
        self._skip_blanks = all(column.strip for column in schema.declared)
        with self._reader(strict=False) as reader:  # so that a header with another delimiter is told as such
            header = [name.strip() for name in _header(reader)]
        if not header:
            raise InputFileError("the file is empty: its first line must hold the column names")
        self._width = len(header)
        self._position = match_header(header, schema)

    def chunks(self, faults: list[FormFault] | None = None) -> Iterator[TextChunk]:
        """Yield the rows as column name → texts, a few megabytes at a time.

        Args:
            faults: takes the faults of form, which are confidential: uneven rows are left out, and an unreadable line
                ends the file. Without it any fault refuses the file.
        """
        reader = None
        try:
            with self._reader(strict=True) as reader:
                _header(reader)
                rows = self._even_rows(reader, faults)
                while cells := list(chain.from_iterable(islice(rows, max(1, _CELLS_PER_CHUNK // self._width)))):
                    yield {name: cells[index :: self._width] for name, index in self._position.items()}
        except InputFileError as error:
            if faults is None or reader is None:
                raise
            faults.append(FormFault(reader.line_num, str(error)))

    def _even_rows(self, reader: "_csv.Reader", faults: list[FormFault] | None) -> Iterator[list[str]]:
        for row in reader:
            if len(row) == self._width:
                yield row
            elif not _is_blank(row):
                if faults is None:
                    raise InputFileError(
                        f"{_UNEVEN}: a cell with a comma or a line break must stand in quotes. The confidential schema "
                        "check names the lines"
                    )
                faults.append(FormFault(reader.line_num, _UNEVEN))

    def ticks(self, column: Column, values: Sequence[str]) -> npt.NDArray[np.int64]:
        """Cast texts by the column's policies; never raises for a value."""
        return column.ticks_of_text(values)

    def names(self, column: CategoricalColumn, values: Sequence[str]) -> list[str | None]:
        """Return the texts' canonical names, None for none."""
        return column.names_of_text(values)

    def ids(self, column: IdentifierColumn, values: Sequence[str]) -> list[str | None]:
        """Return the texts' canonical ids, None for null."""
        return column.ids_of_text(values)

    def problems(self, column: Column, values: Sequence[str]) -> dict[Problem, int]:
        """Count the texts that break each of the column's rules; confidential."""
        return column.problems_of_text(values)

    @contextmanager
    def _reader(self, *, strict: bool) -> Iterator["_csv.Reader"]:
        try:
            with (
                self._path.open("rb") as raw,
                gzip.open(raw) if self._compressed else raw as data,
                TextIOWrapper(data, encoding=self._encoding, newline="") as text,
            ):
                if text.read(1) != _BYTE_ORDER_MARK:
                    text.seek(0)
                yield csv.reader(text, strict=strict, skipinitialspace=self._skip_blanks)
        except UnicodeError:
            problem = (
                f"the file is not encoded as {self._encoding}: give its encoding, such as --encoding cp1252 or "
                'encoding = "latin-1" in release.toml'
            )
        except csv.Error:
            problem = (
                "a quoted cell is not closed, is followed by text before the next comma, or is longer than "
                f"{csv.field_size_limit()} characters: quotes inside a quoted cell are written twice"
            )
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "the compressed file is damaged or cut off: compress it again"
        except OSError as error:
            problem = f"{self._path} cannot be read: {error.strerror}"
        else:
            return
        raise InputFileError(problem)


def _header(reader: "_csv.Reader") -> list[str]:
    return next((record for record in reader if not _is_blank(record)), [])


def _is_blank(record: list[str]) -> bool:
    return len(record) < 2 and not "".join(record).strip()
