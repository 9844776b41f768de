"""Make the golden releases of the present format version: ``python -m tests.golden.make``.

They are made once for each format version, committed, and verified for ever. The private keys are thrown away, so that
nobody can make them again: where the format changes, its version changes too, and this program makes a new folder.

``good`` is a release as the product makes it. Each folder under ``variants`` holds the files in which a variant differs
from it, and ``expected.json`` what verification says of each variant: nothing, or the file to blame and a sentence.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.canonical import canonical_bytes
from accounting.errors import VerificationFailed
from accounting.ledger.notes import open_checkpoint, sign_note
from release.approving import approve
from release.dsse import payload_of, seal
from release.excerpt import EVIDENCE_NAME
from release.keys import fingerprint, load_private, load_public, public_pem
from release.manifest import FORMAT
from release.statement import MANIFEST_NAME, file_digest
from release.verify import verify_release
from tests.release.small_release import command, make_release

HERE = Path(__file__).parent

Change = Callable[[Path, Ed25519PrivateKey], None]


def resign(folder: Path, key: Ed25519PrivateKey, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Change a statement and sign it again, with the digests of the files as they are: a signer who lies."""
    statement = json.loads(payload_of((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME))
    for subject in statement["subject"]:
        subject["digest"]["sha256"] = file_digest(folder / subject["name"])
    change(statement)
    (folder / MANIFEST_NAME).write_bytes(seal(canonical_bytes(statement), [key]))


def edit(folder: Path, name: str, old: bytes, new: bytes) -> None:
    """Replace the first occurrence in a file."""
    content = (folder / name).read_bytes()
    assert old in content
    (folder / name).write_bytes(content.replace(old, new, 1))


def forge_checkpoint(folder: Path, key: Ed25519PrivateKey) -> None:
    """Sign a checkpoint of another tree."""
    evidence = json.loads((folder / EVIDENCE_NAME).read_bytes())
    checkpoint = open_checkpoint(evidence["checkpoint"], [key.public_key()])
    forged = f"{checkpoint.origin}\n{checkpoint.size}\n{'A' * 43}=\n"
    evidence["checkpoint"] = sign_note(forged, checkpoint.origin, [key])
    (folder / EVIDENCE_NAME).write_bytes(canonical_bytes(evidence))
    resign(folder, key)


def shorten_ledger(folder: Path, key: Ed25519PrivateKey) -> None:
    """Leave out the last entry, with a manifest that agrees."""
    lines = (folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "ledger.jsonl").write_bytes(b"".join(lines[:-1]))
    resign(folder, key)


def signed_edit(name: str, old: bytes, new: bytes) -> Change:
    """Edit a file and sign it."""

    def change(folder: Path, key: Ed25519PrivateKey) -> None:
        edit(folder, name, old, new)
        resign(folder, key)

    return change


def lie(change: Callable[[dict[str, Any]], object]) -> Change:
    """Change the statement and sign it."""
    return lambda folder, key: resign(folder, key, change)


VARIANTS: dict[str, Change] = {
    "approved": lambda folder, _: approve(folder, Ed25519PrivateKey.generate()) and None,
    "edited-table": lambda folder, _: edit(folder, "synthetic.csv", b"red", b"green"),
    "other-signer": lambda folder, _: resign(folder, Ed25519PrivateKey.generate()),
    "flipped-signature": lambda folder, _: edit(folder, MANIFEST_NAME, b'"sig":"', b'"sig":"AAAA'),
    "spaced-envelope": lambda folder, _: edit(folder, MANIFEST_NAME, b'{"payload"', b'{ "payload"'),
    "value-outside-the-schema": signed_edit("synthetic.csv", b"red", b"mauve"),
    "cheaper-entry": signed_edit("ledger.jsonl", b'"amount":"1/4"', b'"amount":"1/5"'),
    "shorter-ledger": shorten_ledger,
    "forged-checkpoint": forge_checkpoint,
    "smaller-epsilon": lie(lambda said: said["predicate"]["guarantee"]["release_curve"][0].update(epsilon="1.0")),
    "smaller-cap": lie(lambda said: said["predicate"]["guarantee"]["release_cap"].update(amount="1/8")),
    "question-left-out": lie(lambda said: said["predicate"]["questions"].pop()),
    "unknown-field": lie(lambda said: said["predicate"].update(row_count=200)),
    "earlier-format": lie(lambda said: said.update(predicateType="urn:dprelease:predicate:release:v0")),
}


def main() -> None:
    """Make the release and its variants, and write down what verification says of each."""
    target = HERE / f"release-{FORMAT}"
    target.mkdir()
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name) / "workspace"
        folder = make_release(workspace, formats='["csv"]')
        command(workspace, "verify", str(folder))
        key = load_private(workspace / "keys" / "signing-key.pem")
        public = load_public(workspace / "keys" / "signing-key.pub.pem")
        shutil.copytree(folder, target / "good")
        (target / "signer.pub.pem").write_bytes(public_pem(public))
        expected: dict[str, dict[str, str] | None] = {}
        for variant, change in VARIANTS.items():
            copy = shutil.copytree(folder, Path(name) / variant)
            change(copy, key)
            try:
                verify_release(copy, {fingerprint(public): public})
                expected[variant] = None
            except VerificationFailed as error:
                expected[variant] = {"file": error.file or "", "reason": error.reason}
            for path in copy.iterdir():
                if path.read_bytes() != (folder / path.name).read_bytes():
                    (target / "variants" / variant).mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, target / "variants" / variant / path.name)
    (target / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
