"""How benchmarks speak: progress on stderr, a table and a last line of JSON on stdout, exit code 0 if all bars hold."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(slots=True)
class Report:
    """Collects a benchmark's figures and bars.

    Args:
        name: the benchmark's name, as in ``python -m benchmarks.NAME``.
    """

    name: str
    bars: dict[str, dict[str, Any]] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def bar(self, name: str, value: float, sense: Literal["<=", ">="], bar: float) -> None:
        """Record a measured value beside the bar that it has to reach."""
        holds = value <= bar if sense == "<=" else value >= bar
        self.bars[name] = {"value": value, "sense": sense, "bar": bar, "holds": holds}
        progress(f"{name}: {value:.4g} {sense} {bar:g}: {'holds' if holds else 'MISSED'}")

    def finish(self, out: Path | None) -> None:
        """Print the table and the JSON line, write all figures, and leave with the exit code."""
        width = max((len(name) for name in self.bars), default=3)
        print(f"{'bar':{width}}  {'measured':>12}     {'bar':>12}  holds")
        for name, row in self.bars.items():
            holds = "yes" if row["holds"] else "NO"
            print(f"{name:{width}}  {row['value']:12.4g}  {row['sense']} {row['bar']:12.4g}  {holds}")
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        if out is not None:
            document = {"benchmark": self.name, "bars": self.bars, "figures": self.figures, **machine}
            out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        print(json.dumps({"benchmark": self.name, "bars": self.bars, **machine}))
        sys.exit(0 if all(row["holds"] for row in self.bars.values()) else 1)


def arguments(
    description: str, options: Sequence[str] | None = None, *, kinds: Sequence[str] = ()
) -> argparse.Namespace:
    """Read ``--quick``, ``--out FILE`` and, where a benchmark has kinds of runs, ``--kind KIND``, repeatable."""
    parser = argparse.ArgumentParser(description=description)
    if kinds:
        parser.add_argument("--kind", action="append", choices=kinds, help="only these; default: all")
    parser.add_argument("--quick", action="store_true", help="finish in under 50 s on 2 cores, checking what fits")
    parser.add_argument("--out", type=Path, help="write all figures to this JSON file")
    return parser.parse_args(options)


def as_installed() -> dict[str, str]:
    """Return an environment in which code is compiled once and kept, as pip does with what it installs."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def progress(message: str) -> None:
    """Say on stderr what happens."""
    print(message, file=sys.stderr, flush=True)
