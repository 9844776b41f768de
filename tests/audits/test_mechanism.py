"""The whole audit of a mechanism: a clean one passes, a broken one is falsified early, a stopped one goes on."""

from fractions import Fraction

import pytest

import accounting.curator.table
from accounting.budget import Law, cap
from accounting.errors import ConfigError
from accounting.noise import SeededEntropy, rounded_gaussian
from accounting.unit import RowUnit
from audits.claims import claims_of, mu_claim, variation_claim
from audits.document import AuditDocument
from audits.goodness import gaussian_fit, selection_fit
from audits.mechanism import Subject, audit_mechanism, audit_schema
from mechanisms.registry import config_from_table
from tests.audits.subjects import calibrated, flags


def subject(kind="independent", amount="1/2", schema=None, options=None):
    config = config_from_table(kind, options or {})
    return Subject(kind, config, cap(Law.ZCDP, Fraction(amount)), RowUnit(), schema or flags("a", "b"))


def test_a_right_mechanism_is_not_falsified_and_its_document_reads_back(monkeypatch):
    monkeypatch.setattr("audits.mechanism._DRAWS", {"quick": (9000, 40)})
    said = []
    document = audit_mechanism(subject("mst", options={}), "quick", runs=25, say=said.append, seed=1)
    assert document.verdict == "not falsified"
    assert AuditDocument.model_validate_json(document.model_dump_json()) == document
    assert [part.pair for part in document.pairs] == ["lone record", "empty table", "largest cell", "opposite errors"]
    assert any("minutes" in line for line in said)
    assert document.whole_schema
    assert all(part.lower_bound <= part.claimed_mu for part in document.pairs)


def test_broken_noise_is_falsified_before_the_planned_runs(monkeypatch):
    def weak(variance, size, entropy):
        return rounded_gaussian(max(variance / 100, Fraction(1, 10**4)), size, entropy)

    monkeypatch.setattr(accounting.curator.table, "rounded_gaussian", weak)
    monkeypatch.setattr("audits.mechanism._DRAWS", {"quick": (9000, 40)})
    document = audit_mechanism(subject(amount="1/8"), "quick", runs=400, seed=1)
    assert document.verdict == "falsified"
    main = document.pairs[0]
    assert main.stopped_early
    assert main.runs_each_side < main.planned_runs_each_side
    assert main.lower_bound > main.claimed_mu
    assert document.goodness[0].verdict == "falsified"


def test_a_stopped_audit_goes_on_from_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr("audits.mechanism._DRAWS", {"quick": (9000, 40)})
    keep = tmp_path / "runs"
    first = audit_mechanism(subject(), "quick", runs=50, keep=keep, seed=1)
    lines = keep.read_text().splitlines(keepends=True)
    keep.write_text("".join(lines[:2]) + lines[2][:40])
    again = audit_mechanism(subject(), "quick", runs=50, keep=keep, seed=1)
    assert again.pairs[0].runs_each_side == first.pairs[0].runs_each_side == 50
    assert keep.read_text().splitlines(keepends=True)[:2] == lines[:2]
    assert len(keep.read_text().splitlines()) == len(lines)


@pytest.mark.parametrize("damage", ["another", "not json\n", '{"pair": "lone record", "runs": []}\n'])
def test_a_file_of_another_audit_or_a_damaged_one_is_refused(tmp_path, damage, monkeypatch):
    monkeypatch.setattr("audits.mechanism._DRAWS", {"quick": (9000, 40)})
    keep = tmp_path / "runs"
    audit_mechanism(subject(), "quick", runs=25, keep=keep, seed=1)
    if damage == "another":
        with pytest.raises(ConfigError, match="another audit"):
            audit_mechanism(subject(amount="1/3"), "quick", runs=25, keep=keep, seed=1)
        return
    head, rest = keep.read_text().split("\n", 1)
    keep.write_text(f"{head}\n{damage}{rest}")
    with pytest.raises(ConfigError, match="damaged"):
        audit_mechanism(subject(), "quick", runs=25, keep=keep, seed=1)


@pytest.mark.parametrize("kind", ["independent", "tab-pe"])
def test_several_processes_see_the_same_seeded_runs(kind):
    from audits.pairs import worst_case_pairs
    from audits.transcript.runs import Experiment, observe

    mechanism, release_cap = calibrated(kind, flags("a"))
    experiment = Experiment(mechanism, release_cap, worst_case_pairs(flags("a"), RowUnit())[0], seed=3)
    assert list(observe(experiment, range(2), processes=2)) == list(observe(experiment, range(2), processes=1))


def test_a_wide_schema_is_audited_on_its_smallest_columns():
    schema = audit_schema(flags("a", "b", "c", "d", "e", person=True))
    assert [column.name for column in schema.columns] == ["a", "b", "c"]
    assert schema.identifiers == ("id",)
    assert audit_schema(flags("a")) == flags("a")


def test_the_claim_prices_selections_at_their_own_mu():
    independent, release_cap = calibrated("independent", flags("a", "b"))
    assert mu_claim(independent.plan, release_cap) == pytest.approx(1)
    aim, _ = calibrated("aim", flags("a", "b"))
    assert 1 < mu_claim(aim.plan, release_cap) < (22 / 7 / 2) ** 0.5
    assert [claim.name for claim in claims_of(aim.plan, release_cap)] == ["mu", "rho"]
    gdp, gdp_cap = calibrated("aim", flags("a", "b"), law=Law.GDP)
    assert [claim.value for claim in claims_of(gdp.plan, gdp_cap)] == [pytest.approx(0.5**0.5)]


def test_the_variation_that_rho_permits_lies_above_that_of_its_gaussian():
    from scipy.special import ndtr

    for rho in (Fraction(1, 100), Fraction(1, 2), Fraction(5)):
        gaussian = 2 * ndtr((2 * float(rho)) ** 0.5 / 2) - 1
        assert gaussian <= variation_claim(rho) < 1


def test_right_samplers_fit():
    assert gaussian_fit(Fraction(1, 4), 9000, SeededEntropy(1)).p_value > 1e-3
    assert selection_fit(Fraction(1), 60, SeededEntropy(1)).p_value > 1e-3
