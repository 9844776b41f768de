"""Keep finished runs in a file, so that a stopped audit can be continued: JSON lines, one chunk a line."""

import json
import math
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from accounting.canonical import Json
from accounting.errors import ConfigError
from audits.transcript.runs import CHUNK, TwoRuns, from_row, to_row

FORMAT = "dprelease/audit-runs/2"


class Kept:
    """The runs kept so far; with no file, none are.

    Args:
        path: the file, or None.
        found: what an earlier audit kept in it, chunks by pair.
    """

    def __init__(self, path: Path | None, found: dict[str, list[list[TwoRuns]]]) -> None:
        self._path = path
        self._found = found
        self._file: TextIO | None = None

    @classmethod
    def open(cls, path: Path | None, subject: dict[str, Json]) -> Self:
        """Open or begin a file of runs.

        Raises:
            ConfigError: the file is of another audit or is damaged before its last line.
        """
        if path is None:
            return cls(None, {})
        head = json.dumps({"format": FORMAT, "subject": subject}, sort_keys=True)
        if not path.exists() or not path.stat().st_size:
            path.write_text(head + "\n", encoding="utf-8")
            return cls(path, {})
        # a line without its end was being written when the audit was stopped
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        lines = whole.splitlines()
        if not lines or lines[0] != head:
            raise ConfigError(f"{path} keeps the runs of another audit: choose another file")
        found: dict[str, list[list[TwoRuns]]] = {}
        try:
            for line in lines[1:]:
                entry = json.loads(line)
                chunk = [from_row(row) for row in entry["runs"]]
                ratios = [side.log_ratio for two in chunk for side in (two.absent, two.present)]
                if len(chunk) != CHUNK or not all(map(math.isfinite, ratios)):
                    raise ValueError("not a chunk")  # noqa: TRY301 - one message for every kind of damage
                found.setdefault(str(entry["pair"]), []).append(chunk)
        except (ValueError, KeyError, TypeError):
            raise ConfigError(f"{path} is damaged: remove it and begin the audit anew") from None
        path.write_text(whole, encoding="utf-8")
        return cls(path, found)

    def chunks(self, pair: str) -> list[list[TwoRuns]]:
        """Return the chunks kept of a pair, in order."""
        return self._found.get(pair, [])

    def add(self, pair: str, chunk: list[TwoRuns]) -> None:
        """Keep one more chunk."""
        if self._file is not None:
            entry = {"pair": pair, "runs": [to_row(two) for two in chunk]}
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()

    def __enter__(self) -> Self:
        if self._path is not None:
            self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
