"""The one door from the console to the API, for every state: calls, problems, notices."""

import asyncio
from itertools import count
from typing import Any
from uuid import uuid4

import reflex as rx

from backend.client import ApiProblem, Repeating, client
from state.notices import Notices, Tone

PATIENT = Repeating(times=2, patience=2.0)
"""A page asks for many things at once and may meet the rate limit of its person: the second of its window is waited
for, twice at most. A limit that wants more than that is told at once."""
PASSING = (429, 500, 502, 503, 504)
"""What may be otherwise in a moment."""


PROOFS = ("fresh_factor", "fresh_proof")
"""Rules that a proof of the person satisfies; a dialog asks for it and repeats what was refused."""


class SignedOut(Exception):
    """The session is gone; the app's exception handler sends the browser to the sign-in page."""


class Api(rx.State, mixin=True):
    """Mixin of every state that calls the API. All helpers are private: public methods can be called by any browser."""

    async def _api(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Call `/v1{path}`; `{org}` in it is the organization of the page's URL. Parsed JSON, or None.

        Raises ApiProblem with the API's words, SignedOut on 401. The session goes along on the server only.
        """
        url, given = path.replace("{org}", self._org_id()), _given(params)
        for attempt in count():
            try:
                return await client.call(
                    method,
                    url,
                    cookie=self.router.headers.cookie,
                    json=json,
                    params=given,
                    idempotency_key=key,
                    headers=self._origin(),
                )
            except ApiProblem as problem:
                if problem.status == 401:
                    raise SignedOut(self._here()) from problem
                if asks_for_proof(problem):
                    await self._confirm_first(problem)
                wait = PATIENT.wait(attempt, problem, is_harmless=False)
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def _confirm_first(self, problem: ApiProblem) -> None:
        """Ask for the proof that a refusal misses; the event in hand is repeated once it was given."""
        from state.confirming import Confirming  # it is a form itself

        await (await self.get_state(Confirming))._ask(problem)

    def _origin(self) -> dict[str, str]:
        """Whom we speak for, told as a proxy tells it: who the browser's connection comes from, at the right."""
        told = self.router.headers.raw_headers.get("x-forwarded-for", "")
        return {"x-forwarded-for": ", ".join(filter(None, (told, self.router.session.client_ip)))}

    async def _api_all(self, *paths: str) -> list[Any]:
        """Call several GETs at once; the first problem is raised."""
        return list(await asyncio.gather(*(self._api("GET", path) for path in paths)))

    def _org_id(self) -> str:
        """The organization the page's URL names, or an empty string on pages outside of any."""
        return str(getattr(self, "org_id", "") or "")

    def _here(self) -> str:
        """The path and query the person is at, to come back to after signing in."""
        url = self.router.url
        return url.path + (f"?{url.query}" if url.query else "")

    def _query(self, name: str) -> str:
        """A parameter of the page's URL, or an empty string."""
        return str(self.router.url.query_parameters.get(name, ""))

    async def _notify(self, title: str, detail: str = "", tone: Tone = "ok", href: str = "", link: str = "") -> None:
        """Show a toast, with a link where `href` is set."""
        (await self.get_state(Notices))._add(title, detail, tone, href, link)

    async def _lacks(self, what: str, problem: ApiProblem) -> None:
        """Say that something a form offers could not be read. Whoever may not see it (403) is told nothing."""
        if problem.status != 403:
            await self._notify(f"{what} could not be read", problem.detail or problem.title, "warn")

    async def _accepted(self, title: str, request_id: str | None, detail: str = "") -> None:
        """Say that a request is on its way, or waits for a second person. Yield `Tracker.watch` after it."""
        place = f"/o/{self._org_id()}"
        if request_id and await self._waits(request_id):
            said = f"{title}. {detail}".strip()
            await self._notify("Waiting for a second person", said, "warn", f"{place}/approvals?view=mine", "Approvals")
        else:
            href = f"{place}/requests?id={request_id}" if request_id else ""
            await self._notify(title, detail, "busy", href, "View request")

    async def _waits(self, request_id: str) -> bool:
        """Whether a request waits for a second person."""
        try:
            request = await self._api("GET", f"/orgs/{{org}}/requests/{request_id}")
        except ApiProblem:
            return False
        return bool(request["status"] == "awaiting_approval")


class Loads(Api, mixin=True):
    """Mixin of a state that loads something: whether it is loading, and why it could not.

    `is_missing`: there is no such thing, so trying again is no use.
    """

    loading: bool = True
    problem: str = ""
    is_forbidden: bool = False
    is_missing: bool = False

    def _loaded(self) -> None:
        self.loading, self.problem, self.is_forbidden, self.is_missing = False, "", False, False

    def _failed(self, problem: ApiProblem) -> None:
        self.loading, self.problem = False, problem.detail or problem.title
        self.is_forbidden, self.is_missing = problem.status == 403, problem.status == 404


class Form(Api, mixin=True):
    """Mixin of a state with a form: errors by field, the problem no field is to blame for, whether it is being sent."""

    errors: dict[str, str] = {}
    form_problem: str = ""
    saving: bool = False
    _form_key: str = ""

    def _begin(self) -> None:
        """Start sending: clear what was said before, and keep one idempotency key for one attempt and its repeats."""
        self.errors, self.form_problem, self.saving = {}, "", True
        self._form_key = self._form_key or str(uuid4())

    def _done(self) -> None:
        """Finish sending; the next attempt gets a key of its own."""
        self.errors, self.form_problem, self.saving, self._form_key = {}, "", False, ""

    def _refused(self, problem: ApiProblem) -> None:
        """Put a problem's words where they belong: at the fields it points to, else below the form."""
        self.saving, self._form_key = False, ""
        self.errors = {_field(e): _sentence(str(e.get("detail", ""))) for e in problem.errors or []}
        self.form_problem = "" if self.errors else (problem.detail or problem.title)

    def _keep_at(self, *fields: str) -> None:
        """Move findings about anything but these fields below the form, where they are seen."""
        other = [words for name, words in self.errors.items() if name not in fields]
        if other:
            self.errors = {name: words for name, words in self.errors.items() if name in fields}
            self.form_problem = " ".join(other)


def asks_for_proof(problem: ApiProblem) -> bool:
    """Whether a refusal opens the dialog that asks for a factor, a password or a wallet, and repeats the event."""
    return problem.rule in PROOFS


def _field(error: dict[str, Any]) -> str:
    """`/compliance_rules/blocked_countries/0` is about the field `blocked_countries`."""
    parts = [part for part in str(error.get("pointer", "")).lstrip("#").split("/") if part and not part.isdigit()]
    return parts[-1] if parts else "form"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _given(params: dict[str, Any] | None) -> dict[str, Any] | None:
    """Leave out parameters without a value."""
    return {name: value for name, value in params.items() if value not in (None, "")} if params else None
