"""A firm with an asset whose evidence the tests read."""

import io
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.client import SignumClient
from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import World
from tests.support.issuance import HYPEREVM, SEPOLIA, UNIT, Issuance


@pytest_asyncio.fixture(scope="module")
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: an archive is not JSON."""
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=f"{settings().origin}/v1") as client:
        yield client


class Ground:
    """A firm with an asset on a chain, its rules changed once, and an investor who holds some of it."""

    def __init__(self, firm: Issuance, asset: Any, wallet: Any, attestation: Any) -> None:
        self.firm, self.asset, self.wallet, self.attestation = firm, asset, wallet, attestation
        self.path = f"{firm.base}/assets/{asset['id']}/evidence"


@pytest_asyncio.fixture(scope="module")
async def ground(api: Any, client: SignumClient) -> Ground:
    """Created once."""
    firm = await Issuance.ready(World(client), SEPOLIA, HYPEREVM)
    asset = await firm.asset(initial_supply=str(100 * UNIT))
    wallet = await firm.post("/wallets", {"label": "Investor"})
    attestation = await firm.attest(await firm.verified(wallet["address"]))
    treasury = next(w for w in (await firm.get("/wallets"))["wallets"] if w["is_default"])
    body = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"],
        "to_address": wallet["address"], "amount": str(7 * UNIT),
    }  # fmt: skip
    await firm.succeed((await firm.post("/transfers", body))["requestId"])
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"max_holders": 9}))["requestId"])
    await indexer.catch_up(SEPOLIA, await (await connect(SEPOLIA)).height())
    return Ground(firm, asset, wallet, attestation)


async def archive(http: httpx.AsyncClient, ground: Ground, headers: Any = None, **params: Any) -> zipfile.ZipFile:
    answer = await http.get(ground.path, headers=headers or ground.firm.key, params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="{ground.asset["symbol"]}-evidence-')
    return zipfile.ZipFile(io.BytesIO(answer.content))
