"""A check while blocks are made: everything that it compares comes from one of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend.chain.bindings import token
from backend.chain.rpc import json_rpc, transport
from backend.chain.rpc.nodes import Node
from backend.chain.rpc.terms import terms_of
from backend.chain.rpc.transport import Answer, Request
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path


class BusyChain:
    """A chain on which someone receives tokens after each read, also between two reads of one batch."""

    def __init__(self, firm: Issuance, at: str, receiver: str) -> None:
        self._firm, self._call, self._post = firm, token.transfer(at, receiver, 1), transport.post
        self._is_busy = False
        self.received = 0

    async def post(self, node: Node, requests: Sequence[Request], **options: Any) -> list[Answer]:
        """Answer the reads of a batch one by one."""
        if self._is_busy or {method for method, _ in requests} != {"eth_call"}:
            return await self._post(node, requests, **options)
        answers: list[Answer] = []
        for request in requests:
            answers += await self._post(node, [request], **options)
            await self._receive()
        return answers

    async def _receive(self) -> None:
        self._is_busy = True
        await self._firm.owner_call(self._call)
        self._is_busy = False
        self.received += 1


async def test_transfers_to_the_receiver_do_not_refuse_another_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    body = {"chain_eid": SEPOLIA, "from_address": treasury["address"], "to_address": trader["address"]}
    chain = BusyChain(firm, asset["deployments"][0]["token_address"], trader["address"])
    monkeypatch.setattr(transport, "post", chain.post)
    verdict = await firm.post(f"/assets/{asset['id']}/transfer-check", body | {"amount": str(UNIT)})
    assert chain.received > 1
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True), verdict


async def test_order_is_judged_by_what_one_block_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The account would sell a little more than it held when the check began: more arrives while it is read."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset, trader = await firm.asset(), await firm.trader()
    market = await firm.market(asset)
    await firm.transfer(asset, trader["address"], UNIT)
    chain = BusyChain(firm, asset["deployments"][0]["token_address"], trader["address"])
    monkeypatch.setattr(transport, "post", chain.post)
    body = {"address": trader["address"], "side": "sell", "amount": str(UNIT + 10)}
    verdict = await firm.post(f"{orders_path(market).removesuffix('/orders')}/order-check", body)
    assert chain.received > 1
    assert verdict["chain_agrees"], verdict


class Careless(BusyChain):
    """The same, whose node at first answers from its newest state, regardless of the block that was asked."""

    wrong = 13

    async def post(self, node: Node, requests: Sequence[Request], **options: Any) -> list[Answer]:
        """Answer the first reads from the newest state."""
        if self.received < self.wrong:
            requests = [(name, [args[0], "latest"] if name == "eth_call" else args) for name, args in requests]
        return await super().post(node, requests, **options)


@pytest.mark.parametrize("kind", ["transfer", "order"])
async def test_answers_of_two_states_are_not_compared(world: World, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    market = await firm.market(asset)
    await firm.transfer(asset, trader["address"], UNIT)
    chain = Careless(firm, asset["deployments"][0]["token_address"], trader["address"])
    path = f"/assets/{asset['id']}/transfer-check"
    body = {"chain_eid": SEPOLIA, "from_address": treasury["address"], "to_address": trader["address"]}
    if kind == "order":
        path = f"{orders_path(market).removesuffix('/orders')}/order-check"
        body = {"address": trader["address"], "side": "sell"}
    amount = str(UNIT + 7)  # the seventh arrives between what the market's contract reads and the balance
    monkeypatch.setattr(transport, "post", chain.post)
    verdict = await firm.post(path, body | {"amount": amount})
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True), verdict


class Moving:
    """A chain whose nodes keep only the newest state, with a new block after each batch, a number of times."""

    def __init__(self, times: int) -> None:
        self._left, self._post = times, transport.post

    async def post(self, node: Node, requests: Sequence[Request], **options: Any) -> list[Answer]:
        """Answer a batch, then mine a block."""
        answers = await self._post(node, requests, **options)
        if self._left and "eth_call" in {method for method, _ in requests}:
            self._left -= 1
            await self._post(node, [("evm_mine", [])])
        return answers


async def test_check_is_repeated_where_nodes_keep_only_the_newest_block(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    body = {"chain_eid": SEPOLIA, "from_address": treasury["address"], "to_address": trader["address"]}
    path = f"/assets/{asset['id']}/transfer-check"
    newest_only = replace(terms_of(SEPOLIA), history=0)
    monkeypatch.setattr(json_rpc, "terms_of", lambda _: newest_only)
    with monkeypatch.context() as busy:
        busy.setattr(transport, "post", Moving(3).post)
        verdict = await firm.post(path, body | {"amount": "1"})
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True), verdict
    monkeypatch.setattr(transport, "post", Moving(1_000).post)
    problem = await firm.refused("POST", path, 503, json=body | {"amount": "1"})
    assert problem.detail == f"The chain {SEPOLIA} has a new block at each read. Retry in a few seconds."
