"""`signum export`: one organization's rows and documents in one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

if TYPE_CHECKING:
    from backend.core.settings import Settings
    from backend.organization_exports.archive import ExportManifest


def export(
    organization: Annotated[UUID, typer.Argument(help="The organization, by its ID.")],
    out: Annotated[Path, typer.Option("--out", help="The new file, a zip archive.")],
    below: Annotated[bool, typer.Option("--below", help="include the organizations below it")] = False,
) -> None:
    """Export everything of one organization to a file, without secrets (while `signum serve` runs, or with
    DATABASE_URL). Its audit log keeps that it was exported."""
    import asyncio

    from backend.core.settings import settings
    from backend.server import supervisor

    made = supervisor.guarded(lambda: asyncio.run(_exported(settings(), organization, out, below)))
    rows = sum(file.rows or 0 for file in made.files)
    documents = sum(file.rows is None for file in made.files)
    typer.echo(f"{out} has {rows} rows and {documents} documents of {made.organization_name}.")
    if len(made.organizations) > 1:
        typer.echo(f"It includes {len(made.organizations) - 1} organizations below it.")
    omitted = f"{len(made.omitted_tables)} tables and {len(made.omitted_columns)} columns"
    typer.echo(f"Written by Signum {made.signum_version}. The manifest lists the {omitted} that are omitted.")
    typer.echo("It has personal data. Only you can read the file; delete it when it is handed over.")


async def _exported(settings: "Settings", organization_id: UUID, out: Path, below: bool) -> "ExportManifest":
    """Write the file, then note it in the audit log, with the hash that covers every file."""
    from backend.cli.database import outside
    from backend.core.changes import THE_OPERATOR, acting, publish
    from backend.core.connections.embedded import outside_url
    from backend.organization_exports.export import export

    url = settings.outside_database or outside_url(settings.home)
    async with outside(settings) as session:
        made = export(url, organization_id, out, below=below)
        facts = {"sha256": made.manifest_sha256, "files": len(made.manifest.files), "below": below}
        with acting(THE_OPERATOR):
            subject = ("organization", organization_id)
            await publish(session, organization_id, "organization.exported", subject, None, facts)
    return made.manifest
