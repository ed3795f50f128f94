"""`signum backup` and `signum restore`."""

from pathlib import Path
from typing import Annotated

import typer


def backup(
    path: Annotated[Path, typer.Argument(help="The new file.")],
    with_secret_key: Annotated[
        bool, typer.Option("--with-secret-key", help="include the secret key: the file alone then opens everything")
    ] = False,
) -> None:
    """Back up the database and embedded chains to a file (while `signum serve` runs, or with DATABASE_URL)."""
    from backend.backups import backup
    from backend.core.settings import settings
    from backend.server import supervisor

    made = supervisor.guarded(lambda: backup.backup(settings(), path, with_secret_key=with_secret_key))
    chains = f" and {len(made.chains)} embedded chains" if made.chains else ""
    typer.echo(f"{path} has the database (schema {made.revision}){chains}, {path.stat().st_size / 1e6:.1f} MB.")
    if not with_secret_key:
        typer.echo(f"Keep the secret key with the fingerprint {made.secret_key_fingerprint} in another place.")


def restore(path: Annotated[Path, typer.Argument(help="A file that `signum backup` has written.")]) -> None:
    """Restore a backup into an empty data folder (SIGNUM_HOME), or the empty database of DATABASE_URL."""
    from backend.backups import restore
    from backend.core.settings import settings
    from backend.server import supervisor

    found = supervisor.guarded(lambda: restore.restore(settings(), path))
    typer.echo(f"Restored the backup of {found.created_at:%Y-%m-%d %H:%M:%S} UTC. Start `signum serve`.")
    typer.echo("Then run `signum reconcile`, which compares the database with the chains.")
