"""Waiting for requests, on the real API and chains."""

from uuid import uuid4

import pytest

from backend.assets.schemas import AssetCreate
from backend.client import ApiProblem, SignumClient
from backend.requests.schemas import RequestStatus
from backend.server.runtime import local_transport
from backend.transfers.schemas import TransferCreate
from tests.conftest import PASSWORD, World
from tests.support.firm import SEPOLIA, Firm


@pytest.fixture
async def firm(world: World) -> Firm:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    return firm


@pytest.mark.long
async def test_person_signs_in_and_follows_a_request(firm: Firm, api: object) -> None:
    async with SignumClient(transport=local_transport(api)) as client:
        tokens = await client.sign_in(firm.admin.email, PASSWORD)
        assert tokens.user.email == firm.admin.email
        accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        seen = [request.status async for request in client.watch(accepted.request_id)]
        assert seen[-1] is RequestStatus.SUCCEEDED
        assert (await client.wait_for(accepted.request_id)).status is RequestStatus.SUCCEEDED
        assert [r.id async for r in client.list_requests(firm.id, status=RequestStatus.SUCCEEDED)] != []


@pytest.mark.long
async def test_failed_request_raises_its_problem(firm: Firm, api: object) -> None:
    async with SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api)) as client:
        body = AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA, initial_supply="1000")
        asset = await client.create_asset(firm.id, body)
        await client.wait_for(asset.request_id)
        [wallet] = [w async for w in client.list_wallets(firm.id)]
        stranger = "0x" + "ab" * 20
        try:
            sent = await client.create_transfer(
                firm.id,
                TransferCreate(
                    asset_id=asset.assetId,
                    chain_eid=SEPOLIA,
                    from_wallet_id=wallet.id,
                    to_address=stranger,
                    amount="5",
                ),
            )
        except ApiProblem as problem:
            answer = problem
        else:
            with pytest.raises(ApiProblem) as raised:
                await client.wait_for(sent.request_id)
            answer = raised.value
        assert answer.status == 409
        assert answer.rules or answer.detail


async def test_request_of_another_client_is_found_by_its_organization(firm: Firm, api: object) -> None:
    async with SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api)) as client:
        with pytest.raises(ValueError, match="org_id"):
            await client.wait_for(uuid4())
        accepted = await firm.post("/assets", {"name": "Bond", "symbol": "BND", "chain_eid": SEPOLIA})
        done = await client.wait_for(accepted["requestId"], org_id=firm.id)
        assert str(done.subject.id) == accepted["assetId"]


async def test_wait_times_out_and_the_request_continues(firm: Firm, api: object) -> None:
    async with SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api)) as client:
        accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        with pytest.raises(TimeoutError):
            await client.wait_for(accepted.request_id, timeout=0)
        await client.wait_for(accepted.request_id)
