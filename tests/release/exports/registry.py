"""The form of a record of OpenDP's deployments registry: which keys there are, which are required, which words count.

Facts of schemas/deployments-schema.yaml in opendp/deployments-registry-data at commit 057e5d8.
"""

from typing import Any


def _closed(keys: dict[str, Any], required: str = "") -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": keys, "required": required.split()}


def _texts(names: str) -> dict[str, Any]:
    return {name: {"type": "string"} for name in names.split()}


def _words(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


NUMBER = {"type": "number"}
CURATOR = {
    "type": "object",
    "required": ["data_curator_name", "data_curator_type"],
    "properties": {
        "data_curator_name": {"type": "string"},
        "data_curator_type": _words("Government", "Industry", "Nonprofit"),
    },
}
PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
STATUSES = (
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
)
ORDER = (
    "basic",
    "dp_variant",
    "privacy_loss",
    "deployment_model",
    "implementation",
    "administrative",
)

SCHEMA: dict[str, Any] = _closed(
    {
        "url_slug": {"type": "string"},
        "deployment": _closed(
            {
                "basic": _closed(
                    {
                        **_texts("name description intended_use data_product_region"),
                        "data_curators": {"type": "array", "items": CURATOR, "minItems": 1},
                        "data_product_type": _words(*PRODUCTS),
                        "data_product_sector": _words(
                            "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"
                        ),
                        "publication_date": {"type": "string", "format": "date"},
                    },
                    "name data_curators description intended_use data_product_type data_product_region "
                    "publication_date",
                ),
                "dp_variant": _closed(
                    {
                        "variant_name": _words(
                            "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"
                        ),
                        **_texts("data_domain unprotected_quantities"),
                    }
                ),
                "privacy_loss": _closed(
                    {
                        **_texts("privacy_unit privacy_unit_details"),
                        "number_of_privacy_units": {"type": "integer"},
                        "privacy_parameters": _closed(
                            {"epsilon": NUMBER, "delta": {"type": ["number", "string"]}, "rho": NUMBER}
                        ),
                        "privacy_parameters_details": {},
                    }
                ),
                "deployment_model": _closed(
                    {
                        "model_name": _words("Local", "Central", "Shuffle", "Federated", "Varies"),
                        **_texts("model_name_details trust_assumptions release_type_details"),
                        "actors": {},
                        "release_type": _words("One release", "Many releases"),
                        "data_source_type": _words("Static", "Dynamic"),
                        **_texts("data_source_type_details access_type_details"),
                        "access_type": _words("Interactive", "Non-interactive"),
                    }
                ),
                "implementation": _closed(
                    {
                        **_texts("preprocessing_and_hyperparameter_tuning mechanisms composition post_processing"),
                        **_texts("justification"),
                        "utility": {},
                        "additional_information": {},
                    }
                ),
                "administrative": _closed(
                    {
                        "evidence_sources": {"type": "object"},
                        "status": _words(*STATUSES),
                        "registry_authors": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                        "tier": {"type": "integer", "enum": [1, 2, 3]},
                    },
                    "status registry_authors tier",
                ),
            },
            "basic administrative",
        ),
    },
    "url_slug deployment",
)
