"""Make, verify and describe one release of the RAND Health Insurance Experiment in a fresh workspace."""

from pathlib import Path

from demo.rand_hie.prepare import prepare
from demo.walk import Walk

if __name__ == "__main__":
    Walk(
        folder=Path(__file__).parent,
        workspace=Path("demo-workspace"),
        private="rand-hie.csv",
        prepare=prepare,
        opening="Open the budget for these people, once: at most 5 rows a person, epsilon 3 at delta 1e-6.",
        open_options="rand-hie --unit person --id-column person --max-rows 5 --law zcdp --epsilon 3 --delta 1e-6",
        who="a whole person, who may bring 5 rows",
    ).take()
