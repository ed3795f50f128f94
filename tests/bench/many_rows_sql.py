"""SQL that fills an organization with rows, a second apart. One row in 100,000 has the rare value of its filter."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import SQLModel

import backend.models  # noqa: F401  (declares the tables)

AT = "now() - n * interval '1 second'"
_ADDRESS = "'0x' || left(md5('a' || n) || md5(n::text), 40)"
_HASH = "'0x' || md5('h' || n) || md5(n::text)"
_HOLDER = "'0x' || left(md5('a' || 1 + n %% 100000) || md5((1 + n %% 100000)::text), 40)"
_LATER = "(n - 1) * %(blocks)s / %(rows)s"
"""How many blocks after the first a transfer is in, and how many seconds: the blocks are a second apart."""
_ORG, _ASSET, _MARKET = "%(org)s", "%(asset)s", "%(market)s"
EID = "40161"


def status(common: str, rare: str) -> str:
    """Return the SQL of a status that is rarely another one; never in the newest rows."""
    return f"case when n %% 100000 = 900 then '{rare}' else '{common}' end"


ONE: dict[str, dict[str, str]] = {
    "assets": {"name": "'Bench'", "symbol": "'BENCH'", "status": "'active'"},
    "markets": {"asset_id": _ASSET, "chain_eid": EID, "status": "'active'"},
    "asset_deployments": {
        "asset_id": _ASSET,
        "chain_eid": EID,
        "status": "'active'",
        "token_address": "%(token)s",
    },
}
"""Tables with a single row, and the columns whose values matter."""
MANY: dict[str, dict[str, str]] = {
    "requests": {
        "title": "'Order ' || n",
        "kind": "'order.place'",
        "scope": "'assets:write'",
        "subject_type": "'order'",
        "status": status("succeeded", "failed"),
    },
    "parties": {
        "name": "'Investor ' || n",
        "email": "'investor' || n || '@example.com'",
        "country": "'SWE'",
        "wallet_address": _ADDRESS,
        "status": status("verified", "rejected"),
    },
    "bridges": {"asset_id": _ASSET, "status": status("confirmed", "failed"), "source_tx_hash": _HASH},
    "transfers": {
        "asset_id": _ASSET,
        "to_address": _HOLDER,
        "status": status("confirmed", "failed"),
        "tx_hash": _HASH,
    },
    "orders": {"market_id": _MARKET, "maker_address": _HOLDER, "status": status("filled", "failed"), "side": "'buy'"},
    "audit_log": {
        "seq": "n - 10000000",
        "at": "now() - (%(rows)s - n) * interval '1 second'",
        "action": status("order.place", "member.remove"),
    },
    "token_transfers": {
        "asset_id": _ASSET,
        "chain_eid": EID,
        "from_address": "'0x' || repeat('0', 40)",
        "to_address": _HOLDER,
        "tx_hash": "%(org)s::text || n",
        "block_number": f"%(first)s + {_LATER}",
        "created_at": f"to_timestamp(%(began)s + {_LATER})",
    },
}
"""Tables with many rows."""
SUMS = (
    """
      insert into token_balances (organization_id, asset_id, chain_eid, address, balance)
      select organization_id, asset_id, chain_eid, address, sum(amount) from (
        select organization_id, asset_id, chain_eid, to_address as address, amount from token_transfers
        where asset_id = %(asset)s
        union all
        select organization_id, asset_id, chain_eid, from_address, -amount from token_transfers
        where asset_id = %(asset)s
      ) moved group by 1, 2, 3, 4
    """,
    """
      insert into asset_days (organization_id, asset_id, day, mints, burns, transfers, minted, burnt, holders)
      select organization_id, asset_id, current_date, 0, 0, 0, 0, 0, count(*) from token_balances
      where asset_id = %(asset)s and balance > 0 group by 1, 2
    """,
)
"""What triggers and the indexer would have added."""
CHILDREN = "update organizations set child_count = %(rows)s where id = %(org)s"
"""What a trigger would have counted."""
SUBSIDIARIES: dict[str, str] = {"parent_id": _ORG, "name": "'Subsidiary ' || n", "status": "'active'"}


def insert(table: str, columns: dict[str, str], rows: str = "%(rows)s") -> str:
    """Return the statement that inserts rows with numbers from 1. Other required columns have plain values."""
    given = {"organization_id": _ORG} | columns
    wanted = {c.name: _cell(c, given) for c in SQLModel.metadata.tables[table].columns if _is_needed(c, given)}
    names, cells = ", ".join(wanted), ", ".join(wanted.values())
    return f"insert into {table} ({names}) select {cells} from generate_series(1, {rows}) n"


def _is_needed(column: sa.Column[Any], given: dict[str, str]) -> bool:
    if column.computed is not None:
        return False
    return column.name in given or (not column.nullable and column.server_default is None)


def _cell(column: sa.Column[Any], given: dict[str, str]) -> str:
    cell = given.get(column.name)
    if cell is not None:
        return f"{cell}::uuid" if cell in (_ORG, _ASSET, _MARKET) else cell
    if column.primary_key:
        return "gen_random_uuid()"
    if isinstance(column.type, sa.Enum):
        return f"'{column.type.enums[0]}'"
    kind = column.type.impl if isinstance(column.type, sa.types.TypeDecorator) else column.type
    return next((sql for known, sql in _VALUES if isinstance(kind, known)), f"'{column.name[:8]}' || n")


_VALUES: list[tuple[type[Any], str]] = [
    (sa.DateTime, AT),
    (sa.Boolean, "false"),
    (sa.Integer, "n"),
    (sa.Numeric, "n"),
    (sa.ARRAY, "'{}'"),
    (sa.JSON, "'{}'"),
    (sa.Uuid, "gen_random_uuid()"),
]
