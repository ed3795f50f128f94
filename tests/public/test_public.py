"""`signum serve` on a public network, configured by settings alone."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from backend.assets import gas
from backend.auth.scopes import Scope
from backend.client import ApiProblem, SignumClient
from tests.conftest import HOME, PASSWORD
from tests.public.network import Executor, PublicChain, public_network
from tests.server.test_serve import CHECKOUT, Serve

UNIT = 10**18
PROTOCOL = "0x" + "ab" * 20
Network = tuple[PublicChain, PublicChain, Executor]


@pytest.fixture
def network() -> Iterator[Network]:
    with public_network() as made:
        yield made


class Operator:
    """The operator of the installation, and its first admin."""

    def __init__(self, serve: Serve, client: SignumClient, token: str, organization: str) -> None:
        self.serve, self._client, self._token = serve, client, token
        self._key: dict[str, str] = {}
        self.base = f"/orgs/{organization}"

    @classmethod
    async def begins(cls, serve: Serve, client: SignumClient) -> "Operator":
        """After the first start."""
        await asyncio.to_thread(bootstrap, serve)
        tokens = await client.sign_in("ada@example.com", PASSWORD)
        mine = await client.call("GET", "/orgs", token=tokens.access_token)
        operator = cls(serve, client, tokens.access_token, mine["organizations"][0]["id"])
        made = await operator.post("/api-keys", {"name": "Tests", "scopes": list(Scope)})
        operator._key = {"x-api-key": made["key"]}
        return operator

    async def get(self, path: str) -> Any:
        return await self.call("GET", f"{self.base}{path}")

    async def post(self, path: str, body: Any = None) -> Any:
        return await self.call("POST", f"{self.base}{path}", body)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        return await self._client.call(method, path, json=body, token=self._token, headers=self._key)

    async def chain(self, chain: PublicChain) -> Any:
        return next(c for c in (await self.get("/chains"))["chains"] if c["xchain_eid"] == chain.eid)

    async def done(self, request_id: str) -> None:
        async def is_final() -> bool:
            request = await self.get(f"/requests/{request_id}")
            assert request["status"] not in ("failed", "denied"), request["problem"]
            return bool(request["status"] == "succeeded")

        await until(is_final, 120)


def bootstrap(serve: Serve) -> None:
    """The first organization and its admin."""
    words = ["--organization", "Acme", "--email", "ada@example.com", "--name", "Ada", "--password", PASSWORD]
    command = [sys.executable, "-m", "backend.cli", "bootstrap", *words]
    subprocess.run(command, cwd=CHECKOUT, env=serve.environment, check=True, capture_output=True, timeout=60)


DVNS = [f"0x{number:040x}" for number in (0xB, 0xA)]
"""In descending order: the libraries require another one."""


def path_settings(confirmations: int) -> dict[str, Any]:
    """A path that two DVNs verify."""
    end = {"required_dvns": DVNS}
    return {"send": end, "receive": end, "confirmations": confirmations, "enforced_gas": 310_000}


def settings_of(sepolia: PublicChain, base: PublicChain) -> dict[str, str]:
    """An operator's settings, without others. The contracts of both chains have the same addresses."""
    eids = (str(sepolia.eid), str(base.eid))
    return {
        "SIGNUM_RPC_URLS": json.dumps({eids[0]: sepolia.url, eids[1]: base.url}),
        "SIGNUM_ENDPOINTS": json.dumps(dict.fromkeys(eids, sepolia.endpoint)),
        "SIGNUM_QUOTE_TOKENS": json.dumps(dict.fromkeys(eids, sepolia.currency)),
        "SIGNUM_CONFIRMATIONS": json.dumps({eids[0]: 0, eids[1]: 1}),
        "SIGNUM_BRIDGE_PATHS": json.dumps({eids[0]: {eids[1]: path_settings(7)}, eids[1]: {eids[0]: path_settings(9)}}),
        "SIGNUM_PROTOCOL_SHARE_BPS": "2500",
        "SIGNUM_PROTOCOL_WALLET": PROTOCOL,
        "SIGNUM_DEMO": "1",
    }


@pytest.mark.long
async def test_new_installation_reaches_a_market_over_a_bridge(network: Network) -> None:
    sepolia, base, executor = network
    # Not below pytest's own folder, which a second session closes to the database's user.
    serve = Serve(HOME / "public", **settings_of(sepolia, base))
    try:
        serve.wait(lambda: serve.get("/v1/ready").status_code == 200, 300)
        client = SignumClient(f"http://127.0.0.1:{serve.port}")
        operator = await Operator.begins(serve, client)
        await check_chains_become_ready(operator, sepolia, base)
        executor.start()
        asset = await issue_asset(operator, sepolia, base)
        await check_market_follows_its_bridge(operator, asset, sepolia, base)
        assert executor.tried == [True]
        await check_path_settings(operator, asset, sepolia, base)
        await check_refused_packet_is_delivered_later(operator, asset, base)
        assert executor.tried == [True, False]
        await client.close()
    finally:
        serve.process.terminate()
        print(serve.process.communicate(timeout=60)[0])  # noqa: T201  (shown where the test fails)


async def check_chains_become_ready(operator: Operator, sepolia: PublicChain, base: PublicChain) -> None:
    before = {chain.eid: await seen(operator, chain, "missing") for chain in (sepolia, base)}
    assert "needs about 0.0" in before[sepolia.eid]
    assert " ETH on Sepolia to deploy Signum's contracts (" in before[sepolia.eid]
    assert before[base.eid] == f"The node of the chain {base.eid} does not answer."
    with pytest.raises(ApiProblem) as refused:
        await operator.post(f"/chains/{(await operator.chain(sepolia))['id']}/enable")
    assert refused.value.status == 409
    assert before[sepolia.eid] in refused.value.detail

    agent = before[sepolia.eid].split()[2]
    sepolia.give(agent)
    await deployed(operator, sepolia)
    assert not (await operator.chain(base))["is_signum_deployed"]
    base.start()
    assert (base.endpoint, base.currency) == (sepolia.endpoint, sepolia.currency)
    base.give(agent)
    await deployed(operator, base)
    for chain in (sepolia, base):
        shown = await operator.chain(chain)
        assert (shown["missing"], shown["environment"]) == (None, "testnet")
        assert (shown["endpoint_address"], shown["quote_token_address"]) == (chain.endpoint, chain.currency)
        assert (shown["quote_symbol"], shown["quote_decimals"]) == ("tUSD", 6)
        assert protocol_of(chain, shown["market_factory_address"]) == (PROTOCOL, 2_500)


async def seen(operator: Operator, chain: PublicChain, name: str) -> Any:
    async def is_there() -> bool:
        return bool((await operator.chain(chain))[name])

    await until(is_there, 60)
    return (await operator.chain(chain))[name]


async def deployed(operator: Operator, chain: PublicChain) -> None:
    assert await seen(operator, chain, "is_signum_deployed")
    assert (await operator.post(f"/chains/{(await operator.chain(chain))['id']}/enable"))["enabled"]


def protocol_of(chain: PublicChain, factory: str) -> tuple[str, int]:
    from backend.chain.abi.codec import contract

    read = contract("MarketFactory")

    def response(function: str) -> Any:
        return read.answer(function, chain.rpc("eth_call", {"to": factory, "data": read.data(function)}, "latest"))

    return response("protocolWallet").lower(), response("protocolFeeBps")


async def issue_asset(operator: Operator, sepolia: PublicChain, base: PublicChain) -> Any:
    treasury = await operator.post("/wallets", {"label": "Treasury"})
    for chain in (sepolia, base):
        chain.give(treasury["address"])
    await operator.post("/issuer/register", {})
    await operator.done((await operator.get("/issuer"))["request_id"])
    body = {"name": "Harbour Fund", "symbol": "HARB", "chain_eid": sepolia.eid, "initial_supply": str(1_000 * UNIT)}
    accepted = await operator.post("/assets", body)
    await operator.done(accepted["requestId"])
    asset = await operator.get(f"/assets/{accepted['assetId']}")
    assert (asset["status"], asset["total_supply"]) == ("active", str(1_000 * UNIT))
    return asset


async def check_market_follows_its_bridge(
    operator: Operator, asset: Any, sepolia: PublicChain, base: PublicChain
) -> None:
    path = f"/assets/{asset['id']}/markets"
    factory = (await operator.chain(base))["market_factory_address"]
    body = {"chain_eid": base.eid, "market_factory_address": factory}
    plan = await operator.post(f"{path}?dry_run=true", body)
    (packet,) = [step for step in plan["steps"] if step["name"] == "bridge_submitting"]
    assert packet["gas_estimate"] == gas.PUBLIC_PACKET
    # A gwei for each gas of the delivery, plus 10 % in case the price rises.
    assert "its delivery costs up to 0.0005" in packet["detail"]
    accepted = await operator.post(path, body)
    await operator.done(accepted["requestId"])
    market = await operator.get(f"{path}/{accepted['marketId']}")
    assert (market["status"], market["quote_token_address"]) == ("active", base.currency)
    bridge = await operator.get(f"/bridges/{market['bridge_id']}")
    assert bridge["status"] == "confirmed"
    assert base.sender_of(bridge["destination_tx_hash"]) == base.outsider, (
        "the executor delivered it, and Signum detected that"
    )


async def check_path_settings(operator: Operator, asset: Any, sepolia: PublicChain, base: PublicChain) -> None:
    deployments = (await operator.get(f"/assets/{asset['id']}"))["deployments"]
    tokens = {d["chain_eid"]: d["token_address"] for d in deployments}
    for chain, other, out, into in ((sepolia, base, 7, 9), (base, sepolia, 9, 7)):
        (path,) = (await operator.chain(chain))["paths"]
        assert (path["destination_chain_eid"], path["is_allowed"]) == (other.eid, True)
        assert path["summary"] == f"2 required DVNs verify each packet after {out} confirmations."
        (token,) = path["tokens"]
        assert (token["token_address"], token["agrees"]) == (tokens[chain.eid], True)
        assert [dvn.lower() for dvn in token["sends"]["required_dvns"]] == DVNS[::-1]
        assert (token["sends"]["confirmations"], token["receives"]["confirmations"]) == (out, into)
        assert not token["sends"]["is_default_library"]
        assert chain.config_of(token["token_address"], other.eid) == (out, [0xA, 0xB])
        assert token["sends"]["enforced_options"].endswith(f"{310_000:x}")


async def check_refused_packet_is_delivered_later(operator: Operator, asset: Any, base: PublicChain) -> None:
    """The executor tries once. A packet refused for lack of an attestation is delivered by the operator once there is
    one."""
    wallet = await operator.post("/wallets", {"label": "Investor"})
    party = await verified_party(operator, wallet["address"])
    await operator.done((await operator.post("/attestations", attestation(party, 40161)))["requestId"])
    body = {"destination_chain_eid": base.eid, "amount": str(10 * UNIT), "to_address": wallet["address"]}
    accepted = await operator.post(f"/assets/{asset['id']}/bridge", body)
    path = f"/bridges/{accepted['bridgeId']}"

    async def is_refused() -> bool:
        return bool((await operator.get(path))["failure"] == "The receiver has no valid attestation.")

    await until(is_refused, 60)
    await operator.done((await operator.post("/attestations", attestation(party, base.eid)))["requestId"])
    await operator.done(accepted["requestId"])
    bridge = await operator.get(path)
    assert (bridge["status"], bridge["failure"]) == ("confirmed", None)
    assert base.sender_of(bridge["destination_tx_hash"]) not in (base.outsider, wallet["address"])
    supplies = {d["chain_eid"]: d["supply"] for d in (await operator.get(f"/assets/{asset['id']}"))["deployments"]}
    assert supplies == {40161: str(990 * UNIT), base.eid: str(10 * UNIT)}


async def verified_party(operator: Operator, address: str) -> Any:
    organization = operator.base.removeprefix("/orgs/")
    known = {"organization_id": organization, "name": "Marta Lindqvist", "country": "SWE", "wallet_address": address}
    party = await operator.call("POST", "/identity/parties", known)
    verdict = {"kyc_level": 2, "accredited": True}
    return await operator.call("POST", f"/identity/parties/{party['id']}/verify", verdict)


def attestation(party: Any, eid: int) -> dict[str, Any]:
    return {"party_id": party["id"], "chain_eid": eid}


async def until(done: Callable[[], Awaitable[bool]], seconds: float) -> None:
    """Poll until the condition is true."""
    async with asyncio.timeout(seconds):
        while not await done():  # noqa: ASYNC110  (another process does it)
            await asyncio.sleep(0.1)
