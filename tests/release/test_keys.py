import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from accounting.errors import ConfigError
from release.keys import fingerprint, load_private, load_public, new_key


def test_a_new_pair_fits_together_and_is_private(tmp_path):
    private, public = new_key(tmp_path / "keys")
    assert private.stat().st_mode & 0o777 == 0o600
    assert fingerprint(load_private(private).public_key()) == fingerprint(load_public(public))


def test_the_fingerprint_is_the_hash_of_the_der_form(tmp_path):
    _, public = new_key(tmp_path)
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", public, "-outform", "DER"], capture_output=True, check=True
    )
    digest = subprocess.run(["sha256sum"], input=der.stdout, capture_output=True, check=True)
    assert digest.stdout.split()[0].decode() == fingerprint(load_public(public))


def test_nothing_is_overwritten(tmp_path):
    private, _ = new_key(tmp_path)
    before = private.read_bytes()
    with pytest.raises(ConfigError, match="already"):
        new_key(tmp_path)
    assert private.read_bytes() == before


def test_passphrase(tmp_path):
    private, _ = new_key(tmp_path, passphrase=b"open sesame")
    load_private(private, passphrase=b"open sesame")
    for wrong in (None, b"shut"):
        with pytest.raises(ConfigError, match="passphrase"):
            load_private(private, passphrase=wrong)


def test_a_private_key_that_others_may_read_is_refused(tmp_path):
    private, _ = new_key(tmp_path)
    private.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        load_private(private)


def test_other_files_and_other_kinds_of_keys_are_refused(tmp_path):
    rsa = generate_private_key(65537, 2048)
    private, public = tmp_path / "rsa", tmp_path / "rsa.pub"
    private.write_bytes(
        rsa.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    private.chmod(0o600)
    public.write_bytes(
        rsa.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(ConfigError, match="not an Ed25519 private key"):
        load_private(private)
    with pytest.raises(ConfigError, match="not an Ed25519 public key"):
        load_public(public)
    public.write_text("nothing")
    with pytest.raises(ConfigError, match="not an Ed25519 public key"):
        load_public(public)
    for load in (load_private, load_public):
        with pytest.raises(ConfigError, match="missing"):
            load(tmp_path / "nowhere")
