"""`signum erase`: erasure of a party or a person, as a law requires."""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# Declared at import.
app = typer.Typer()
Reason = Annotated[str, typer.Option(help="Stored in the audit log, such as the number of the request; names no one.")]
Yes = Annotated[bool, typer.Option("--yes", help="erase; without it, the command shows what it would do")]


@app.command("party")
def erase_party(
    party: Annotated[UUID, typer.Argument(help="The party, by its ID.")], reason: Reason, yes: Yes = False
) -> None:
    """Erase a party's name, contact, wallet and documents, and its name in texts of its organization (while
    `signum serve` runs, or with DATABASE_URL)."""
    from backend.erasures import party as parties

    _run(lambda session: parties.erase(session, party, reason), is_done=yes)


@app.command("person")
def erase_person(
    email: Annotated[str, typer.Argument(help="The email address of the account.")], reason: Reason, yes: Yes = False
) -> None:
    """Erase a person's name, email and credentials, end their sessions, keys and memberships, and erase their name
    in texts of their organizations (while `signum serve` runs, or with DATABASE_URL)."""
    from backend.erasures import person as people

    _run(lambda session: people.erase(session, email, reason), is_done=yes)


def _run(erase: "Callable[[Any], Awaitable[Any]]", *, is_done: bool) -> None:
    import asyncio

    from backend.server import supervisor

    report = supervisor.guarded(lambda: asyncio.run(_erased(erase, is_done=is_done)))
    for line in report.lines(is_done=is_done):
        typer.echo(line)


async def _erased(erase: "Callable[[Any], Awaitable[Any]]", *, is_done: bool) -> Any:
    """Erase in one transaction of the owner, which is rolled back unless the erasure is to be done."""
    from backend.cli.database import as_owner
    from backend.core.settings import settings

    async with as_owner(settings(), keeps=is_done) as session:
        return await erase(session)
