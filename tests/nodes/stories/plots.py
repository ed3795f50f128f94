"""What happens in the stories: ten kinds, each told with amounts that no other story uses, so that its events can be
found on the chain without the product's tables."""

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
class Told:
    """What a story did: the requests that succeeded, and what must be on chain for it."""

    kind: str
    requests: list[str] = field(default_factory=list)
    transfers: list[Expected] = field(default_factory=list)
    frozen: list[tuple[int, str, str, int]] = field(default_factory=list)
    """Chain, token, account, and by how much its frozen amount has changed."""
    attested: list[tuple[int, str]] = field(default_factory=list)
    """Chain and subject of new attestations."""
    problem: str | None = None


NOBODY = "0x" + "0" * 40
_numbers = itertools.count(1)


def amount() -> int:
    """An amount that no other story uses, and that bridges can carry: they have six decimals."""
    return next(_numbers) * 10**12


async def _do(house: House, told: Told, path: str, body: Any) -> Any:
    accepted = await house.post(path, body)
    told.requests.append(accepted["requestId"])
    await house.succeed(accepted["requestId"])
    return accepted


async def issue(house: House, told: Told) -> None:
    """A new asset with its first supply."""
    supply = amount()
    asset = await house.issue(supply)
    (deployment,) = asset["deployments"]
    if asset["status"] != "active" or asset["total_supply"] != str(supply):
        raise Unfinished(f"the asset {asset['id']} is {asset['status']} with {asset['total_supply']} of {supply}")
    treasury = house.treasury["address"]
    told.transfers.append(Expected(deployment["chain_eid"], deployment["token_address"], supply, NOBODY, treasury))


async def mint(house: House, told: Told) -> None:
    """New supply for an investor."""
    eid, number, to = house.network.second.eid, amount(), house.investors[0]["address"]
    told.transfers.append(Expected(eid, house.token_on(eid), number, NOBODY, to))
    body = {"chain_eid": eid, "to_address": to, "amount": str(number), "reason": "Subscription"}
    await _do(house, told, f"/assets/{house.asset['id']}/mint", body)


async def burn(house: House, told: Told) -> None:
    """Less supply of the treasury."""
    eid, number, treasury = house.network.first.eid, amount(), house.treasury["address"]
    told.transfers.append(Expected(eid, house.token_on(eid), number, treasury, NOBODY))
    body = {"chain_eid": eid, "address": treasury, "amount": str(number), "reason": "Redemption"}
    await _do(house, told, f"/assets/{house.asset['id']}/burn", body)


async def transfer(house: House, told: Told) -> None:
    """Tokens from the treasury to an investor."""
    eid, number, to = house.network.first.eid, amount(), house.investors[0]["address"]
    told.transfers.append(Expected(eid, house.token_on(eid), number, house.treasury["address"], to))
    body = {"asset_id": house.asset["id"], "chain_eid": eid, "from_wallet_id": house.treasury["id"]}
    await _do(house, told, "/transfers", body | {"to_address": to, "amount": str(number)})


async def freeze(house: House, told: Told) -> None:
    """Some of the treasury's tokens are frozen, and a part of them is released."""
    eid, number, holder = house.network.second.eid, amount(), house.treasury["address"]
    part, path = number // 2, f"/assets/{house.asset['id']}"
    body = {"chain_eid": eid, "address": holder, "reason": "Court order"}
    told.frozen.append((eid, house.token_on(eid), holder, number - part))
    await _do(house, told, f"{path}/freeze", body | {"amount": str(number)})
    await _do(house, told, f"{path}/unfreeze", body | {"amount": str(part)})


async def attest(house: House, told: Told) -> None:
    """A new investor, attested on both chains."""
    wallet = await house.post("/wallets", {"label": f"Newcomer {next(_numbers)}"})
    party = await house.party(wallet["address"])
    told.attested += [(eid, wallet["address"]) for eid in house.network.chains]
    for accepted in await asyncio.gather(*(house.attest(party, eid) for eid in house.network.chains)):
        told.requests.append(accepted["requestId"])


async def _place(house: House, told: Told, side: str, wallet: Any, number: int) -> Any:
    path = f"/assets/{house.asset['id']}/markets/{house.market['id']}/orders"
    body = {"side": side, "price": str(PRICE), "amount": str(number), "wallet_id": wallet["id"]}
    await _do(house, told, path, body)
    orders = (await house.get(f"{path}?limit=200"))["orders"]
    found = [order for order in orders if order["amount"] == str(number) and order["side"] == side]
    if len(found) != 1:
        raise Unfinished(f"there are {len(found)} orders to {side} {number}")
    return found[0]


async def order(house: House, told: Told) -> None:
    """An offer that is taken back."""
    number, treasury = amount(), house.treasury
    async with house.trading:
        made = await _place(house, told, "sell", treasury, number)
        path = f"/assets/{house.asset['id']}/markets/{house.market['id']}/orders/{made['id']}"
        accepted = await house.delete(path)
        told.requests.append(accepted["requestId"])
        await house.succeed(accepted["requestId"])


async def fill(house: House, told: Told) -> None:
    """An offer that an investor takes, all of it."""
    number, buyer = amount(), house.investors[1]
    eid, treasury = house.network.first.eid, house.treasury
    told.transfers.append(Expected(eid, house.token_on(eid), number, None, buyer["address"]))
    async with house.trading:
        await _place(house, told, "sell", treasury, number)
        await _place(house, told, "buy", buyer, number)


async def bridge(house: House, told: Told) -> None:
    """Supply from one chain to the other."""
    first, second, number = house.network.first.eid, house.network.second.eid, amount()
    treasury = house.treasury["address"]
    told.transfers.append(Expected(first, house.token_on(first), number, treasury, NOBODY))
    told.transfers.append(Expected(second, house.token_on(second), number, NOBODY, treasury))
    await _do(house, told, f"/assets/{house.asset['id']}/bridge", bridged(second, number))


async def distribution(house: House, told: Told) -> None:
    """A distribution that is funded and open for claims."""
    eid, number = house.network.first.eid, amount()
    path = f"/assets/{house.asset['id']}/distributions"
    recipients = [{"address": house.investors[0]["address"], "amount": str(number)}]
    made = await house.post(path, {"name": "Dividend", "chain_eid": eid, "recipients": recipients})
    told.transfers.append(Expected(eid, house.token_on(eid), number, house.treasury["address"], None))
    terms = {"chainEid": eid, "merkleRoot": made["merkle_root"], "totalRecipients": made["total_recipients"]}
    await house.post(f"{path}/{made['id']}/activate", terms)
    request_id = (await house.get(f"{path}/{made['id']}"))["request_id"]
    told.requests.append(request_id)
    await house.succeed(request_id)


Plot = Callable[[House, Told], Awaitable[None]]
PLOTS: tuple[Plot, ...] = (issue, mint, transfer, burn, freeze, attest, order, fill, bridge, distribution)


async def tell(plot: Plot, house: House) -> Told:
    """Play a story; a problem is what kept it from its end."""
    told = Told(plot.__name__)
    try:
        await plot(house, told)
    except Unfinished as problem:
        told.problem = str(problem)
    return told


__all__ = ["NOBODY", "PLOTS", "UNIT", "Expected", "Told", "tell"]
