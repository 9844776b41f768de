"""``dprelease keys``: make signing keys."""

import os
import sys
from pathlib import Path

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.errors import ConfigError
from release.cli.console import emit
from release.cli.lazy import ListingGroup
from release.cli.options import json_option, workspace_option

PASSPHRASE = "DPRELEASE_PASSPHRASE"  # noqa: S105 - the variable's name, no secret


@click.group(cls=ListingGroup)
def keys() -> None:
    """Make signing keys."""


@keys.command("new")
@click.option(
    "--passphrase", "protect", is_flag=True, help=f"Encrypt the private key; taken from ${PASSPHRASE} or asked."
)
@workspace_option
@json_option
def new(*, protect: bool, workspace: Path, as_json: bool) -> None:
    """Write a fresh Ed25519 key pair into the workspace's keys folder.

    The private key is a PKCS#8 file that only its owner can read; the public key is a PEM file to give to everyone who
    verifies releases. Nothing is overwritten.
    """
    from release.keys import fingerprint, load_public, new_key
    from release.workspace import open_workspace

    opened = open_workspace(workspace)
    passphrase = _passphrase("Passphrase for the new key", confirm=True) if protect else None
    private, public = new_key(opened.key_path.parent, passphrase=passphrase)
    print_ = fingerprint(load_public(public))
    if as_json:
        emit("keys.new", {"private_key": str(private), "public_key": str(public), "fingerprint": print_})
        return
    click.echo(f"private key  {private}\npublic key   {public}\nfingerprint  {print_}")


def load_signing_key(path: Path) -> Ed25519PrivateKey:
    """Load the workspace's private key, asking for its passphrase where it has one.

    Raises:
        ConfigError: missing or unreadable, or there is neither ``DPRELEASE_PASSPHRASE`` nor a terminal to ask on.
    """
    from release.keys import load_private

    if not path.is_file():
        raise ConfigError(f"there is no signing key at {path}; `dprelease keys new` makes one")
    encrypted = b"ENCRYPTED" in path.read_bytes()
    return load_private(
        path, passphrase=_passphrase(f"Passphrase of {path.name}", confirm=False) if encrypted else None
    )


def _passphrase(prompt: str, *, confirm: bool) -> bytes:
    given = os.environ.get(PASSPHRASE)
    if given:
        return given.encode()
    if not sys.stdin.isatty():
        raise ConfigError(f"there is no terminal to ask for the passphrase on; set {PASSPHRASE}")
    return str(click.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True)).encode()
