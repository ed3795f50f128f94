"""`signum eligibility`."""

import sys
from typing import Annotated

import typer

from backend.commands.ending import CannotRun, command
from backend.commands.options import Json, Org


@command
async def eligibility(
    emails: Annotated[list[str], typer.Argument(help="Addresses, up to 50; `-` reads them from standard input.")],
    org: Org = None,
    as_json: Json = False,
) -> None:
    """What stands against inviting people. Nothing is blocked: findings are warnings, the gravest first."""
    from backend.commands import output
    from backend.commands.connecting import connected, organization
    from backend.members.schemas import EligibilityCheck

    asked = sys.stdin.read().split() if emails == ["-"] else emails
    if not asked:
        raise CannotRun("There is no address on standard input.")
    async with connected() as client:
        found = await client.check_eligibility(await organization(client, org), EligibilityCheck(emails=asked))
    if as_json:
        output.show(found)
        return
    rows = [(w.email, w.severity, w.code, w.message) for w in found.warnings]
    output.table(("Address", "", "Finding", ""), rows) if rows else output.say("Nothing stands against any of them.")
