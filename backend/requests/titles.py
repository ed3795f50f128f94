"""Titles of requests and their steps: they name people, parties and amounts, which other scopes guard."""

from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope

_GUARDED = {
    "asset": Scope.ASSETS_READ,
    "attestation": Scope.ATTESTATIONS_READ,
    "bridge": Scope.ASSETS_READ,
    "distribution": Scope.ASSETS_READ,
    "issuer": Scope.ATTESTATIONS_READ,
    "market": Scope.ASSETS_READ,
    "member": Scope.MEMBERS_READ,
    "order": Scope.ASSETS_READ,
    "token": Scope.ASSETS_READ,
    "transfer": Scope.TRANSFERS_READ,
}
"""The scope that reads what a title names, by the first part of the request's kind."""


def is_readable(context: Context, kind: str) -> bool:
    """Return whether the caller may read the titles of a kind of request."""
    guard = _GUARDED.get(kind.partition(".")[0])
    return guard is None or guard in context.scopes or guard.replace(":read", ":write") in context.scopes


def title_of(context: Context, kind: str, title: str) -> str:
    """Return a title, or only the kind where the caller may not read it: `Member invite`."""
    return title if is_readable(context, kind) else kind.replace(".", " ").replace("_", " ").capitalize()


def readable(context: Context, kind: Any) -> sa.ColumnElement[bool]:
    """Return the condition that the caller may read a request's title, so that `q` finds no other one."""
    hidden = [part for part in _GUARDED if not is_readable(context, part)]
    return sa.func.split_part(kind, ".", 1).not_in(hidden)
