"""The next step after a failed request: the call in its problem that removes the cause, as a button or a link."""

import re
from dataclasses import dataclass
from typing import Any

from backend.auth.scopes import Scope
from backend.requests.schemas import Request
from state.core.arguments import id_of

ATTEST, UNFREEZE, UNPAUSE, RESUME, LINK = "attest", "unfreeze", "unpause", "unpause-path", "link"
NEED_REASON = (UNFREEZE, UNPAUSE, RESUME)
"""Steps that are recorded with a reason."""
GONE = "The cause is gone: try again."
GONE_FOR_GOOD = "The cause is gone. This request cannot be retried: send it again."
_ASSET = re.compile(r"/assets/([^/]+)")
_PAGES = (
    ("/attestations", "parties"), ("/issuer/register", "issuer"), ("/limit-path", "assets/{asset}?tab=chains"),
    ("/test-funds", "wallets"),
)  # fmt: skip


@dataclass
class Fix:
    """A next step. `kind`: what a dialog does, `link`, or empty for none. `scope` is what the dialog's call needs, or
    what a link leads to. `href` is the page of a link, `call` the API's call. `words` say what to do where there is no
    button."""

    kind: str = ""
    label: str = ""
    href: str = ""
    scope: str = ""
    words: str = ""
    call: str = ""


def fix_of(request: Request) -> Fix:
    """Return the next step after a failed request: none but another attempt where its cause is gone."""
    if request.cause_is_gone:
        return Fix(words=GONE if request.can_retry else GONE_FOR_GOOD)
    return fix_for((request.problem or {}).get("resolution"), request.organization_id)


def fix_for(found: Any, organization_id: object) -> Fix:
    """Return the next step that the resolution of a problem describes."""
    if not isinstance(found, dict):
        return Fix()
    path, label = str(found.get("path") or ""), str(found.get("title") or "")
    words = str(found.get("description") or "")
    if not path or not label:
        return Fix(words=words)
    call = f"{found.get('method')} {found.get('href')}"
    kind = next((kind for kind in NEED_REASON if path.endswith(f"/{kind}")), "")
    if path.endswith("/attestations") and label.startswith("Attest ") and "party_id" in values_of(found):
        kind = ATTEST
    if kind:
        scope = Scope.ATTESTATIONS_WRITE if kind == ATTEST else Scope.ASSETS_WRITE
        return Fix(kind, label, scope=scope, call=call)
    href = _page(path, found)
    if not href:
        return Fix(words=words, call=call)
    return Fix(LINK, label, f"/o/{organization_id}/{href}", _scope_of(path, found), call=call)


def _scope_of(path: str, resolution: dict[str, Any]) -> str:
    """Return the scope of what a link leads to; empty for a page that is only read."""
    if resolution.get("method") == "GET":
        return ""
    scopes = (("/attestations", Scope.ATTESTATIONS_WRITE), ("/issuer/register", Scope.API_KEYS_WRITE),
              ("/test-funds", Scope.WALLETS_WRITE))  # fmt: skip
    return next((scope for ending, scope in scopes if path.endswith(ending)), Scope.ASSETS_WRITE)


def page_of(fix: Fix, request_page: str) -> str:
    """Return the page where a step is taken: its own, or the request's with its dialog; empty without a step."""
    return fix.href if fix.kind == LINK else f"{request_page}&fix=1" if fix.kind else ""


def values_of(resolution: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a call's body whose values are known."""
    fields = (resolution.get("body") or {}).get("properties") or {}
    return {name: field["const"] for name, field in fields.items() if "const" in field}


def asset_of(resolution: dict[str, Any]) -> str:
    """Return the asset in a call's path, or an empty string."""
    found = _ASSET.search(str(resolution.get("path") or ""))
    return id_of(found[1]) if found else ""


def _page(path: str, resolution: dict[str, Any]) -> str:
    """Return the console's page for a call, below the organization; otherwise an empty string."""
    asset, values = asset_of(resolution), values_of(resolution)
    if path.startswith("/identity/parties/"):
        return f"parties?id={id_of(path.rpartition('/')[2].partition('?')[0])}"
    if path.endswith("/attestations") and "party_id" in values:
        return f"parties?id={id_of(str(values['party_id']))}"
    if "/bridges/" in path:
        return f"bridges?id={id_of(path.rpartition('/')[2])}"
    for ending, page in _PAGES:
        if path.endswith(ending):
            return page.format(asset=asset)
    return f"assets/{asset}?tab=compliance" if resolution.get("method") == "PATCH" and asset else ""
