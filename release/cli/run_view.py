"""A finished release for people and for scripts."""

from fractions import Fraction

from accounting.exact import from_text, to_text
from release.amounts import cost_text, left_text, statement_text
from release.running import Released


def released_text(released: Released) -> str:
    """Say what was released, at what cost, and what is left."""
    guarantee = released.manifest.guarantee
    delta = to_text(released.delta)
    epsilon = next(point.epsilon for point in guarantee.release_curve if point.delta == delta)
    cap = cost_text(from_text(guarantee.release_cap.amount), guarantee.law)
    return (
        f"Released {released.manifest.output_rows} synthetic rows: {released.folder}\n"
        f"Guarantee {cap} ({statement_text(Fraction(epsilon), released.delta)}); "
        f"its questions cost {cost_text(released.settled, guarantee.law)}.\n"
        f"Dataset {released.manifest.dataset!r} has {left_text(released.left, guarantee.law)} left."
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
