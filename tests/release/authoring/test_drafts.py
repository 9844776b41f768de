"""Drafts of schemas: what is declared stays as it is, every guess is marked, the private table is refused."""

import json
import tomllib

import pytest

from accounting.errors import ConfigError, InputFileError
from accounting.schema import Schema
from release.authoring import (
    Guess,
    check_not_private,
    draft_sample,
    draft_text,
    guesses,
    missing,
    read_dictionary,
    read_specification,
)


def loaded(columns) -> Schema:
    text = draft_text("t", 100, columns, "a test")
    assert text.count("# check") == guesses(columns) + missing(columns)
    return Schema.from_text(text)


def guessed(tmp_path, *texts: str, name: str = "x"):
    """Draft a column from a public sample of these texts, and load it."""
    path = tmp_path / "sample.csv"
    path.write_text("\n".join([f'"{name}",end', *(f'"{text}",' for text in texts)]) + "\n", encoding="utf-8")
    columns = draft_sample(path)
    assert all(isinstance(value, Guess) for column in columns for value in column.keys.values())
    if columns[0].value("kind") == "identifier":
        return columns[0]
    return loaded(columns).column(name)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "22", "-3"], "integer"),
        (["007", "012"], "categorical"),
        (["02116", "1.5"], "categorical"),
        (["1", "2.50", "3e2"], "real"),
        (["true", "FALSE", "True"], "boolean"),
        (["y", "N"], "boolean"),
        (["2020-01-31", "1582-10-15"], "date"),
        (["31.01.2020", "01.02.1650"], "date"),
        (["20200131", "19991231"], "date"),
        (["20200131", "20200132"], "integer"),
        (["2020-01-31 23:59:59"], "datetime"),
        (["2020-01-31T23:59"], "datetime"),
        (["a", "b, c", "🙂"], "categorical"),
        (["", ""], "categorical"),
        (["inf", "1.5"], "categorical"),
    ],
)
def test_a_kind_is_guessed_from_the_texts_of_a_public_sample(tmp_path, texts, kind):
    column = guessed(tmp_path, *texts)
    assert column.kind == kind
    assert not column.problems_of_text([text for text in texts if text])


def test_every_number_of_rows_gives_a_draft(tmp_path):
    assert guessed(tmp_path).kind == "categorical"
    assert guessed(tmp_path, "5").ticks == 1
    assert guessed(tmp_path, "5.5").kind == "real"


def test_unique_numbers_and_texts_are_identifiers(tmp_path):
    for texts in ([str(i) for i in range(100, 160)], [f"p{i}" for i in range(60)]):
        assert guessed(tmp_path, *texts).value("kind") == "identifier"


@pytest.mark.parametrize("null", ["NA", "?", "N", "."])
def test_null_strings_are_guessed(tmp_path, null):
    column = guessed(tmp_path, "0", null, "12")
    assert (column.kind, column.nullable) == ("integer", True)
    assert column.ticks_of_text([null, "0", "12"]).tolist() == [-1, 0, 12]


def test_blanks_around_texts_and_strange_names_are_kept(tmp_path):
    column = guessed(tmp_path, " a", "b", name="na\u00efve, \U0001f642 = [x]")
    assert column.strip
    assert [column.text_of_ticks([tick])[0] for tick in (0, 1)] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"a,b\n1\n", "one cell"), (b"a\n\xff\n", "cannot be read as")],
)
def test_a_sample_that_is_no_table_is_refused(tmp_path, content, message):
    path = tmp_path / "sample.csv"
    path.write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        draft_sample(path)


ENTRIES = [
    {"column": "sex", "kind": "categorical", "values": {"1": "m", "2": "f"}, "nullable": False, "replacement": "1"},
    {"column": "age", "kind": "integer", "min": 0, "max": 110, "description": "in years"},
    {"column": "income", "type": "number", "min": 0, "max": 200000.5, "nullable": True},
    {"column": "birth", "kind": "date", "min": "1900-01-01", "max": "2020-12-31", "bins": 20},
    {"column": "member", "kind": "bool"},
    {"column": "pid", "type": "ID"},
]  # fmt: skip


def test_a_json_dictionary_is_taken_at_its_word_and_the_rest_is_guessed(tmp_path):
    path = tmp_path / "dictionary.json"
    by_name = {entry["column"]: {key: value for key, value in entry.items() if key != "column"} for entry in ENTRIES}
    for document in (ENTRIES, {"columns": ENTRIES}, by_name):
        path.write_text(json.dumps(document), encoding="utf-8")
        columns = read_dictionary(path)
        schema = loaded(columns)
        assert schema.header == ("sex", "age", "income", "birth", "member", "pid")
        assert schema.identifiers == ("pid",)
        assert schema.column("sex").labels() == ["1", "2"]
        assert not isinstance(columns[1].keys["min"], Guess)
        marked = {key for key, value in columns[2].keys.items() if isinstance(value, Guess)}
        assert marked == {"kind", "decimals", "bins"}
        assert schema.column("birth").cells == 21


def test_a_csv_dictionary_leaves_open_what_only_a_person_can_give(tmp_path):
    path = tmp_path / "dictionary.csv"
    path.write_text("Variable,Type,Values,Min,Max,Note\nsex,,1=m; 2=f,,,\nage,,,0,110,\nwhat,,,,,x\nheight,real,,1,,\n")
    columns = read_dictionary(path)
    assert [column.value("kind") for column in columns] == ["categorical", "integer", "categorical", "real"]
    assert [list(column.missing) for column in columns] == [[], [], ["categories"], ["max"]]
    text = draft_text("t", None, columns, "a\ntest")
    assert "# max = …   # check: to be given" in text
    assert len(tomllib.loads(text)["columns"]) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [("[1]", "neither"), ("{", "not valid JSON"), ("[]", "no column"), ('[{"kind": "integer"}]', "no column name")],
)
def test_a_dictionary_of_no_known_form_is_refused(tmp_path, content, message):
    path = tmp_path / "dictionary.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message):
        read_dictionary(path)


def test_a_specification_is_a_column():
    columns = [
        read_specification("sex:categorical:categories=f|m,nullable=false,replacement=f"),
        read_specification("age:integer:min=0,max=110,nullable=true,edges=18|65"),
        read_specification("day:date:min=2020-01-01,max=2020-12-31,nullable=true"),
        read_specification("member:boolean:nullable=false,replacement=false"),
        read_specification("pid:identifier"),
    ]
    schema = loaded(columns)
    assert schema.column("age").labels() == ["0 to 17", "18 to 64", "65 to 110", "(null)"]
    assert [guesses([column]) for column in columns] == [0, 0, 3, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", "NAME:KIND"),
        ("age:integr", "did you mean 'integer'"),
        ("age:integer:mim=0", "did you mean 'min'"),
        ("age:integer:min=low", "not a number"),
        ("age:integer:min=inf", "not a number"),
        ("age:integer:nullable=yes", "true or false"),
        ("age:integer:min", "KEY=VALUE"),
        ("day:date:min=1.1.2020", "not a date"),
    ],
)
def test_a_specification_that_is_none_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        read_specification(text)


def test_the_private_table_is_never_a_sample(tmp_path):
    check_not_private(tmp_path / "private.csv", tmp_path)
    (tmp_path / "private.csv").write_text("x\n1\n")
    (tmp_path / "release.toml").write_text(
        'version = 1\ndataset = "d"\nschema = "schema.toml"\ndata = "private.csv"\n[unit]\nkind = "row"\n'
        '[budget]\nrho = "1/4"\n[mechanism]\nkind = "independent"\n'
    )
    (tmp_path / "link.csv").symlink_to(tmp_path / "private.csv")
    for name in ("private.csv", "link.csv"):
        with pytest.raises(ConfigError, match="private table"):
            check_not_private(tmp_path / name, tmp_path)
    (tmp_path / "sample.csv").write_text("x\n1\n")
    check_not_private(tmp_path / "sample.csv", tmp_path)


def test_a_csv_dictionary_keeps_line_breaks_and_separators_inside_cells(tmp_path):
    path = tmp_path / "dictionary.csv"
    path.write_text('column,kind,values,description\nsex,categorical,f|m,"two\nlines"\nday,code,a\u2028b|c,x\u0085y\n')
    schema = loaded(read_dictionary(path))
    assert schema.column("sex").description == "two\nlines"
    assert schema.column("day").labels() == ["a\u2028b", "c", "(null)"]


def test_the_canonical_form_of_an_id_can_be_drafted(tmp_path):
    known = loaded(
        [read_specification("pid:identifier:canonical=nfkc|casefold,null_ids=person"), read_specification("x:boolean")]
    )
    assert known.identifier("pid").ids_of_text(["AB", "ab"]) == ["ab", "ab"]
    path = tmp_path / "dictionary.json"
    path.write_text(
        json.dumps([{"column": "pid", "kind": "id", "canonical": ["digits"]}, {"column": "x", "kind": "bool"}])
    )
    assert loaded(read_dictionary(path)).identifier("pid").ids_of_text(["A-7"]) == ["7"]
