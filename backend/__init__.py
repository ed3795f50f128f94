"""Signum without a browser: a package per noun, the chain, the database, the API."""

import sys
from contextlib import suppress

_LIMIT = sys.getrecursionlimit()
with suppress(ImportError):
    # eth-account's BLS library raises the recursion limit to 100,000 when it is imported. With that limit, a deeply
    # nested JSON text overflows the stack and ends the process.
    import py_ecc  # noqa: F401
sys.setrecursionlimit(_LIMIT)
