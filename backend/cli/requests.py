"""`signum requests` and `signum events`."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.exit import CannotRun, command
from backend.cli.options import Json, Org, Timeout

if TYPE_CHECKING:
    from backend.live_updates.schemas import OrganizationEvent

# Declared at import.
app = typer.Typer()
# Declared at import.
events = typer.Typer()


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


events.callback()(lambda: None)  # a group, although it has one command


@events.command("watch")
@command
async def watch_events(
    org: Org = None,
    kind: Annotated[str, typer.Option("--type", help="Only events of this type, such as asset.updated.")] = "",
    after: Annotated[str | None, typer.Option(help="Begin after the event with this ID.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Stop after this many seconds.")] = None,
    as_json: Json = False,
) -> None:
    """Show events as they happen, until you stop. With --json, each is a line."""
    from backend.cli.connection import connected, organization
    from backend.webhooks.schemas import EventType

    if kind and kind not in list(EventType):
        raise CannotRun("--type must be an event type; GET /webhooks/event-types lists them.")
    async with connected() as client:
        stream = client.stream_events(await organization(client, org), last_event_id=after)
        try:
            async with asyncio.timeout(timeout):
                async for event in stream:
                    if not kind or event.type == kind:
                        _show(event, as_json)
        except TimeoutError:
            return


def _show(event: "OrganizationEvent", as_json: bool) -> None:
    record = event.model_dump(mode="json")
    where = {name: value for name, value in event.data.items() if name not in ("object", "organization_id", "changed")}
    words = " ".join(f"{name}={value}" for name, value in where.items())
    line = (
        json.dumps(record, ensure_ascii=False)
        if as_json
        else f"{record['timestamp']}  {event.id}  {event.type}  {words}"
    )
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
