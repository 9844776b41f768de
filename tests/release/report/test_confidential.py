"""The confidential page: what it shows, that it says why a figure is missing, and that no release can hold it."""

import json
import shutil
from functools import cache

import pytest

from accounting.errors import ConfigError, VerificationFailed
from audits.attacks.guessing import Attack
from audits.attacks.membership import Membership
from audits.output_document import AttackPart, OutputAudit, RowCounts, UtilityPart
from audits.results import Figure, NotComputable
from audits.utility.columns import Bar, ColumnFigures, GroupFigures, PairFigures
from audits.utility.learning import Learnt
from release.confidentiality import is_confidential
from release.dsse import payload_of
from release.keys import load_private
from release.report.confidential import MOST_NAMES, MOST_PICTURES, confidential_html, figure_text
from release.statement import MANIFEST_NAME, parse_statement, write_signed
from release.trust import trusted_keys
from release.verify import verify_release
from tests.release.report.browser import measure, needs_chromium
from tests.release.report.test_report import Page
from tests.release.small_release import make_release

NOTHING = NotComputable("one of the tables is empty")


def utility(result, learnt):
    names = [name for name in UtilityPart.model_fields if name not in {"marginal_score_ways", "target"}]
    given = {name: learnt if name.startswith("train") else result for name in names}
    return UtilityPart(marginal_score_ways=3, target="c0", **given)


def bars(column: int) -> tuple[Bar, ...]:
    return (Bar(f"value {column} <b>", 0.4, 0.6, null=False), Bar("(null)", 0.6, 0.4, null=True))


def attacks() -> AttackPart:
    attack, seen = Attack(Figure(0.4, 0.3, 0.5), Figure(0.2), Figure(0.25)), Membership(Figure(0.51), Figure(0.012))
    names = [name for name in AttackPart.model_fields if name != "secret"]
    return AttackPart(secret="c1", **{name: seen if name.startswith("membership") else attack for name in names})


def audit_of(columns: int, *, held_out: bool = True) -> OutputAudit:
    """An audit whose column i is i per cent off, and whose pairs are off by their numbers."""
    names = [f"c{number}" for number in range(columns)]
    return OutputAudit(
        release="r-20260101-abcdef",
        rows=RowCounts(private=1000, synthetic=900, held_out=300 if held_out else None),
        columns=tuple(
            ColumnFigures(name, "integer", Figure(number / 1000), Figure(0.5), Figure(0.4), bars(number))
            for number, name in enumerate(names)
        ),
        pairs=tuple(
            PairFigures(one, other, Figure(0.001 * (i + j)), Figure(0.1), Figure(0.2), Figure(0.1 - 0.001 * i))
            for i, one in enumerate(names)
            for j, other in enumerate(names)
            if i < j
        ),
        subgroups=(GroupFigures("c0", "red", 30, 10, NOTHING), GroupFigures("c0", "blue", 70, 90, Figure(0.123))),
        utility=utility(Figure(0.0321, 0.03, 0.035), Learnt(Figure(0.8), Figure(0.7), NOTHING)),
        attacks=attacks() if held_out else NotComputable("no held-out rows were given"),
    )


def empty() -> OutputAudit:
    return OutputAudit(
        release="r-20260101-abcdef",
        rows=RowCounts(private=0, synthetic=5, held_out=None),
        columns=(ColumnFigures("only", "categorical", NOTHING, NOTHING, NOTHING, ()),),
        pairs=(),
        subgroups=(),
        utility=utility(NOTHING, NOTHING),
        attacks=NotComputable("no held-out rows were given"),
    )


def test_the_page_is_marked_self_contained_and_accessible():
    text = confidential_html(audit_of(4)).decode()
    page = Page(text)
    assert text.count("Confidential. For the curator's eyes only") == 1
    assert "watermark" not in text
    assert "CONFIDENTIAL" in text.split("</style>")[0]
    assert page.headings == [1, 2, 2, 2, 2, 2, 2]
    assert len(page.images) == 4 + 2
    assert all(len(alt) > 40 for alt in page.images)
    assert all(load.startswith("data:image/svg+xml;base64,") for load in page.loads)
    assert "<b>" not in text.split("</style>")[1]


def test_the_worst_come_first():
    text = confidential_html(audit_of(4)).decode()
    places = [text.index(f'<th scope="row">c{number}</th>') for number in (3, 2, 1, 0)]
    assert places == sorted(places)
    assert text.index("c2 × c3") < text.index("c0 × c1")
    assert text.index("<td>blue</td>") < text.index("<td>red</td>")


def test_every_figure_is_shown_with_its_interval():
    text = confidential_html(audit_of(4)).decode()
    others = {"marginal_score_ways", "target", "train_synthetic_test_real", "train_real_test_real"}
    assert text.count("0.0321 (0.03 to 0.035)") == len(UtilityPart.model_fields.keys() - others)
    assert "0.4 (0.3 to 0.5)" in text
    assert "inference of c1" in text
    assert figure_text(NOTHING) == "not computable, because one of the tables is empty"


def test_what_has_no_figure_says_why():
    text = confidential_html(empty()).decode()
    Page(text)
    assert text.count("not computable, because one of the tables is empty") >= 11
    assert "not computable, because no held-out rows were given" in text
    assert "<img" not in text


@cache
def many_columns() -> bytes:
    return confidential_html(audit_of(200, held_out=False))


def test_two_hundred_columns_are_drawn_in_part():
    text = many_columns().decode()
    page = Page(text)
    assert len(page.images) == MOST_PICTURES + 2
    assert f"The {MOST_NAMES} columns of the worst pairs" in text
    assert all(f'<th scope="row">c{number}</th>' in text for number in range(200))
    assert len(text) < 3_000_000


@needs_chromium
def test_nothing_runs_out_of_the_margins(tmp_path):
    pages = {
        "few": confidential_html(audit_of(4)),
        "many": many_columns(),
        "none": confidential_html(empty()),
    }
    found = measure(tmp_path, {f"{n}-{w}": (page, w) for n, page in pages.items() for w in (375, 1280)})
    for name, layout in found.items():
        assert layout["beyond"] == [], name
        assert layout["broken"] == 0


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("confidential") / "workspace", formats='["csv"]')


@pytest.mark.parametrize("name", ["renamed.html", "renamed.json", "sorted.json"])
def test_signer_and_verify_refuse_confidential_files_whatever_they_are_called(release, tmp_path, name):
    audit = audit_of(3)
    contents = {
        "renamed.html": confidential_html(audit),
        "renamed.json": audit.model_dump_json(indent=2).encode(),
        "sorted.json": json.dumps(audit.model_dump(mode="json"), sort_keys=True).encode(),
    }
    copy = shutil.copytree(release, tmp_path / "copy")
    assert not any(is_confidential(path) for path in copy.iterdir())
    (copy / name).write_bytes(contents[name])
    assert is_confidential(copy / name)
    with pytest.raises(ConfigError, match="confidential and cannot be signed"):
        write_signed(copy, manifest_of(copy), [key(release)])
    with pytest.raises(VerificationFailed, match="not part of the signed release"):
        verify_release(copy, trusted_keys(copy, (), release.parents[1]))


def test_verify_refuses_a_confidential_file_that_was_signed_by_other_means(release, tmp_path, monkeypatch):
    copy = shutil.copytree(release, tmp_path / "copy")
    manifest = manifest_of(copy)
    (copy / MANIFEST_NAME).unlink()
    (copy / "extra.json").write_text(audit_of(2).model_dump_json())
    with monkeypatch.context() as patch:
        patch.setattr("release.statement.is_confidential", lambda path: False)
        write_signed(copy, manifest, [key(release)])
    with pytest.raises(VerificationFailed, match="confidential and must never be in a release"):
        verify_release(copy, trusted_keys(copy, (), release.parents[1]))


def key(release):
    return load_private(release.parents[1] / "keys" / "signing-key.pem")


def manifest_of(folder):
    return parse_statement(payload_of((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME)).predicate
