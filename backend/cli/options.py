"""Options that several commands share."""

from typing import Annotated

import typer

Org = Annotated[
    str | None,
    typer.Option(
        "--org", envvar="SIGNUM_ORG", help="The organization, by its ID. Default: that of the key or of the sign-in."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the API's record instead of a table.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end, and show each step.")]
Timeout = Annotated[float, typer.Option(help="Maximum seconds to wait; the request continues after that.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Validate and show the plan without executing it.")]
