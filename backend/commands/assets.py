"""`signum assets`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.commands.ending import CannotRun, command
from backend.commands.options import DryRun, Json, Org, Timeout, Wait

if TYPE_CHECKING:
    from backend.assets.schemas import Asset
    from backend.client import SignumClient

app = typer.Typer()
AssetName = Annotated[str, typer.Argument(metavar="ASSET", help="The asset, by its id or its symbol.")]


@app.command("list")
@command
async def list_assets(
    org: Org = None,
    status: Annotated[str | None, typer.Option(help="Only those in this state; archived ones only so.")] = None,
    as_json: Json = False,
) -> None:
    """List the assets, newest first."""
    from backend.assets.schemas import AssetStatus
    from backend.commands import output
    from backend.commands.connecting import connected, organization

    if status is not None and status not in list(AssetStatus):
        raise CannotRun(f"--status is one of {', '.join(AssetStatus)}.")
    async with connected() as client:
        kind = AssetStatus(status) if status else None
        found = [asset async for asset in client.list_assets(await organization(client, org), status=kind)]
    if as_json:
        output.show_all(found)
        return
    columns = ("Symbol", "Name", "Status", "Framework", "KYC", "Chains", "Id")
    output.table(columns, [_row(asset) for asset in found])


def _row(asset: "Asset") -> tuple[Any, ...]:
    chains = ", ".join(d.chain_name or str(d.chain_eid) for d in asset.deployments)
    return asset.symbol, asset.name, asset.status, asset.regulation_type, asset.required_kyc_level, chains, asset.id


@app.command()
@command
async def update(
    asset: AssetName,
    org: Org = None,
    name: Annotated[str | None, typer.Option()] = None,
    description: Annotated[str | None, typer.Option()] = None,
    regulation: Annotated[str | None, typer.Option(help="reg_d, reg_s, reg_a_plus, reg_cf or none.")] = None,
    kyc_level: Annotated[int | None, typer.Option(help="The level that holders need.")] = None,
    max_holders: Annotated[int | None, typer.Option(help="0 is no limit.")] = None,
    org_only: Annotated[bool | None, typer.Option("--org-only/--anybody")] = None,
    accredited: Annotated[bool | None, typer.Option("--accredited/--not-accredited")] = None,
    block: Annotated[
        list[str] | None, typer.Option(help="Block a country (alpha-3); the list replaces the one before.")
    ] = None,
    max_tokens: Annotated[str | None, typer.Option(help="Per holder, base units; 0 is no limit.")] = None,
    lockup_until: Annotated[int | None, typer.Option(help="Unix time; 0 ends the lockup.")] = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 300.0,
    as_json: Json = False,
) -> None:
    """Change an asset. What concerns the chain is written on every chain it is on; what is not named stays."""
    from backend.assets.schemas import AssetUpdate
    from backend.commands import output
    from backend.commands.connecting import connected, organization
    from backend.commands.following import answered

    rules = {
        "requires_accreditation": accredited,
        "blocked_countries": block or None,
        "max_tokens_per_holder": max_tokens,
        "lockup_end_time": lockup_until,
    }
    fields = {
        "name": name,
        "description": description,
        "regulation_type": regulation,
        "required_kyc_level": kyc_level,
        "max_holders": max_holders,
        "org_only": org_only,
        "compliance_rules": _given(rules) or None,
    }
    if not _given(fields):
        raise CannotRun("Say what to change, such as --kyc-level 2; --help lists it.")
    body = AssetUpdate.model_validate(_given(fields))
    async with connected() as client:
        org_id = await organization(client, org)
        asset_id = await identified(client, org_id, asset)
        if dry_run:
            plan = await client.update_asset(org_id, asset_id, body, dry_run=True)
            output.show(plan) if as_json else output.say("\n".join(plan.steps))
            return
        accepted = await client.update_asset(org_id, asset_id, body)
        await answered(client, accepted, org_id, wait=wait, timeout=timeout, as_json=as_json)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


async def identified(client: "SignumClient", org_id: str, name: str) -> str:
    """The id of an asset that is named by id or symbol. Raises CannotRun where there is none, or more than one."""
    from uuid import UUID

    try:
        return str(UUID(name))
    except ValueError:
        found = [a async for a in client.list_assets(org_id) if a.symbol == name.upper()]
    if len(found) != 1:
        raise CannotRun(
            f"{'No' if not found else 'More than one'} asset has the symbol {name}; see `signum assets list`."
        )
    return str(found[0].id)
