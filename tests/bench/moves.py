"""`move_100k`: moving an organization with 100,000 below it, beside one with none, and beside django-treebeard.

django-treebeard (its materialized path) moves a node with as many descendants in a table of the same PostgreSQL.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.numeric import Int4
from sqlalchemy.engine import make_url

from backend.client import SignumClient
from tests.bench import in_process
from tests.bench import many_rows_sql as sql
from tests.conftest import Actor, World

BELOW = int(os.environ.get("BENCH_BELOW", "100000"))
WIDE = 300
"""Organizations directly below one."""
ROUNDS = 9
PEER = ("django==5.2.19", "django-treebeard==7.0.3", "psycopg[binary]==3.3.9")
DATABASE = "treebeard"
_WIDE = sql.insert("organizations", {**sql.SUBSIDIARIES, "child_count": "%(each)s"}, "%(wide)s")
_PARENTS = "select id from organizations where parent_id = %(org)s"
_DEEP = sql.insert(
    "organizations",
    {
        **sql.SUBSIDIARIES,
        "parent_id": "(array(select id from organizations where parent_id = %(org)s))[1 + n %% %(wide)s]",
    },
    "%(each)s * %(wide)s",
)
_COUNTED = "update organizations set child_count = %(wide)s where id = %(org)s"


def measure() -> list[dict[str, Any]]:
    """Return the row, in milliseconds for a move."""
    return in_process.run(_measured)


async def _measured(url: str) -> list[dict[str, Any]]:
    async with in_process.api() as transport:
        world = World(SignumClient(transport=transport))
        group = await world.organization()
        admin = await world.person(group)
        homes = [await _below(admin, group, name) for name in ("First", "Second")]
        large, leaf = [await _below(admin, homes[0], name) for name in ("Large", "Leaf")]
        values = {"org": large, "wide": Int4(WIDE), "each": Int4(BELOW // WIDE), "below": Int4(BELOW)}
        async with await psycopg.AsyncConnection.connect(url.replace("+psycopg", ""), autocommit=True) as owner:
            await owner.execute("set session_replication_role = replica")
            for statement in (_WIDE, _DEEP, _COUNTED):
                await owner.execute(statement.encode(), values)
            await owner.execute("analyze")
        took: dict[UUID, list[float]] = {large: [], leaf: []}
        for number in range(ROUNDS + 1):
            there, then = homes[number % 2], homes[(number + 1) % 2]
            for moved, times in took.items():
                began = time.perf_counter()
                body = {"newParentId": str(then)}
                await admin.call("POST", f"/orgs/{there}/sub-orgs/{moved}/move", json=body)
                if number:
                    times.append((time.perf_counter() - began) * 1000)
    value, floor = (statistics.median(times) for times in took.values())
    peer = _peer(url)
    row = {
        "name": "move_100k",
        "value": round(value, 2),
        "unit": "ms",
        "floor": round(floor, 2),
        "peer": round(peer, 2),
    }
    row |= {"ratio_floor": round(value / floor, 2), "ratio_peer": round(peer / value, 2), "below": BELOW}
    print(  # noqa: T201
        f"move_100k {value:10.2f} ms   {row['ratio_floor']} x a leaf; django-treebeard {peer:.0f} ms, "
        f"{row['ratio_peer']} times as long"
    )
    return [row]


async def _below(admin: Actor, parent: UUID, name: str) -> UUID:
    made = await admin.call("POST", f"/orgs/{parent}/sub-orgs", json={"name": name})
    return UUID(made["id"])


def _peer(url: str) -> float:
    """Return the milliseconds that django-treebeard takes for the same move."""
    at = make_url(url)
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute(f"create database {DATABASE}".encode())
    with tempfile.TemporaryDirectory(prefix="signum-bench-") as folder:
        uv = Path(sys.executable).with_name("uv")
        install = [str(uv), "pip", "install", "--quiet", "--target", folder, *PEER]
        subprocess.run(install, check=True)
        script = [sys.executable, str(Path(__file__).with_name("treebeard_peer.py"))]
        told = {"PYTHONPATH": folder, "PEER_HOST": str(at.query["host"]), "PEER_USER": str(at.username or "")}
        told |= {
            "PEER_DATABASE": DATABASE,
            "PEER_BELOW": str(BELOW),
            "PEER_WIDE": str(WIDE),
            "PEER_ROUNDS": str(ROUNDS),
        }
        return float(
            subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | told).stdout
        )
