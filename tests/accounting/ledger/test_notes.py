"""Signed notes and checkpoints against published examples, against openssl, and against every kind of damage."""

import base64
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from accounting.errors import ConfigError, VerificationFailed
from accounting.ledger.notes import (
    Checkpoint,
    open_checkpoint,
    open_note,
    origin_of,
    parse_checkpoint,
    sign_note,
    split_note,
    verifier_key,
)

# The test vector of the Go module golang.org/x/mod/sumdb/note, from which C2SP's signed-note was written.
VECTOR_NAME = "PeterNeumann"
VECTOR_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
VECTOR_SECRET = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
VECTOR = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
# The example of C2SP's tlog-checkpoint.
EXAMPLE = (
    "example.com/behind-the-sofa\n"
    "20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    "\n"
    "\u2014 example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)
KEYS = [Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in range(1, 18)]
PUBLIC = [key.public_key() for key in KEYS]


def test_the_published_note_is_signed_and_opened_alike():
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(VECTOR_KEY.split("+", 2)[2])[1:])
    secret = Ed25519PrivateKey.from_private_bytes(base64.b64decode(VECTOR_SECRET)[1:])
    assert verifier_key(VECTOR_NAME, public) == VECTOR_KEY
    text, signers = open_note(VECTOR, VECTOR_NAME, [PUBLIC[0], public])
    assert signers == [public]
    assert sign_note(text, VECTOR_NAME, [secret]) == VECTOR


def test_the_published_checkpoint_is_read():
    checkpoint = parse_checkpoint(EXAMPLE)
    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.root.hex().startswith("0ac5186a")
    assert EXAMPLE.startswith(checkpoint.to_text())


def test_openssl_accepts_a_checkpoint(tmp_path):
    origin = origin_of("ab" * 32)
    note = sign_note(Checkpoint(origin, 5, bytes(32)).to_text(), origin, KEYS[:1])
    text, ((name, signature),) = split_note(note)
    assert name == origin
    (tmp_path / "text").write_bytes(text.encode())
    (tmp_path / "signature").write_bytes(signature[4:])
    pem = PUBLIC[0].public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pem").write_bytes(pem)
    command = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in text -sigfile signature".split()
    assert subprocess.run(command, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL).returncode == 0
    (tmp_path / "text").write_bytes(text.encode() + b"\n")
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode != 0


def test_several_keys_sign_and_each_trusted_one_is_named():
    note = sign_note("a\nb\n", "name", KEYS[:3])
    assert open_note(note, "name", PUBLIC[1:4]) == ("a\nb\n", PUBLIC[1:3])
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        open_note(note, "name", PUBLIC[3:])
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        open_note(note, "other", PUBLIC)
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        open_note(note, "name", [])


def test_a_note_is_signed_once_by_one_to_sixteen_keys():
    for keys, reason in (([], "1 to 16 keys"), (KEYS, "1 to 16 keys"), ([KEYS[0], KEYS[0]], "once by each key")):
        with pytest.raises(ConfigError, match=reason):
            sign_note("a\n", "name", keys)
    assert len(open_note(sign_note("a\n", "name", KEYS[:16]), "name", PUBLIC)[1]) == 16


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        ("", "not a signed note"),
        ("text\n", "not a signed note"),
        ("\n\n\u2014 a AAAA\n", "not a signed note"),
        ("text\n\n\u2014 a AAAAAAAA", "not a signed note"),
        ("te\rxt\n\n\u2014 a AAAAAAAA\n", "not a signed note"),
        ("text\n\n" + "\u2014 a AAAAAAAA\n" * 17, "not a signed note"),
        ("text\n\n\n", "not a signed note"),
        ("text\n\n\n\u2014 a AAAAAAAA\n\n", "not a signed note"),
        ("text\n\n- a AAAAAAAA\n", "no signature"),
        ("text\n\n\u2014 a+b AAAAAAAA\n", "no signature"),
        ("text\n\n\u2014 a AAAAA\n", "not base64"),
        ("text\n\n\u2014 a AAAAAB==\n", "unused bits"),
    ],
)
def test_what_is_no_note_is_refused(note, reason):
    with pytest.raises(VerificationFailed, match=reason):
        split_note(note)


@pytest.mark.parametrize(
    "text",
    [
        "origin\n5\n",
        "origin\n05\n" + "A" * 43 + "=\n",
        "origin\n-1\n" + "A" * 43 + "=\n",
        "origin\n5\nAAAA\n",
        "origin\n5\n" + "A" * 43 + "=\nextension\n",
        "\n5\n" + "A" * 43 + "=\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text):
    with pytest.raises(VerificationFailed, match="not a checkpoint"):
        parse_checkpoint(sign_note(text, "origin", KEYS[:1]))


def test_a_checkpoint_names_what_stands_no_longer():
    origin = origin_of("ab" * 32)
    said = ("replaced 3", "withdrawn 3", "superseded 12 by 40", "withdrawn 100")
    checkpoint = Checkpoint(origin, 120, bytes(32), said)
    assert parse_checkpoint(sign_note(checkpoint.to_text(), origin, KEYS[:1])) == checkpoint
    for lines in (
        said[::-1],
        (*said, said[-1]),
        ("withdrawn 03",),
        ("withdrawn x",),
        ("withdrawn",),
        ("superseded 1",),
        ("revoked 3",),
        ("",),
    ):
        text = Checkpoint(origin, 120, bytes(32), lines).to_text()
        with pytest.raises(VerificationFailed, match=r"not a checkpoint|not a signed note"):
            parse_checkpoint(sign_note(text, origin, KEYS[:1]))


def test_every_flipped_byte_of_a_checkpoint_is_found():
    origin = origin_of("cd" * 32)
    note = sign_note(Checkpoint(origin, 12, bytes(range(32))).to_text(), origin, KEYS[:1]).encode()
    assert open_checkpoint(note.decode(), PUBLIC[:1]).size == 12
    for place in range(len(note)):
        for bit in (0x01, 0x20, 0x80):
            damaged = bytearray(note)
            damaged[place] ^= bit
            try:
                text = damaged.decode()
            except UnicodeDecodeError:
                continue
            with pytest.raises(VerificationFailed):
                open_checkpoint(text, PUBLIC[:1])
