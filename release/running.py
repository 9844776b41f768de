"""The run: check, show, ask, pay, model, compare with the ledger, write, sign.

Everything that can fail for a public reason fails before the allotment. From the allotment on every way out says how
much was spent, and a run that spent can be gone on with from its stored answers.
"""

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from accounting.curator import PrivateRows, check_file, load, private_table
from accounting.errors import BudgetRefused, Cancelled, DpReleaseError, StoppedAfterSpending
from accounting.noise import Entropy, OsEntropy
from mechanisms.base import MechanismResult, Progress, Watcher, silent
from mechanisms.domain import FoundDomain
from release.amounts import cost_text
from release.faults import describe_fault
from release.manifest import Manifest
from release.planning import ReleasePlan, plan_release
from release.prepared import Prepared
from release.publishing import ISOLATION, Finished, check_free, put_in_place, write_release
from release.runfile import RunFile, check_same, new_run, only_process, read_run, write_run
from release.settlement import Settlement, check_settlement, check_within_plan, read_settlement
from release.stopping import StoppableTable, Stopper

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from accounting.ledger import Account, Ledger, ReleaseState

_LABEL_LETTERS = 40
_NOTHING_FURTHER = "stopped; nothing further was spent"

Consent: TypeAlias = Callable[[ReleasePlan], None]
"""Shows the plan and returns only when the user agrees to spend."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a run works with.

    Args:
        prepared: the release, checked without the private file.
        ledger: the workspace's ledger.
        key: signs the release.
        watch: is told of each step, in public terms.
        stopper: turns signals into a stop between questions.
        entropy: the source of the privacy noise; anything but the operating system makes the run a test.
        audit: the ``audit.json`` of an audit of this mechanism that goes into the release.
    """

    prepared: Prepared
    ledger: "Ledger"
    key: "Ed25519PrivateKey"
    watch: Watcher = silent
    stopper: Stopper = field(default_factory=Stopper)
    entropy: Entropy = field(default_factory=OsEntropy)
    audit: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A run whose questions are all answered.

    Args:
        prepared: the release, with its domains known.
        result: the synthetic rows and the whole transcript.
        found: the search for domains, or None.
    """

    prepared: Prepared
    result: MechanismResult
    found: FoundDomain | None


@dataclass(frozen=True, slots=True)
class Released:
    """A finished release.

    Args:
        release_id: its public id.
        folder: where it is.
        manifest: what it says about itself.
        delta: the δ at which ε is reported.
        settled: what its questions cost together, in the law's unit.
        left: what the dataset has left.
    """

    release_id: str
    folder: Path
    manifest: Manifest
    delta: Fraction
    settled: Fraction
    left: Fraction


def run_release(job: Job, consent: Consent, *, resume: str | None = None) -> Released:
    """Make a release, or go on with one that was stopped.

    Args:
        job: what to work with.
        consent: is shown the plan before anything is spent; raises to decline.
        resume: the id of a run to go on with, without a second charge for what it asked already.

    Raises:
        ConfigError, InputFileError: something does not fit; nothing was spent.
        BudgetRefused: the dataset has less left than the release asks for; nothing was spent.
        Cancelled: declined or stopped before anything was spent.
        StoppedAfterSpending: failed or stopped later; the message says how much was spent.
    """
    with job.stopper:
        try:
            rows = _load(job, consent, resume)
            return _begin(job, rows) if resume is None else _go_on(job, rows, resume)
        except KeyboardInterrupt:  # one that comes after the allotment has become another error already
            raise Cancelled("stopped; nothing was spent" if resume is None else _NOTHING_FURTHER) from None


def ask_everything(job: Job, account: "Account", run: RunFile, rows: PrivateRows) -> Answered:
    """Find the domains that are measured, then run the mechanism, with the run's public randomness.

    The mechanism gets a handle of its own, whose questions are numbered on from those of the search.
    """
    handle, rng = private_table(rows, account, job.entropy), np.random.default_rng(run.seed)
    search, found, prepared = job.prepared.search, None, job.prepared
    if search is not None:
        job.watch(Progress(1, 1, "finding the domains that are measured", 0.0))
        found = search.run(StoppableTable(handle, job.stopper))
        prepared = prepared.with_domain(found.schema)
        handle = private_table(rows.resolved(found.schema), account, job.entropy, after=handle)
    table = StoppableTable(handle, job.stopper)
    result = prepared.mechanism.run(table, rng, job.watch, rows=prepared.declared_rows)
    if found is not None:
        result = replace(result, transcript=(*found.transcript, *result.transcript))
    return Answered(prepared, result, found)


def settle(job: Job, account: "Account", answered: Answered) -> Settlement:
    """Check the ledger against the transcript and the plan, then free what was never granted."""
    settlement = read_settlement(job.ledger, account.label, account.release_id)
    check_settlement(settlement, answered.result.transcript, _state(job, account).granted)
    check_within_plan(settlement, answered.prepared.plan, account.cap)
    account.close()
    return read_settlement(job.ledger, account.label, account.release_id)


def new_release_id(label: str) -> str:
    """Return a fresh public id: the label, the day, and random letters; nothing of the data."""
    day = datetime.now(tz=UTC).strftime("%Y%m%d")
    return f"{label[:_LABEL_LETTERS]}-{day}-{secrets.token_hex(3)}"


def _load(job: Job, consent: Consent, resume: str | None) -> PrivateRows:
    prepared, encoding = job.prepared, job.prepared.config.encoding
    check_file(prepared.data, prepared.declared, prepared.unit, encoding=encoding)
    plan = plan_release(prepared)
    if resume is None:
        plan.check_fits()
    else:
        read_run(prepared.workspace.run_folder(resume), resume)
        check_free(prepared.workspace.release_folder(resume), prepared)
        job.ledger.resume(resume)
    consent(plan)
    return load(prepared.data, prepared.declared, prepared.unit, encoding=encoding)


def _begin(job: Job, rows: PrivateRows) -> Released:
    workspace = job.prepared.workspace
    run = new_run(job.prepared, new_release_id(job.prepared.dataset.label), rows)
    folder = workspace.run_folder(run.release_id)
    check_free(workspace.release_folder(run.release_id), job.prepared)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700)

    def open_account() -> "Account":
        try:
            write_run(folder, run)
            return _allot(job, run, rows)
        except BaseException:
            shutil.rmtree(folder)
            raise

    with only_process(folder, run.release_id):
        return _carry_out(job, run, rows, open_account)


def _go_on(job: Job, rows: PrivateRows, release_id: str) -> Released:
    folder = job.prepared.workspace.run_folder(release_id)
    with only_process(folder, release_id):
        run = read_run(folder, release_id)
        check_same(run, job.prepared, rows)
        return _carry_out(job, run, rows, lambda: job.ledger.resume(release_id))


def _allot(job: Job, run: RunFile, rows: PrivateRows) -> "Account":
    return job.ledger.allot(
        job.prepared.dataset.label,
        run.release_id,
        job.prepared.cap,
        purpose="release" if job.entropy.source == "os" else "test",
        noise=job.entropy.source,
        context={
            "mechanism": job.prepared.config.mechanism_kind,
            "mechanism_digest": run.mechanism_digest,
            "config_digest": run.config_digest,
            "plan_digest": run.plan_digest,
            "schema_digest": run.schema_digest,
            "code_version": run.code_version,
            "rng_seed": run.public_seed,
            "isolation": ISOLATION,
        },
        commitment=rows.commit,
    )


def _carry_out(job: Job, run: RunFile, rows: PrivateRows, open_account: Callable[[], "Account"]) -> Released:
    account = None
    try:
        with job.stopper.whole():
            account = open_account()
        answered = ask_everything(job, account, run, rows)
        settlement = settle(job, account, answered)
        finished = Finished(
            answered.prepared, job.ledger, account, run, answered.result, settlement, job.audit, answered.found
        )
        manifest = write_release(finished, job.key)
        job.stopper.ignore()
        folder = put_in_place(job.prepared.workspace.release_folder(run.release_id))
    except BaseException as error:
        if account is None:
            raise
        with job.stopper.whole():
            _leave(error, job, account)
    left = job.ledger.dataset(account.label).left
    return Released(run.release_id, folder, manifest, job.prepared.delta, settlement.settled, left)


def _leave(error: BaseException, job: Job, account: "Account") -> NoReturn:
    """Leave a run that did not finish, and say what it cost.

    Raises:
        Cancelled, DpReleaseError: nothing was spent; the allotment is freed.
        StoppedAfterSpending: something was.
    """
    state = _state(job, account)
    stopped = isinstance(error, KeyboardInterrupt)
    if not state.granted:
        account.close()
        if stopped:
            raise Cancelled("stopped; nothing was spent") from None
        raise error
    reason = "stopped" if stopped else str(error) if isinstance(error, DpReleaseError) else describe_fault(error)
    if state.in_flight:
        account.close()
        further = (
            "A charged question has no answer, so the run cannot be gone on with; what it was not granted is free."
        )
    elif state.closed and isinstance(error, BudgetRefused):
        reason = "the run was given up before"
        further = "It can ask nothing new."
    else:
        further = f"`dprelease run --resume {account.release_id}` goes on from the stored answers at no second charge."
        if not state.closed:
            further += f" `dprelease ledger recover {account.release_id}` gives up what was not granted yet."
    raise StoppedAfterSpending(
        f"{reason.rstrip('.')}. {cost_text(state.granted, account.law)} of the release's "
        f"{cost_text(account.cap.value, account.law)} was spent. {further}"
    ) from None


def _state(job: Job, account: "Account") -> "ReleaseState":
    states = job.ledger.dataset(account.label).releases
    return next(state for state in states if state.release_id == account.release_id)
