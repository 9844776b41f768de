"""Make, verify and describe one release of the RAND Health Insurance Experiment in a fresh workspace."""

import shutil
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
    verified = document(workspace, "verify", str(release.relative_to(workspace)))
    print(f"\nLook at {release}/synthetic.csv: {verified['rows']} synthetic rows.")


if __name__ == "__main__":
    main()
