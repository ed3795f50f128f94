"""Options that more than one command has."""

from typing import Annotated

import typer

Org = Annotated[
    str | None,
    typer.Option("--org", envvar="SIGNUM_ORG", help="The organization, by its id. Default: the one signed in to."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the API's record instead of a table.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show its steps.")]
Timeout = Annotated[float, typer.Option(help="Seconds to wait at most; it goes on after that.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything, show the plan, do nothing.")]
