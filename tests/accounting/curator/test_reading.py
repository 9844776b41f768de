"""A file is refused for its form only, with public words; every well-formed file of any values is read."""

import gzip
import os
import traceback
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import accounting
from accounting.curator import FileForm, check_file, delimited, form, load
from accounting.curator.form import bytes_per_row
from accounting.errors import ConfigError, DpReleaseError, InputFileError
from accounting.unit import PersonUnit, RowUnit
from tests.accounting.curator.tables import CANARY_SCHEMA as SCHEMA
from tests.accounting.curator.tables import categorical, cells_of, person, schema_of, write

HEADER = "letter,age,who\n"
CANARY = "Kanarienvogel"


def load_text(tmp_path: Path, text: str, unit=None, schema=SCHEMA, encoding: str = "utf-8"):
    path = write(tmp_path / "t.csv", text, encoding)
    assert check_file(path, schema, unit or RowUnit(), encoding=encoding).kind == "csv"
    return load(path, schema, unit or RowUnit(), encoding=encoding)


def refusal(tmp_path: Path, data: str | bytes, unit=None, schema=SCHEMA, encoding: str = "utf-8") -> str:
    """The one text with which both the check and the load refuse a file; free of anything private."""
    path = tmp_path / "t.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    texts = set()
    for read in (check_file, load):
        with pytest.raises(ConfigError) as caught:
            read(path, schema, unit or RowUnit(), encoding=encoding)
        assert caught.value.exit_code == 2
        texts.add(str(caught.value))
        assert_no_private_trace(caught.value)
    (text,) = texts
    assert CANARY not in text
    return text


def assert_no_private_trace(error: BaseException) -> None:
    """No context, and no frame whose locals could hold cells."""
    assert error.__context__ is None
    assert error.__cause__ is None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if Path(accounting.__file__).parent in Path(frame.f_code.co_filename).parents:
            assert frame.f_code.co_name in {"load", "check_file", "schema_check", "without_rows"}
            assert CANARY not in repr(frame.f_locals)


def test_a_plain_file(tmp_path):
    rows = load_text(tmp_path, HEADER + "a,0,x\nb,9,y\n,5,z\n")
    assert cells_of(rows, "letter") == [0, 1, 3]
    assert cells_of(rows, "age") == [0, 9, 5]
    assert rows.cells_for_curator().rows == 3
    assert rows.cells_for_curator().columns["age"].dtype == np.uint8
    assert set(rows.cells_for_curator().columns) == {"letter", "age"}
    assert rows.schema is SCHEMA
    assert rows.unit == RowUnit()


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEADER + "a,1,x\nb,2,y\n",
        HEADER + "a,1,x\r\nb,2,y",
        HEADER.replace("\n", "\r") + "a,1,x\rb,2,y\r",
        HEADER + '\na,1,x\n\n  \n""\nb,2,y\n\n\n',
        "\n" + HEADER + "a,1,x\nb,2,y\n",
        " letter , age,who \n" + "a,1,x\nb,2,y\n",
        '"letter","age","who"\n"a","1","x"\n"b",2,"a ""quoted"", name\r\nof two lines, with 🐤"\n',
        "who,letter,age\nx,a,1\ny,b,2\n",
    ],
    ids=["bom", "crlf", "cr", "blank lines", "blank first line", "header blanks", "quotes", "order"],
)
def test_spellings_of_the_same_table(tmp_path, text):
    rows = load_text(tmp_path, text)
    assert cells_of(rows, "letter") == [0, 1]
    assert cells_of(rows, "age") == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_encodings(tmp_path, encoding):
    schema = schema_of(categorical("straße", ("ä", "ö")))
    assert cells_of(load_text(tmp_path, "straße\nö\nä\n", schema=schema, encoding=encoding), "straße") == [1, 0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("header", ["straße", '"straße"'])
def test_a_byte_order_mark_is_dropped_even_before_a_quote(tmp_path, encoding, header):
    schema = schema_of(categorical("straße", ("ä",)))
    text = f"\ufeff{header}\nä\n" if encoding in {"utf-8", "utf-16-le"} else f"{header}\nä\n"
    assert cells_of(load_text(tmp_path, text, schema=schema, encoding=encoding), "straße") == [0]


def test_line_breaks_inside_cells_are_kept_as_they_are(tmp_path):
    schema = schema_of(categorical("letter", ("x\r\ny", "x\ny", "x\ry")))
    rows = load_text(tmp_path, 'letter\r\n"x\ny"\r\n"x\r\ny"\r\n"x\ry"\r\n', schema=schema)
    assert cells_of(rows, "letter") == [1, 0, 2]


def test_a_compressed_file_whatever_its_name(tmp_path):
    (tmp_path / "t.csv").write_bytes(gzip.compress((HEADER + "a,1,x\n").encode()))
    assert check_file(tmp_path / "t.csv", SCHEMA, RowUnit()) == FileForm("csv.gz", "utf-8")
    assert cells_of(load(str(tmp_path / "t.csv"), SCHEMA, RowUnit()), "age") == [1]


def test_empty_and_tiny_tables_are_legal(tmp_path):
    for unit in (RowUnit(), person(2)):
        assert load_text(tmp_path, HEADER, unit).cells_for_curator().rows == 0
        assert load_text(tmp_path, HEADER + "a,1,x", unit).cells_for_curator().rows == 1


def test_one_column_table_keeps_nulls_and_ignores_blank_lines(tmp_path):
    rows = load_text(tmp_path, 'letter\na\n\n""\nb\n\n', schema=schema_of(categorical("letter")))
    assert cells_of(rows, "letter") == [0, 3, 1]


def test_blanks_after_the_comma_are_dropped_where_every_column_strips(tmp_path):
    text = 'letter, note\n a , "x, y"\nb, "z"\n'
    stripping = schema_of(categorical("letter", strip=True), categorical("note", ("x, y", "z"), strip=True))
    rows = load_text(tmp_path, text, schema=stripping)
    assert cells_of(rows, "letter") == [0, 1]
    assert cells_of(rows, "note") == [0, 1]
    keeping = schema_of(categorical("letter", ("a", " a")), categorical("note", ("z", " z")))
    rows = load_text(tmp_path, "letter,note\n a, z\na,z\n", schema=keeping)
    assert cells_of(rows, "letter") == [1, 0]
    assert cells_of(rows, "note") == [1, 0]


def test_p28_bad_values_are_cast_by_the_policies_and_never_fail(tmp_path):
    rows = load_text(tmp_path, HEADER + f"{CANARY},inf,x\nb,-inf,y\nc,nan,z\n\0,{'9' * 5000},w\n")
    assert cells_of(rows, "letter") == [3, 1, 2, 3]
    assert all(0 <= cell <= 9 for cell in cells_of(rows, "age"))


anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(st.tuples(anything, anything, anything), max_size=6))
def test_p28_every_text_in_every_cell_is_read(tmp_path, cells):
    quoted = "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in cells)
    for unit in (RowUnit(), person(1)):
        rows = load_text(tmp_path, HEADER + quoted, unit)
        ids = {row[2] for row in cells if row[2]}
        assert rows.cells_for_curator().rows == (len(cells) if unit == RowUnit() else len(ids))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("letter,age\na,1\n", "the file lacks 'who'"),
        ("letter,age,who,extra\na,1,x,y\n", "columns number 4"),
        (f"{CANARY},age,who,\n", "lacks 'letter'; the schema does not name the file's columns number 1, 4"),
        ("letter,age,who,age\n", "columns 2 and 4 of the file's header have the same name"),
        (f"{CANARY},3,x\nb,2,y\n", "if the file has no header, add a first line"),
        (f"letter;age;who\n{CANARY};1;x\n", "separated by semicolons"),
        ('"letter"\t"age"\t"who"\na\t1\tx\n', "separated by tabs"),
        ("letter|age|who\n", "separated by vertical bars"),
        ("Letter,AGE,Who\n", "other upper and lower case"),
        (HEADER + f"a,1,x\n{CANARY},2\n", "more or fewer cells than the header"),
        (HEADER + f"a,1,x\n{CANARY},2,y,\n", "more or fewer cells than the header"),
        (HEADER + f'a,1,"{CANARY}\n', "a quoted cell is not closed"),
        (HEADER + f'"{CANARY}"x,1,y\n', "followed by text before the next comma"),
        (HEADER + "a,1," + CANARY * 20_000 + "\n", "longer than 131072 characters"),
        ((HEADER + f"a,1,{CANARY}").encode() + b"\xff\n", "not encoded as utf-8: give its encoding"),
        (HEADER.encode("utf-16"), "encoded as UTF-16"),
        (gzip.compress((HEADER + f"a,1,{CANARY}\n").encode())[:-12], "damaged or cut off"),
        (b"\x1f\x8bnonsense", "damaged or cut off"),
        (b"PK\x03\x04....", "a zip archive or a spreadsheet"),
        (b"\xd0\xcf\x11\xe0....", "an old spreadsheet"),
        (b"BZh91AY&SY\0", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"FEA1\0\0\0\0", "Feather of version 1"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value and len(value) < 60 else "data",
)
def test_faults_of_form_are_refused_in_public_words(tmp_path, data, words):
    assert words in refusal(tmp_path, data)


def test_long_lists_of_columns_are_cut(tmp_path):
    schema = schema_of(*(categorical(f"c{index}") for index in range(14)))
    text = refusal(tmp_path, "c0," + ",".join(f"x{index}" for index in range(15)) + "\n", schema=schema)
    assert "'c9', 'c10' and 3 more" in text
    assert "10, 11 and 5 more" in text


def test_missing_files_and_folders(tmp_path):
    for read in (check_file, load):
        with pytest.raises(InputFileError, match="is not a file"):
            read(tmp_path / "none.csv", SCHEMA, RowUnit())
        with pytest.raises(InputFileError, match="is not a file"):
            read(tmp_path, SCHEMA, RowUnit())


def test_a_file_that_the_system_does_not_give(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", HEADER)

    def no_open(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", no_open)
    with pytest.raises(InputFileError, match=r"cannot be read: Permission denied"):
        load(path, SCHEMA, RowUnit())


def test_a_disk_that_fails_while_reading(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", HEADER)

    def fails(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(delimited, "TextIOWrapper", fails)
    with pytest.raises(InputFileError, match=r"cannot be read: Input/output error"):
        load(path, SCHEMA, RowUnit())


@pytest.mark.parametrize("encoding", ["klingon", "hex", "a\0b"])
def test_unknown_encodings(tmp_path, encoding):
    assert "no text encoding is called" in refusal(tmp_path, HEADER, encoding=encoding)


def test_the_unit_must_name_an_identifier(tmp_path):
    assert "not an identifier column" in refusal(tmp_path, HEADER, unit=PersonUnit("letter", 2))
    assert "not an identifier column" in refusal(tmp_path, HEADER, unit=PersonUnit("nobody", 2))


def test_a_file_over_the_limit_of_memory_is_refused_by_public_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(form, "memory_limit", lambda: 3 * bytes_per_row(SCHEMA, RowUnit()))
    load_text(tmp_path, HEADER + "a,1,x\n" * 3)
    texts = {refusal(tmp_path, HEADER + "a,1,x\n" * rows) for rows in (4, 5, 500)}
    (text,) = texts
    assert "holds 3 such rows" in text


def test_memory_grows_with_the_schema_and_the_unit():
    wide = schema_of(
        {"name": "n", "kind": "integer", "min": 0, "max": 10**6, "nullable": True},
        {"name": "who", "kind": "identifier"},
    )
    assert bytes_per_row(wide, RowUnit()) > bytes_per_row(SCHEMA, RowUnit())
    assert bytes_per_row(wide, person(1)) > bytes_per_row(wide, RowUnit())


def test_the_limit_is_half_of_the_machines_or_the_containers_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(form, "_CONTAINER_LIMIT", tmp_path / "none")
    machine = form.memory_limit()
    assert machine > 2**28
    for text, expected in (("max\n", machine), ("1000000\n", 500_000), (f"{2**80}\n", machine)):
        monkeypatch.setattr(form, "_CONTAINER_LIMIT", write(tmp_path / "memory.max", text))
        assert form.memory_limit() == expected


@pytest.mark.parametrize("name", ["PAR1", "PAR1x", "ARROW1", "BZh9", "FEA1", "PK"])
def test_text_that_begins_like_a_binary_format_is_text(tmp_path, name):
    rows = load_text(tmp_path, f"{name},letter\na,b\n", schema=schema_of(categorical(name), categorical("letter")))
    assert cells_of(rows, "letter") == [1]


def test_p28_an_error_of_the_program_shows_its_place_and_no_value(tmp_path, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(delimited.DelimitedFile, "ticks", broken)
    path = write(tmp_path / "t.csv", HEADER + f"{CANARY},1,x\n")
    with pytest.raises(DpReleaseError) as caught:
        load(path, SCHEMA, RowUnit())
    assert caught.value.exit_code == 70
    assert "ValueError at reading.py, line " in str(caught.value)
    assert CANARY not in str(caught.value)
    assert_no_private_trace(caught.value)


def test_rows_are_streamed_in_chunks(tmp_path, monkeypatch):
    text = HEADER + "".join(f"{'abc'[i % 3]},{i % 10},p{i % 4}\n" for i in range(100))
    whole = load_text(tmp_path, text)
    monkeypatch.setattr(delimited, "_CELLS_PER_CHUNK", 21)
    parts = load_text(tmp_path, text)
    assert cells_of(parts, "letter") == cells_of(whole, "letter")
    assert cells_of(parts, "age") == cells_of(whole, "age")
    assert parts.commit(bytes(32)) == whole.commit(bytes(32))
    assert load_text(tmp_path, text, person(3)).cells_for_curator().rows == 12


def test_p46_rows_without_an_id_are_dropped_and_ids_keep_their_spelling(tmp_path):
    text = HEADER + "a,1,\na,2,\nb,1,x\nb,2,x\nc,1, x\n"
    kept = load_text(tmp_path, text, person(1))
    assert sorted(cells_of(kept, "letter")) == [1, 2]
    stripping = schema_of(
        categorical("letter"), {"name": "who", "kind": "identifier", "strip": True, "null_strings": ["-"]}
    )
    kept = load_text(tmp_path, "letter,who\na,-\nb,x\nc, x\n", PersonUnit("who", 2), schema=stripping)
    assert sorted(cells_of(kept, "letter")) == [1, 2]


def test_spelling_variants_of_an_id_are_one_person_with_at_most_k_rows(tmp_path):
    text = HEADER + "".join(
        f"a,{age},{who}\n" for age, who in enumerate(["p-7", "P-7", " p-07", "\uff30-7 ", "p7", "q"])
    )
    form = {"canonical": ["nfkc", "casefold", "digits", "drop-leading-zeros"]}
    declared = schema_of(categorical("letter"), *SCHEMA.declared[1:2], {"name": "who", "kind": "identifier"} | form)
    kept = load_text(tmp_path, text, person(2), schema=declared)
    assert kept.cells_for_curator().rows == 2
    assert load_text(tmp_path, text, person(2)).cells_for_curator().rows == 6


def test_p46_rows_without_an_id_are_persons_of_their_own_where_declared(tmp_path):
    declared = schema_of(
        categorical("letter"), *SCHEMA.declared[1:2], {"name": "who", "kind": "identifier", "null_ids": "person"}
    )
    text = HEADER + "a,1,\na,2,x\nb,3,\na,4,x\na,5,x\nc,6,\n"
    for lines in (text.splitlines(), text.splitlines()[::-1]):
        ordered = "\n".join([HEADER.strip(), *(line for line in lines if line != HEADER.strip())])
        kept = load_text(tmp_path, ordered, person(1), schema=declared)
        assert {1, 3, 6} <= set(cells_of(kept, "age"))
        assert kept.cells_for_curator().rows == 4
    without_x = load_text(tmp_path, HEADER + "a,1,\nb,3,\nc,6,\n", person(1), schema=declared)
    assert sorted(cells_of(without_x, "age")) == [1, 3, 6]


def test_the_key_that_chooses_rows_is_fresh_for_each_load(tmp_path):
    text = HEADER + "".join(f"a,{age},x\n" for age in range(10))
    found = {cells_of(load_text(tmp_path, text, person(1)), "age")[0] for _ in range(40)}
    assert len(found) > 1  # fails by chance once in 10^39


def test_commitment_is_salted_and_ignores_order_unit_and_ids(tmp_path):
    lines = ["a,1,x\n", "b,2,y\n", "a,1,x\n", ",3,\n"]
    salt, other = bytes(range(32)), bytes(32)
    first = load_text(tmp_path, HEADER + "".join(lines))
    assert first.commit(salt) != first.commit(other)
    assert first.commit(salt) == load_text(tmp_path, HEADER + "".join(reversed(lines))).commit(salt)
    assert first.commit(salt) == load_text(tmp_path, HEADER + "".join(lines), person(1)).commit(salt)
    assert first.commit(salt) != load_text(tmp_path, HEADER + "".join(lines[1:])).commit(salt)
    assert first.commit(salt) != load_text(tmp_path, HEADER + "".join([*lines[:3], ",4,\n"])).commit(salt)
    with pytest.raises(ConfigError, match="32 random bytes"):
        first.commit(b"short")


def test_commitment_tells_schemas_apart_and_rows_from_their_concatenation(tmp_path):
    def commitment(schema, text):
        return load_text(tmp_path, text, schema=schema).commit(bytes(32))

    one, two = schema_of(categorical("x")), schema_of(categorical("x"), categorical("y"))
    assert commitment(one, "x\na\na\n") != commitment(two, "x,y\na,a\n")
    assert commitment(one, "x\na\n") != commitment(schema_of(categorical("z")), "z\na\n")
    assert commitment(one, "x\n") != commitment(one, "x\na\n")


@pytest.mark.skipif(not Path(os.environ.get("DPRELEASE_DATA", "../shared/data")).is_dir(), reason="no data folder")
class TestPublishedFiles:
    """Files as they are published, where DPRELEASE_DATA names a folder that holds them."""

    folder = Path(os.environ.get("DPRELEASE_DATA", "../shared/data"))

    def test_uci_adult_with_blanks_after_commas_and_a_blank_last_line(self):
        names = (self.folder / "adult.csv").read_text().splitlines()[0].split(", ")
        strip = {"strip": True, "null_strings": ["?"], "nullable": True}
        columns = [{"name": name, "kind": "categorical", "categories": ["x"], **strip} for name in names]
        columns[0] = {"name": "age", "kind": "integer", "min": 17, "max": 90, **strip}
        columns[9] = {"name": "sex", "kind": "categorical", "categories": ["Male", "Female"], **strip}
        columns[13] |= {"categories": ["United-States"], "undeclared": "null"}
        rows = load(self.folder / "adult.csv", schema_of(*columns), RowUnit())
        assert rows.cells_for_curator().rows == 32_561
        assert np.bincount(rows.cells_for_curator().columns["sex"]).tolist() == [21_790, 10_771]
        assert cells_of(rows, "age")[:3] == [22, 33, 21]

    def test_heart_disease_with_a_byte_order_mark(self):
        names = (self.folder / "heart_bom.csv").read_text(encoding="utf-8-sig").splitlines()[0].split(",")
        columns = [categorical(name) for name in names]
        columns[0] = {"name": names[0], "kind": "integer", "min": 0, "max": 120, "nullable": True}
        rows = load(self.folder / "heart_bom.csv", schema_of(*columns), RowUnit())
        assert rows.cells_for_curator().rows == 303
        assert 120 + 1 not in cells_of(rows, names[0])
