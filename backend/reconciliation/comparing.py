"""A snapshot of the tables against its chain, kind by kind. Each answers its differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from backend.assets.models import DeploymentRow
from backend.attestations import listing
from backend.attestations import rules as attestation_rules
from backend.attestations.models import AttestationRow
from backend.chain import clock, distributor, market, registry, token
from backend.chain.codec import organization_key
from backend.chain.deployment import contract_address
from backend.chain.market import OrderFacts
from backend.chain.rpc import connect
from backend.db import now
from backend.distributions.models import DistributionRow
from backend.markets import halting, rules
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketStatus
from backend.markets.terms import market_rules
from backend.reconciliation.differences import Difference, Subject
from backend.reconciliation.tables import Snapshot
from backend.reconciliation.transactions import transactions

BATCH = 200
"""Reads in one round trip."""
T = TypeVar("T")


async def attesters(tables: Snapshot) -> list[Difference]:
    """Whom the registry lets attest, for whom, and up to which level."""
    found: list[Difference] = []
    at = await contract_address(tables.eid, "registry")
    for row in tables.attesters if at else ():
        told = await registry.attester(tables.eid, str(at), row.address)
        found += Subject(tables.eid, "attester", row.address, row.organization_id).differ(
            active=(True, told.active),
            organization=("0x" + organization_key(row.organization_id).hex(), told.organization_key),
            name=(row.name, told.name),
            max_kyc_level=(row.max_kyc_level, told.max_kyc_level),
            can_revoke_others=(row.can_revoke_others, told.can_revoke_others),
        )
    return found


async def attestations(tables: Snapshot) -> list[Difference]:
    """Whether the registry bears every attestation out."""
    at = await contract_address(tables.eid, "registry")
    found: list[Difference] = []
    for row in tables.attestations if at else ():
        told = await registry.attestation(tables.eid, str(at), str(row.uid))
        found += _attestation(row, told)
    return found


def _attestation(row: AttestationRow, told: registry.Attestation) -> list[Difference]:
    subject = Subject(row.chain_eid, "attestation", str(row.id), row.organization_id)
    has_lapsed = row.expires_at is not None and row.expires_at <= now()
    if attestation_rules.agrees(row.status, listing.is_same(row, told), told.is_valid, has_lapsed):
        return []
    said = (row.wallet_address, row.kyc_level, row.country, row.accredited, attestation_rules.seconds(row.expires_at))
    on_chain = (told.subject, told.level, told.country, told.accredited, told.expires_at)
    return subject.differ(
        status=(row.status.value, _standing(told)), statement=(" ".join(map(str, said)), " ".join(map(str, on_chain)))
    )


def _standing(told: registry.Attestation) -> str:
    if not told.exists:
        return "none"
    return "revoked" if told.revoked_at else "active" if told.is_valid else "not valid"


async def deployments(tables: Snapshot) -> list[Difference]:
    """Each token: that it is there, its rules, and its supply as of the tables' block."""
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
    """What each account has by its transfers, against what the token says, as of the tables' block."""
    owners = {str(row.token_address): row.organization_id for row in tables.deployments}
    rpc, found = await connect(tables.eid), list[Difference]()
    for part in _parts(sorted(tables.balances)):
        reads = [(token.NAME, at, "balanceOf", account) for at, account in part]
        told = await rpc.read_many(reads, block=tables.at)
        for (at, account), amount in zip(part, told, strict=True):
            subject = Subject(tables.eid, "balance", f"{account} of {at}", owners[at])
            found += subject.differ(balance=(tables.balances[at, account], amount))
    return found


async def markets(tables: Snapshot) -> list[Difference]:
    """Each market: what it trades, its fees, its rules, and whether it is halted."""
    found: list[Difference] = []
    rpc = await connect(tables.eid)
    for row in tables.markets:
        subject = Subject(tables.eid, "market", str(row.market_address), row.organization_id)
        if not await rpc.has_code(str(row.market_address)):
            found += subject.differ(contract=("deployed", "none"))
            continue
        told = await market.info(tables.eid, str(row.market_address))
        found += subject.differ(
            token=(row.rwa_token_address, told.token),
            quote=(row.quote_token_address, told.quote),
            taker_fee_bps=(row.taker_fee_bps, told.taker_fee_bps),
            maker_fee_bps=(row.maker_fee_bps, told.maker_fee_bps),
            rules=(market_rules(row).as_dict(), told.rules.as_dict()),
            **await _halts(tables, row),
        )
    return found


async def _halts(tables: Snapshot, row: MarketRow) -> dict[str, tuple[bool, bool]]:
    """Whether the market is halted by its owner, may settle, and should be shown as halted: by what its chain says now,
    and by what follows from the tables."""
    halted, paused, settles = await halting.on_chain(row)
    known = tables.halting[row.id]
    facts = replace(known, is_halted=halted, paused=paused, settles=settles)
    return {
        "halted by owner": (known.is_halted, halted),
        "settles": (known.settles, settles),
        "halted": (row.status is MarketStatus.HALTED, rules.halting(facts, clock.moment()) is not None),
    }


async def orders(tables: Snapshot) -> list[Difference]:
    """Each order, and that none is missing, as of the tables' block."""
    found: list[Difference] = []
    rpc = await connect(tables.eid)
    for row in tables.markets:
        at = str(row.market_address)
        if await rpc.has_code(at):
            count = int(await rpc.read(market.NAME, at, "orderCount", block=tables.at))
            found += await _orders(tables, row, count)
    return found


async def _orders(tables: Snapshot, row: MarketRow, count: int) -> list[Difference]:
    known = {order.chain_order_id: order for order in tables.orders if order.market_id == row.id}
    found = Subject(tables.eid, "market", str(row.market_address), row.organization_id).differ(
        orders=(len(known), count)
    )
    for part in _parts(sorted(known)):
        for facts in await market.orders(tables.eid, str(row.market_address), part, tables.at):
            found += _order(tables.eid, row, known[facts.order_id], facts)
    return found


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
    """Each distributor that is activated: its tree, and what was claimed."""
    found: list[Difference] = []
    for row in tables.distributions:
        told = await distributor.info(tables.eid, str(row.distributor_address))
        if told.root is not None:
            found += _distribution(tables.eid, row, told)
    return found


def _distribution(eid: int, row: DistributionRow, told: distributor.DistributorInfo) -> list[Difference]:
    return Subject(eid, "distribution", str(row.distributor_address), row.organization_id).differ(
        merkle_root=(row.merkle_root, told.root), claimed=(row.claimed_amount, told.claimed_amount)
    )


def _parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(rows), BATCH):
        yield rows[first : first + BATCH]


KINDS = (attesters, attestations, deployments, balances, markets, orders, distributions, transactions)
"""Each is named as the rows of the snapshot that it looks at."""
