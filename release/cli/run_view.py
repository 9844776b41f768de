"""A finished release for people and for scripts."""

from fractions import Fraction

from accounting.exact import decimal_above, decimal_below, from_text, to_text
from release.budgets import SYMBOLS
from release.running import Released


def released_text(released: Released) -> str:
    """Say what was released, at what cost, and what is left."""
    guarantee = released.manifest.guarantee
    symbol = SYMBOLS[guarantee.law]
    cap = decimal_above(from_text(guarantee.release_cap.amount))
    delta = to_text(released.delta)
    epsilon = next(point.epsilon for point in guarantee.release_curve if point.delta == delta)
    stated = f"ε = {decimal_above(Fraction(epsilon))} at δ = {decimal_above(released.delta)}"
    return (
        f"Released {released.manifest.output_rows} synthetic rows: {released.folder}\n"
        f"Guarantee {symbol} = {cap} ({stated}); its questions cost {symbol} = {decimal_above(released.settled)}.\n"
        f"Dataset {released.manifest.dataset!r} has {symbol} = {decimal_below(released.left)} left."
    )


def released_document(released: Released) -> dict[str, object]:
    """Describe a finished release as JSON."""
    return {
        "release": released.release_id,
        "folder": str(released.folder),
        "dataset": released.manifest.dataset,
        "rows": released.manifest.output_rows,
        "guarantee": released.manifest.guarantee.model_dump(mode="json"),
        "settled": to_text(released.settled),
        "left": to_text(released.left),
    }
