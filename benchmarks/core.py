"""Start-up of the commands, verification of a release, and the rate of noise draws: ``python -m benchmarks.core``.

Needs the release that ``make demo`` wrote for the verification figures.
"""

import statistics
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

from accounting.noise import OsEntropy, rounded_gaussian
from benchmarks.report import Report, arguments, as_installed, progress

BUDGET_REFUSED = 3
DEMO = Path("demo-workspace")
COMMAND = Path(sys.executable).with_name("dprelease")


def seconds(*options: str, folder: Path, runs: int, code: int = 0) -> float:
    """Return the median wall time of a command that leaves with the given exit code, after one warm-up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        done = subprocess.run(
            [COMMAND, *options], cwd=folder, check=False, capture_output=True, text=True, env=as_installed()
        )
        times.append(time.perf_counter() - start)
        if done.returncode != code:
            raise RuntimeError(done.stderr)
    return statistics.median(times[1:])


def draws_per_second(sigma: Fraction, size: int) -> float:
    """Return the median rate of rounded Gaussian draws at one σ."""
    entropy = OsEntropy()
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        rounded_gaussian(sigma * sigma, size, entropy)
        rates.append(size / (time.perf_counter() - start))
    return statistics.median(rates)


def main() -> None:
    """Measure."""
    options = arguments(__doc__ or "")
    report = Report("core")
    runs = 5 if options.quick else 15
    report.bar("seconds of dprelease --help", seconds("--help", folder=Path(), runs=runs), "<=", 0.5)
    releases = sorted((DEMO / "releases").glob("*")) if DEMO.is_dir() else []
    if releases:
        release = str(releases[0].relative_to(DEMO))
        spent = seconds("plan", folder=DEMO, runs=runs, code=BUDGET_REFUSED)  # the demo uses its budget up
        report.bar("seconds of plan", spent, "<=", 0.7)
        report.bar("seconds of ledger show", seconds("ledger", "show", folder=DEMO, runs=runs), "<=", 1.0)
        report.bar("seconds of verify", seconds("verify", release, folder=DEMO, runs=runs), "<=", 1.0)
    else:
        progress("no demo release here: run `make demo` first to measure plan, ledger and verify")
    size = 200_000 if options.quick else 2_000_000
    for sigma in ("0.01", "0.3", "1", "50", "1e4", "1e9"):
        rate = draws_per_second(Fraction(sigma), size)
        report.bar(f"noise draws a second at sigma {sigma}", rate, ">=", 1e6)
    report.finish(options.out)


if __name__ == "__main__":
    main()
