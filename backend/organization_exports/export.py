"""`signum export`: reads one snapshot of the database, while everything runs."""

import mimetypes
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import namedtuple_row

from backend.core import logins
from backend.core.encryption import DOCUMENTS
from backend.core.errors import CannotStart
from backend.installation import ROOT
from backend.organization_exports import contents
from backend.organization_exports.archive import Archive, ExportManifest, written
from backend.parties.documents import place

PART = 500
"""Rows read at a time."""
_SNAPSHOT = "set transaction isolation level repeatable read, read only"
_LINES = sql.SQL("select row_to_json(found)::text as line from ({}) found")
_BELOW = """
  with recursive below as (
    select id, name, 0 as depth from organizations where id = %s
    union all select o.id, o.name, b.depth + 1 from organizations o join below b on o.parent_id = b.id where %s
  ) select id, name from below order by depth, id
"""
_FILES = sql.SQL(
    "select id, organization_id, sha256, media_type, parts from party_files where organization_id = any(%s)"
)
_PART = "select sealed from party_file_parts where file_id = %s and number = %s"


@dataclass(frozen=True)
class Exported:
    """A written export. `manifest_sha256` covers every file."""

    manifest: ExportManifest
    manifest_sha256: str


def export(url: str, organization_id: UUID, path: Path, *, below: bool) -> Exported:
    """Write an organization's export to a new file. `url` is the owner's. Raises CannotStart."""
    if path.exists():
        raise CannotStart(f"{path} exists. Choose another name; an export replaces none.")
    if not path.parent.is_dir():
        raise CannotStart(f"The folder {path.parent} does not exist.")
    try:
        with psycopg.connect(logins.conninfo(url), row_factory=namedtuple_row) as connection:
            connection.execute(_SNAPSHOT)
            connection.execute("set local time zone 'UTC'")
            return _export(connection, organization_id, path, below)
    except psycopg.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error


def _export(connection: psycopg.Connection[Any], organization_id: UUID, path: Path, below: bool) -> Exported:
    organizations = connection.execute(_BELOW, (organization_id, below)).fetchall()
    if not organizations:
        raise CannotStart(f"No organization has the ID {organization_id}.")
    ids = [one.id for one in organizations]
    revision = connection.execute("select version_num from schema_version").fetchone()
    with written(path) as archive:
        for name, query in contents.tables().items():
            archive.add(f"{name}.jsonl", _lines(connection, query, ids), has_rows=True)
        _add_documents(connection, archive, ids)
        manifest = ExportManifest(
            signum_version=_version(),
            revision=revision.version_num if revision else "",
            created_at=datetime.now(UTC),
            organization_id=organization_id,
            organization_name=organizations[0].name,
            organizations=ids,
            files=archive.files,
            omitted_tables=contents.OMITTED_TABLES,
            omitted_columns=contents.OMITTED_COLUMNS,
        )
        return Exported(manifest, archive.end(manifest))


def _lines(connection: psycopg.Connection[Any], query: sql.Composable, ids: list[UUID]) -> Iterator[bytes]:
    """Yield the rows of a query as lines of JSON; the server keeps the rest."""
    with connection.cursor("export") as rows:
        rows.execute(_LINES.format(query), {"ids": ids})
        while part := rows.fetchmany(PART):
            yield from (row.line.encode() + b"\n" for row in part)


def _add_documents(connection: psycopg.Connection[Any], archive: Archive, ids: list[UUID]) -> None:
    with connection.cursor("documents") as files:
        files.execute(_FILES, (ids,))
        for file in files:
            name = f"documents/{file.id}{mimetypes.guess_extension(file.media_type) or ''}"
            archive.add(name, _pieces(connection, file), has_rows=False)


def _pieces(connection: psycopg.Connection[Any], file: Any) -> Iterator[bytes]:
    """Yield the decrypted pieces of a document."""
    for number in range(file.parts):
        row = connection.execute(_PART, (file.id, number)).fetchone()
        if row is None:
            raise CannotStart(f"The document {file.id} is incomplete: piece {number} of {file.parts} is missing.")
        yield DOCUMENTS.unseal(row.sealed, place(file.organization_id, file.sha256, number, file.parts))


def _version() -> str:
    """Return Signum's version; a checkout has it in its project file."""
    try:
        return version("signum")
    except PackageNotFoundError:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        return f"{project['version']}+checkout"
