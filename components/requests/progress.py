"""The progress of the request that a page follows, with the next step after a failure."""

from typing import Any

import reflex as rx

from components.core.permission import permitted
from components.requests.fix import fix_offer, who_can_retry
from components.requests.waiting import awaits_approval
from components.ui import progress
from components.ui.button import button


def request_progress(state: Any, *, retry: str = "Retry from here") -> rx.Component:
    """Draw head, bar, timeline, and after a failure its reason, the next step and a retry button, which is disabled and
    explained for users who may not retry."""
    request = state.request

    def retried(kind: str) -> rx.Component:
        return button(retry, small=True, kind=kind, on_click=state.retry)

    # A retry fails again while its cause is there, so the fix comes first.
    again = permitted(
        request.scope, rx.cond(request.fix.kind != "", retried("plain"), retried("primary")), retry, small=True
    )
    again = rx.fragment(again, who_can_retry(request))
    return progress.request_progress(request, waits=awaits_approval(request), fix=fix_offer(request), again=again)
