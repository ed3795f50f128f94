"""The dialog with the next step after a failed request: the call that removes the cause, then the retry."""

from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem, body
from backend.controls.schemas import Freeze, Pause, PausePath
from backend.requests.schemas import Request
from state.attestations.revoked import refusal_to_attest
from state.core.arguments import id_of, named
from state.core.dates import end_of, in_days
from state.core.dialogs import DialogAbout
from state.core.events import Events, call
from state.core.prerequisites import refusal_words
from state.core.session import Session
from state.requests.endings import end_of_all
from state.requests.fixes import ATTEST, NEED_REASON, RESUME, UNFREEZE, Fix, asset_of, fix_of, values_of
from state.requests.tracker import Tracker
from state.requests.views import RequestView, request_view


class FixForm(DialogAbout, rx.State):
    """The dialog. What it does is read from the request again, never taken from the browser."""

    fix: Fix = Fix()
    request: RequestView = RequestView()
    needs_reason: bool = False
    is_waiting: bool = False
    """Whether the step was sent, and the retry waits for its end."""

    @rx.event
    async def begin(self, request_id: str) -> Events:
        """Open the dialog for a failed request, if its next step can be taken in one and the user may."""
        self._done()
        yield
        try:
            request = await self._api.get_request(self._org_id(), id_of(request_id))
        except ApiProblem as problem:
            await self._notify("The next step cannot be shown", problem.detail or problem.title, "bad")
            return
        fix = fix_of(request)
        if request.cause_is_gone:
            await self._notify("The next step is not needed", fix.words)
        if fix.kind == ATTEST and (why := await self._is_revoked(request)):
            await self._notify("The party is not attested again in one step", why, "bad")
            return
        if fix.scope and fix.scope in (await self.get_state(Session)).org.scopes:
            self.fix, self.request, self.needs_reason = fix, request_view(request), fix.kind in NEED_REASON
            self.is_open, self.is_waiting = True, False

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Take the step, and retry the request afterwards."""
        if self.is_waiting:
            return
        self._begin()
        yield
        reason = named(data, "reason")["reason"]
        if self.needs_reason and not reason:
            self.errors, self.saving = {"reason": "Enter a reason. It is stored with the request"}, False
            return
        try:
            request = await self._api.get_request(self._org_id(), self.request.id)
            if fix_of(request) != self.fix:
                self.saving, self.form_problem = (
                    False,
                    "The request has changed. Close this dialog and look at it again.",
                )
                return
            step = await self._take(request, reason)
        except ApiProblem as problem:
            self._refused(problem)
            self.errors, self.form_problem = {}, refusal_words(problem)
            return
        self._done()
        self.is_waiting = True
        yield [Tracker.watch, call(FixForm.follow, step)]

    async def _take(self, request: Request, reason: str) -> str:
        """Send the step's call; return the ID of its request."""
        found = (request.problem or {})["resolution"]
        api, org_id, key = self._api, self._org_id(), self._form_key
        fields, asset_id = values_of(found), asset_of(found)
        if self.fix.kind == ATTEST:
            if why := await self._is_revoked(request):
                raise ApiProblem({"title": "Conflict", "status": HTTPStatus.CONFLICT, "detail": why})
            wanted = body(AttestationCreate, fields | {"expires_at": end_of(in_days(365))})
            return str((await api.create_attestation(org_id, wanted, idempotency_key=key)).request_id)
        fields |= {"reason": reason}
        if self.fix.kind == UNFREEZE:
            freeze = body(Freeze, fields | {"amount": None})
            return str((await api.unfreeze(org_id, asset_id, freeze, idempotency_key=key)).request_id)
        if self.fix.kind == RESUME:
            path = body(PausePath, fields)
            return str((await api.unpause_path(org_id, asset_id, path, idempotency_key=key)).request_id)
        return str((await api.unpause(org_id, asset_id, body(Pause, fields), idempotency_key=key)).request_id)

    async def _is_revoked(self, request: Request) -> str:
        """Return why the party is not attested in one step: its attestation may have been revoked since the failure."""
        fields = values_of((request.problem or {}).get("resolution") or {})
        party_id, eid = id_of(str(fields.get("party_id", ""))), int(fields.get("chain_eid") or 0)
        return await refusal_to_attest(self._api, self._org_id(), party_id, eid)

    @rx.event(background=True)
    async def follow(self, step: str) -> Events:
        """Wait for the step on chain, then retry the request."""
        async with self:
            org_id, request = self._org_id(), self.request
            if not self.is_waiting:
                return
        try:
            problem = await end_of_all(self._api, org_id, [id_of(step)], "this step")
        except ApiProblem as refusal:
            problem = refusal.detail or refusal.title
        async with self:
            self.is_waiting, self.form_problem = False, problem
            if problem:
                return
            self._close()
        if request.can_retry:
            yield call(Tracker.retry, request.id)
