"""`signum requests`."""

from typing import Annotated

import typer

from backend.commands.ending import command
from backend.commands.options import Json, Org, Timeout

app = typer.Typer()


@app.callback()
def requests() -> None:
    """Requests: what was accepted and how far it is."""


@app.command()
@command
async def watch(
    request: Annotated[str, typer.Argument(help="The request, by its id.")],
    org: Org = None,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Show a request's steps as they happen, until it has ended."""
    from backend.commands.connecting import connected, organization
    from backend.commands.following import follow

    async with connected() as client:
        await follow(client, request, await organization(client, org), timeout=timeout, as_json=as_json)
