"""Every handler of every state is public: each is called as the socket does, with every kind of argument.

The calls come from Reflex's list of handlers, so that a new handler cannot be forgotten.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from reflex.state import BaseState, State
from reflex_base.event import EventHandler
from reflex_base.registry import RegistrationContext

from app.shell.event_guard import Malformed, fits, leads
from backend import models
from backend.sign_in import proofs
from backend.users.schemas import Role
from state.core.api import SignedOut
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.support.firm import Firm

NONCE = proofs.PURPOSE
OWN = (models.SessionRow, models.CursorRow, models.ChainRow, models.PreferencesRow, models.ExecutorLeaseRow)
MOVING = {str(row.__tablename__) for row in OWN}
"""Tables that sign-in, reads and time change, and what each person sets for themselves."""
SECRETS = {
    "one_time_secrets": f"(select * from one_time_secrets where purpose <> '{NONCE}')",
    NONCE: f"(select * from one_time_secrets where purpose = '{NONCE}')",
}
"""Nonces apart from other secrets: a person who links a wallet to their own account gets one."""
OF_REFLEX = {"hydrate", "set_is_hydrated", "hydrate_and_load", "handle_frontend_exception", "on_load_internal"}
"""Reflex's own handlers that browsers need; its others are closed."""
MARK = "Kestrel"
"""A marker in every text of the organization, searched for in other people's messages."""
LONG = "x" * 60_000
FIELDS = sorted(
    {name for file in Path("state").rglob("*.py") for name in re.findall(r'(?:get\(|\[)"(\w+)"', file.read_text())}
)
"""Every name that a state reads from a form or a record, so that a form has it."""
JUNK: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "0", "-1", "1e400", "../../../auth/me", LONG,
    "a\x00b", "\ud800", "💥", "' or 1=1 --", "{org}", [], [1, {"a": []}], {}, {"a": {"b": [{}]}},
    {"__reflex_form_data__": 1}, {"__reflex_form_data__": [[1]]}, {"__reflex_form_data__": [[{}, 1]]},
]  # fmt: skip


def handlers() -> dict[str, EventHandler]:
    """Return every handler that a browser can name, by that name."""
    import app.app  # noqa: F401  (registers them)

    return {name: known.handler for name, known in RegistrationContext.get().event_handlers.items()}


def ours() -> dict[str, EventHandler]:
    """Return the console's own handlers."""
    return {name: one for name, one in handlers().items() if one.fn.__module__.startswith(("state.", "app."))}


def parameters(handler: EventHandler) -> dict[str, Any]:
    """Return a handler's parameters and their types."""
    hints = inspect.get_annotations(handler.fn, eval_str=True)
    return {name: hints.get(name, Any) for name in list(inspect.signature(handler.fn).parameters)[1:]}


def forms(ids: list[str]) -> list[dict[str, Any]]:
    """Return forms as a hand-made client would send them."""
    filled: list[Any] = ["1", "", LONG, "a\x00b", "\ud800", None, 7, [], {"a": 1}, float("nan"), ids[0]]
    return [{}, *(dict.fromkeys(FIELDS, value) for value in filled)]


def payloads(handler: EventHandler, ids: list[str]) -> Iterator[Any]:
    """Return arguments for a handler: first matching types, then others."""
    given = parameters(handler)
    good = {str: [*ids, "admin", "1", "Enter", "name", "price"], bool: [True, False], int: [0, 1, -1, 10**30]}
    choices = {name: good.get(hint, forms(ids)) for name, hint in given.items()}
    first = {name: some[0] for name, some in choices.items()}
    yield first
    for name, some in choices.items():
        for value in [*some[1:], *JUNK]:
            yield first | {name: value}
    yield from ({}, {"self": 1} | first, {"more": 1} | first, None, [], "x", 1)


class Ground:
    """An organization with one of every record, and people who look at it."""

    def __init__(self, firm: Firm, ids: list[str], webhook: str, database_url: str) -> None:
        self.firm, self.ids, self.database_url = firm, [*ids, webhook], database_url
        self.params = {
            "org_id": str(firm.id),
            "asset_id": ids[0],
            "market_id": ids[0],
            "distribution_id": ids[0],
            "webhook_id": webhook,
            "membership_id": ids[0],
            "id": ids[0],
        }

    async def contents(self) -> dict[str, Any]:
        """Return the content of every table except the changes of sign-in and reads; as the owner, who sees every
        column. Excludes emails of other organizations, whose texts are deleted by the clock."""
        tables = {str(row.__tablename__) for name in models.__all__ if (row := getattr(models, name))} - MOVING
        mine = f"organization_id = '{self.firm.id}'"
        mails = f"(select id, case when {mine} then outbox::text else recipient end from outbox)"
        query = " union all ".join(
            f"select '{name}', md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from {rows} t"
            for name, rows in sorted(({name: name for name in tables} | {"outbox": mails} | SECRETS).items())
        )
        async with await psycopg.AsyncConnection.connect(self.database_url) as connection:
            return dict(await (await connection.execute(query)).fetchall())  # type: ignore[arg-type]


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any):
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest_asyncio.fixture(scope="module")
async def ground(client: Any, database_url: str) -> Ground:
    """The organization that other people must not see."""
    world = World(client)
    firm = await Firm.found(world, f"{MARK} Holdings")
    party = await firm.party(name=f"{MARK} Investor", email=f"investor@{MARK.lower()}.example")
    wallet = await firm.post("/wallets", {"label": f"{MARK} Treasury"})
    invited = await firm.post("/invitations", {"email": f"invited@{MARK.lower()}.example", "role": "viewer"})
    key = await firm.post("/api-keys", {"name": f"{MARK} key", "scopes": ["orgs:read"]})
    below = await firm.post("/sub-orgs", {"name": f"{MARK} Below"})
    hook = await firm.post("/webhooks", {"url": "http://localhost:1024/", "description": f"{MARK} ledger"})
    ids = [str(one["id"]) for one in (party, wallet, invited, key, below)]
    return Ground(firm, [*ids, str(firm.id)], hook["id"], database_url)


async def call_all(socket: Socket, tab: Tab, ids: list[str], malformed: bool = False) -> str:
    """Call every handler with every argument; return the messages to the tab. Fail on any exception that leaves a
    handler.

    Malformed payloads are rejected before the session is read, so they are sent once.
    """
    sent, wrong = [], []
    for name, handler in ours().items():
        for payload in payloads(handler, ids):
            if not malformed and not fits(handler.fn, payload):
                continue
            sent.append(await tab.send(name, payload))
            let_out = [one for one in socket.failures if not isinstance(one, (SignedOut, Malformed))]
            wrong += [f"{name} {str(payload)[:200]}: {one!r}" for one in let_out]
            socket.failures.clear()
    assert wrong == [], "\n".join(wrong)
    return "\n".join(sent)


def test_public_state_methods_are_event_handlers():
    known = {state for one in RegistrationContext.get().event_handlers.values() for state in one.states}
    for state in {s for s in known if s.__module__.startswith(("state.", "app."))}:
        own = set(dir(state)) - set(dir(State)) - set(state.vars)
        callable_names = {n for n in own if not n.startswith("_") and callable(getattr(state, n))}
        assert callable_names <= set(state.event_handlers), state


def test_open_events_are_those_browsers_need():
    names = {name.rpartition(".")[2] for name, one in handlers().items() if one not in ours().values()}
    assert names - OF_REFLEX == {"setvar", "update_vars_internal"}


def secrets_of(state: type[BaseState]) -> set[str]:
    """Return the vars of a state whose names suggest a secret."""
    return {name for name in state.vars if re.search(r"cookie|token|password|secret|(^|_)key($|_)", name)}


def test_states_expose_no_secrets():
    shown = {f"{s.__name__}.{name}" for one in ours().values() if (s := one.state) for name in secrets_of(s)}
    named_alike = {"MarketWizard.own_token"}  # a token's address
    assert shown - named_alike == {"KeyForm.secret", "SigningSecret.secret", "ClientForm.secret", "FactorSetup.secret"}


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Return the tables whose content differs."""
    return {name for name in after if after[name] != before[name]}


@pytest.mark.long
async def test_events_without_a_session_reveal_and_change_nothing(socket: Socket, ground: Ground):
    before = await ground.contents()
    tab = await socket.tab("", f"/o/{ground.firm.id}/overview", **ground.params)
    assert MARK.lower() not in (await call_all(socket, tab, ground.ids, malformed=True)).lower()
    assert await ground.contents() == before


@pytest.mark.nightly
async def test_events_of_another_organizations_member_reveal_nothing(world: World, socket: Socket, ground: Ground):
    stranger = await world.person(await world.organization("Elsewhere"), Role.VIEWER)
    before = await ground.contents()
    tab = await socket.tab(stranger.cookie, f"/o/{ground.firm.id}/overview", **ground.params)
    assert MARK.lower() not in (await call_all(socket, tab, ground.ids)).lower()
    assert changed(before, await ground.contents()) <= {NONCE}


@pytest.mark.long
async def test_client_events_reveal_only_the_organization_name(world: World, socket: Socket, ground: Ground):
    person = await world.person(ground.firm.id, Role.CLIENT)
    before = await ground.contents()
    tab = await socket.tab(person.cookie, f"/o/{ground.firm.id}/overview", **ground.params)
    answer = (await call_all(socket, tab, ground.ids)).replace(f"{MARK} Holdings", "")
    assert MARK.lower() not in answer.lower()
    assert person.cookie.partition("=")[2] not in answer
    assert changed(before, await ground.contents()) <= {NONCE}


@pytest.mark.long
async def test_viewer_events_change_nothing(world: World, socket: Socket, ground: Ground):
    person = await world.person(ground.firm.id, Role.VIEWER)
    before = await ground.contents()
    tab = await socket.tab(person.cookie, f"/o/{ground.firm.id}/overview", **ground.params)
    answer = await call_all(socket, tab, ground.ids)
    assert MARK in answer
    assert person.cookie.partition("=")[2] not in answer
    own = {NONCE, "form_drafts", "saved_views"}
    assert changed(before, await ground.contents()) <= own


@pytest.mark.long
async def test_tab_forgets_the_person_who_signed_out(world: World, socket: Socket, ground: Ground):
    viewer = await world.person(ground.firm.id, Role.VIEWER)
    tab = await socket.tab(viewer.cookie, f"/o/{ground.firm.id}/parties", **ground.params)
    assert MARK in await tab.send("reflex___state____state.state___parties___list____parties.load", {})
    assert MARK in await tab.connect(viewer.cookie)
    assert MARK not in await tab.connect("")
    stranger = await world.person(await world.organization("Elsewhere"), Role.VIEWER)
    assert MARK not in await tab.connect(stranger.cookie)


@pytest.mark.parametrize("name", ["setvar", "update_vars_internal", "hydrate_and_load"])
async def test_state_variables_cannot_be_set_from_the_socket(socket: Socket, name: str):
    tab = await socket.tab("", "/sign-in")
    state = "reflex___state____state"
    given = {"var_name": "x", "value": 1} if name == "setvar" else {"vars": {f"{state}.x": 1}}
    within = {"update_vars_internal": ".reflex___state____update_vars_internal_state"}.get(name, "")
    socket.failures.clear()
    await tab.send(f"{state}{within}.{name}", given)
    assert [type(one) for one in socket.failures] == [Malformed]
    socket.failures.clear()


@pytest.mark.parametrize("params", [{"splat": ["nowhere", "at", "all"]}, {"org_id": "../auth/me"}])
async def test_unknown_page_path_is_answered_once(socket: Socket, params: Any):
    tab = Tab(socket, "", "/nowhere/at/all", params)
    await tab.connect("")
    wrong = [str(one) for one in socket.failures]
    socket.failures.clear()
    assert wrong == ([] if "splat" in params else ["reflex___state____state.hydrate_and_load"])


@pytest.mark.parametrize("value", [None, 1, [], {"a": 1}, "../../auth/me", "a?b=c", "", LONG, "a\x00"])
def test_foreign_id_in_the_url_reaches_no_other_path(value: Any):
    assert not leads({"org_id": value})
