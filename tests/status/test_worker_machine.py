"""A worker on a machine of its own, where no server has prepared the data folder."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.chain.rpc import node_urls
from backend.core.settings import settings
from tests.support.firm import BASE
from tests.support.server import free_port

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.long
async def test_worker_without_a_data_folder_becomes_ready(api: Any, database_url: str, tmp_path: Path) -> None:
    home, port = tmp_path / "worker", free_port()
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "SIGNUM_HOME": str(home),
        "SIGNUM_SECRET_KEY": (settings().home / "secret.key").read_text().strip(),
        "SIGNUM_RPC_URLS": json.dumps({BASE: node_urls.urls_of(BASE)}),
        "SIGNUM_WORKER_CHAINS": f"[{BASE}]",
        "SIGNUM_WORKER_HEALTH_PORT": str(port),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "backend.cli", "worker", env=environment, cwd=CHECKOUT
    )
    try:
        transport = httpx.AsyncHTTPTransport(retries=9)
        async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=30) as client:
            ready = await client.get(f"http://127.0.0.1:{port}/v1/ready")
        assert (ready.status_code, ready.json()["faults"]) == (200, [])
        assert home.stat().st_mode & 0o777 == 0o700
    finally:
        process.terminate()
        await process.wait()
