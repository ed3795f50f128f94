"""`signum attest` and `signum revoke`."""

from datetime import datetime
from typing import Annotated

import typer

from backend.cli.exit import command
from backend.cli.options import DryRun, Json, Org, Timeout, Wait


@command
async def attest(
    party: Annotated[str, typer.Argument(help="The verified party, by its ID.")],
    chain: Annotated[int, typer.Option(help="The chain, by its LayerZero endpoint ID.")],
    kyc_level: Annotated[
        int | None, typer.Option(help="KYC level; default: the level the party was verified at.")
    ] = None,
    accredited: Annotated[
        bool | None,
        typer.Option("--accredited/--not-accredited", help="Accreditation; default: as the party was verified."),
    ] = None,
    expires: Annotated[datetime | None, typer.Option(help="When it expires, in UTC; default: never.")] = None,
    org: Org = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 300.0,
    as_json: Json = False,
) -> None:
    """Attest a verified party on a chain, from the organization's issuer wallet."""
    from datetime import UTC

    from backend.attestations.schemas import AttestationCreate
    from backend.cli import output
    from backend.cli.connection import connected, organization
    from backend.cli.progress import answered

    body = AttestationCreate.model_validate(
        {
            "party_id": party,
            "chain_eid": chain,
            "kyc_level": kyc_level,
            "accredited": accredited,
            "expires_at": expires.replace(tzinfo=UTC) if expires else None,
        }
    )
    async with connected() as client:
        org_id = await organization(client, org)
        if dry_run:
            output.show(await client.create_attestation(org_id, body, dry_run=True))
            return
        accepted = await client.create_attestation(org_id, body)
        await answered(client, accepted, org_id, wait=wait, timeout=timeout, as_json=as_json)


@command
async def revoke(
    attestation: Annotated[str, typer.Argument(help="The attestation, by its ID.")],
    reason: Annotated[str, typer.Option(help="The reason, which is written on chain.")],
    org: Org = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = 300.0,
    as_json: Json = False,
) -> None:
    """Revoke an active attestation."""
    from backend.attestations.schemas import AttestationRevoke
    from backend.cli import output
    from backend.cli.connection import connected, organization
    from backend.cli.progress import answered

    body = AttestationRevoke(reason=reason)
    async with connected() as client:
        org_id = await organization(client, org)
        if dry_run:
            output.show(await client.revoke_attestation(org_id, attestation, body, dry_run=True))
            return
        accepted = await client.revoke_attestation(org_id, attestation, body)
        await answered(client, accepted, org_id, wait=wait, timeout=timeout, as_json=as_json)
