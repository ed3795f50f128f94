"""`signum markets`."""

from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.assets import AssetName, identified
from backend.cli.exit import CannotRun, command
from backend.cli.options import DryRun, Json, Org, Timeout, Wait

if TYPE_CHECKING:
    from backend.client import SignumClient
    from backend.markets.schemas import MarketPlan

# Declared at import.
app = typer.Typer()


@app.callback()
def markets() -> None:
    """Markets: deploy them."""


@app.command()
@command
async def deploy(
    asset: AssetName,
    chain: Annotated[int, typer.Option(help="The chain, by its LayerZero endpoint ID.")] = 40362,
    factory: Annotated[
        str | None, typer.Option(help="Market factory; default: the installation's on that chain.")
    ] = None,
    taker_fee: Annotated[int, typer.Option(help="Fee of the order that fills a resting order, in basis points.")] = 30,
    maker_fee: Annotated[int, typer.Option(help="Fee of the resting order, in basis points.")] = 0,
    org: Org = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Deploy a market for an asset. If its token is not on that chain yet, it is bridged there first."""
    from backend.cli import output
    from backend.cli.connection import connected, organization
    from backend.cli.progress import answered
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
        raise CannotRun(f"The chain {eid} has no market factory. Name one with --factory.")
    return chain.market_factory_address


def _show(plan: "MarketPlan") -> None:
    from backend.cli import output

    output.table(("Step", "Chain", ""), [(s.title, s.chain_name, s.detail) for s in plan.steps])
    for warning in plan.impact.warnings:
        output.say(f"! {warning}")
