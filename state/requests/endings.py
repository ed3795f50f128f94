"""Waiting for the requests of a next step, so that the first action can be repeated after it."""

from collections.abc import Awaitable, Callable, Sequence

from backend.client import SessionClient
from backend.requests.schemas import RequestStatus
from state.requests.tracker import FINAL

PAUSE = 2.0
"""Seconds between two reads where changes cannot be followed."""


async def end_of_all(
    api: SessionClient,
    org_id: str,
    requests: Sequence[str],
    what: str,
    on_progress: Callable[[int], Awaitable[None]] | None = None,
) -> str:
    """Wait until the requests have ended, or wait for a second person; return why one did not succeed, else an empty
    string. `what` names them: "the attestations". `on_progress` gets the number of those that have ended."""
    said, left = "", list(requests)
    async with api.changes(org_id) as changes:
        while left:
            for request_id in list(left):
                request = await api.get_request(org_id, request_id)
                if request.status is RequestStatus.AWAITING_APPROVAL:
                    said = f"A second person must approve {what}. Check again afterwards."
                elif request.status not in FINAL:
                    continue
                elif request.status is not RequestStatus.SUCCEEDED:
                    said = (request.problem or {}).get("detail") or f"It failed: {request.title}."
                left.remove(request_id)
            if on_progress is not None:
                await on_progress(len(requests) - len(left))
            if left:
                await changes.wait(PAUSE)
    return said
