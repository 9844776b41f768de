"""An audit as text: every figure with what it means."""

from audits.document import AuditDocument, BlackBoxPart
from release.cli.console import table


def audit_text(document: AuditDocument) -> str:
    """Lay out an audit for a terminal."""
    kind = document.mechanism["kind"]
    lines = [
        f"Audit of {kind} ({document.level}) at {document.law} cap {document.cap}, unit {document.unit['kind']}",
        f"Columns: {', '.join(document.columns)}"
        + ("" if document.whole_schema else " (the smallest of the schema; a run of all of it takes too long)"),
        f"Significance of the whole audit: {document.significance:g}",
        *(f"Claim ({claim.name}): {claim.text}" for claim in document.claims),
        "",
        "Transcripts, whole and adaptive, by exact likelihood ratio:",
        table(
            ("pair", "runs a side", "errors", "mu >=", "apart >=", "pair's mu", "claim", "power", "verdict"),
            [
                (
                    part.pair,
                    str(part.runs_each_side),
                    f"{part.false_positives} + {part.false_negatives}",
                    f"{part.lower_bound:.4f}",
                    f"{part.lower_bound_apart:.4f}",
                    f"{part.pair_value:.4f}",
                    f"{part.claimed_mu:.4f}",
                    f"{part.power:.3f}",
                    part.verdict + (" (stopped early)" if part.stopped_early else ""),
                )
                for part in document.pairs
            ],
        ),
        f"mu >= is a lower bound at {1 - document.significance:.0%} confidence, from all thresholds together;",
        "apart >= is that of the error rates at threshold 0, as in the literature;",
        "power is the chance to catch noise of half the declared scale.",
        "",
        _black_box_text(document.black_box),
        "",
        "Record and replay:",
    ]
    for replay in document.replay:
        found = "; ".join(replay.violations) or "held"
        share = f"largest distance {replay.largest_share_of_sensitivity:.3g} of its sensitivity"
        lines.append(f"  {replay.pair}: {replay.questions} questions, {share}: {found}")
    lines += ["", "Samplers:"]
    lines += [f"  {fit.sampler}: {fit.draws} draws, p = {fit.p_value:.3g}: {fit.verdict}" for fit in document.goodness]
    lines += ["", f"Verdict: {document.verdict}. {document.no_proof}"]
    return "\n".join(lines)


def _black_box_text(part: BlackBoxPart) -> str:
    errors = f"{part.false_positives} + {part.false_negatives} errors in {part.runs_each_side} runs a side"
    return f"Synthetic rows alone: {errors}, mu >= {part.lower_bound:.4f}"
