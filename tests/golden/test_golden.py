"""Releases of every format version, good and bad, are verified for ever as they were on the day they were made."""

import json
import shutil
from pathlib import Path

import pytest

from accounting.errors import VerificationFailed
from release.keys import fingerprint, load_public
from release.manifest import FORMAT
from release.verify import verify_release
from tests.golden.make import VARIANTS

HERE = Path(__file__).parent
VERSIONS = sorted(HERE.glob("release-*"))
EXPECTED = {folder: json.loads((folder / "expected.json").read_text(encoding="utf-8")) for folder in VERSIONS}


def trusted(version):
    key = load_public(version / "signer.pub.pem")
    return {fingerprint(key): key}


def test_every_format_version_has_its_golden_releases():
    assert [folder.name for folder in VERSIONS] == [f"release-{number}" for number in range(1, FORMAT + 1)]
    assert EXPECTED[VERSIONS[-1]].keys() == VARIANTS.keys()
    assert sum(said is None for said in EXPECTED[VERSIONS[-1]].values()) == 1  # the approved one is good


@pytest.mark.parametrize("version", VERSIONS, ids=lambda folder: folder.name)
def test_the_good_release_verifies(version):
    verified = verify_release(version / "good", trusted(version))
    assert verified.manifest.format == int(version.name.partition("-")[2])
    assert verified.signers == tuple(trusted(version))


@pytest.mark.parametrize(
    ("version", "variant"),
    [(folder, variant) for folder, expected in EXPECTED.items() for variant in expected],
    ids=lambda value: getattr(value, "name", value),
)
def test_each_variant_is_judged_as_it_was(version, variant, tmp_path):
    copy = shutil.copytree(version / "good", tmp_path / "copy")
    shutil.copytree(version / "variants" / variant, copy, dirs_exist_ok=True)
    expected = EXPECTED[version][variant]
    if expected is None:
        verify_release(copy, trusted(version))
        return
    with pytest.raises(VerificationFailed) as found:
        verify_release(copy, trusted(version))
    assert {"file": found.value.file or "", "reason": found.value.reason} == expected
