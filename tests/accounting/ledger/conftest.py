"""Fixtures of the ledger's tests."""

from tests.accounting.ledger.postgres import server
from tests.accounting.ledger.support import ledger, sql_url, url_of

__all__ = ["ledger", "server", "sql_url", "url_of"]
