"""Make, verify and describe one release of the RAND Health Insurance Experiment in a fresh workspace."""

import shutil
from fractions import Fraction
from pathlib import Path

from demo.rand_hie.prepare import prepare
from demo.walk import document, fresh_workspace, step

HERE = Path(__file__).parent
WORKSPACE = Path("demo-workspace")


def main() -> None:
    """Run the demonstration."""
    workspace = fresh_workspace(WORKSPACE)
    step("Make a workspace.", workspace, "init")
    for name in ("schema.toml", "release.toml"):
        shutil.copy(HERE / name, workspace / name)
    (workspace / "private").mkdir(mode=0o700)
    prepare(workspace / "private" / "rand-hie.csv")
    step("Make the key that will sign the release.", workspace, "keys", "new")
    step("What is public about the table.", workspace, "schema", "show")
    step(
        "Open the budget for these people, once: at most 5 rows a person, epsilon 3 at delta 1e-6.",
        workspace,
        *"ledger open rand-hie --unit person --id-column person --max-rows 5".split(),
        *"--law zcdp --epsilon 3 --delta 1e-6".split(),
    )
    step("The plan: what will be asked and what it costs at most. Nothing is read or spent.", workspace, "plan")
    step("Make the release.", workspace, "run", "--yes")
    release = next((workspace / "releases").iterdir())
    step("Check it, as anyone can, offline.", workspace, "verify", str(release.relative_to(workspace)))
    step("What was spent.", workspace, "ledger", "show")
    say_what_was_released(workspace, release)


def say_what_was_released(workspace: Path, release: Path) -> None:
    """Print where to look, and three lines of what was released at what cost."""
    verified = document(workspace, "verify", str(release.relative_to(workspace)))
    statement = verified["guarantee"]["release_statement"]
    epsilon, delta = (float(Fraction(statement[name])) for name in ("epsilon", "delta"))
    print(f"\nLook into {release}/: synthetic.csv, bounds.csv, schema.json, ledger.jsonl, manifest.dsse.json.")
    print(f"Released: {verified['rows']} synthetic rows of 14 columns, all inside the declared domains.")
    print(f"At what cost: epsilon {epsilon:g} at delta {delta:g} for a whole person, who may bring 5 rows.")
    print("Nothing is left of this budget: a second run would be refused before it touches the data.")


if __name__ == "__main__":
    main()
