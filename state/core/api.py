"""API calls of every state: requests, problems and toasts."""

from datetime import tzinfo
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import reflex as rx

from backend.auth.credentials import session_secret
from backend.client import ApiProblem, SessionClient, client
from backend.requests.schemas import RequestStatus
from state.core.dates import zone_of
from state.core.events import Next
from state.core.refusals import explained
from state.core.toasts import Notices, Tone

PASSING = (429, 500, 502, 503, 504)
"""Statuses that may change within a moment."""


PROOFS = ("fresh_factor", "fresh_proof")
"""Refusals that a proof of identity resolves; a dialog asks for it and repeats the refused event."""


OUTDATED = "Another person changed this after you opened it, so nothing was saved. Load the current values first."


class SignedOut(Exception):
    """The session has ended; the app's exception handler sends the browser to the sign-in page."""


class Replaced(Exception):
    """The browser has signed in again since this began; the page of the new session shows nothing of it."""


class Api(rx.State, mixin=True):
    """Mixin of every state that calls the API. All helpers are private: browsers can call public methods."""

    @property
    def _api(self) -> SessionClient:
        """The API as the signed-in user. The session is added on the server only; a page has no credential.

        Its methods raise ApiProblem with the API's problem, and SignedOut on 401.
        """
        cookies = self.router.headers.cookie
        return SessionClient(client, cookies, self._origin(), partial(self._on_problem, cookies))

    def _client_with(self, api_key: str) -> SessionClient:
        """Return the API as the signed-in user, with a key as the second credential.

        Its methods raise SignedOut on 401 too, but never open the dialog that asks for a proof of identity.
        """
        cookies = self.router.headers.cookie
        return SessionClient(client, cookies, self._origin(), partial(self._check_session, cookies), api_key=api_key)

    async def _on_problem(self, cookies: str, problem: ApiProblem) -> None:
        """Raise SignedOut on 401, and ask for the proof of identity that a refusal requires."""
        await self._check_session(cookies, problem)
        if asks_for_proof(problem):
            await self._confirm_first(problem)

    async def _check_session(self, cookies: str, problem: ApiProblem) -> None:
        """Raise SignedOut on 401; Replaced where the tab has had another session since the call with these cookies."""
        if problem.status != 401:
            return
        if session_secret(cookies) != session_secret(self.router.headers.cookie):
            raise Replaced from problem
        raise SignedOut(self._here()) from problem

    async def _confirm_first(self, problem: ApiProblem) -> None:
        """Ask for the proof of identity that a refusal requires; the current event is repeated afterwards."""
        from state.users.factor_prompt import ProofPrompt  # it is a form itself

        await (await self.get_state(ProofPrompt))._ask(problem)

    async def _zone(self) -> tzinfo:
        """Return the user's time zone."""
        from state.users.preferences import MyPreferences  # it calls the API itself

        return zone_of((await self.get_state(MyPreferences)).time_zone)

    def _origin(self) -> str:
        """Return the client's address as X-Forwarded-For has it: the peer of the browser's connection comes last."""
        forwarded = self.router.headers.raw_headers.get("x-forwarded-for", "")
        return ", ".join(filter(None, (forwarded, self.router.session.client_ip)))

    def _org_id(self) -> str:
        """Return the organization in the page's URL, or an empty string on pages outside of any."""
        return self._in_path("org_id")

    def _in_path(self, name: str) -> str:
        """Return a part of the page's path, such as `asset_id`, or an empty string."""
        return str(getattr(self, name, "") or "")

    def _here(self) -> str:
        """Return the current path and query, to return to after signing in."""
        url = self.router.url
        return url.path + (f"?{url.query}" if url.query else "")

    def _query(self, name: str) -> str:
        """Return a parameter of the page's URL, or an empty string."""
        return str(self.router.url.query_parameters.get(name, ""))

    async def _notify(
        self, title: str, detail: str = "", tone: Tone = "ok", href: str = "", link: str = "", **of: str
    ) -> None:
        """Show a toast, with a link where `href` is set. `of`: the request whose result it shows in the end."""
        (await self.get_state(Notices))._add(title, detail, tone, href, link, **of)

    async def _notify_undoable(self, title: str, facts: dict[str, str], detail: str = "") -> None:
        """Show a toast with "Undo", which gives the facts to this state's `_undo`."""
        from state.notifications.undo import Undo  # it calls the API itself

        notice_id = (await self.get_state(Notices))._add_undoable(title, detail)
        (await self.get_state(Undo))._keep(notice_id, self.get_full_name(), facts)

    async def _undo(self, facts: dict[str, str]) -> Next:
        """Undo a change, and return the event that shows it. Raises ApiProblem."""
        raise NotImplementedError

    async def _lacks(self, what: str, problem: ApiProblem) -> None:
        """Report that a form's options could not be read; without permission (403) report nothing."""
        if problem.status != 403:
            await self._notify(f"{what} could not be read", problem.detail or problem.title, "warn")

    async def _accepted(self, title: str, request_id: UUID | str | None, detail: str = "", org_id: str = "") -> None:
        """Report an accepted request, or that it waits for a second person. Yield `Tracker.watch` after it.

        `org_id`: the request's organization, by default the one of the page.
        """
        org_id = org_id or self._org_id()
        place = f"/o/{org_id}"
        if request_id and await self._waits(org_id, request_id):
            said = f"{title}. {detail}".strip()
            await self._notify("Waiting for a second person", said, "warn", f"{place}/approvals?view=mine", "Approvals")
        else:
            href = f"{place}/requests?id={request_id}" if request_id else ""
            of = {"request_id": str(request_id), "org_id": org_id} if request_id else {}
            await self._notify(title, detail, "busy", href, "View request", **of)

    async def _waits(self, org_id: str, request_id: UUID | str) -> bool:
        """Return whether a request waits for a second person."""
        try:
            request = await self._api.get_request(org_id, request_id)
        except ApiProblem:
            return False
        return request.status is RequestStatus.AWAITING_APPROVAL


class Loads(Api, mixin=True):
    """Mixin of a state that loads something: whether it is loading, and why it failed.

    `is_missing`: the record does not exist, so a retry is pointless.
    """

    loading: bool = True
    problem: str = ""
    is_forbidden: bool = False
    is_missing: bool = False

    def _loaded(self) -> None:
        self.loading, self.problem, self.is_forbidden, self.is_missing = False, "", False, False

    def _failed(self, problem: ApiProblem) -> None:
        self.loading, self.problem = False, explained(problem)
        self.is_forbidden, self.is_missing = problem.status == 403, problem.status == 404


class Form(Api, mixin=True):
    """Mixin of a state with a form: errors by field, the problem of the whole form, and whether it is being sent."""

    errors: dict[str, str] = {}
    form_problem: str = ""
    saving: bool = False
    _form_key: str = ""

    def _begin(self) -> None:
        """Start sending: clear errors, and keep one idempotency key for an attempt and its repeats."""
        self.errors, self.form_problem, self.saving = {}, "", True
        self._form_key = self._form_key or str(uuid4())

    def _done(self) -> None:
        """Finish sending; the next attempt gets a new key."""
        self.errors, self.form_problem, self.saving, self._form_key = {}, "", False, ""

    def _refused(self, problem: ApiProblem) -> None:
        """Show a problem at the fields it points to, or below the form."""
        self.saving, self._form_key = False, ""
        self.errors = {_field(e): _sentence(str(e.get("detail", ""))) for e in problem.errors or []}
        said = OUTDATED if problem.status == 412 else explained(problem)
        self.form_problem = "" if self.errors else said

    def _keep_at(self, *fields: str) -> None:
        """Move findings about any other field below the form, where they are visible."""
        other = [words for name, words in self.errors.items() if name not in fields]
        if other:
            self.errors = {name: words for name, words in self.errors.items() if name in fields}
            self.form_problem = " ".join(other)


def asks_for_proof(problem: ApiProblem) -> bool:
    """Return whether a refusal opens the dialog that asks for a proof of identity and repeats the event."""
    return problem.rule in PROOFS


def _field(error: dict[str, Any]) -> str:
    """Return the field of an error: `/compliance_rules/blocked_countries/0` is about `blocked_countries`."""
    parts = [part for part in str(error.get("pointer", "")).lstrip("#").split("/") if part and not part.isdigit()]
    return parts[-1] if parts else "form"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
