"""Options that several commands share."""

from typing import Annotated, Literal

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
Query = Annotated[
    str | None,
    typer.Option(
        "--query", "-q", help="Part of a name or symbol; the beginning of an ID, address or transaction hash."
    ),
]
Order = Annotated[Literal["asc", "desc"] | None, typer.Option(help="Default: desc.")]
CreatedAfter = Annotated[
    str | None, typer.Option(help="Only records created after this time, such as 2026-01-31T12:00:00Z.")
]
CreatedBefore = Annotated[str | None, typer.Option(help="Only records created before this time.")]
UpdatedAfter = Annotated[str | None, typer.Option(help="Only records changed after this time.")]
