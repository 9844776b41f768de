"""A ledger's life that has every kind of entry."""

from fractions import Fraction

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.budget import Cap, EpsilonDelta, Mu, Rho
from accounting.events import SelectionEvent
from accounting.unit import PersonUnit
from tests.accounting.ledger.support import allot, ask, digest_of, open_rows, reserve, rows

KEY = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)


def every_kind(ledger):
    """Write at least one entry of each kind, and return the checkpoints signed after the first part and at the end."""
    statement = EpsilonDelta(Fraction(2), Fraction(1, 10**6))
    cap = Cap(Mu(Fraction(1, 2)), Fraction(1, 10**5))
    ledger.open_dataset("people", unit=PersonUnit("id", 3), cap=cap, statement=statement)
    open_rows(ledger, "visits")
    ledger.record_look("people", "schema-check", digest_of("schema"))
    share = Cap(Mu(Fraction(1, 4)), Fraction(1, 10**6))
    account = ledger.allot(
        "people", "p1", share, purpose="release", noise="os", context={"mechanism": "aim"}, commitment=rows("people")
    )
    ask(account, 1, "1/32", b"first")
    account.void(reserve(account, 2, "1/64"))
    account.authorise("3", digest_of("s"), SelectionEvent(Fraction(1, 4)), {"question": "select", "epsilon": "1/4"})
    early = ledger.checkpoint([KEY])
    account.close()
    ledger.raise_cap(
        "people", Cap(Mu(Fraction(3, 4)), Fraction(1, 10**5)), continues=ledger.dataset("people").head, keys=[KEY]
    )
    ledger.change_law("people")
    second = allot(ledger, "people", "p2", "1/8")
    ask(second, 1, "1/16", b"second")
    other = allot(ledger, "visits", "v1", "1/2", purpose="test", noise="seeded", commitment=None)
    ask(other, 1, "1/2", b"third")
    ledger.supersede("p1", by="p2")
    ledger.withdraw("p2")
    ledger.declare_disjoint("people", ["visits"], keys=[KEY])
    assert ledger.dataset("people").cap == Cap(Rho(Fraction(3, 8)), Fraction(1, 10**5))
    ledger.close_dataset("people")
    return early, ledger.checkpoint([KEY])
