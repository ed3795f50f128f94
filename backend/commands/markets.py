"""`signum markets`."""

from typing import TYPE_CHECKING, Annotated

import typer

from backend.commands.assets import AssetName, identified
from backend.commands.ending import CannotRun, command
from backend.commands.options import DryRun, Json, Org, Timeout, Wait

if TYPE_CHECKING:
    from backend.client import SignumClient
    from backend.markets.schemas import MarketPlan

app = typer.Typer()


@app.callback()
def markets() -> None:
    """Markets: deploy them."""


@app.command()
@command
async def deploy(
    asset: AssetName,
    chain: Annotated[int, typer.Option(help="The chain, by its LayerZero endpoint id.")] = 40362,
    factory: Annotated[str | None, typer.Option(help="Market factory; default: the installation's there.")] = None,
    taker_fee: Annotated[int, typer.Option(help="Basis points.")] = 30,
    maker_fee: Annotated[int, typer.Option(help="Basis points.")] = 0,
    org: Org = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Deploy a market for an asset; where its token is not on that chain yet, it is bridged there first."""
    from backend.commands import output
    from backend.commands.connecting import connected, organization
    from backend.commands.following import answered
    from backend.markets.schemas import MarketCreate

    async with connected() as client:
        org_id = await organization(client, org)
        asset_id = await identified(client, org_id, asset)
        body = MarketCreate(
            chain_eid=chain,
            market_factory_address=factory or await _factory(client, org_id, chain),
            taker_fee_bps=taker_fee,
            maker_fee_bps=maker_fee,
        )
        if dry_run:
            plan = await client.deploy_market(org_id, asset_id, body, dry_run=True)
            output.show(plan) if as_json else _show(plan)
            return
        accepted = await client.deploy_market(org_id, asset_id, body)
        await answered(client, accepted, org_id, wait=wait, timeout=timeout, as_json=as_json)


async def _factory(client: "SignumClient", org_id: str, eid: int) -> str:
    chains = (await client.list_organization_chains(org_id)).chains
    chain = next((c for c in chains if c.xchain_eid == eid), None)
    if chain is None or chain.market_factory_address is None:
        raise CannotRun(f"There is no market factory on the chain {eid}; name one with --factory.")
    return chain.market_factory_address


def _show(plan: "MarketPlan") -> None:
    from backend.commands import output

    output.table(("Step", "Chain", ""), [(s.title, s.chain_name, s.detail) for s in plan.steps])
    for warning in plan.impact.warnings:
        output.say(f"! {warning}")
