"""The draft record for OpenDP's deployments registry."""

import dataclasses
from fractions import Fraction

import jsonschema
import pytest
import yaml

from accounting.budget import Rho
from accounting.convert import epsilon
from accounting.errors import ConfigError
from release.exports import export_release
from release.exports.facts import read_facts
from release.exports.opendp import registry_record
from release.exports.publication import read_publication
from release.manifest import DomainPart, MeasuredPart
from tests.release.exports.registry import ORDER, SCHEMA
from tests.release.small_release import RELEASE, command


@pytest.fixture
def record(released, tmp_path, publication):
    export_release(released, None, kind="opendp", out=tmp_path / "stays.yaml", publication=publication)
    return yaml.safe_load((tmp_path / "stays.yaml").read_text(encoding="utf-8"))


def check(record):
    validator = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in validator.iter_errors(record)]


def test_it_has_the_registrys_form(record):
    assert check(record) == []
    assert tuple(record["deployment"]) == ORDER


def test_the_form_is_checked_at_all(record):
    record["deployment"]["basic"]["data_product_type"] = "Miracle"
    del record["deployment"]["administrative"]["tier"]
    assert len(check(record)) == 2


def test_the_guarantee_is_rounded_up_never_down(record):
    loss = record["deployment"]["privacy_loss"]
    assert record["deployment"]["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert loss["privacy_unit"] == "Row-level"
    assert loss["privacy_parameters"]["rho"] == 0.25
    assert loss["privacy_parameters"]["delta"] == 1e-6
    exact = epsilon(Rho(Fraction(1, 4)), Fraction(1, 10**6))
    assert exact <= Fraction(repr(loss["privacy_parameters"]["epsilon"])) < exact + Fraction(1, 10**4)


def test_measured_domains_and_their_delta_are_said(released, publication):
    facts = read_facts(released, read_publication(publication))
    domain = DomainPart(
        declared_schema_digest="0" * 64,
        share="1/20",
        delta="1/10000000",
        columns=(MeasuredPart(column="ward", question="categories", entries=(3,)),),
    )
    manifest = facts.manifest.model_copy(update={"domain": domain})
    cap = facts.report.guarantee.release_cap.model_copy(update={"delta": "1/10000000"})
    guarantee = facts.report.guarantee.model_copy(update={"release_cap": cap})
    changed = dataclasses.replace(
        facts,
        files=dataclasses.replace(facts.files, manifest=manifest),
        report=facts.report.model_copy(update={"guarantee": guarantee}),
    )
    text = registry_record(changed).decode()
    assert "The domains of ward were found by paid questions" in text
    assert "at most 0.25 (up to delta 0.0000001, set aside for finding categories)" in text
    assert "were declared, not taken from the table" in registry_record(facts).decode()


def test_long_texts_are_blocks_and_no_text_is_folded(released, tmp_path, publication):
    out = tmp_path / "stays.yaml"
    export_release(released, None, kind="opendp", out=out, publication=publication)
    with out.open(encoding="utf-8") as file:
        styles = {token.style for token in yaml.scan(file, Loader=yaml.SafeLoader) if hasattr(token, "style")}
    assert "|" in styles
    assert ">" not in styles


def test_what_no_release_knows_is_asked_for(released, tmp_path):
    with pytest.raises(ConfigError, match=r"publication\.toml.*publishers.*region.*authors.*intended_use"):
        export_release(released, None, kind="opendp", out=tmp_path / "stays.yaml")
    assert not (tmp_path / "stays.yaml").exists()


def test_a_person_under_gdp_and_what_the_release_says_of_itself(tmp_path, publication):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    command(workspace, "init", str(workspace))
    (workspace / "schema.toml").write_text(
        '[table]\nname = "small"\nmax_rows = 99\n[[columns]]\nname = "who"\nkind = "identifier"\n'
        '[[columns]]\nname = "x"\nkind = "boolean"\nnullable = true\n',
        encoding="utf-8",
    )
    config = RELEASE.format(mechanism="independent", formats='["csv"]').replace('rho = "1/4"', "mu = 1")
    config = config.replace('kind = "row"', 'kind = "person"\nid_column = "who"\nmax_rows = 2')
    config += '[about]\npublisher = "Own office"\npurpose = "Own purpose."\n'
    (workspace / "release.toml").write_text(config, encoding="utf-8")
    (workspace / "private.csv").write_text("who,x\n" + "".join(f"{i},true\n" for i in range(40)), encoding="utf-8")
    command(workspace, "keys", "new")
    opening = "ledger open small --unit person --id-column who --max-rows 2 --law gdp --mu 2"
    command(workspace, *opening.split())
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    folder = next((workspace / "releases").iterdir())
    export_release(folder, None, kind="opendp", out=tmp_path / "p.yaml", publication=publication)
    record = yaml.safe_load((tmp_path / "p.yaml").read_text(encoding="utf-8"))
    assert check(record) == []
    loss = record["deployment"]["privacy_loss"]
    assert record["deployment"]["dp_variant"]["variant_name"] == "Custom"
    assert loss["privacy_unit"] == "Person-level"
    assert "rho" not in loss["privacy_parameters"]
    assert "Gaussian differential privacy" in loss["privacy_parameters_details"]
    export_release(folder, None, kind="summary", out=tmp_path / "p.md")
    page = (tmp_path / "p.md").read_text(encoding="utf-8")
    assert "| Published by | Own office |" in page
    assert "\nOwn purpose.\n" in page
