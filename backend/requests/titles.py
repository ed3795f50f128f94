"""What requests say about people, parties and amounts, which other scopes guard: titles, details and problems."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.requests.schemas import Request

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
    "wallet": Scope.WALLETS_READ,
}
"""The scope that reads what a title names, by the first part of the request's kind. The names of an asset's holders are
read with the asset, and those of a transfer's ends with the transfer.
"""
WITHHELD = "This request failed. Its reason is shown to callers who may read what the request is about."


def is_readable(scopes: Collection[Scope], kind: str) -> bool:
    """Return whether a caller with these scopes may read the titles of a kind of request."""
    guard = _GUARDED.get(kind.partition(".")[0])
    return guard is None or guard in scopes or guard.replace(":read", ":write") in scopes


def title_of(scopes: Collection[Scope], kind: str, title: str) -> str:
    """Return a title, or only the kind where a caller with these scopes may not read it: `Member invite`."""
    return title if is_readable(scopes, kind) else kind.replace(".", " ").replace("_", " ").capitalize()


def shown(request: Request, scopes: Collection[Scope]) -> Request:
    """Return a request as a caller with these scopes may see it."""
    if is_readable(scopes, request.kind):
        return request
    title = title_of(scopes, request.kind, request.title)
    steps = [step.model_copy(update={"title": title, "detail": None}) for step in request.steps]
    hidden = {"title": title, "steps": steps, "problem": _problem(request.problem), "reason": None}
    return request.model_copy(update=hidden)


def _problem(problem: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a problem without its detail and extensions: they have addresses, amounts and a contract's arguments."""
    if problem is None:
        return None
    return {name: problem[name] for name in ("type", "title", "status") if name in problem} | {"detail": WITHHELD}


def hidden(scopes: Collection[Scope]) -> list[str]:
    """Return the first parts of the kinds whose titles a caller with these scopes may not read."""
    return [part for part in _GUARDED if not is_readable(scopes, part)]


def readable(context: Context, kind: Any) -> sa.ColumnElement[bool]:
    """Return the condition that the caller may read a request's title, so that `q` finds no other one."""
    return sa.func.split_part(kind, ".", 1).not_in(hidden(context.scopes))
