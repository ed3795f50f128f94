"""What an export contains: every table with an `organization_id`, without the tables and columns listed here."""

import sqlalchemy as sa
from psycopg import sql
from sqlmodel import SQLModel

from backend import models

assert models, "the metadata has every table"
OWNER = "organization_id"
OMITTED_TABLES = {
    "form_drafts": "Drafts of one person; colleagues do not see them.",
    "party_file_parts": "Encrypted pieces of documents; the folder documents has their contents.",
    "saved_views": "Views of one person; colleagues do not see them.",
    "sessions": "Sessions of people and applications.",
}
OMITTED_COLUMNS = {
    "api_keys.key_hash": "Hash of a secret.",
    "invitations.token_hash": "Hash of a secret.",
    "oauth_clients.secret_hash": "Hash of a secret.",
    "outbox.body": "Encrypted text of an email; its links are secrets.",
    "outbox.opens": "Hash of a secret.",
    "transactions.raw": "Signed bytes, which anyone can send.",
    "wallets.key_ref": "Reference to a key.",
    "webhook_endpoints.old_secrets": "Encrypted secrets.",
    "webhook_endpoints.secret": "Encrypted secret.",
}
ORGANIZATIONS = sql.SQL("select * from organizations where id = any(%(ids)s) order by id")
PEOPLE = sql.SQL("""
  select u.id, coalesce(u.display_name, case when m.user_id is not null then u.email end) as display_name,
    case when m.user_id is not null then u.email end as email
  from users u
  left join (select distinct user_id from members where organization_id = any(%(ids)s) and status = 'active') m
    on m.user_id = u.id
  where not u.is_placeholder and (m.user_id is not null or exists (
    select from audit_log l where l.organization_id = any(%(ids)s) and l.actor = u.id)) order by u.id
""")
"""Members, and others who changed something; of those only the name, as in the audit log."""


def tables() -> dict[str, sql.Composable]:
    """Return the queries of an export by the name of their file. Their parameter `ids` has the organizations."""
    found: dict[str, sql.Composable] = {"organizations": ORGANIZATIONS, "people": PEOPLE}
    for name, table in sorted(SQLModel.metadata.tables.items()):
        if OWNER in table.c and name not in OMITTED_TABLES:
            found[name] = _query(table)
    return found


def _query(table: sa.Table) -> sql.Composable:
    shown = [_value(column) for column in table.c if f"{table.name}.{column.name}" not in OMITTED_COLUMNS]
    key = [sql.Identifier(column.name) for column in table.primary_key]
    return sql.SQL("select {} from {} where organization_id = any(%(ids)s) order by {}").format(
        sql.SQL(", ").join(shown), sql.Identifier(table.name), sql.SQL(", ").join(key)
    )


def _value(column: "sa.Column[object]") -> sql.Composable:
    """Return a column as JSON can have it: amounts as text, because they exceed 2^53, and bytes as base64."""
    name, kind = sql.Identifier(column.name), column.type
    if isinstance(kind, sa.TypeDecorator):
        kind = kind.impl_instance
    if isinstance(kind, sa.Numeric):
        return sql.SQL("{0}::text as {0}").format(name)
    if isinstance(kind, sa.LargeBinary):
        return sql.SQL("encode({0}, 'base64') as {0}").format(name)
    return name
