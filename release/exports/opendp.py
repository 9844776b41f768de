"""A record for OpenDP's registry of differential-privacy deployments, in its YAML form.

The fields follow the schema in opendp/deployments-registry-data as of 2026. A record is a draft: the registry's board
reviews it.
"""

import re
from typing import Any

from accounting.errors import ConfigError
from release.exports.facts import Facts, above
from release.exports.usage import NOT_FOR, use_sentences

_UNITS = {"row": "Row-level", "person": "Person-level"}
_VARIANTS = {"zcdp": "Zero-concentrated DP", "gdp": "Custom"}
_DIGITS = 6
_ONE_LINE = 10**6
_ORIGINS = {
    "zcdp": "A filter for zCDP (arXiv:2203.05481): the rho of all questions add up to at most the cap.",
    "gdp": "A filter for Gaussian DP (arXiv:2210.17520): the squared mu of all questions add up to at most the cap.",
}


def registry_record(facts: Facts) -> bytes:
    """Return the release as a draft record of the registry.

    Raises:
        ConfigError: the publisher's facts that the registry requires are missing, or PyYAML is not installed.
    """
    publication = facts.publication
    needed = ("publishers", "region", "authors")
    publication.require(*needed, *(() if facts.intended_use else ("intended_use",)))
    return _yaml(
        {
            "url_slug": _slug(facts),
            "deployment": {
                "basic": _basic(facts),
                "dp_variant": _variant(facts),
                "privacy_loss": _privacy_loss(facts),
                "deployment_model": _model(facts),
                "implementation": _implementation(facts),
                "administrative": {
                    "status": "Draft",
                    "registry_authors": list(publication.authors),
                    "tier": 3 if publication.justification else 2,
                },
            },
        }
    )


def _slug(facts: Facts) -> str:
    parts = [facts.title, *(each.name for each in facts.publication.publishers), facts.manifest.day[:4]]
    return re.sub(r"[\W_]+", "-", " ".join(parts).lower()).strip("-")


def _basic(facts: Facts) -> dict[str, Any]:
    publication = facts.publication
    basic: dict[str, Any] = {
        "name": facts.title,
        "data_curators": [
            {"data_curator_name": each.name, "data_curator_type": each.type} for each in publication.publishers
        ],
        "description": facts.description,
        "intended_use": facts.intended_use,
        "data_product_type": "Synthetic data",
        "data_product_region": publication.region,
    }
    if publication.sector:
        basic["data_product_sector"] = publication.sector
    return basic | {"publication_date": facts.manifest.day}


def _variant(facts: Facts) -> dict[str, Any]:
    columns = ", ".join(f"{column.name} ({column.kind})" for column in facts.files.schema.columns)
    return {
        "variant_name": _VARIANTS[facts.report.guarantee.law],
        "data_domain": f"All tables with the declared columns, of any number of rows: {columns}.",
        "unprotected_quantities": _items(
            "No quantity of the table is published without noise; the number of rows is noisy too, or declared.",
            *(f"Not protected: {item}." for item in facts.report.not_protected),
        ),
    }


def _privacy_loss(facts: Facts) -> dict[str, Any]:
    part = facts.report.guarantee
    point = part.release_epsilon
    parameters = {"epsilon": _number(point.epsilon), "delta": _number(point.delta)}
    if part.law == "zcdp":
        parameters["rho"] = _number(part.release_cap.amount)
    return {
        "privacy_unit": _UNITS[facts.manifest.unit["kind"]],
        "privacy_unit_details": (
            f"{facts.report.protected} Adjacent tables differ by the addition or removal of one such unit."
        ),
        "privacy_parameters": parameters,
        "privacy_parameters_details": _items(
            facts.guarantee,
            f"Exact caps: {part.amount_name} = {part.release_cap.amount} for this release, {part.dataset_cap.amount} "
            "for all releases of the dataset.",
            f"Epsilon follows by {part.source}.",
            str(facts.report.strength),
        ),
    }


def _model(facts: Facts) -> dict[str, Any]:
    runs = len(facts.manifest.runs)
    return {
        "model_name": "Central",
        "trust_assumptions": (
            "The curator's machine, its administrators and the operating system's random generator are trusted; "
            "readers of the release are not, whatever else they know."
        ),
        "release_type": "One release",
        "release_type_details": (
            f"The dataset's ledger lists {runs} run{_s(runs)} up to this release. Further releases of "
            f"the same people draw on the same cap, of which {facts.report.guarantee.amount_name} = "
            f"{facts.report.budget.left} is left."
        ),
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _implementation(facts: Facts) -> dict[str, Any]:
    manifest, report = facts.manifest, facts.report
    looks = len(manifest.looks)
    stages = (f"{stage.name}: {stage.questions} question{_s(stage.questions)}" for stage in report.budget.stages)
    part = {
        "preprocessing_and_hyperparameter_tuning": (
            f"{facts.domains} Rows were cast by these domains. The curator looked at the table {looks} time{_s(looks)} "
            "without paying; the ledger lists it."
        ),
        "mechanisms": _items(
            f"Mechanism {manifest.mechanism.get('kind')}, in dprelease {manifest.software.get('dprelease')}.",
            *stages,
            f"{facts.noise} The curator ran {manifest.randomness.isolation}.",
            "Counts and noisy answers are integers; no floating-point number touches a private count.",
            "Timing is not protected: nobody may watch the machine while it runs.",
        ),
        "composition": _ORIGINS[report.guarantee.law],
        "post_processing": "A model is fitted to the noisy answers and the synthetic rows are drawn from it.",
    }
    if facts.publication.justification:
        part["justification"] = facts.publication.justification
    return part | {
        "utility": _items(
            f"Mean bound on the total variation distance of {report.accuracy.marginals} marginals: "
            f"{above(repr(report.accuracy.mean_error), 2)}, at {report.accuracy.confidence:.0%} confidence.",
            *use_sentences(facts)[bool(facts.intended_use) :],
        ),
        "additional_information": _items(
            f"Verify with: {report.verify}",
            f"SHA-256 of the signed statement: {facts.statement}",
            *([facts.publication.url] if facts.publication.url else []),
            *(f"Not for: {sentence}" for sentence in NOT_FOR),
        ),
    }


def _items(*sentences: str) -> str:
    """Write several sentences as a Markdown list, which the registry renders."""
    return "".join(f"- {sentence}\n" for sentence in sentences)


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _number(amount: str) -> float:
    return float(above(amount, _DIGITS))


def _yaml(record: dict[str, Any]) -> bytes:
    """Write YAML with texts of several lines as blocks, as the registry asks."""
    try:
        import yaml
    except ImportError:
        raise ConfigError(
            "this export needs PyYAML; install dprelease with its extra: pip install 'dprelease[export]'"
        ) from None

    def text(dumper: Any, value: str) -> Any:  # noqa: ANN401 - PyYAML ships no types
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    writer: Any = type("RecordDumper", (yaml.SafeDumper,), {})
    writer.add_representer(str, text)
    written: str = yaml.dump(record, Dumper=writer, sort_keys=False, allow_unicode=True, width=_ONE_LINE)
    return written.encode("utf-8")
