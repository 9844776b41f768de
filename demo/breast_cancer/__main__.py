"""Make, verify and describe one release of the breast cancer data by private evolution in a fresh workspace."""

import shutil
from fractions import Fraction
from pathlib import Path

from demo.breast_cancer.prepare import prepare
from demo.walk import document, fresh_workspace, step

HERE = Path(__file__).parent
WORKSPACE = Path("demo-pe-workspace")


def main() -> None:
    """Run the demonstration."""
    workspace = fresh_workspace(WORKSPACE)
    step("Make a workspace.", workspace, "init")
    for name in ("schema.toml", "release.toml"):
        shutil.copy(HERE / name, workspace / name)
    (workspace / "private").mkdir(mode=0o700)
    prepare(workspace / "private" / "breast-cancer.csv")
    step("Make the key that will sign the release.", workspace, "keys", "new")
    step(
        "Open the budget for these patients, once: epsilon 3 at delta 1e-6, added up as Gaussian differential privacy.",
        workspace,
        *"ledger open breast-cancer --unit row --law gdp --epsilon 3 --delta 1e-6".split(),
    )
    step("The plan: what will be asked and what it costs at most. Nothing is read or spent.", workspace, "plan")
    step("Make the release.", workspace, "run", "--yes")
    release = next((workspace / "releases").iterdir())
    step("Check it, as anyone can, offline.", workspace, "verify", str(release.relative_to(workspace)))
    step("What was spent.", workspace, "ledger", "show")
    verified = document(workspace, "verify", str(release.relative_to(workspace)))
    statement = verified["guarantee"]["release_statement"]
    epsilon, delta = (float(Fraction(statement[name])) for name in ("epsilon", "delta"))
    print(f"\nLook into {release}/: synthetic.csv, schema.json, ledger.jsonl, manifest.dsse.json.")
    print(f"Released: {verified['rows']} synthetic rows of 31 columns, all inside the declared domains.")
    print(f"At what cost: epsilon {epsilon:g} at delta {delta:g} for every patient.")


if __name__ == "__main__":
    main()
