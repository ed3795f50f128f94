"""Comparison of a snapshot of the tables with its chain, kind by kind. Each returns its differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from backend.assets.models import DeploymentRow
from backend.attestations import listing
from backend.attestations import rules as attestation_rules
from backend.attestations.models import AttestationRow
from backend.chain.abi.codec import organization_key
from backend.chain.bindings import distributor, market, registry, token
from backend.chain.bindings.market import OrderFacts
from backend.chain.deployment.contracts import contract_address
from backend.chain.devnet import clock
from backend.chain.rpc.json_rpc import connect
from backend.core.db import now
from backend.distributions.models import DistributionRow
from backend.markets import halts, rules
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketStatus
from backend.markets.terms import market_rules
from backend.reconciliation.differences import Difference, Subject
from backend.reconciliation.tables import Snapshot
from backend.reconciliation.transactions import transactions

BATCH = 200
"""Reads per round trip."""
T = TypeVar("T")


async def attesters(tables: Snapshot) -> list[Difference]:
    """Compare who may attest in the registry, for whom, and up to which level."""
    found: list[Difference] = []
    at = await contract_address(tables.eid, "registry")
    for row in tables.attesters if at else ():
        answer = await registry.attester(tables.eid, str(at), row.address)
        found += Subject(tables.eid, "attester", row.address, row.organization_id).differ(
            active=(True, answer.active),
            organization=("0x" + organization_key(row.organization_id).hex(), answer.organization_key),
            name=(row.name, answer.name),
            max_kyc_level=(row.max_kyc_level, answer.max_kyc_level),
            can_revoke_others=(row.can_revoke_others, answer.can_revoke_others),
        )
    return found


async def attestations(tables: Snapshot) -> list[Difference]:
    """Compare every attestation with the registry."""
    at = await contract_address(tables.eid, "registry")
    found: list[Difference] = []
    for row in tables.attestations if at else ():
        answer = await registry.attestation(tables.eid, str(at), str(row.uid))
        found += _attestation(row, answer)
    return found


def _attestation(row: AttestationRow, answer: registry.Attestation) -> list[Difference]:
    subject = Subject(row.chain_eid, "attestation", str(row.id), row.organization_id)
    has_lapsed = row.expires_at is not None and row.expires_at <= now()
    if attestation_rules.agrees(row.status, listing.is_same(row, answer), answer.is_valid, has_lapsed):
        return []
    said = (row.wallet_address, row.kyc_level, row.country, row.accredited, attestation_rules.seconds(row.expires_at))
    on_chain = (answer.subject, answer.level, answer.country, answer.accredited, answer.expires_at)
    return subject.differ(
        status=(row.status.value, _standing(answer)), statement=(" ".join(map(str, said)), " ".join(map(str, on_chain)))
    )


def _standing(answer: registry.Attestation) -> str:
    if not answer.exists:
        return "none"
    return "revoked" if answer.revoked_at else "active" if answer.is_valid else "not valid"


async def deployments(tables: Snapshot) -> list[Difference]:
    """Compare each token: its existence, its rules, and its supply as of the tables' block."""
    found: list[Difference] = []
    rpc = await connect(tables.eid)
    for row in tables.deployments:
        subject = Subject(tables.eid, "token", str(row.token_address), row.organization_id)
        if not await rpc.has_code(str(row.token_address)):
            found += subject.differ(contract=("deployed", "none"))
            continue
        found += await _token(tables, row, subject)
    return found


async def _token(tables: Snapshot, row: DeploymentRow, subject: Subject) -> list[Difference]:
    at = str(row.token_address)
    rules = (await token.rules(tables.eid, at)).as_dict()
    moved = sum(amount for (address, _), amount in tables.balances.items() if address == at)
    applied = {name: row.applied_rules.get(name) for name in rules}
    named = {f"rule {name}": (applied[name], rules[name]) for name in rules}
    supply = await token.total_supply(tables.eid, at, tables.at)
    paused = bool(await (await connect(tables.eid)).read(token.NAME, at, "paused", block=tables.at))
    facts = {"supply": (moved, supply), "recorded supply": (row.supply, supply), "paused": (row.paused, paused)}
    return subject.differ(**facts, **named)


async def balances(tables: Snapshot) -> list[Difference]:
    """Compare each account's balance by its transfers with the token's, as of the tables' block."""
    owners = {str(row.token_address): row.organization_id for row in tables.deployments}
    rpc, found = await connect(tables.eid), list[Difference]()
    for part in _parts(sorted(tables.balances)):
        reads = [(token.NAME, at, "balanceOf", account) for at, account in part]
        answer = await rpc.read_many(reads, block=tables.at)
        for (at, account), amount in zip(part, answer, strict=True):
            subject = Subject(tables.eid, "balance", f"{account} of {at}", owners[at])
            found += subject.differ(balance=(tables.balances[at, account], amount))
    return found


async def markets(tables: Snapshot) -> list[Difference]:
    """Compare each market: what it trades, its fees, its rules, and whether it is halted."""
    found: list[Difference] = []
    rpc = await connect(tables.eid)
    for row in tables.markets:
        subject = Subject(tables.eid, "market", str(row.market_address), row.organization_id)
        if not await rpc.has_code(str(row.market_address)):
            found += subject.differ(contract=("deployed", "none"))
            continue
        answer = await market.info(tables.eid, str(row.market_address))
        found += subject.differ(
            token=(row.rwa_token_address, answer.token),
            quote=(row.quote_token_address, answer.quote),
            taker_fee_bps=(row.taker_fee_bps, answer.taker_fee_bps),
            maker_fee_bps=(row.maker_fee_bps, answer.maker_fee_bps),
            rules=(market_rules(row).as_dict(), answer.rules.as_dict()),
            **await _halts(tables, row),
        )
    return found


async def _halts(tables: Snapshot, row: MarketRow) -> dict[str, tuple[bool, bool]]:
    """Return whether the market is halted by its owner, may settle, and should be shown as halted: from the chain now,
    and from the tables."""
    halted, paused, settles = await halts.on_chain(row)
    known = tables.halting[row.id]
    facts = replace(known, is_halted=halted, paused=paused, settles=settles)
    return {
        "halted by owner": (known.is_halted, halted),
        "settles": (known.settles, settles),
        "halted": (row.status is MarketStatus.HALTED, rules.halting(facts, clock.moment()) is not None),
    }


async def orders(tables: Snapshot) -> list[Difference]:
    """Compare each order and the volume as of the tables' block, and check that no order is missing."""
    found: list[Difference] = []
    rpc = await connect(tables.eid)
    for row in tables.markets:
        at = str(row.market_address)
        if await rpc.has_code(at):
            count = int(await rpc.read(market.NAME, at, "orderCount", block=tables.at))
            found += await _orders(tables, row, count)
    return found


async def _orders(tables: Snapshot, row: MarketRow, count: int) -> list[Difference]:
    known = {order.chain_order_id or 0: order for order in tables.orders if order.market_id == row.id}
    subject, traded = Subject(tables.eid, "market", str(row.market_address), row.organization_id), 0
    found = subject.differ(orders=(len(known), count))
    for part in _parts(sorted(known)):
        for facts in await market.orders(tables.eid, str(row.market_address), part, tables.at):
            found += _order(tables.eid, row, known[facts.order_id], facts)
            traded += facts.filled
    # Each trade fills two orders.
    return found + subject.differ(volume=(row.volume, traded // 2))


def _order(eid: int, row: MarketRow, order: Any, facts: OrderFacts) -> list[Difference]:
    subject = Subject(eid, "order", f"{facts.order_id} of {row.market_address}", row.organization_id)
    return subject.differ(
        side=(order.side.value, facts.side),
        status=(order.status.value, facts.status),
        price=(order.price, facts.price),
        amount=(order.amount, facts.amount),
        filled=(order.filled, facts.filled),
        maker=(order.maker_address, facts.maker),
    )


async def distributions(tables: Snapshot) -> list[Difference]:
    """Compare each activated distributor: its tree, the claimed amount, what it pays out, and whether it holds enough
    of that for the claims that are left."""
    found: list[Difference] = []
    tokens = {row.asset_id: str(row.token_address) for row in tables.deployments}
    for row in tables.distributions:
        at, currency = str(row.distributor_address), row.currency_address or tokens.get(row.asset_id)
        if currency is None:
            answer = await distributor.info(tables.eid, at)
            found += _distribution(tables.eid, row, answer) if answer.root is not None else []
            continue
        answer, balance = await distributor.info_and_balance(tables.eid, at, currency)
        if answer.root is not None:
            found += _distribution(
                tables.eid, row, answer, currency=(currency, answer.token), **_funds(row, answer, balance)
            )
    return found


def _funds(row: DistributionRow, answer: distributor.DistributorInfo, balance: int) -> dict[str, tuple[int, int]]:
    """Return what an open distributor still has to pay, and how much of it is there; it may hold more."""
    owed = 0 if answer.is_closed else max((row.total_amount or 0) - answer.claimed_amount, 0)
    return {"unclaimed": (owed, min(owed, balance))}


def _distribution(
    eid: int, row: DistributionRow, answer: distributor.DistributorInfo, **more: tuple[object, object]
) -> list[Difference]:
    return Subject(eid, "distribution", str(row.distributor_address), row.organization_id).differ(
        merkle_root=(row.merkle_root, answer.root), claimed=(row.claimed_amount, answer.claimed_amount), **more
    )


def _parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(rows), BATCH):
        yield rows[first : first + BATCH]


KINDS = (attesters, attestations, deployments, balances, markets, orders, distributions, transactions)
"""Each has the name of the snapshot rows that it reads."""
