"""Make, verify and describe one release of the breast cancer data by private evolution in a fresh workspace."""

from pathlib import Path

from demo.breast_cancer.prepare import prepare
from demo.walk import Walk

if __name__ == "__main__":
    Walk(
        folder=Path(__file__).parent,
        workspace=Path("demo-pe-workspace"),
        private="breast-cancer.csv",
        prepare=prepare,
        opening="Open the budget for these patients, once: epsilon 3 at delta 1e-6, by the law of Gaussian noise.",
        open_options="breast-cancer --unit row --law gdp --epsilon 3 --delta 1e-6",
        who="every patient",
    ).take()
