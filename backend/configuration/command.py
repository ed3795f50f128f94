"""`signum config`: the configuration of an installation."""

from typing import Annotated

import typer

# Declared at import.
app = typer.Typer()


@app.command("check")
def check_config(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    with_database: Annotated[
        bool, typer.Option("--database", help="Compare the secret key with the keys in the database.")
    ] = False,
) -> None:
    """List every variable with its source and what is wrong. Shows no secret, and connects to nothing
    but the database with --database.

    Exit code 0: the configuration is valid. 1: it is not.
    """
    from backend.configuration.check import check

    report = check(with_database=with_database)
    typer.echo(report.as_json() if as_json else report.as_text())
    raise typer.Exit(report.exit_code)


@app.callback()
def _group() -> None:
    """Keep `check` a command of its own, though it is the only one."""
