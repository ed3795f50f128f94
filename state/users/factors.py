"""The user's second factors: the list, adding and removing one, recovery codes."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import reflex as rx
import segno

from backend.client import ApiProblem, body
from backend.factors.schemas import (
    EnrolmentStart,
    Factor,
    FactorAdded,
    PasskeyRegistration,
    TotpConfirmation,
    TotpEnrolment,
)
from state.core.api import asks_for_proof
from state.core.arguments import named, one_of, texts
from state.core.dates import stamp
from state.core.dialogs import Removes
from state.core.events import Events, Next
from state.core.paging import Listed
from state.core.session import Session
from state.users.factor_prompt import answer_of
from state.users.sessions import SessionsState
from state.users.wallet_proof import SignsWithWallet

STATEMENT = "Set up a second factor in Signum"
KINDS = {"totp": "Authenticator app", "passkey": "Passkey"}


@dataclass
class FactorView:
    """A second factor."""

    id: str = ""
    kind: str = ""
    name: str = ""
    last_used_at: str = ""
    created_at: str = ""


class FactorsState(Listed, rx.State):
    """The list of second factors."""

    rows: list[FactorView] = []
    codes_left: int = 0

    @rx.event
    async def load(self) -> None:
        """Read the list."""
        try:
            factors = await self._api.list_factors()
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [factor_view(factor) for factor in factors.factors]
        self.codes_left = factors.recovery_codes_left
        self._loaded()


class FactorRemoval(Removes, rx.State):
    """The confirmation before a factor is removed."""

    about: FactorView = FactorView()

    def _list(self) -> type[Listed]:
        return FactorsState

    async def _remove(self) -> Next:
        await self._api.remove_factor(self.about.id)
        return [FactorsState.load, Session.enter]

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is removed", ""


class FactorSetup(SignsWithWallet, rx.State):
    """Adding a factor. `step` is the open dialog: password, wallet, app, passkey, codes, or none."""

    step: str = ""
    kind: str = "totp"
    secret: str = ""
    picture: str = ""
    """The QR code, as a data URL."""
    options: dict[str, Any] = {}
    codes: list[str] = []

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the dialog, and forget its contents."""
        if not is_open:
            self._done()
            self.step = ""
            self._forget()

    def _leave(self) -> None:
        if self.step != "codes":  # they are shown only once
            self.step = ""
            self._forget()

    def _forget(self) -> None:
        self.secret, self.picture, self.message, self.options, self.codes = "", "", "", {}, []

    @rx.event
    async def begin(self, kind: str) -> None:
        """Start with an app or a passkey. The API says whether it first needs the password, a wallet, or a fresh
        factor."""
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
    async def give_password(self, data: dict[str, Any]) -> Events:
        """Start, with the password."""
        self._begin()
        yield
        if problem := await self._start({"password": texts(data, 300).get("password", "")}):
            self._refused(problem)
            self._keep_at("password")

    @rx.event
    async def choose_wallet(self, account: str) -> None:
        """Create the message that the account of the browser's wallet signs."""
        if self.step == "wallet":  # otherwise there is no session, or the API did not ask for a wallet
            await self._write_message(account, STATEMENT)

    @rx.event
    async def give_signature(self, signature: str) -> Events:
        """Start, with the wallet's signature of the message."""
        self._begin()
        yield
        if problem := await self._start(self._signed(signature)):
            self._refused(problem)
            self._keep_at()

    async def _start(self, proof: dict[str, Any]) -> ApiProblem | None:
        """Start with a proof, and show the next dialog; return why the API refused."""
        try:
            start = body(EnrolmentStart, proof)
            if self.kind == "totp":
                self._show_app(await self._api.begin_totp(start))
            else:
                options = await self._api.begin_passkey(start)
                self.options, self.step = options.model_dump(mode="json"), "passkey"
        except ApiProblem as problem:
            return problem
        self._done()
        return None

    def _show_app(self, enrolment: TotpEnrolment) -> None:
        """Show the secret in groups of four letters, and as a QR code."""
        secret = enrolment.secret or ""
        self.secret = " ".join(secret[i : i + 4] for i in range(0, len(secret), 4))
        self.picture, self.step = _picture(enrolment.otpauth_uri) if enrolment.otpauth_uri else "", "app"

    @rx.event
    async def confirm(self, data: dict[str, Any]) -> Events:
        """Add the app, with a code it shows."""
        self._begin()
        yield
        fields = {name: text for name, text in named(data, "code", "name").items() if text or name == "code"}
        async for event in self._add(self._confirm_app(fields)):
            yield event

    async def _confirm_app(self, fields: dict[str, str]) -> FactorAdded:
        return await self._api.confirm_totp(body(TotpConfirmation, fields))

    @rx.event
    async def register(self, credential: str) -> Events:
        """Add the passkey that the browser created."""
        self._begin()
        yield
        async for event in self._add(self._register_passkey(credential)):
            yield event

    async def _register_passkey(self, credential: str) -> FactorAdded:
        return await self._api.add_passkey(body(PasskeyRegistration, {"credential": answer_of(credential)}))

    async def _add(self, addition: Awaitable[FactorAdded]) -> Events:
        """Await the call that adds a factor, and show the recovery codes of the first one."""
        try:
            added = await addition
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("code", "name")
            return
        self._done()
        self._forget()
        self.codes = added.recovery_codes or []
        self.step = "codes" if self.codes else ""
        await self._notify(f"{added.name} was added")
        yield [FactorsState.load, SessionsState.load, Session.enter]

    @rx.event
    async def renew(self) -> Events:
        """Create new recovery codes, and show them."""
        self._done()
        try:
            renewed = await self._api.renew_recovery_codes()
        except ApiProblem as problem:
            if not asks_for_proof(problem):
                await self._notify("Not possible now", problem.detail or problem.title, "bad")
            return
        self._forget()
        self.codes, self.step = renewed.recovery_codes or [], "codes"
        yield FactorsState.load


def factor_view(factor: Factor) -> FactorView:
    """Convert the API's factor."""
    return FactorView(
        id=str(factor.id),
        kind=KINDS.get(factor.kind, factor.kind),
        name=factor.name,
        last_used_at=stamp(factor.last_used_at),
        created_at=stamp(factor.created_at),
    )


def _picture(uri: str) -> str:
    """Return a QR code as a data URL."""
    picture: str = segno.make(uri, error="m").svg_data_uri(scale=4, border=3, light="white")
    return picture
