"""`signum restore`: a backup into an empty data folder, or into the empty database of DATABASE_URL.

An interrupted restoration is repeated from the beginning: until its end a file marks the data folder, and the database
is loaded in one transaction.
"""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import psycopg

from backend.backups import programs
from backend.backups.archive import DATABASE, SECRET_KEY, Manifest, chain_file, extract, opened
from backend.backups.backup import plain
from backend.core.errors import CannotStart
from backend.core.private_files import write_private
from backend.core.secret_keys.root_key import VARIABLE, root_key, root_keys
from backend.core.settings import Settings
from backend.migrations import migrate
from backend.server.postgres import EmbeddedPostgres
from backend.server.supervisor import locked

MARK = "restoring"
ROLES = ("signum_app", "signum_worker")


def restore(settings: Settings, path: Path) -> Manifest:
    """Restore a backup, and migrate it to the newest schema. Raises CannotStart, before anything is changed where the
    target has data or the secret key is missing."""
    with opened(path) as (archive, manifest), ExitStack() as held:
        if manifest.revision not in migrate.known():
            raise CannotStart(
                f"The backup has the schema {manifest.revision} of a later version of Signum. Restore it with that one."
            )
        held.enter_context(locked(settings.home))
        mark, keeps = settings.home / MARK, settings.outside_database is not None
        if mark.exists():
            _clear(settings.home)
        elif not keeps and (settings.home / "pg").exists():
            raise CannotStart(f"The data folder {settings.home} has data. Set SIGNUM_HOME to another one.")
        if keeps and not migrate.is_empty(str(settings.database_url)):
            raise CannotStart("The database of DATABASE_URL has data. Create an empty one.")
        kept = archive.extractfile(SECRET_KEY) if manifest.has_secret_key else None
        secret = _secret(manifest, kept.read().decode() if kept else "")
        mark.touch()
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=settings.home)))
        extract(archive, DATABASE, folder / DATABASE)
        if secret:
            write_private(root_keys().path, secret)
        for eid in manifest.chains if settings.embedded_chains else []:
            (settings.home / "chains").mkdir(mode=0o700, exist_ok=True)
            extract(archive, chain_file(eid), settings.home / chain_file(eid))
        if keeps:
            _load(str(settings.database_url), folder / DATABASE)
        else:
            server = EmbeddedPostgres(settings.home / "pg")
            held.callback(server.stop)
            _load(server.start(), folder / DATABASE)
        mark.unlink()
    return manifest


def _secret(manifest: Manifest, kept: str) -> str:
    """Return the secret key to store in the data folder; empty where the process has it from its variable."""
    wanted, roots = manifest.secret_key_fingerprint, root_keys()
    if wanted is None or roots.find(wanted) is not None:
        return ""
    if kept and root_key(kept).fingerprint == wanted and not roots.is_set:
        return kept
    raise CannotStart(
        f"The keys in this backup are encrypted under the secret key with the fingerprint {wanted}. Set {VARIABLE} to "
        "that key."
    )


def _clear(home: Path) -> None:
    """Remove what an interrupted restoration left."""
    for name in ("pg", "chains"):
        shutil.rmtree(home / name, ignore_errors=True)


def _load(url: str, dump: Path) -> None:
    """Load a dump into an empty database, and bring its schema to the newest. Roles belong to the server and are in no
    dump; without them nothing would isolate tenants."""
    with psycopg.connect(plain(url), autocommit=True) as connection:
        for role in ROLES:
            if not connection.execute("select from pg_roles where rolname = %s", [role]).fetchall():
                connection.execute(f"create role {role} nologin".encode())
    programs.load(dump, plain(url))
    migrate.migrate(url)
