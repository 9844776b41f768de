"""Walk through a release with the product's own commands, printing each before it runs."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("dprelease")


def fresh_workspace(folder: Path) -> Path:
    """Make a new, empty workspace folder; an earlier demonstration's folder of this name is removed."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    return folder


def step(title: str, workspace: Path, *arguments: str) -> None:
    """Print a title and a command, run it in the workspace, and stop the demonstration when it fails."""
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")
    print(f"$ dprelease {shlex.join(arguments)}", flush=True)
    subprocess.run([COMMAND, *arguments], cwd=workspace, check=True)


def document(workspace: Path, *arguments: str) -> dict[str, Any]:
    """Run a command with ``--json`` and return the document it prints."""
    done = subprocess.run([COMMAND, *arguments, "--json"], cwd=workspace, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
