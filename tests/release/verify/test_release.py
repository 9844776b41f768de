"""A release verifies; what is changed, missing, added or claimed otherwise fails with a sentence that names it."""

import json
import random
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.errors import ConfigError, VerificationFailed
from release.dsse import seal, unseal
from release.keys import fingerprint, load_private, load_public
from release.statement import MANIFEST_NAME, file_digest, parse_statement
from release.verify import verify_release
from tests.release.small_release import make_release


@pytest.fixture(name="made", scope="module")
def fixture_made(tmp_path_factory):
    workspace = tmp_path_factory.mktemp("verify") / "workspace"
    return make_release(workspace)


@pytest.fixture(name="key", scope="module")
def fixture_key(made):
    return load_private(made.parent.parent / "keys" / "signing-key.pem")


@pytest.fixture(name="trusted", scope="module")
def fixture_trusted(made):
    public = load_public(made.parent.parent / "keys" / "signing-key.pub.pem")
    return {fingerprint(public): public}


@pytest.fixture(name="copy")
def fixture_copy(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def resign(folder, key, change):
    """Change a release's statement and sign it again: a curator who lies, not a stranger who tampers."""
    payload, _ = unseal(
        (folder / MANIFEST_NAME).read_bytes(), {fingerprint(key.public_key()): key.public_key()}, file=""
    )
    statement = parse_statement(payload).model_dump(mode="json", by_alias=True)
    for subject in statement["subject"]:
        if (folder / subject["name"]).is_file():
            subject["digest"]["sha256"] = file_digest(folder / subject["name"])
    change(statement["predicate"])
    from accounting.canonical import canonical_bytes

    (folder / MANIFEST_NAME).write_bytes(seal(canonical_bytes(statement), [key]))


def test_a_release_keeps_what_it_says(made, trusted):
    verified = verify_release(made, trusted)
    assert verified.rows == verified.manifest.output_rows > 0
    assert verified.signers == tuple(trusted)
    assert verified.manifest.guarantee.release_cap.amount == "1/4"


def test_any_flipped_bit_in_any_file_is_found_and_the_file_is_named(copy, trusted):
    rng = random.Random(2)
    for path in sorted(copy.iterdir()):
        content = path.read_bytes()
        for position in rng.sample(range(len(content)), 40):
            broken = bytearray(content)
            broken[position] ^= 1 << rng.randrange(8)
            path.write_bytes(broken)
            with pytest.raises(VerificationFailed) as found:
                verify_release(copy, trusted)
            assert found.value.file == path.name
            assert str(found.value).startswith(f"{path.name}: ")
        path.write_bytes(content)
    verify_release(copy, trusted)


def test_a_missing_file_and_an_unlisted_file_are_named(copy, trusted):
    for path in sorted(copy.iterdir()):
        if path.name != MANIFEST_NAME:
            content = path.read_bytes()
            path.unlink()
            with pytest.raises(VerificationFailed, match=f"{path.name}: .*missing"):
                verify_release(copy, trusted)
            path.write_bytes(content)
    (copy / "confidential.json").write_text("{}")
    with pytest.raises(VerificationFailed, match=r"confidential\.json: .*not part"):
        verify_release(copy, trusted)
    (copy / "confidential.json").unlink()
    (copy / "folder").mkdir()
    with pytest.raises(VerificationFailed, match=r"folder: .*not part"):
        verify_release(copy, trusted)


def test_a_link_in_the_place_of_a_file_is_refused(copy, trusted, tmp_path):
    shutil.move(copy / "schema.json", tmp_path / "elsewhere.json")
    (copy / "schema.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(VerificationFailed, match=r"schema\.json: .*plain files"):
        verify_release(copy, trusted)


def test_a_key_of_somebody_else_and_no_release_are_refused(made, tmp_path):
    stranger = Ed25519PrivateKey.generate().public_key()
    with pytest.raises(VerificationFailed, match="signed by no key that is trusted here"):
        verify_release(made, {fingerprint(stranger): stranger})
    with pytest.raises(ConfigError, match="not a release folder"):
        verify_release(tmp_path, {})


LIES = {
    "a cap that is not the ledger's": (
        lambda m: m["guarantee"]["release_cap"].update(amount="1/8"),
        "other caps",
    ),
    "a smaller epsilon": (
        lambda m: m["guarantee"]["release_curve"][0].update(epsilon="1.0"),
        "epsilon at delta",
    ),
    "a delta that no conversion covers": (
        lambda m: m["guarantee"]["release_curve"][0].update(delta="2/1"),
        "outside what the conversions cover",
    ),
    "a smaller epsilon of the dataset": (
        lambda m: m["guarantee"]["dataset_curve"][0].update(epsilon="1.0"),
        "epsilon at delta",
    ),
    "a smaller bound for replacing a unit": (
        lambda m: m["guarantee"].update(replacing_one_unit=m["guarantee"]["release_cap"]),
        "bound for 2 units",
    ),
    "a question left out": (lambda m: m["questions"].pop(), "other questions"),
    "a cheaper question": (lambda m: m["questions"][0].update(cost="1/99"), "question 1 is another"),
    "another noise": (lambda m: m["questions"][0]["event"].update(variance="1/1"), "question 1 is another"),
    "a smaller spend": (lambda m: m.update(settled="1/99"), "another spend"),
    "a plan over the cap": (lambda m: m["plan"].update(total="1/2"), "plan could cost more"),
    "more rows": (lambda m: m.update(output_rows=m["output_rows"] + 1), "number of rows"),
    "another release": (lambda m: m.update(release_id="other"), "not those of this dataset"),
    "a shorter chain": (lambda m: m["ledger"].update(entries=m["ledger"]["entries"] - 1), "does not end"),
    "another schema": (lambda m: m.update(schema_digest="0" * 64), "not the schema"),
    "a run left out": (lambda m: m["runs"].pop(), "other runs"),
    "a cheaper run": (lambda m: m["runs"][0].update(settled="0/1"), "other runs"),
    "a look that nobody took": (
        lambda m: m["looks"].append({"entry": 1, "what": "schema-check", "schema_digest": "0" * 64}),
        "other looks",
    ),
    "an unknown field": (lambda m: m.update(row_count=200), "declared form"),
    "a test": (lambda m: m.update(purpose="test"), "declared form"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_signed_lie_is_found(copy, key, trusted, lie):
    change, sentence = LIES[lie]
    resign(copy, key, change)
    with pytest.raises(VerificationFailed, match=sentence):
        verify_release(copy, trusted)


def _edit(name, old, new):
    def change(folder):
        path = folder / name
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return change


FALSE_FILES = {
    "a value outside the domain": (_edit("synthetic.csv", b"red", b"mauve"), "synthetic.csv: column 'colour'"),
    "an integer written as a real": (_edit("synthetic.csv", b",3,", b",3.0,"), "synthetic.csv: column 'age'"),
    "a null where none is declared": (_edit("synthetic.csv", b",3,", b",,"), "synthetic.csv: column 'age'"),
    "another header": (_edit("synthetic.csv", b"age", b"Age"), "synthetic.csv: the header"),
    "a ragged row": (_edit("synthetic.csv", b",3,", b",3"), "synthetic.csv: a row"),
    "bytes that are not text": (_edit("synthetic.csv", b"red", b"\xff\xfe\xff"), "synthetic.csv: this is not"),
    "a price in the ledger": (_edit("ledger.jsonl", b'"amount":"1/4"', b'"amount":"1/5"'), "ledger.jsonl: entry"),
    "a line left out": (
        lambda folder: (folder / "ledger.jsonl").write_bytes(
            b"".join((folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)[1:])
        ),
        "ledger.jsonl: entry",
    ),
    "no schema": (lambda folder: (folder / "schema.json").write_text("[]"), r"schema\.json: this is not a schema"),
    "no table": (
        lambda folder: (folder / "synthetic.parquet").write_bytes(b"PAR1"),
        r"synthetic\.parquet: this is not a Parquet file",
    ),
}


@pytest.mark.parametrize("falsehood", FALSE_FILES)
def test_a_signed_false_file_is_found(copy, key, trusted, falsehood):
    change, sentence = FALSE_FILES[falsehood]
    change(copy)
    resign(copy, key, lambda _: None)
    with pytest.raises(VerificationFailed, match=sentence):
        verify_release(copy, trusted)


def test_a_parquet_value_outside_the_schema_is_found(copy, key, trusted):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(copy / "synthetic.parquet")
    ages = pa.array([99, *table.column("age").to_pylist()[1:]], pa.int64())
    position = table.column_names.index("age")
    pq.write_table(table.set_column(position, table.schema.field(position), ages), copy / "synthetic.parquet")
    resign(copy, key, lambda _: None)
    with pytest.raises(VerificationFailed, match=r"synthetic\.parquet: column 'age'"):
        verify_release(copy, trusted)


def test_the_manifest_is_an_in_toto_statement(made, trusted):
    payload, _ = unseal((made / MANIFEST_NAME).read_bytes(), trusted, file=MANIFEST_NAME)
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    names = {subject["name"] for subject in statement["subject"]}
    assert names == {path.name for path in made.iterdir()} - {MANIFEST_NAME}
