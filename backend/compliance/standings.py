"""The standings of many accounts: what valid attestations say about them, read from the chains.

Own attestations are not all that counts: a distributor is attested without a row, and a token may trust other issuers.
The chains therefore decide. The tables are read instead of a chain that does not answer in time, or if more accounts
are concerned than a dry run may query.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog

from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry
from backend.chain.bindings.registry import Question
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.compliance.rules import Account, Standing
from backend.core import db
from backend.core.errors import SignumError

log = structlog.get_logger()
PATIENCE = 4.0
"""Seconds that a chain has to answer."""
MOST = 1_000
"""Accounts of one chain that are read from it."""
_ATTESTED = sa.text("""
    select wallet_address, kyc_level, accredited, country from attestations
    where organization_id = :org and chain_eid = :eid and status = 'active'
      and (expires_at is null or expires_at > :now)
      and (cast(:addresses as text[]) is null or wallet_address = any(:addresses))
""")


@dataclass(frozen=True)
class Wanted:
    """Accounts of a chain, and the rules that they are judged by."""

    addresses: Iterable[str]
    rules: Sequence[TokenRules]


@dataclass(frozen=True)
class Standings:
    """Standings by chain and question. `blocks`: the block at which each chain was read; None if the tables were."""

    blocks: Mapping[int, int | None]
    known: Mapping[tuple[int, Question], Standing]

    def account(self, eid: int, address: str, rules: TokenRules, **facts: Any) -> Account:
        """Return an account with the standings that count under these rules."""
        every, own = _questions(address, rules)
        nothing = Standing()
        return Account(address, self.known.get((eid, every), nothing), self.known.get((eid, own), nothing), **facts)


def _questions(address: str, rules: TokenRules) -> tuple[Question, Question]:
    return Question(address, trusted=tuple(rules.trusted_issuers)), Question(address, org_only=True)


def together(rows: Sequence[Any]) -> Standing:
    """Combine several attestations into one standing, as the registry does."""
    accredited = [r.kyc_level for r in rows if r.accredited]
    return Standing(
        found=bool(rows),
        level=max((r.kyc_level for r in rows), default=0),
        accredited=bool(accredited),
        accredited_level=max(accredited, default=0),
        countries=tuple(r.country for r in rows),
    )


async def read(context: Context, wanted: Mapping[int, Wanted]) -> Standings:
    """Return the standings of the accounts on each chain. Each chain is read at one block, all at the same time."""
    asked = {eid: _asked(one) for eid, one in wanted.items()}
    small = {eid: questions for eid, questions in asked.items() if len({q.subject for q in questions}) <= MOST}
    async with db.paused(context.session):
        answers = await asyncio.gather(*(_soon(context, eid, questions) for eid, questions in small.items()))
    blocks = dict(zip(small, answers, strict=True))
    known = dict[tuple[int, Question], Standing]()
    for eid, questions in asked.items():
        answer = blocks.get(eid)
        values = await _in_tables(context, eid, questions) if answer is None else answer[0]
        known |= _by_question(eid, questions, values)
    return Standings({eid: None if (answer := blocks.get(eid)) is None else answer[1] for eid in asked}, known)


async def on_chain(organization_id: UUID, eid: int, wanted: Wanted) -> Standings:
    """Return the standings of the accounts on one chain, from the chain alone. For a workflow: raises if it does not
    answer."""
    asked = _asked(wanted)
    values, block = await _read(organization_id, eid, asked)
    return Standings({eid: block}, _by_question(eid, asked, values))


def _by_question(
    eid: int, asked: Sequence[Question], values: Sequence[Standing]
) -> dict[tuple[int, Question], Standing]:
    return {(eid, question): standing for question, standing in zip(asked, values, strict=True)}


def _asked(wanted: Wanted) -> list[Question]:
    """Return every question once. What only the own organization attested matters only to rules that ask for it."""
    found = dict[Question, None]()
    for address in wanted.addresses:
        for rules in wanted.rules:
            every, own = _questions(address, rules)
            found[every] = None
            if rules.org_only:
                found[own] = None
    return list(found)


async def _soon(context: Context, eid: int, asked: Sequence[Question]) -> tuple[list[Standing], int] | None:
    """Return the standings and their block; None if the chain does not answer in time."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(context.organization_id, eid, asked)
    except (SignumError, TimeoutError) as error:
        log.info("standings.unread", chain_eid=eid, error=str(error))
        return None


async def _read(organization_id: UUID, eid: int, asked: Sequence[Question]) -> tuple[list[Standing], int]:
    at = (await contracts_of(eid)).registry
    found, block = await registry.standings(eid, at, asked, organization_id)
    return [Standing(s.found, s.level, s.accredited, s.accredited_level, s.countries) for s in found], block


async def _in_tables(context: Context, eid: int, asked: Sequence[Question]) -> list[Standing]:
    known = await attested(context, eid, sorted({question.subject for question in asked}))
    return [known.get(question.subject, Standing()) for question in asked]


async def attested(context: Context, eid: int, addresses: Sequence[str] | None = None) -> dict[str, Standing]:
    """Return the content of the organization's own valid attestations on a chain by wallet, from the tables; of every
    wallet without `addresses`."""
    values = {"org": context.organization_id, "eid": eid, "now": clock.chain_now(), "addresses": addresses}
    rows: dict[str, list[Any]] = defaultdict(list)
    for row in await context.session.execute(_ATTESTED, values):
        rows[row.wallet_address].append(row)
    return {address: together(some) for address, some in rows.items()}
