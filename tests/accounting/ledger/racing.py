"""A program whose copies race for the last remainder of a release.

It is run by ``test_race.py`` in a process of its own, and prints one JSON object:
``python -m tests.accounting.ledger.racing URL PROCESSES REQUESTS``.
"""

import json
import os
import sys

from accounting.errors import BudgetRefused
from accounting.ledger import Ledger
from tests.accounting.ledger.support import allot, open_rows, reserve


def racer(url, number, requests):
    """Ask for 1/100 again and again; return how often it was granted and refused, and every other error."""
    granted, refused, errors = 0, 0, []
    account = Ledger.open(url).resume("r1")
    for request in range(requests):
        try:
            reserve(account, f"{number}-{request}", "1/100")
            granted += 1
        except BudgetRefused:
            refused += 1
        except Exception as error:  # noqa: BLE001  # every other error is a failure, reported as such
            errors.append(f"{type(error).__name__}: {error}")
    return {"granted": granted, "refused": refused, "errors": errors}


def main(url, processes, requests):
    """Fork the racers, wait for all, and print what each of them saw and what the ledger says."""
    ledger = Ledger.open(url)
    open_rows(ledger, cap=2)
    allot(ledger, cap="137/100")
    pipes = []
    for number in range(processes):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, json.dumps(racer(url, number, requests)).encode())
            os._exit(0)
        os.close(writer)
        pipes.append(reader)
    seen = []
    for reader in pipes:
        with os.fdopen(reader, "rb") as pipe:
            seen.append(json.loads(pipe.read()))
        os.wait()
    state = ledger.dataset("rand")
    spent = state.releases[0].granted
    json.dump(
        {"seen": seen, "granted": f"{spent.numerator}/{spent.denominator}", "size": ledger.verify().size}, sys.stdout
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
