"""Orders of controls: a pause waits for no mint, and controls that share state run one after another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from backend.controls import rules, workflow
from backend.controls.schemas import ControlKind
from tests.conftest import World
from tests.controls.issuer import WHY, Issuer, issuer
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT

ASSET = UUID(int=7)
LIMIT = 60.0
"""Seconds after which a test gives up."""


class Gate:
    """Keeps transactions of a label back, after their call was calculated and before it is signed. Workflows have an
    event loop of their own, so the gate is polled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
        self.label, self.has_begun, self.is_open = label, False, False
        self.write = workflow.write
        monkeypatch.setattr(workflow, "write", self.wait)

    async def wait(self, *args: Any, **options: Any) -> Any:
        if options["label"] == self.label:
            self.has_begun = True
            while not self.is_open:  # noqa: ASYNC110 - another event loop sets it
                await asyncio.sleep(0.01)
        return await self.write(*args, **options)

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Wait for the first transaction, and open the gate at the end."""
        try:
            async with asyncio.timeout(LIMIT):
                while not self.has_begun:  # noqa: ASYNC110 - another event loop sets it
                    await asyncio.sleep(0.01)
                yield
        finally:
            self.is_open = True


async def asked(firm: Issuer, name: str, **body: Any) -> str:
    accepted = await firm.post(firm.control(name), {"chain_eid": SEPOLIA, "reason": WHY} | body)
    return str(accepted["requestId"])


async def status_of(firm: Issuer, request_id: str) -> str:
    return str((await firm.get(f"/requests/{request_id}"))["status"])


@pytest.mark.long
async def test_pause_and_freeze_run_while_mints_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await issuer(world)
    treasury, investor = await firm.treasury(), await firm.trader()
    gate = Gate(monkeypatch, "tokens minted")
    mints = [await asked(firm, "mint", to_address=treasury["address"], amount="1") for _ in range(3)]
    async with gate.closed():
        await firm.do("freeze", address=investor["address"])
        await firm.do("pause")
        assert [await status_of(firm, id_) for id_ in mints] == ["running", "accepted", "accepted"]
    for id_ in mints:
        assert (await firm.fail(id_))["problem"]["detail"] == "The token is paused."
    await firm.do("unpause")
    assert (await firm.retry(mints[0]))["status"] == "succeeded"
    assert (await firm.get(f"/assets/{firm.of['id']}"))["total_supply"] == str(1_000 * UNIT + 1)


@pytest.mark.long
async def test_burn_interrupted_by_a_pause_continues_with_a_retry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await issuer(world)
    investor = await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    gate = Gate(monkeypatch, "tokens burned")
    burn = await asked(firm, "burn", address=investor["address"], amount=str(4 * UNIT))
    async with gate.closed():
        await firm.do("pause")
    assert [step["status"] for step in (await firm.fail(burn))["steps"]] == ["succeeded", "failed"]
    await firm.do("unpause")
    assert (await firm.retry(burn))["status"] == "succeeded"
    assert await firm.held(investor["address"]) == 6 * UNIT
    assert (await firm.get(f"/assets/{firm.of['id']}"))["total_supply"] == str(996 * UNIT)


@pytest.mark.long
async def test_burn_from_a_holder_waits_for_a_freeze_of_the_account(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await issuer(world)
    treasury, investor = await firm.treasury(), await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    await firm.do("freeze", address=investor["address"], amount=str(4 * UNIT))
    gate = Gate(monkeypatch, "account frozen")
    freeze = await asked(firm, "freeze", address=investor["address"], amount=str(3 * UNIT))
    async with gate.closed():
        burn = await asked(firm, "burn", address=investor["address"], amount=str(8 * UNIT))
        await firm.do("mint", to_address=treasury["address"], amount="1")
        await firm.do("burn", address=treasury["address"], amount="1")
        assert await status_of(firm, burn) == "accepted"
    for id_ in (freeze, burn):
        await firm.succeed(id_)
    assert await firm.frozen(investor["address"]) == 2 * UNIT, "7 were frozen, and 5 of them are burned"


@pytest.mark.parametrize("kind", ControlKind)
def test_order_of_a_control_is_shared_by_the_kinds_that_write_the_same_state(kind: ControlKind) -> None:
    groups: list[set[str]] = [
        {"pause", "unpause"},
        {"pause_path", "unpause_path"},
        {"limit_path"},
        {"mint", "burn"},
        {"freeze", "unfreeze", "forced_transfer", "recover"},
    ]
    order = rules.order_of(ASSET, kind, [])
    same = {str(other) for other in ControlKind if rules.order_of(ASSET, other, []) == order}
    assert same in groups
    assert order.endswith(str(ASSET))
