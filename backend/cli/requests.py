"""`signum requests`."""

from typing import Annotated

import typer

from backend.cli.exit import command
from backend.cli.options import Json, Org, Timeout

# Declared at import.
app = typer.Typer()


@app.callback()
def requests() -> None:
    """Requests: follow accepted operations."""


@app.command()
@command
async def watch(
    request: Annotated[str, typer.Argument(help="The request, by its ID.")],
    org: Org = None,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Show a request's steps as they happen, until it has ended."""
    from backend.cli.connection import connected, organization
    from backend.cli.progress import follow

    async with connected() as client:
        await follow(client, request, await organization(client, org), timeout=timeout, as_json=as_json)
