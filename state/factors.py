"""The person's second factors: which there are, adding one, removing one, recovery codes."""

from dataclasses import dataclass
from typing import Any

import reflex as rx
import segno

from backend.client import ApiProblem
from state.account import SessionsState
from state.api import Form, Loads, asks_for_proof
from state.confirming import answer_of
from state.given import named, one_of, texts
from state.session import Session
from state.wallet_proof import SignsWithWallet

STATEMENT = "Set up a second factor in Signum"
KINDS = {"totp": "Authenticator app", "passkey": "Passkey"}


@dataclass
class FactorRow:
    """A second factor."""

    id: str = ""
    kind: str = ""
    name: str = ""
    last_used_at: str = ""
    created_at: str = ""


class FactorsState(Loads, rx.State):
    """The list."""

    rows: list[FactorRow] = []
    codes_left: int = 0

    @rx.event
    async def load(self):
        """Read it."""
        try:
            told = await self._api("GET", "/auth/factors")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [_factor(row) for row in told["factors"]]
        self.codes_left = told["recovery_codes_left"]
        self._loaded()


class FactorSetup(SignsWithWallet, rx.State):
    """Adding a factor. `step` is the dialog that is open: password, wallet, app, passkey, codes, or none."""

    step: str = ""
    kind: str = "totp"
    secret: str = ""
    picture: str = ""
    """The QR code, as an address of its own."""
    options: dict[str, Any] = {}
    codes: list[str] = []

    @rx.event
    def show(self, is_open: bool):
        """Close the dialog, and forget what was shown in it."""
        if not is_open:
            self._done()
            self.step = ""
            self._forget()

    def _forget(self) -> None:
        self.secret, self.picture, self.message, self.options, self.codes = "", "", "", {}, []

    @rx.event
    async def begin(self, kind: str):
        """Begin with an app or a passkey. The API says whether it needs the password, a wallet, or a fresh factor
        first."""
        self._done()
        self._forget()
        self.step, self.kind = "", one_of(kind, KINDS, "totp")
        problem = await self._start({})
        needed = {error.get("pointer") for error in problem.errors} if problem else set()
        if needed & {"/password", "/wallet"}:
            self.step = "password" if "/password" in needed else "wallet"
        elif problem and not asks_for_proof(problem):
            await self._notify("Not possible now", problem.detail or problem.title, "bad")

    @rx.event
    async def give_password(self, data: dict[str, Any]):
        """Begin, with the password."""
        self._begin()
        yield
        if problem := await self._start({"password": texts(data, 300).get("password", "")}):
            self._refused(problem)
            self._keep_at("password")

    @rx.event
    async def choose_wallet(self, account: str):
        """Write the message that the account of the browser's wallet signs."""
        if self.step == "wallet":  # otherwise nobody is signed in, or the API did not ask for a wallet
            await self._write_message(account, STATEMENT)

    @rx.event
    async def give_signature(self, signature: str):
        """Begin, with the wallet's signature of the message."""
        self._begin()
        yield
        if problem := await self._start(self._signed(signature)):
            self._refused(problem)
            self._keep_at()

    async def _start(self, proof: dict[str, Any]) -> ApiProblem | None:
        path = "/auth/factors/totp" if self.kind == "totp" else "/auth/factors/passkeys/options"
        try:
            told = await self._api("POST", path, json=proof)
        except ApiProblem as problem:
            return problem
        self._done()
        if self.kind == "totp":
            self.secret = " ".join(told["secret"][i : i + 4] for i in range(0, len(told["secret"]), 4))
            self.picture, self.step = _picture(told["otpauth_uri"]), "app"
        else:
            self.options, self.step = told, "passkey"
        return None

    @rx.event
    async def confirm(self, data: dict[str, Any]):
        """Add the app, by a code it shows."""
        self._begin()
        yield
        given = named(data, "code", "name")
        async for event in self._add("/auth/factors/totp/confirm", {"code": given["code"]}, given["name"]):
            yield event

    @rx.event
    async def register(self, credential: str):
        """Add the passkey that the browser has made."""
        self._begin()
        yield
        async for event in self._add("/auth/factors/passkeys", {"credential": answer_of(credential)}, ""):
            yield event

    async def _add(self, path: str, body: dict[str, Any], name: str) -> Any:
        try:
            added = await self._api("POST", path, json=body | ({"name": name} if name else {}))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("code", "name")
            return
        self._done()
        self._forget()
        self.codes = added["recovery_codes"] or []
        self.step = "codes" if self.codes else ""
        await self._notify(f"{added['name']} is added")
        yield [FactorsState.load, SessionsState.load, Session.enter]

    @rx.event
    async def renew(self):
        """Make other recovery codes, and show them."""
        self._done()
        try:
            told = await self._api("POST", "/auth/factors/recovery-codes")
        except ApiProblem as problem:
            if not asks_for_proof(problem):
                await self._notify("Not possible now", problem.detail or problem.title, "bad")
            return
        self._forget()
        self.codes, self.step = told["recovery_codes"], "codes"
        yield FactorsState.load


class FactorRemoval(Form, rx.State):
    """The question before a factor is removed."""

    is_open: bool = False
    about: FactorRow = FactorRow()

    @rx.event
    async def ask(self, id: str):
        """Ask about one of the listed factors."""
        rows = (await self.get_state(FactorsState)).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.about, self.is_open = row, True

    @rx.event
    def show(self, is_open: bool):
        """Close it."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def confirm(self):
        """Remove it."""
        self._begin()
        yield
        try:
            await self._api("DELETE", f"/auth/factors/{self.about.id}")
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._done()
        self.is_open = False
        await self._notify(f"{self.about.name} is removed")
        yield [FactorsState.load, Session.enter]


def _factor(row: dict[str, Any]) -> FactorRow:
    kind = KINDS.get(row["kind"], row["kind"])
    return FactorRow(row["id"], kind, row["name"], row["last_used_at"] or "", row["created_at"])


def _picture(uri: str) -> str:
    """A QR code as a picture that stands in its own address."""
    picture: str = segno.make(uri, error="m").svg_data_uri(scale=4, border=3, light="white")
    return picture
