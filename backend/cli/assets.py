"""`signum assets`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from backend.cli.exit import CannotRun, command
from backend.cli.options import (
    CreatedAfter,
    CreatedBefore,
    DryRun,
    Json,
    Order,
    Org,
    Query,
    Timeout,
    UpdatedAfter,
    Wait,
)

if TYPE_CHECKING:
    from backend.assets.schemas import Asset
    from backend.client import SignumClient

# Declared at import.
app = typer.Typer()
AssetName = Annotated[str, typer.Argument(metavar="ASSET", help="The asset, by its ID or its symbol.")]


@app.command("list")
@command
async def list_assets(
    org: Org = None,
    status: Annotated[
        str | None, typer.Option(help="Only assets in this state; the only way to list archived ones.")
    ] = None,
    query: Query = None,
    sort: Annotated[
        Literal["created_at", "updated_at", "name"] | None, typer.Option(help="Default: created_at.")
    ] = None,
    order: Order = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    updated_after: UpdatedAfter = None,
    as_json: Json = False,
) -> None:
    """List the assets, by default newest first."""
    from backend.assets.schemas import AssetStatus
    from backend.cli import output
    from backend.cli.connection import connected, organization

    if status is not None and status not in list(AssetStatus):
        raise CannotRun(f"--status must be one of {', '.join(AssetStatus)}.")
    async with connected() as client:
        pages = client.list_assets(
            await organization(client, org),
            status=AssetStatus(status) if status else None,
            q=query,
            sort=sort,
            order=order,
            created_after=created_after,
            created_before=created_before,
            updated_after=updated_after,
        )
        found = [asset async for asset in pages]
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
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    description: Annotated[str | None, typer.Option(help="New description.")] = None,
    nominal_value: Annotated[
        str | None, typer.Option(help="New nominal value of a token, in its quote currency, such as 100.")
    ] = None,
    regulation: Annotated[str | None, typer.Option(help="Framework: reg_d, reg_s, reg_a_plus, reg_cf or none.")] = None,
    kyc_level: Annotated[int | None, typer.Option(help="KYC level that holders need.")] = None,
    max_holders: Annotated[int | None, typer.Option(help="Maximum number of holders; 0 for no limit.")] = None,
    org_only: Annotated[
        bool | None,
        typer.Option("--org-only/--anybody", help="Whether only accounts that this organization attested can hold it."),
    ] = None,
    accredited: Annotated[
        bool | None,
        typer.Option("--accredited/--not-accredited", help="Whether only accredited investors can hold it."),
    ] = None,
    block: Annotated[
        list[str] | None, typer.Option(help="Block a country (alpha-3); the list replaces the current one.")
    ] = None,
    max_tokens: Annotated[str | None, typer.Option(help="Maximum per holder, in base units; 0 for no limit.")] = None,
    lockup_until: Annotated[int | None, typer.Option(help="End of the lock-up, as Unix time; 0 for none.")] = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 300.0,
    as_json: Json = False,
) -> None:
    """Change an asset. On-chain settings are written on all its chains; settings that are not named stay unchanged."""
    from backend.assets.schemas import AssetUpdate
    from backend.cli import output
    from backend.cli.connection import connected, organization
    from backend.cli.progress import answered

    rules = {
        "requires_accreditation": accredited,
        "blocked_countries": block or None,
        "max_tokens_per_holder": max_tokens,
        "lockup_end_time": lockup_until,
    }
    fields = {
        "name": name,
        "description": description,
        "nominal_value": nominal_value,
        "regulation_type": regulation,
        "required_kyc_level": kyc_level,
        "max_holders": max_holders,
        "org_only": org_only,
        "compliance_rules": _given(rules) or None,
    }
    if not _given(fields):
        raise CannotRun("Name a setting to change, such as --kyc-level 2. --help lists all settings.")
    body = AssetUpdate.model_validate(_given(fields))
    async with connected() as client:
        org_id = await organization(client, org)
        asset_id = await identified(client, org_id, asset)
        if dry_run:
            plan = await client.update_asset(org_id, asset_id, body, dry_run=True)
            output.show(plan) if as_json else output.say("\n".join(plan.steps))
            return
        with client.response_headers() as headers:
            await client.get_asset(org_id, asset_id)
        accepted = await client.update_asset(org_id, asset_id, body, if_match=headers["etag"])
        await answered(client, accepted, org_id, wait=wait, timeout=timeout, as_json=as_json)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


async def identified(client: "SignumClient", org_id: str, name: str) -> str:
    """Return the id of an asset that is named by id or symbol. Raises CannotRun where none or several match."""
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
