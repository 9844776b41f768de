import base64
import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError, VerificationFailed
from release.dsse import PAYLOAD_TYPE, add_signature, key_ids, pre_authentication_encoding, seal, unseal
from release.keys import fingerprint, public_pem

PAYLOAD = b'{"_type":"https://in-toto.io/Statement/v1"}'


@pytest.fixture(name="key")
def fixture_key():
    return Ed25519PrivateKey.generate()


def trusted(*keys):
    return {fingerprint(key.public_key()): key.public_key() for key in keys}


def test_encoding_matches_the_published_vector():
    # DSSE protocol document: type http://example.com/HelloWorld, body "hello world".
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pre_authentication_encoding("http://example.com/HelloWorld", b"hello world") == expected


def test_round_trip_with_two_signers():
    keys = [Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()]
    envelope = seal(PAYLOAD, keys)
    payload, signers = unseal(envelope, trusted(*keys), file="m")
    assert payload == PAYLOAD
    assert set(signers) == set(trusted(*keys)) == set(key_ids(envelope, file="m"))


def test_every_flipped_bit_is_found(key):
    envelope = seal(PAYLOAD, [key])
    for position in range(len(envelope)):
        for bit in range(8):
            broken = bytearray(envelope)
            broken[position] ^= 1 << bit
            with pytest.raises(VerificationFailed, match=r"^m: "):
                unseal(bytes(broken), trusted(key), file="m")


def test_a_key_of_somebody_else_is_not_trusted(key):
    with pytest.raises(VerificationFailed, match="signed by no key that is trusted here"):
        unseal(seal(PAYLOAD, [key]), trusted(Ed25519PrivateKey.generate()), file="m")


def test_another_key_may_add_its_signature_and_counts_where_it_is_trusted(key):
    other = Ed25519PrivateKey.generate()
    both = add_signature(seal(PAYLOAD, [key]), other, file="m")
    assert both == seal(PAYLOAD, [other, key])
    for known in ((key,), (other,), (key, other)):
        payload, signers = unseal(both, trusted(*known), file="m")
        assert (payload, set(signers)) == (PAYLOAD, set(trusted(*known)))
    with pytest.raises(ConfigError, match="has signed this already"):
        add_signature(both, key, file="m")
    with pytest.raises(VerificationFailed, match="not a signed envelope"):
        add_signature(b"{}", key, file="m")


def test_signature_of_another_content_is_refused(key):
    other = seal(b"{}", [key])
    envelope = seal(PAYLOAD, [key])
    mixed = envelope.replace(base64.b64encode(PAYLOAD), base64.b64encode(b"{}"))
    assert mixed != other
    with pytest.raises(VerificationFailed, match="does not belong"):
        unseal(mixed, trusted(key), file="m")


@pytest.mark.parametrize(
    ("signatures", "sentence"),
    [([], "one signature per key"), ("twice", "one signature per key")],
)
def test_no_signature_and_a_doubled_signature_are_refused(key, signatures, sentence):
    keyid = fingerprint(key.public_key())
    sig = base64.b64encode(key.sign(pre_authentication_encoding(PAYLOAD_TYPE, PAYLOAD))).decode()
    if signatures == "twice":
        signatures = [{"keyid": keyid, "sig": sig}] * 2
    payload = base64.b64encode(PAYLOAD).decode()
    envelope = canonical_bytes({"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": signatures})
    with pytest.raises(VerificationFailed, match=sentence):
        unseal(envelope, trusted(key), file="m")


def test_another_payload_type_and_non_base64_are_refused(key):
    envelope = seal(PAYLOAD, [key])
    with pytest.raises(VerificationFailed, match="another type"):
        unseal(envelope.replace(b"in-toto", b"in-tota"), trusted(key), file="m")
    payload = base64.b64encode(PAYLOAD)
    with pytest.raises(VerificationFailed, match="not base64"):
        unseal(envelope.replace(payload, b"*" + payload[1:]), trusted(key), file="m")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_verifies_the_signature(key, tmp_path):
    import json

    envelope = json.loads(seal(PAYLOAD, [key]))
    (tmp_path / "key.pem").write_bytes(public_pem(key.public_key()))
    (tmp_path / "signature").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    payload = base64.b64decode(envelope["payload"])
    command = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed -sigfile signature".split()
    for content, code in ((payload, 0), (payload + b" ", 1)):
        (tmp_path / "signed").write_bytes(pre_authentication_encoding(envelope["payloadType"], content))
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == code
