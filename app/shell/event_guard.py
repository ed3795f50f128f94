"""Checks of socket events: any client can call any handler with any payload, so malformed events stop here."""

import inspect
import math
import re
import types
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import reflex as rx
from reflex.middleware import Middleware
from reflex.state import BaseState, StateUpdate
from reflex_base.event import Event
from reflex_base.registry import RegistrationContext
from reflex_base.utils.form import FORM_DATA_ENTRIES_KEY

from backend.auth.credentials import session_secret
from backend.auth.secrets import digest
from state.core.session import UNKNOWN, Session
from state.core.toasts import Notices
from state.users.factor_prompt import current_event

UNUSED = ("setvar", "update_vars_internal")
"""Reflex's own handlers that set vars from outside; no var of ours needs them."""
NO_PAGE = "splat"
NOBODY = digest("")
"""The owner of a tab without a session."""
SURROGATE = re.compile("[\ud800-\udfff]")
ID = re.compile(r"[^/?#\\%\x00-\x20]{1,200}")


class Malformed(Exception):
    """An event whose payload does not fit its handler."""


class Owner(rx.State):
    """The session that filled the states of this tab."""

    _owner: str | None = None


class Door(Middleware):
    """Checks each event's arguments against its handler, and keeps one session's data from the next."""

    async def preprocess(self, app: rx.App, state: BaseState, event: Event) -> StateUpdate | None:
        """Raise Malformed, or let the event through. The event that reports a refusal is not checked again: refusing it
        would cause another report, without end."""
        root, name = state._get_root_state(), event.name.rpartition(".")[2]
        handler = RegistrationContext.get().event_handlers[event.name].handler
        is_apology = handler.fn is Notices.event_handlers["apologize"].fn
        if not is_apology:
            await _forget_others(root)
        is_led_astray = not is_apology and not leads(root.rx_router_page.params)
        if name in UNUSED or is_led_astray or not fits(handler.fn, event.payload):
            raise Malformed(event.name)
        current_event.set(event)
        return None


async def _forget_others(root: BaseState) -> None:
    """Reset every state when the browser's session has changed: a tab outlives the session that filled it. Only whose
    it was is kept, for the sign-in page."""
    owner = await root.get_state(Owner)
    session = digest(session_secret(root.router.headers.cookie))
    if owner._owner is not None and owner._owner != session:
        shown = await root.get_state(Session)
        earlier = shown.user_id or (UNKNOWN if owner._owner != NOBODY else "")
        root.reset()  # type: ignore[no-untyped-call]  # Reflex does not annotate it
        shown._earlier_user_id = earlier
    owner._owner = session


def leads(params: Any) -> bool:
    """Return whether URL parameters are texts whose ids cannot redirect an API call.

    The parameters of an unknown address come as a list; nothing reads those.
    """
    return isinstance(params, dict) and all(
        isinstance(value, str) and (not name.endswith("_id") or ID.fullmatch(value))
        for name, value in params.items()
        if name != NO_PAGE
    )


def fits(function: Any, payload: Any) -> bool:
    """Return whether a handler can be called with these arguments."""
    signature, hints = _shape(function)
    if not isinstance(payload, dict) or payload.get("vars"):
        return False
    try:
        given = signature.bind(None, **payload).arguments
    except TypeError:
        return False
    return all(_is(value, hints.get(name, Any)) for name, value in given.items() if name in payload)


@lru_cache(maxsize=1024)
def _shape(function: Any) -> tuple[inspect.Signature, dict[str, Any]]:
    return inspect.signature(function), get_type_hints(function)


def _is(value: Any, hint: Any) -> bool:
    """Return whether a JSON value has a handler's type. A boolean is not a number, and NaN is refused."""
    if not _is_written(value):
        return False
    if hint is Any:
        return True
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return any(_is(value, one) for one in inner)
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    if kind is list:
        return isinstance(value, list) and all(_is(one, inner[0]) for one in value if inner)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _is_written(value: Any) -> bool:
    """Return whether every text in a JSON value is plain text, and a form has the pairs a browser sends."""
    if isinstance(value, str):
        return "\0" not in value and not SURROGATE.search(value)
    if isinstance(value, list):
        return all(_is_written(one) for one in value)
    if not isinstance(value, dict):
        return True
    pairs = value.get(FORM_DATA_ENTRIES_KEY, [])
    is_form = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    )
    return is_form and all(_is_written(one) for pair in value.items() for one in pair)
