"""The operator's commands: `signum serve | seed | openapi`."""

import json
from typing import Annotated

import typer

from backend.settings import settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Signum: issue tokenized real-world assets and keep them compliant."""


@app.command()
def serve() -> None:
    """Start the console and the API, with an embedded database and chains unless others are set."""
    from backend import supervisor

    supervisor.guarded(lambda: supervisor.serve(settings()))


@app.command()
def openapi(indent: Annotated[int, typer.Option(help="Spaces a level.")] = 2) -> None:
    """Print the API's OpenAPI document."""
    from backend.api import create_api

    typer.echo(json.dumps(create_api().openapi(), indent=indent, sort_keys=True))


if __name__ == "__main__":
    app()
