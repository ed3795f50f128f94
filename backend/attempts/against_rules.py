"""Attempts against the rules: calls that are sent straight to the contracts, without Signum's own checks.

Each is decided twice, by the rules in Python on the chain's facts, and by the contract. Neither verdict is adjusted to
the other.
"""

import asyncio
import re
from collections.abc import Sequence

from backend.assets import transfer_check
from backend.attempts import strangers
from backend.attempts.scene import Held, Scene
from backend.attempts.schemas import AttemptCall
from backend.attempts.strangers import Sent
from backend.chain.abi.calls import call
from backend.chain.bindings import market as market_contract
from backend.chain.bindings import quote_token, token
from backend.chain.deployment import contracts as deployment
from backend.chain.devnet import clock
from backend.chain.errors import Reverted
from backend.compliance.countries import country_name
from backend.compliance.rules import failures
from backend.compliance.schemas import RuleVerdict, TransferCheck
from backend.core.errors import Conflict
from backend.core.units import grouped, shortened
from backend.markets import orders
from backend.markets.models import MarketRow
from backend.markets.schemas import OrderSide

DOLLARS = 1_000 * 10**6
"""Base units of the test dollar."""
VALID = 6
"""Seconds for which the attestation that expires is valid."""
FREE_COUNTRY = "NOR"


async def blocked_country(scene: Scene) -> None:
    """Buy from a country that the rules block."""
    held, market = await scene.market()
    country = next(iter(held.rules.blocked_countries), None)
    if country is None:
        raise Conflict(f"{held.asset.symbol} blocks no country. Add one to its rules first.")
    buyer = await strangers.arrive(held.place.eid)
    await scene.attest(held, buyer, country=country)
    scene.record.say(f"A buyer from {country_name(country)}, verified and accredited, has {_dollars(market)}.")
    await _with_dollars(scene, held, market, buyer)
    await _orders(scene, held, market, buyer, OrderSide.BUY, held.unit)
    await _unchanged(scene, held, "The buyer's tokens", buyer, 0)


async def locked_up(scene: Scene) -> None:
    """Sell before the lock-up ends."""
    held = await scene.asset(
        lambda rules: rules.lockup_end_time > clock.moment(),
        "No asset on an embedded chain has a lock-up that has not ended. Set one first.",
    )
    holder, amount = await strangers.arrive(held.place.eid), 10 * held.unit
    await scene.attest(held, holder, country=_country(held))
    await scene.give(held, holder, amount)
    scene.record.say(f"A holder has {held.words(amount)}, locked up.")
    await _transfers(scene, held, holder, held.treasury, amount, "the treasury")
    await _unchanged(scene, held, "The holder's tokens", holder, amount)


async def second_wallet(scene: Scene) -> None:
    """Hold more than one holder may: first directly, then through a second wallet, which is not attested."""
    held, market = await scene.market()
    most = held.rules.max_tokens_per_holder
    if not most:
        raise Conflict(f"{held.asset.symbol} has no maximum per holder. Set one first.")
    holder, second = await strangers.arrive(held.place.eid), await strangers.arrive(held.place.eid)
    await scene.attest(held, holder, country=_country(held))
    await scene.give(held, holder, held.unit)
    limit = market.max_tokens_per_holder
    market_words = f", this market {held.words(int(limit))}" if limit else ""
    scene.record.say(
        f"The token allows one holder {held.words(most)}{market_words}. A holder with 1 orders {held.words(most)}."
    )
    await _with_dollars(scene, held, market, holder)
    await _orders(scene, held, market, holder, OrderSide.BUY, most)
    scene.record.say("To make room, the holder sends tokens to a second wallet of their own. It is not attested.")
    await _transfers(scene, held, holder, second, held.unit, f"the second wallet {shortened(second)}")
    await _unchanged(scene, held, "The holder's tokens", holder, held.unit)
    await _unchanged(scene, held, "The second wallet's tokens", second, 0)


async def expired_attestation(scene: Scene) -> None:
    """Sell with an attestation that has expired."""
    held, market = await scene.market()
    holder, amount = await strangers.arrive(held.place.eid), 10 * held.unit
    ends = clock.moment() + VALID
    await scene.attest(held, holder, country=_country(held), ends=ends)
    await scene.give(held, holder, amount)
    scene.record.say(f"A holder has {held.words(amount)}, and an attestation that is valid for {VALID} seconds.")
    await asyncio.sleep(max(0, ends - clock.moment()) + 1)
    scene.record.say("The attestation has expired.")
    await strangers.send(held.place.eid, holder, token.approve(held.place.token, str(market.market_address), amount))
    await _orders(scene, held, market, holder, OrderSide.SELL, amount)
    await _unchanged(scene, held, "The holder's tokens", holder, amount)


async def buyers_cash(scene: Scene) -> None:
    """Take a buyer's cash with the issuer's own key."""
    held, market = await scene.market()
    buyer, eid, currency = await strangers.arrive(held.place.eid), held.place.eid, str(market.quote_token_address)
    await _with_dollars(scene, held, market, buyer)
    owner = await token.owner(eid, held.place.token)
    allowed = await quote_token.allowance(eid, currency, buyer, owner)
    scene.record.say(f"A buyer has {_dollars(market)}. The issuer's key owns the token.")
    sent = await strangers.send(eid, owner, call(quote_token.NAME, currency, "transferFrom", buyer, owner, DOLLARS))
    cash = _dollars(market)
    why = [] if allowed >= DOLLARS else ["The buyer has not allowed the issuer to take anything."]
    refused = sent.refused
    scene.record.called(
        AttemptCall(
            tried=f"The issuer's key takes {cash} from the buyer",
            chain=held.chain,
            symbol=str(market.quote_symbol),
            decimals=market.quote_decimals or 0,
            rules=why,
            contract=refused and re.sub(owner, "The issuer's key", refused.detail, flags=re.IGNORECASE),
            contract_error=refused and _error(refused),
            agrees=bool(why) == (refused is not None),
            tx_hash=sent.tx_hash,
            block_number=sent.block_number,
        )
    )
    left = await quote_token.balance_of(eid, currency, buyer)
    after = f"{grouped(str(left), market.quote_decimals or 0)} {market.quote_symbol}"
    scene.record.fact("The buyer's cash", cash, after, holds=left == DOLLARS)


def _dollars(market: MarketRow) -> str:
    """Return the cash of an account, in the market's quote currency."""
    return f"{grouped(str(DOLLARS), market.quote_decimals or 0)} {market.quote_symbol}"


def _country(held: Held) -> str:
    return next(c for c in (FREE_COUNTRY, "CHE", "SGP", "BRA") if c not in held.rules.blocked_countries)


async def _with_dollars(scene: Scene, held: Held, market: MarketRow, account: str) -> None:
    """Give test dollars to an account, which allows the market to take them."""
    eid, currency = held.place.eid, str(market.quote_token_address)
    mint = quote_token.mint(currency, account, DOLLARS)
    await scene.execute(f"dollars {account}", eid, await deployment.operator(), mint)
    approval = quote_token.approve(currency, str(market.market_address), DOLLARS)
    await strangers.send(eid, account, approval)


async def _orders(scene: Scene, held: Held, market: MarketRow, who: str, side: OrderSide, amount: int) -> None:
    """Place an order at the last price, straight at the market's contract."""
    eid, at = held.place.eid, str(market.market_address)
    async with scene.acting() as context:
        verdicts, codes = await orders.verdicts_of(context, market, who, side, amount)
    price = market.last_price or 10 ** (market.quote_decimals or 0)
    sent = await strangers.send(eid, who, market_contract.place(at, side=side, price=price, amount=amount))
    cost = f"{grouped(str(price), market.quote_decimals or 0)} {market.quote_symbol}"
    _note(scene, held, f"{side.title()} {held.words(amount)} at {cost}, in the market", verdicts, codes, sent)


async def _transfers(scene: Scene, held: Held, sender: str, receiver: str, amount: int, whom: str) -> None:
    """Transfer tokens, straight at the token's contract."""
    there = held.place
    asked = TransferCheck(chain_eid=there.eid, from_address=sender, to_address=receiver, amount=str(amount))
    verdicts, codes = await transfer_check.verdicts_of(there, asked)
    sent = await strangers.send(there.eid, sender, token.transfer(there.token, receiver, amount))
    _note(scene, held, f"Transfer {held.words(amount)} to {whom}", verdicts, codes, sent)


def _note(
    scene: Scene, held: Held, tried: str, verdicts: Sequence[RuleVerdict], codes: Sequence[int], sent: Sent
) -> None:
    """Note both verdicts. They agree if their reasons are the same, and the call was reverted for one of them."""
    failed, refused = failures(verdicts), sent.refused
    same = [verdict.code for verdict in failed] == list(codes)
    reverted_so = refused is None if not codes else refused is not None and refused.code in codes
    scene.record.called(
        AttemptCall(
            tried=tried,
            chain=held.chain,
            symbol=held.asset.symbol,
            decimals=held.asset.decimals,
            rules=[verdict.reason for verdict in failed],
            contract=refused and refused.detail,
            contract_error=refused and _error(refused),
            agrees=same and reverted_so,
            tx_hash=sent.tx_hash,
            block_number=sent.block_number,
        )
    )


def _error(refused: Reverted) -> str:
    return refused.name if refused.code is None else f"{refused.name}({refused.code})"


async def _unchanged(scene: Scene, held: Held, name: str, account: str, before: int) -> None:
    after = await token.balance_of(held.place.eid, held.place.token, account)
    scene.record.fact(name, held.words(before), held.words(after), holds=before == after)
