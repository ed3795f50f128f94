"""Columns with sealed contents, and how their rows are found and replaced."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from backend.core.encryption import HEADER_BYTES, NONCE_BYTES, Seal, header
from backend.core.secret_keys.keyring import Purpose

Found = Sequence[tuple[Any, str, Any]]
"""Rows with the id, the place of the content, and the sealed content."""
TEXT_HEADER = HEADER_BYTES // 3 * 4
START = HEADER_BYTES + NONCE_BYTES
"""Bytes with which every sealed content begins differently."""


@dataclass(frozen=True)
class Bytes:
    """A column of sealed bytes. `place` is SQL."""

    table: str
    column: str
    place: str
    id: str = "id"

    def batch(self, connection: psycopg.Connection[Any], version: int, after: Any, size: int) -> Found:
        """Return the next rows that another version has sealed, in the order of their ids."""
        query = f"""
          select t.{self.id}, {self.place}, t.{self.column} from {self.table} t
          where {self._is_other()} and (%(after)s::text is null or t.{self.id} > {self._after()})
          order by t.{self.id} limit %(size)s
        """  # noqa: S608 - all parts are written here
        return connection.execute(query, {"start": self._start(version), "after": after, "size": size}).fetchall()

    def replace(self, connection: psycopg.Connection[Any], row: Any, old: Any, new: Any) -> None:
        """Write a content, unless it has changed since it was read."""
        query = f"update {self.table} set {self.column} = %s where {self.id} = %s and {self._same()}"  # noqa: S608
        connection.execute(query, [self._stored(new), row, self._known(old)])

    def again(self, seal: Seal, sealed: Any, place: str) -> Any:
        """Return the same content sealed with the newest key. Raises CannotUnseal."""
        return seal.seal(seal.unseal(bytes(sealed), place), place)

    def _after(self) -> str:
        return "%(after)s" if self.id == "address" else "%(after)s::uuid"

    def _is_other(self) -> str:
        return f"substring(t.{self.column} from 1 for {HEADER_BYTES}) <> %(start)s"

    def _same(self) -> str:
        return f"substring({self.column} from 1 for {START}) = %s"

    def _start(self, version: int) -> Any:
        return header(version)

    def _known(self, old: Any) -> Any:
        return bytes(old)[:START]

    def _stored(self, new: Any) -> Any:
        return new


class Text(Bytes):
    """A column of sealed texts, some of which are empty or null."""

    def again(self, seal: Seal, sealed: Any, place: str) -> Any:
        """Return the same text sealed with the newest key. Raises CannotUnseal."""
        return seal.seal_text(seal.unseal_text(sealed, place), place)

    def _is_other(self) -> str:
        return f"t.{self.column} <> '' and left(t.{self.column}, {TEXT_HEADER}) <> %(start)s"

    def _same(self) -> str:
        return f"{self.column} = %s"

    def _start(self, version: int) -> Any:
        return b64encode(header(version)).decode()

    def _known(self, old: Any) -> Any:
        return old


class Replaced(Text):
    """Earlier secrets of webhook endpoints: a JSON list of `{"secret": sealed, "until": time}`."""

    def again(self, seal: Seal, sealed: Any, place: str) -> Any:
        """Return the list with every secret sealed with the newest key. Raises CannotUnseal."""
        return [one | {"secret": super(Replaced, self).again(seal, one["secret"], place)} for one in sealed]

    def _is_other(self) -> str:
        texts = f"jsonb_array_elements(t.{self.column}) s"
        return f"exists (select from {texts} where left(s ->> 'secret', {TEXT_HEADER}) <> %(start)s)"

    def _known(self, old: Any) -> Any:
        return Jsonb(old)

    def _stored(self, new: Any) -> Any:
        return Jsonb(new)


_PIECE = """(select f.organization_id || ':' || f.sha256 || ':' || t.number || ':' || f.parts
  from party_files f where f.id = t.file_id)"""
COLUMNS: Mapping[Purpose, Sequence[Bytes]] = MappingProxyType(
    {
        Purpose.WALLETS: (Bytes("wallet_keys", "sealed", "t.address", "address"),),
        Purpose.DOCUMENTS: (Bytes("party_file_parts", "sealed", _PIECE),),
        Purpose.SECRETS: (
            Text("signing_keys", "sealed", "t.kid"),
            Text("factors", "sealed", "t.id::text"),
            Text("outbox", "body", "'outbox'"),
            Text("webhook_endpoints", "secret", "t.id::text"),
            Replaced("webhook_endpoints", "old_secrets", "t.id::text"),
        ),
    }
)
"""Contents by purpose. Cookies that mark known browsers are sealed too, but not stored here."""
