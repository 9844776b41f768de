"""Progress on stderr, and only on a terminal: steps, public messages, and how long the rest may take."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mechanisms.base import Progress, Watcher, silent


@contextmanager
def progress() -> Iterator[Watcher]:
    """Give a watcher that draws a bar from its first report on where stderr is a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    with ExitStack() as stack:
        started: list[Watcher] = []

        def watch(report: Progress) -> None:
            if not started:
                started.append(_start_bar(stack))
            started[0](report)

        yield watch


def _start_bar(stack: ExitStack) -> Watcher:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    def whole() -> Column:
        return Column(no_wrap=True)

    columns = (
        BarColumn(bar_width=12, table_column=whole()),
        MofNCompleteColumn(table_column=whole()),
        TimeRemainingColumn(elapsed_when_finished=True, table_column=whole()),
        TextColumn("{task.fields[share]}", table_column=whole()),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )
    bar = stack.enter_context(Bar(*columns, console=Console(stderr=True), transient=True, expand=True))
    task = bar.add_task("", total=None, share="")

    def watch(report: Progress) -> None:
        share = f"{100 * report.share:.0f} % of the budget"
        bar.update(task, completed=report.step, total=report.steps, description=report.message, share=share)

    return watch
