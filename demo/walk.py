"""Walk through a release with the product's own commands, printing each before it runs."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("dprelease")


@dataclass(frozen=True, slots=True)
class Walk:
    """A demonstration: one table, one budget, one release.

    Args:
        folder: holds schema.toml and release.toml.
        workspace: the workspace's folder; an earlier demonstration's is removed.
        private: the name of the table that is treated as private.
        prepare: writes that table.
        opening: what the budget is, in a sentence.
        open_options: the options of ``ledger open``, as typed.
        who: whom the guarantee protects.
    """

    folder: Path
    workspace: Path
    private: str
    prepare: Callable[[Path], None]
    opening: str
    open_options: str
    who: str

    def take(self) -> None:
        """Make, verify and describe the release."""
        self._begin()
        self._step("Make the key that will sign the release.", "keys new")
        self._step("What is public about the table.", "schema show")
        self._step(self.opening, f"ledger open {self.open_options}")
        self._step("The plan: what will be asked and what it costs at most. Nothing is read or spent.", "plan")
        self._step("Make the release.", "run --yes")
        release = next((self.workspace / "releases").iterdir())
        self._step("Check it, as anyone can, offline.", f"verify releases/{release.name}")
        self._step("What was spent.", "ledger show")
        self._say_what_was_released(release)

    def _begin(self) -> None:
        if self.workspace.exists():
            shutil.rmtree(self.workspace)
        self.workspace.mkdir()
        self._step("Make a workspace.", "init")
        for name in ("schema.toml", "release.toml"):
            shutil.copy(self.folder / name, self.workspace / name)
        (self.workspace / "private").mkdir(mode=0o700)
        self.prepare(self.workspace / "private" / self.private)

    def _step(self, title: str, command: str) -> None:
        """Print a title and a command, run it, and stop the demonstration when it fails."""
        print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")
        print(f"$ dprelease {command}", flush=True)
        subprocess.run([COMMAND, *shlex.split(command)], cwd=self.workspace, check=True)

    def _say_what_was_released(self, release: Path) -> None:
        """Print where to look, and three lines of what was released at what cost."""
        verified = self._document(f"verify releases/{release.name}")
        statement = verified["guarantee"]["release_statement"]
        epsilon, delta = (float(Fraction(statement[name])) for name in ("epsilon", "delta"))
        files = ", ".join(sorted(path.name for path in release.iterdir()))
        print(f"\nLook into {release}: {files}.")
        print(f"Released: {verified['rows']} synthetic rows, all inside the declared domains.")
        print(f"At what cost: epsilon {epsilon:g} at delta {delta:g} for {self.who}.")
        print("Nothing is left of this budget: a second run would be refused before it touches the data.")

    def _document(self, command: str) -> dict[str, Any]:
        """Run a command with ``--json`` and return the document it prints."""
        arguments = [str(COMMAND), *shlex.split(command), "--json"]
        done = subprocess.run(arguments, cwd=self.workspace, check=True, stdout=subprocess.PIPE, text=True)
        result: dict[str, Any] = json.loads(done.stdout)
        return result
