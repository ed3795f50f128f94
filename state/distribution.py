"""One distribution: its record, a proof out of it, opening it for claims and ending it."""

import json
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form, Loads
from state.chain_list import Chains
from state.distributions import DistributionRow, distribution_row
from state.given import id_of, named, number
from state.requests import Follows, Request, Tracker


class DistributionState(Follows, Loads, Chains, rx.State):
    """The page of a distribution; what runs for it is followed live."""

    distribution: DistributionRow = DistributionRow()
    distributor_url: str = ""
    path: str = ""
    """The distribution's path in the API; other states of this page build theirs on it."""

    @rx.event
    async def load(self):
        """Read the distribution, and follow what runs for it or has failed."""
        if self.distribution.id != self.distribution_id:
            self.distribution, self.loading, self.request, self.path = DistributionRow(), True, Request(), ""
            yield
        await self._read()
        if self.distribution.request_id:
            yield self._follow(self.distribution.request_id)

    @rx.event
    async def reload(self):
        """Read it again."""
        await self._read()

    @rx.event
    async def watch(self, request_id: str):
        """Follow a request of this distribution."""
        await self._read()
        return self._follow(id_of(request_id) or self.distribution.request_id)

    @rx.event
    async def retry(self):
        """Try the failed request again, and go on following it."""
        return [Tracker.retry(self.request.id), type(self).follow]

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            record = await (self._api("GET", self.path) if self.path else self._locate())
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        self.distribution = distribution_row(record)
        self.path = f"/orgs/{{org}}/assets/{record['asset_id']}/distributions/{record['id']}"
        self.distributor_url = self._address_url(record["chain_eid"], record["distributor_address"])

    async def _locate(self) -> dict[str, Any]:
        """The distribution of the URL. The API's path has its asset too, which the list of all tells."""
        if asset := id_of(self._query("asset")):
            return dict(await self._api("GET", f"/orgs/{{org}}/assets/{asset}/distributions/{self.distribution_id}"))
        cursor: str | None = ""
        while cursor is not None:
            page = await self._api("GET", "/orgs/{org}/distributions", params={"limit": 100, "cursor": cursor})
            if found := next((d for d in page["distributions"] if d["id"] == self.distribution_id), None):
                return dict(found)
            cursor = page["nextCursor"]
        raise ApiProblem({"status": 404, "title": "Not Found", "detail": "There is no such distribution here."})


class ProofFinder(Form, rx.State):
    """What one address is entitled to, and the proof of it."""

    address: str = ""
    amount: str = ""
    index: int = 0
    claimed: bool = False
    text: str = ""
    """Everything `claim` takes, as JSON."""

    @rx.event
    def clear(self):
        """Forget what was found."""
        self._done()
        self.address = self.text = ""

    @rx.event
    async def find(self, data: dict[str, Any]):
        """Look an address up."""
        self._begin()
        self.address = self.text = ""
        yield
        wanted = named(data, "address")["address"]
        if len(wanted) != 42 or not wanted.isalnum():
            self.saving, self.errors = False, {"address": "An address has 0x and 40 hexadecimal digits"}
            return
        page = await self.get_state(DistributionState)
        try:
            proof = await self._api("GET", f"{page.path}/proofs/{wanted}")
        except ApiProblem as problem:
            self._refused(problem)
            self.errors = {"address": problem.detail or problem.title}
            return
        self._done()
        self.address, self.amount, self.index = proof["address"], proof["amount"], proof["index"]
        self.claimed = proof["claimed"]
        self.text = json.dumps({name: proof[name] for name in ("index", "address", "amount", "proof")}, indent=1)


class Activation(Form, rx.State):
    """The dialog that funds a draft and opens it for claims."""

    is_open: bool = False
    steps: list[str] = []
    plan_problem: str = ""

    @rx.event
    async def show(self, is_open: bool):
        """Open it with what would be done, or close it."""
        self._done()
        self.is_open, self.steps, self.plan_problem = bool(is_open), [], ""
        page = await self.get_state(DistributionState)
        if not is_open or not page.path or not page.distribution.has_recipients:
            return
        yield
        try:
            path = f"{page.path}/activate?dry_run=true"
            plan = await self._api("POST", path, json=_terms(page.distribution))
        except ApiProblem as problem:
            self.plan_problem = problem.detail or problem.title
            return
        self.steps = plan["steps"]

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Activate, and follow it on the page."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        one = page.distribution
        if not page.path:
            self._done()
            return
        terms = _terms(one) if one.has_recipients else _given(one, data)
        try:
            await self._api("POST", f"{page.path}/activate", json=terms, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("merkleRoot", "totalRecipients")
            return
        self._done()
        self.is_open = False
        yield [DistributionState.watch(""), Tracker.watch]


class Cancellation(Form, rx.State):
    """The question before a distribution is ended."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    @rx.event
    async def confirm(self):
        """End it, and follow that on the page."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        if not page.path:
            self._done()
            return
        try:
            answer = await self._api("POST", f"{page.path}/cancel", key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._done()
        self.is_open = False
        yield [DistributionState.watch(answer["requestId"]), Tracker.watch]


def _terms(one: DistributionRow) -> dict[str, Any]:
    return {"chainEid": one.chain_eid, "merkleRoot": one.root, "totalRecipients": one.recipients}


def _given(one: DistributionRow, data: dict[str, Any]) -> dict[str, Any]:
    """What somebody writes where the recipients are not known here."""
    said = named(data, "merkleRoot", "totalRecipients")
    return {
        "chainEid": one.chain_eid,
        "merkleRoot": said["merkleRoot"],
        "totalRecipients": number(said["totalRecipients"]),
    }
