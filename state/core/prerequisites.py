"""The prerequisites in a 409 response, as a checklist."""

from dataclasses import dataclass
from typing import Any

from backend.client import ApiProblem

PAGES = (
    ("/attestations", "attestations"), ("/issuer", "issuer"), ("/wallets", "wallets"),
    ("/enable", "chains"), ("/verify", "parties"), ("/identity/parties", "parties"), ("/assets", "assets"),
)  # fmt: skip


@dataclass
class Prerequisite:
    """One prerequisite: `state` is done, open, or locked behind another; `href` is the page for its call."""

    name: str
    title: str
    detail: str
    call: str
    state: str
    href: str


def prerequisites_of(problem: ApiProblem, org_id: str) -> list[Prerequisite]:
    """Return the prerequisites in order; only the first unmet one is open."""
    order = {name: i for i, name in enumerate(problem.dependencyChain)}
    entries = sorted(problem.prerequisites, key=lambda entry: order.get(entry["state"], len(order)))
    items, is_first = [], True
    for entry in entries:
        state = "done" if entry["satisfied"] else "open" if is_first else "locked"
        is_first = is_first and entry["satisfied"]
        items.append(_item(entry, state, org_id))
    return items


def _item(entry: dict[str, Any], state: str, org_id: str) -> Prerequisite:
    fix = entry.get("resolution") or {}
    path = fix.get("path", "")
    place = next((page for part, page in PAGES if part in path), "")
    return Prerequisite(
        name=entry["state"],
        title=fix.get("description") or entry["state"].replace("_", " ").capitalize(),
        detail=entry.get("detail", ""),
        call=f"{fix['method']} {fix['href']}" if fix else "",
        state=state,
        href=f"/o/{org_id}/{place}" if place else "",
    )


def refusal_words(refusal: ApiProblem) -> str:
    """Return why a step was refused: each missing prerequisite, or the problem's detail."""
    missing = [str(entry.get("detail", "")) for entry in refusal.prerequisites if not entry.get("satisfied")]
    found = [f"{error.get('detail', '')}." for error in refusal.errors]
    return " ".join(missing or found) or refusal.detail or refusal.title
