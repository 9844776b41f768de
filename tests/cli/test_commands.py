"""Each command's ordinary way, for people and for scripts."""

import csv
import json
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from accounting.schema import Schema
from tests.cli.shell import RELEASE, manifest, release_of, rows, write_rows


def test_init_writes_files_that_are_valid_as_they_stand(tmp_path, monkeypatch, give):
    monkeypatch.chdir(tmp_path)
    made = give("init new --json").document
    assert sorted(Path(name).name for name in made["files"]) == [
        ".gitignore",
        "dprelease.toml",
        "release.toml",
        "schema.toml",
    ]
    assert give("schema show --workspace new").code == 0
    assert give("ledger open my-table --unit row --law zcdp --epsilon 3 --delta 1e-6 --workspace new").code == 0
    assert give("plan --workspace new").code == 0


def test_init_leaves_what_is_there(tmp_path, monkeypatch, give):
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text("mine")
    assert give("init").code == 0
    assert Path("schema.toml").read_text() == "mine"
    again = give("init")
    assert again.code == 2
    assert "nothing was changed" in again.err


def test_keys_new(workspace, give):
    private = workspace / "keys" / "signing-key.pem"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    again = give("keys new")
    assert again.code == 2
    assert "already" in again.err


def test_a_protected_key_opens_with_its_passphrase_only(workspace, give, monkeypatch):
    for path in (workspace / "keys").iterdir():
        path.unlink()
    monkeypatch.setenv("DPRELEASE_PASSPHRASE", "correct horse")
    assert give("keys new --passphrase").code == 0
    assert b"ENCRYPTED" in (workspace / "keys" / "signing-key.pem").read_bytes()
    monkeypatch.setenv("DPRELEASE_PASSPHRASE", "wrong")
    assert give("run --yes").code == 2
    monkeypatch.delenv("DPRELEASE_PASSPHRASE")
    without = give("run --yes")
    assert without.code == 2
    assert "DPRELEASE_PASSPHRASE" in without.err
    monkeypatch.setenv("DPRELEASE_PASSPHRASE", "correct horse")
    assert give("run --yes").code == 0


def test_schema_show(workspace, give):
    shown = give("schema show --json").document
    assert [column["cells"] for column in shown["columns"]] == [4, 10, 12]
    assert shown["identifiers"] == ["person"]
    assert [marginal["cells"] for marginal in shown["marginals"]] == [26, 4 * 10 + 4 * 12 + 10 * 12, 480]
    assert "income" in give("schema show").out


def test_schema_check_of_a_clean_file_is_a_counted_look(workspace, give):
    checked = give("schema check private.csv")
    assert checked.code == 0
    assert "CONFIDENTIAL" in checked.out
    (dataset,) = give("ledger show --json").document["datasets"]
    assert dataset["looks"] == 1
    (look,) = give("ledger log --kind look --json").document["entries"]
    assert look["schema_digest"] == Schema.from_toml("schema.toml").digest


def test_schema_check_of_bad_rows_is_the_honest_no(workspace, give):
    write_rows(workspace / "private.csv", [*rows(10), "p,hamlet,77,5", "p,west,1,5"])
    checked = give("schema check private.csv --json")
    assert checked.code == 1
    assert checked.document["problems"] == {
        "town": {"category that is not declared": 1},
        "age": {"above max": 1},
    }
    shown = give("schema check private.csv")
    assert "above max" in shown.out
    assert "west" not in shown.out + shown.err + checked.out
    assert "77" not in shown.out + shown.err


def test_plan_spends_and_reads_nothing(workspace, give):
    (workspace / "private.csv").unlink()
    before = (workspace / "ledger.db").read_bytes()
    plan = give("plan --json").document
    assert plan["fits"]
    assert plan["cost"] == "1/4"
    assert plan["left"] == "1/2"
    assert plan["rows_guess"] == 1000
    assert sum(Fraction(line["ceiling"]) for line in plan["questions"]) == Fraction(1, 4)
    assert (workspace / "ledger.db").read_bytes() == before
    assert not (workspace / "releases").exists()


def test_plan_states_the_noise_that_a_run_then_has(workspace, give):
    plan = give("plan --rows-guess 200 --json").document
    give("run --yes")
    event = manifest(release_of(workspace))["questions"][0]["event"]
    for column in plan["columns"]:
        assert column["sigma"] ** 2 == pytest.approx(float(Fraction(event["variance"])))
    town = next(column for column in plan["columns"] if column["column"] == "town")
    assert town["expected_error"] == pytest.approx(4 * town["sigma"] * (2 / 3.141592653589793) ** 0.5 / 400)


def test_plan_compares_the_mechanisms_and_advises_one(workspace, give):
    plan = give("plan --json").document
    assert [item["kind"] for item in plan["predictions"]] == ["aim", "aim-gdp", "mst", "independent", "tab-pe"]
    assert plan["advice"]["mechanism"] in {item["kind"] for item in plan["predictions"]}
    shown = give("plan").out
    assert plan["advice"]["reason"] in shown


def test_plan_without_any_public_guess_shows_noise_in_rows_only(workspace, give):
    path = workspace / "schema.toml"
    path.write_text(path.read_text().replace("max_rows = 1000\n", ""))
    plan = give("plan --json").document
    assert plan["rows_guess"] is None
    assert plan["predictions"] == []
    assert plan["advice"]["mechanism"] in {"aim", "tab-pe"}
    assert {column["expected_error"] for column in plan["columns"]} == {None}
    assert "--rows-guess" in give("plan").out


def test_plan_says_how_many_cells_a_long_list_has_in_the_model(workspace, give):
    names = ", ".join(f'"c{number}"' for number in range(3000))
    column = f'name = "code"\nkind = "categorical"\nnullable = true\ncategories = [{names}]\n'
    (workspace / "schema.toml").write_text(f'[table]\nname = "t"\n[[columns]]\n{column}')
    for kind, cells in (("mst", 258), ("independent", 3001)):
        (workspace / "release.toml").write_text(RELEASE.replace('"independent"', f'"{kind}"'))
        (column,) = give("plan --json").document["columns"]
        assert (column["cells"], column["modelled_cells"]) == (3001, cells)
    assert "at most 258" not in give("plan").out
    (workspace / "release.toml").write_text(RELEASE.replace('"independent"', '"mst"'))
    assert "at most 258" in give("plan").out


def test_run_then_verify(workspace, give):
    path = workspace / "release.toml"
    path.write_text(RELEASE + '[output]\nformats = ["csv", "parquet"]\n')
    made = give("run --yes")
    assert made.code == 0, made.err
    assert "cost" in made.err
    assert "Released" in made.out
    release = release_of(workspace)
    assert sorted(item.name for item in release.iterdir()) == [
        "bounds.csv",
        "evidence.json",
        "ledger.jsonl",
        "manifest.dsse.json",
        "report.html",
        "report.json",
        "schema.json",
        "synthetic.csv",
        "synthetic.parquet",
    ]
    with (release / "synthetic.csv").open(newline="") as file:
        header, *body = csv.reader(file)
    assert header == ["town", "age", "income"]
    verified = give(f"verify {release} --json")
    assert verified.code == 0, verified.err
    assert verified.document["verified"] is True
    assert verified.document["rows"] == len(body)
    by_key = give(f"verify {release} --key keys/signing-key.pub.pem")
    assert by_key.code == 0
    assert "keeps what it says" in by_key.out


def test_run_as_a_document(workspace, give):
    made = give("run --yes --json").document
    assert made["format"] == "dprelease.run"
    assert Path(made["folder"]) == release_of(workspace)
    assert made["left"] == "1/4"
    assert made["guarantee"]["release_cap"]["amount"] == "1/4"


def test_declared_rows_are_written(workspace, give):
    (workspace / "release.toml").write_text(RELEASE + "[output]\nrows = 7\n")
    assert give("run --yes --json").document["rows"] == 7


def test_a_dataset_under_gdp(workspace, give):
    assert give("ledger open other --unit row --law gdp --mu 1").code == 0
    text = RELEASE.replace('"visits"', '"other"').replace('rho = "1/4"', 'mu = "1/2"')
    (workspace / "release.toml").write_text(text)
    assert give("plan --json").document["cost"] == "1/4"
    made = give("run --yes --json")
    assert made.document["left"] == "3/4"
    assert give(f"verify {made.document['folder']}").code == 0


def test_a_person_unit(workspace, give):
    opened = give("ledger open people --unit person --id-column person --max-rows 2 --law zcdp --rho 1/4")
    assert opened.code == 0
    text = RELEASE.replace('"visits"', '"people"')
    text = text.replace('kind = "row"', 'kind = "person"\nid_column = "person"\nmax_rows = 2')
    (workspace / "release.toml").write_text(text)
    made = give("run --yes --json")
    assert made.code == 0, made.err
    event = manifest(Path(made.document["folder"]))["questions"][0]["event"]
    assert event["sensitivity_squared"] == "12/1"


def test_ledger_show_log_verify_and_export(workspace, give):
    give("run --yes")
    (dataset,) = give("ledger show visits --json").document["datasets"]
    assert (dataset["cap"], dataset["allotted"], dataset["left"], dataset["settled"]) == ("1/2", "1/4", "1/4", "1/4")
    assert "visits" in give("ledger show").out
    release = dataset["releases"][0]["release"]
    kinds = [entry["kind"] for entry in give(f"ledger log visits --release {release} --json").document["entries"]]
    assert kinds == ["allotted", "reserved", "started", "settled", "closed"]
    assert "dataset-opened" in give("ledger log").out
    assert give("ledger verify --json").document["entries"] == 6
    lines = give("ledger export").out.splitlines()
    assert lines == (release_of(workspace) / "ledger.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(6))


def test_budget_conversions(give):
    both = give("budget --epsilon 3 --delta 1e-6 --json").document["conversions"]
    assert [row["unit"] for row in both] == ["rho", "mu_squared"]
    (one,) = give("budget --rho 1/8 --delta 1e-6 --json").document["conversions"]
    assert one["amount"] == "1/8"
    assert one["epsilon"].startswith("2.419")
    only = give("budget --mu 1 --delta 1e-5").out
    assert "gdp" in only
    assert "zcdp" not in only


def test_every_json_document_names_its_format_and_version(workspace, give):
    for command in (
        "plan",
        "run --yes",
        "ledger show",
        "ledger verify",
        "ledger log",
        "schema show",
        "schema check private.csv",
        "budget --rho 1 --delta 1e-6",
    ):
        document = give(command + " --json").document
        assert document["format"].startswith("dprelease.")
        assert document["version"] == 1


@pytest.mark.parametrize(("law", "budget"), [("zcdp", "--rho 1/8"), ("gdp", "--mu 1/2")])
def test_a_budget_opened_with_rho_or_mu_states_its_epsilon(workspace, give, law, budget):
    opened = give(f"ledger open other --unit row --law {law} {budget} --delta 1e-6 --json").document
    assert opened["statement"]["delta"] == "1/1000000"
    assert Fraction(opened["statement"]["epsilon"]) > 0
    without = give(f"ledger open third --unit row --law {law} {budget} --json").document
    assert without["statement"] is None
