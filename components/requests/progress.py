"""The progress of the request that a page follows, with the next step after a failure."""

from typing import Any

import reflex as rx

from components.requests.fix import fix_offer
from components.ui import progress


def request_progress(
    state: Any, *, may_retry: rx.Var[bool] | None = None, retry: str = "Retry from here"
) -> rx.Component:
    """Draw head, bar, timeline, and after a failure its reason, the next step and a retry button.

    `may_retry` says whether the user's role may retry; without it, every role that sees the request may.
    """
    return progress.request_progress(state, fix_offer(state.request), may_retry=may_retry, retry=retry)
