"""The plan of a deployment: its steps with their gas, the resulting rules, and warnings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.assets import effects, gas, holders, records
from backend.assets.terms import terms_of, token_rules
from backend.auth.principal import Context
from backend.bridges import paths, price
from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.bindings import factory, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect, transaction
from backend.compliance import affected, standings
from backend.compliance.impact_case import Change
from backend.compliance.standings import Wanted
from backend.core import db
from backend.core.errors import SignumError
from backend.core.units import grouped
from backend.markets import service
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketCreate, MarketPlan, MarketPlanImpact, PlanCost, PlanStep
from backend.markets.service import Checked
from backend.markets.terms import columns, market_rules
from backend.parties.models import PartyRow
from backend.wallets import signing_wallets
from backend.wallets.models import WalletRow

MEASURED = "Gas as measured earlier."
ESTIMATED = "Gas estimated by the node."
RECKONED = "Gas calculated with a margin."


async def plan(context: Context, asset_id: UUID, body: MarketCreate) -> MarketPlan:
    """Run every check of the deployment, and return its plan. Nothing is written."""
    checked = await service.check(context, asset_id, body)
    draft = MarketRow(
        organization_id=context.organization_id,
        asset_id=asset_id,
        chain_eid=body.chain_eid,
        market_factory_address=body.market_factory_address,
        **columns(body, terms_of(checked.asset)),
    )
    rules = market_rules(draft)
    terms = terms_of(checked.asset)
    sharing = records.sharing(await records.deployments(context.session, asset_id))
    chains = list(dict.fromkeys([*sharing, body.chain_eid]))
    held = await holders.by_chain(context.session, context.organization_id, asset_id)
    on_token = token_rules(terms, chains, body.chain_eid, held)
    change = Change(
        {eid: token_rules(terms, sharing, eid, held) for eid in sharing},
        {eid: token_rules(terms, chains, eid, held) for eid in sharing},
        rules,
    )
    names = await records.chain_names(context.session)
    wallet = await signing_wallets.treasury(context.session, context.organization_id)
    able, people = await _eligible(context, body.chain_eid, on_token, rules)
    affects = await effects.effects(context, asset_id, change)
    async with db.paused(context.session):
        steps = await _steps(checked, body, names, wallet, rules)
    costs = await _costs(context.session, steps, wallet, _gas_elsewhere(checked))
    shown = {name: _words(value) for name, value in rules.as_dict().items()}
    return MarketPlan(
        steps=steps,
        impact=MarketPlanImpact(
            will_bridge=checked.source is not None,
            source_chain_eid=checked.source.chain_eid if checked.source else None,
            rules=shown,
            taker_fee_bps=body.taker_fee_bps,
            maker_fee_bps=body.maker_fee_bps,
            eligible_parties=able,
            effects=affects,
            caps=checked.caps.effects,
            costs=costs,
            warnings=[
                *_warnings(rules, able, people, names[body.chain_eid]),
                *(
                    []
                    if checked.source is None
                    else await paths.notes(context.session, checked.source.chain_eid, body.chain_eid)
                ),
            ],
        ),
    )


async def _steps(
    checked: Checked, body: MarketCreate, names: dict[int, str], wallet: WalletRow, rules: MarketRules
) -> list[PlanStep]:
    eid = body.chain_eid
    steps = [] if checked.source is None else await _bridge_steps(checked, body, names, wallet)
    market_gas, said = gas.MARKET, MEASURED
    if checked.token is not None and checked.token.token_address:
        call = factory.create_market(
            body.market_factory_address,
            token=checked.token.token_address,
            fee_collector=wallet.address,
            taker_bps=body.taker_fee_bps,
            maker_bps=body.maker_fee_bps,
            rules=rules,
        )
        market_gas, said = await _estimate(eid, call, wallet.address, gas.MARKET)
    return [
        *steps,
        _step(
            "market_created",
            "Create the market",
            eid,
            names,
            f"Created by the chain's market factory. {said}",
            market_gas,
        ),
        _step(
            "market_active",
            "Open for trading",
            eid,
            names,
            f"Allow the market on the token, and read back fees and rules. {MEASURED}",
            gas.VENUE,
        ),
    ]


async def _bridge_steps(
    checked: Checked, body: MarketCreate, names: dict[int, str], wallet: WalletRow
) -> list[PlanStep]:
    assert checked.source is not None
    eid, source, asset = body.chain_eid, checked.source.chain_eid, checked.asset
    is_carried = int(body.bridge_amount) > 0
    carried = f" and {grouped(body.bridge_amount, asset.decimals)} {asset.symbol}" if is_carried else ""
    contracts = await contracts_of(eid)
    call = token.deploy(
        name=asset.name,
        symbol=asset.symbol,
        decimals=asset.decimals,
        organization_id=asset.organization_id,
        registry=contracts.registry,
        endpoint=contracts.endpoint,
        owner=wallet.address,
        treasury=wallet.address,
    )
    token_gas, said = await _estimate(eid, call, wallet.address, gas.TOKEN)
    return [
        _step(
            "bridge_pending",
            f"Prepare {asset.symbol} for the bridge",
            eid,
            names,
            f"Deploy its token{_limited(checked, names)}, and connect both tokens with each other. {said}",
            token_gas + gas.PEER,
        ),
        _step(
            "bridge_submitting",
            f"Bridge {asset.symbol} to {names[eid]}",
            source,
            names,
            f"One message with the rules{carried}{price.words(checked.fee)}. {_packet_gas_words(source)}",
            gas.packet(source),
        ),
        _step("bridge_confirmed", "Receive the token", eid, names, "Delivered and paid for by the relayer.", None),
        _step("token_created", "Verify the token", eid, names, "Read its rules back from the chain.", None),
    ]


def _limiting(checked: Checked) -> list[int]:
    """Return the chains with the token whose limits change, because one more chain shares them."""
    return sorted({one.chain_eid for one in checked.caps.effects if one.before is not None and one.before != one.after})


def _limited(checked: Checked, names: dict[int, str]) -> str:
    found = [names[eid] for eid in _limiting(checked)]
    return f", change the limits on {' and '.join(found)}" if found else ""


def _gas_elsewhere(checked: Checked) -> dict[int, int]:
    """Return what the preparation of the bridge uses on the other chains: new limits, and the connection."""
    if checked.source is None:
        return {}
    used = dict.fromkeys(_limiting(checked), gas.RULES)
    return used | {checked.source.chain_eid: used.get(checked.source.chain_eid, 0) + gas.PEER}


def _packet_gas_words(source_eid: int) -> str:
    return MEASURED if node_urls.is_embedded(source_eid) else RECKONED


def _step(name: str, title: str, eid: int, names: dict[int, str], detail: str, estimate: int | None) -> PlanStep:
    return PlanStep(name=name, title=title, chain_eid=eid, chain_name=names[eid], detail=detail, gas_estimate=estimate)


async def _costs(
    session: AsyncSession, steps: Sequence[PlanStep], wallet: WalletRow, elsewhere: Mapping[int, int]
) -> list[PlanCost]:
    """Return what the steps, and what they do on other chains, may cost on each chain that answers."""
    total: dict[int, int] = defaultdict(int)
    for eid, used in [*((step.chain_eid, step.gas_estimate or 0) for step in steps), *elsewhere.items()]:
        total[eid] += used
    found, chains = [], await paths.chains_of(session, *total)
    for eid, chain in ((eid, chains[eid]) for eid in total if eid in chains):
        with suppress(SignumError):
            wei, _ = await records.gas_cost(session, wallet.address, eid, total[eid])
            cost = {"amount": str(wei), "currency": chain.native_currency_symbol}
            found += [PlanCost(chain_eid=eid, chain_name=chain.display_name, **cost)] if wei else []
    return found


async def _estimate(eid: int, call: Call, sender: str, otherwise: int) -> tuple[int, str]:
    try:
        answer = await (await connect(eid)).request("eth_estimateGas", transaction(call, sender))
    except SignumError:
        return otherwise, MEASURED
    return int(answer, 16), ESTIMATED


async def _eligible(context: Context, eid: int, rules: TokenRules, market: MarketRules) -> tuple[int, int]:
    """Return how many of the organization's parties could buy there now, and how many have a wallet."""
    query = sa.select(col(PartyRow.wallet_address)).where(
        col(PartyRow.organization_id) == context.organization_id, col(PartyRow.wallet_address).is_not(None)
    )
    wallets = [a for a in await context.session.scalars(query) if a]
    found = await standings.read(context, {eid: Wanted(wallets, [rules])})
    return len(affected.able_buyers(rules, market, [found.account(eid, w, rules) for w in wallets])), len(wallets)


def _warnings(rules: MarketRules, able: int, people: int, chain: str) -> list[str]:
    found = []
    if able == 0:
        found.append(
            f"None of the {people} parties with a wallet has the attestation that these rules require on {chain}. The "
            "market can be deployed now, but has no buyers until some of them are attested there."
        )
    if rules.lockup_end_time > clock.moment():
        end = datetime.fromtimestamp(rules.lockup_end_time, UTC)
        found.append(f"Until {end:%-d %b %Y, %H:%M} UTC only the treasury can sell.")
    return found


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
