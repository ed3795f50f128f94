"""`signum eligibility`."""

import sys
from typing import Annotated

import typer

from backend.cli.exit import CannotRun, command
from backend.cli.options import Json, Org


@command
async def eligibility(
    emails: Annotated[list[str], typer.Argument(help="Email addresses, up to 50; `-` reads them from standard input.")],
    org: Org = None,
    as_json: Json = False,
) -> None:
    """Check whether people can be invited. Findings are warnings, the most severe first; nothing is blocked."""
    from backend.cli import output
    from backend.cli.connection import connected, organization
    from backend.members.schemas import EligibilityCheck

    asked = sys.stdin.read().split() if emails == ["-"] else emails
    if not asked:
        raise CannotRun("Standard input contains no address.")
    async with connected() as client:
        found = await client.check_eligibility(await organization(client, org), EligibilityCheck(emails=asked))
    if as_json:
        output.show(found)
        return
    rows = [(w.email, w.severity, w.code, w.message) for w in found.warnings]
    output.table(("Address", "", "Finding", ""), rows) if rows else output.say("No findings.")
