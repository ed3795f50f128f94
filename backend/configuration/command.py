"""`signum config`: the configuration of an installation."""

from typing import Annotated

import typer

# Declared at import.
app = typer.Typer()


@app.command("check")
def check_config(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List every variable with its source and what is wrong. Connects to nothing, and shows no secret.

    Exit code 0: the configuration is valid. 1: it is not.
    """
    from backend.configuration.check import check

    report = check()
    typer.echo(report.as_json() if as_json else report.as_text())
    raise typer.Exit(report.exit_code)


@app.callback()
def _group() -> None:
    """Keep `check` a command of its own, though it is the only one."""
