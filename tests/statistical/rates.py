"""The false-alarm registry: how often all statistical tests together may fail although nothing is wrong.

A test whose outcome is random registers, at import, a unique name and a bound on the probability that it fails when the
code is right. The sum over the whole suite stays below ``LIMIT`` (tests/statistical/test_rates.py).

A test of a sampler registers itself with the decorator :func:`sampler_test`. Its function runs the test on a sampler
whose standard deviation (for a selection: whose scale) is multiplied by ``scale`` and tells whether the test rejects.
The same module asserts ``not test(Fraction(1), OsEntropy())``, and the meta-test asserts that 0.9 and 1.1 are rejected.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from accounting.noise import Entropy

LIMIT = 1e-6
"""What all registered rates may add up to."""

_TESTS = Path(__file__).resolve().parent.parent

Rejects: TypeAlias = Callable[[Fraction, Entropy], bool]


@dataclass(frozen=True, slots=True)
class StatisticalTest:
    """One registered test.

    Args:
        name: unique in the suite.
        rate: probability, above 0, of a failure of right code.
        rejects: for a sampler's test: whether it rejects the sampler with its noise scaled.
        slow: whether it runs with ``make slow`` only.
    """

    name: str
    rate: float
    rejects: Rejects | None = None
    slow: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.rate <= LIMIT:
            raise ValueError(f"{self.name}: a false-alarm rate lies in (0, {LIMIT}], typically 1e-9")


_registered: dict[str, StatisticalTest] = {}


def register(name: str, rate: float) -> float:
    """Register a statistical test that is not about a sampler's scale and return its rate."""
    _add(StatisticalTest(name, rate))
    return rate


def sampler_test(name: str, rate: float, *, slow: bool = False) -> Callable[[Rejects], Rejects]:
    """Register the decorated function as the test of a sampler, with power against a scale of 0.9 and of 1.1."""

    def decorate(rejects: Rejects) -> Rejects:
        _add(StatisticalTest(name, rate, rejects, slow))
        return rejects

    return decorate


def everything() -> tuple[StatisticalTest, ...]:
    """Import every test module that registers something and return what is registered."""
    for path in sorted(_TESTS.rglob("test_*.py")):
        if "tests.statistical" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(path.relative_to(_TESTS.parent).with_suffix("").parts))
    return tuple(_registered.values())


def _add(test: StatisticalTest) -> None:
    if test.name in _registered:
        raise ValueError(f"{test.name!r} is registered twice: give every statistical test a name of its own")
    _registered[test.name] = test
