"""What the tests of the ledger share: ledgers of every kind, and questions with a price."""

import hashlib
import itertools
from fractions import Fraction

import pytest

from accounting.budget import Cap, Rho
from accounting.events import GaussianEvent
from accounting.ledger import Ledger
from accounting.unit import RowUnit
from tests.accounting.ledger.postgres import quick_folder

STORES = ("memory", "sqlite", "postgresql")
_schemas = itertools.count()


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def rows(text):
    """Return a commitment to rows, as the curator computes it."""
    return lambda salt: hashlib.sha256(salt + text.encode()).hexdigest()


def event_of(rho):
    """Return a Gaussian event that costs this ρ, which is half of its μ²."""
    return GaussianEvent(Fraction(1), 1 / (2 * Fraction(rho)))


def described(event):
    return {"question": "total", "variance": f"{event.variance.numerator}/{event.variance.denominator}"}


def reserve(account, request, rho, question="q", *, start=False):
    event = event_of(rho)
    return account.authorise(str(request), digest_of(question), event, described(event), start=start)


def ask(account, request, rho, answer=b"42"):
    """Ask a question the whole way and return its settled entry."""
    grant = reserve(account, request, rho)
    account.start(grant)
    return account.settle(grant, answer)


def open_rows(ledger, label="rand", cap=1, delta=0):
    return ledger.open_dataset(label, unit=RowUnit(), cap=Cap(Rho(Fraction(cap)), Fraction(delta)))


def allot(ledger, label="rand", release="r1", cap="1/2", delta=0, **changes):
    arguments = {"purpose": "release", "noise": "os", "context": {"mechanism": "aim"}, "commitment": rows(label)}
    return ledger.allot(label, release, Cap(Rho(Fraction(cap)), Fraction(delta)), **(arguments | changes))


@pytest.fixture
def url_of(request):
    """Return the URL of an empty ledger of a kind."""
    folders = []

    def url(kind):
        if kind == "sqlite":
            folders.append(quick_folder())
            return f"sqlite:///{folders[-1]}/ledger.db"
        return request.getfixturevalue("server").url(f"ledger_{next(_schemas)}")

    yield url
    for folder in folders:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


@pytest.fixture(params=STORES)
def ledger(request, url_of):
    """Return an empty ledger on each store."""
    return Ledger.in_memory() if request.param == "memory" else Ledger.open(url_of(request.param))


@pytest.fixture(params=STORES[1:])
def sql_url(request, url_of):
    """Return the URL of an empty ledger on each SQL store."""
    return url_of(request.param)
