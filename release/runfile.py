"""runs/RELEASE-ID/run.json: what a run needs to be repeated after a crash; kept by the curator, never released."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from accounting.canonical import canonical_bytes, digest
from accounting.curator import PrivateRows
from accounting.errors import ConfigError
from release.prepared import Prepared
from release.settlement import plan_to_json
from release.software import version

FILE = "run.json"
SEED_BITS = 128
_SALT_BYTES = 32


@dataclass(frozen=True, slots=True)
class RunFile:
    """What must be equal for a run to be gone on with.

    Args:
        release_id: the run's public id.
        public_seed: the seed of the public randomness, 128 bits from the operating system, hexadecimal.
        config_digest: the digest of release.toml's public content.
        mechanism_digest: the digest of the mechanism's parameters.
        schema_digest: the schema's digest.
        plan_digest: the digest of the plan.
        code_version: the version of this program.
        salt: of the commitment to the rows, hexadecimal; never released.
        rows: the salted commitment to the rows.
    """

    release_id: str
    public_seed: str
    config_digest: str
    mechanism_digest: str
    schema_digest: str
    plan_digest: str
    code_version: str
    salt: str
    rows: str

    @property
    def seed(self) -> int:
        """The seed of the public randomness."""
        return int(self.public_seed, 16)


def new_run(prepared: Prepared, release_id: str, rows: PrivateRows) -> RunFile:
    """Draw the public randomness of a run and bind the run to what it was prepared with."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return RunFile(
        release_id=release_id,
        public_seed=f"{secrets.randbits(SEED_BITS):0{SEED_BITS // 4}x}",
        salt=salt.hex(),
        rows=rows.commit(salt),
        **_bound(prepared),
    )


def write_run(folder: Path, run: RunFile) -> None:
    """Write run.json durably, readable by its owner only; nothing is overwritten."""
    with os.fdopen(os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(canonical_bytes({"version": 1, **asdict(run)}))
        file.flush()
        os.fsync(file.fileno())


def read_run(folder: Path, release_id: str) -> RunFile:
    """Read the run.json of a run that was begun.

    Raises:
        ConfigError: there is none, or it is damaged.
    """
    try:
        content = json.loads((folder / FILE).read_bytes())
        known = content.pop("version") == 1
        run = RunFile(**content)
    except FileNotFoundError:
        raise ConfigError(f"no run {release_id!r} was begun in this workspace: {folder} holds no {FILE}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ConfigError(f"{folder / FILE} is damaged") from None
    if not known or run.release_id != release_id:
        raise ConfigError(f"{folder / FILE} is not the file of run {release_id!r}")
    return run


def check_same(run: RunFile, prepared: Prepared, rows: PrivateRows) -> None:
    """Check that a run goes on with what it began with.

    Raises:
        ConfigError: something differs; nothing further was spent.
    """
    for name, now in _bound(prepared).items():
        if getattr(run, name) != now:
            what = name.removesuffix("_digest").replace("_", " ")
            raise ConfigError(
                f"the {what} is not the one with which run {run.release_id!r} began; restore it to resume"
            )
    if rows.commit(bytes.fromhex(run.salt)) != run.rows:
        raise ConfigError(f"the data file is not the one with which run {run.release_id!r} began; restore it to resume")


@contextmanager
def only_process(folder: Path, release_id: str) -> Iterator[None]:
    """Hold a run for this process; the hold ends with the process, however it ends.

    Raises:
        ConfigError: another process holds it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"run {release_id!r} is being worked on by another process") from None
        yield
    finally:
        os.close(handle)


def _bound(prepared: Prepared) -> dict[str, str]:
    return {
        "config_digest": digest(prepared.config.to_json()),
        "mechanism_digest": digest(dict(prepared.mechanism_json)),
        "schema_digest": prepared.declared.digest,
        "plan_digest": digest(plan_to_json(prepared.plan)),
        "code_version": version("dprelease"),
    }
