"""`signum keys`: the keys in the database."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

T = TypeVar("T")
# Declared at import.
app = typer.Typer()


class Rotated(StrEnum):
    """What can be rotated: the key of a purpose, or the secret key."""

    WALLETS = "wallets"
    DOCUMENTS = "documents"
    SECRETS = "secrets"
    ROOT = "root"


@app.command("list")
def list_keys() -> None:
    """List the data keys, and the fingerprint of the secret key that encrypts each (while `signum serve` runs, or with
    DATABASE_URL)."""
    from backend.secret_keys import data_keys

    for line in _run(data_keys.lines):
        typer.echo(line)


@app.command("rotate")
def rotate_key(
    what: Annotated[Rotated, typer.Argument(help="wallets, documents or secrets: a data key. root: the secret key.")],
) -> None:
    """Rotate a key while everything runs (while `signum serve` runs, or with DATABASE_URL).

    A data key gets a new version, and what earlier versions have encrypted is encrypted again. Repeat the command if it
    was interrupted. `root` encrypts the data keys under SIGNUM_SECRET_KEY instead of SIGNUM_SECRET_KEY_PREVIOUS.
    """
    from backend.core.secret_keys.keyring import Purpose
    from backend.secret_keys import rotation

    if what is Rotated.ROOT:
        count = _run(rotation.wrap_again)
        typer.echo(f"{count} data keys were encrypted under the new secret key. Unset SIGNUM_SECRET_KEY_PREVIOUS.")
    else:
        _run(lambda: rotation.rotate(Purpose(what.value), typer.echo))


def _run(action: Callable[[], T]) -> T:
    """Run an action with the installation's database; a failure becomes one line and exit code 1."""
    import psycopg

    from backend.core.connections import database
    from backend.core.connections.embedded import outside_url
    from backend.core.errors import CannotStart, SignumError
    from backend.core.settings import settings

    try:
        own = settings()
        database.start(own.outside_database or outside_url(own.home))
        return action()
    except psycopg.OperationalError:
        reason = "The database does not respond. Start `signum serve` first, or set DATABASE_URL."
    except SignumError as error:
        reason = error.detail
    except CannotStart as error:
        reason = str(error)
    for line in reason.splitlines():
        typer.echo(f"signum: {line}", err=True)
    raise typer.Exit(1)
