"""Plots of the stories: ten kinds, each with amounts that no other story uses, so that its events can be found on the
chain without the product's tables."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.nodes.stories.houses import UNIT, House, Unfinished, bridged

PRICE = 10**6
"""Of a whole token, in base units of the quote."""


@dataclass(frozen=True)
class Expected:
    """Transfers of one amount that the chain must have: `times` of them between two addresses; None is any address."""

    eid: int
    token: str
    amount: int
    from_address: str | None
    to_address: str | None
    times: int = 1


@dataclass
class Outcome:
    """Effects of a story: the requests that succeeded, and the expected state of the chain."""

    kind: str
    requests: list[str] = field(default_factory=list)
    transfers: list[Expected] = field(default_factory=list)
    frozen: list[tuple[int, str, str, int]] = field(default_factory=list)
    """Chain, token, account, and the change of its frozen amount."""
    attested: list[tuple[int, str]] = field(default_factory=list)
    """Chain and subject of new attestations."""
    problem: str | None = None


ZERO_ADDRESS = "0x" + "0" * 40
_numbers = itertools.count(1)


def amount() -> int:
    """An amount that no other story uses, and that bridges can carry: they have six decimals."""
    return next(_numbers) * 10**12


async def _do(house: House, answer: Outcome, path: str, body: Any) -> Any:
    accepted = await house.post(path, body)
    answer.requests.append(accepted["requestId"])
    await house.succeed(accepted["requestId"])
    return accepted


async def issue(house: House, answer: Outcome) -> None:
    """A new asset with its first supply."""
    supply = amount()
    asset = await house.issue(supply)
    (deployment,) = asset["deployments"]
    if asset["status"] != "active" or asset["total_supply"] != str(supply):
        raise Unfinished(f"the asset {asset['id']} is {asset['status']} with {asset['total_supply']} of {supply}")
    treasury = house.treasury["address"]
    answer.transfers.append(
        Expected(deployment["chain_eid"], deployment["token_address"], supply, ZERO_ADDRESS, treasury)
    )


async def mint(house: House, answer: Outcome) -> None:
    """New supply for an investor."""
    eid, number, to = house.network.second.eid, amount(), house.investors[0]["address"]
    answer.transfers.append(Expected(eid, house.token_on(eid), number, ZERO_ADDRESS, to))
    body = {"chain_eid": eid, "to_address": to, "amount": str(number), "reason": "Subscription"}
    await _do(house, answer, f"/assets/{house.asset['id']}/mint", body)


async def burn(house: House, answer: Outcome) -> None:
    """Burn supply of the treasury."""
    eid, number, treasury = house.network.first.eid, amount(), house.treasury["address"]
    answer.transfers.append(Expected(eid, house.token_on(eid), number, treasury, ZERO_ADDRESS))
    body = {"chain_eid": eid, "address": treasury, "amount": str(number), "reason": "Redemption"}
    await _do(house, answer, f"/assets/{house.asset['id']}/burn", body)


async def transfer(house: House, answer: Outcome) -> None:
    """Tokens from the treasury to an investor."""
    eid, number, to = house.network.first.eid, amount(), house.investors[0]["address"]
    answer.transfers.append(Expected(eid, house.token_on(eid), number, house.treasury["address"], to))
    body = {"asset_id": house.asset["id"], "chain_eid": eid, "from_wallet_id": house.treasury["id"]}
    await _do(house, answer, "/transfers", body | {"to_address": to, "amount": str(number)})


async def freeze(house: House, answer: Outcome) -> None:
    """Some of the treasury's tokens are frozen, and a part of them is released."""
    eid, number, holder = house.network.second.eid, amount(), house.treasury["address"]
    part, path = number // 2, f"/assets/{house.asset['id']}"
    body = {"chain_eid": eid, "address": holder, "reason": "Court order"}
    answer.frozen.append((eid, house.token_on(eid), holder, number - part))
    await _do(house, answer, f"{path}/freeze", body | {"amount": str(number)})
    await _do(house, answer, f"{path}/unfreeze", body | {"amount": str(part)})


async def attest(house: House, answer: Outcome) -> None:
    """A new investor, attested on both chains."""
    wallet = await house.post("/wallets", {"label": f"Newcomer {next(_numbers)}"})
    party = await house.party(wallet["address"])
    answer.attested += [(eid, wallet["address"]) for eid in house.network.chains]
    for accepted in await asyncio.gather(*(house.attest(party, eid) for eid in house.network.chains)):
        answer.requests.append(accepted["requestId"])


async def _place(house: House, answer: Outcome, side: str, wallet: Any, number: int) -> Any:
    path = f"/assets/{house.asset['id']}/markets/{house.market['id']}/orders"
    body = {"side": side, "price": str(PRICE), "amount": str(number), "wallet_id": wallet["id"]}
    accepted = await _do(house, answer, path, body)
    return await house.get(f"{path}/{accepted['orderId']}")


async def order(house: House, answer: Outcome) -> None:
    """An order that is cancelled."""
    number, treasury = amount(), house.treasury
    async with house.trading:
        made = await _place(house, answer, "sell", treasury, number)
        path = f"/assets/{house.asset['id']}/markets/{house.market['id']}/orders/{made['id']}"
        accepted = await house.delete(path)
        answer.requests.append(accepted["requestId"])
        await house.succeed(accepted["requestId"])


async def fill(house: House, answer: Outcome) -> None:
    """An order that an investor fills completely."""
    number, buyer = amount(), house.investors[1]
    eid, treasury = house.network.first.eid, house.treasury
    answer.transfers.append(Expected(eid, house.token_on(eid), number, None, buyer["address"]))
    async with house.trading:
        await _place(house, answer, "sell", treasury, number)
        await _place(house, answer, "buy", buyer, number)


async def bridge(house: House, answer: Outcome) -> None:
    """Supply from one chain to the other."""
    first, second, number = house.network.first.eid, house.network.second.eid, amount()
    treasury = house.treasury["address"]
    answer.transfers.append(Expected(first, house.token_on(first), number, treasury, ZERO_ADDRESS))
    answer.transfers.append(Expected(second, house.token_on(second), number, ZERO_ADDRESS, treasury))
    await _do(house, answer, f"/assets/{house.asset['id']}/bridge", bridged(second, number))


async def distribution(house: House, answer: Outcome) -> None:
    """A distribution that is funded and open for claims."""
    eid, number = house.network.first.eid, amount()
    path = f"/assets/{house.asset['id']}/distributions"
    recipients = [{"address": house.investors[0]["address"], "amount": str(number)}]
    made = await house.post(path, {"name": "Dividend", "chain_eid": eid, "recipients": recipients})
    answer.transfers.append(Expected(eid, house.token_on(eid), number, house.treasury["address"], None))
    terms = {"chainEid": eid, "merkleRoot": made["merkle_root"], "totalRecipients": made["total_recipients"]}
    await house.post(f"{path}/{made['id']}/activate", terms)
    request_id = (await house.get(f"{path}/{made['id']}"))["request_id"]
    answer.requests.append(request_id)
    await house.succeed(request_id)


Plot = Callable[[House, Outcome], Awaitable[None]]
PLOTS: tuple[Plot, ...] = (issue, mint, transfer, burn, freeze, attest, order, fill, bridge, distribution)


async def play(plot: Plot, house: House) -> Outcome:
    """Play a story; a problem prevents it from finishing."""
    answer = Outcome(plot.__name__)
    try:
        await plot(house, answer)
    except Unfinished as problem:
        answer.problem = str(problem)
    return answer


__all__ = ["PLOTS", "UNIT", "ZERO_ADDRESS", "Expected", "Outcome", "play"]
