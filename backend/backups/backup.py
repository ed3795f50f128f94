"""`signum backup`: the database, and after it the embedded chains, while everything runs.

The order matters: a chain that is ahead of the database is read from where the database ended, as after any pause. A
database that is ahead of its chain has records of what never happened there.
"""

import gzip
import io
import json
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg

from backend.backups import programs
from backend.backups.archive import DATABASE, MANIFEST, SECRET_KEY, Manifest, chain_file, written
from backend.chain.rpc import node_urls
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart
from backend.core.logins import owner_url
from backend.core.secret_keys.root_key import root_keys
from backend.core.settings import Settings

SECONDS = 60.0
"""For a chain to print its state."""


def backup(settings: Settings, path: Path, *, with_secret_key: bool) -> Manifest:
    """Write a backup to a new file. Raises CannotStart."""
    if path.exists():
        raise CannotStart(f"{path} exists. Choose another name; a backup replaces none.")
    url = plain(settings.outside_database or outside_url(settings.home))
    root = root_keys()
    secret = settings.secret_key or (root.path.read_text().strip() if root.path.exists() else "")
    if with_secret_key and not secret:
        raise CannotStart("This process does not have the secret key. Set SIGNUM_SECRET_KEY, or leave it out.")
    with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=f".{path.name}-") as folder:
        dump = Path(folder) / DATABASE
        found = _revision(url)
        programs.run("pg_dump", "--format=custom", "--no-owner", "--file", dump, url)
        states = {eid: _state(node) for eid, node in node_urls.embedded(settings.home).items()}
        manifest = Manifest(
            created_at=datetime.now(UTC),
            revision=found,
            secret_key_fingerprint=root.current.fingerprint if root.current else None,
            has_secret_key=with_secret_key,
            chains=sorted(states),
        )
        with written(path) as archive:
            _add(archive, MANIFEST, manifest.model_dump_json(indent=2).encode())
            archive.add(dump, DATABASE)
            for eid, state in states.items():
                _add(archive, chain_file(eid), state)
            if with_secret_key:
                _add(archive, SECRET_KEY, secret.encode())
    return manifest


def plain(url: str) -> str:
    """Return the owner's URL as PostgreSQL's programs read it."""
    return owner_url(url).replace("postgresql+psycopg", "postgresql")


def _revision(url: str) -> str:
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute("select version_num from schema_version").fetchone()
    except psycopg.errors.UndefinedTable as error:
        raise CannotStart("The database has no schema of Signum.") from error
    except psycopg.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    return str(row[0]) if row else ""


def _state(url: str) -> bytes:
    """Return a chain's state as its file has it."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "anvil_dumpState", "params": []}
    try:
        answer = httpx.post(url, json=call, timeout=SECONDS).raise_for_status().json()
        return gzip.decompress(bytes.fromhex(answer["result"].removeprefix("0x")))
    except (httpx.HTTPError, KeyError, ValueError, json.JSONDecodeError) as error:
        raise CannotStart("An embedded chain did not print its state. Start `signum serve` first.") from error


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, io.BytesIO(content))
