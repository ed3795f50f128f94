"""The node check, against node pools that behave as public RPC URLs do."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from backend.chain.devnet.install import binary
from backend.chain.node_check.lines import Level, Site
from backend.chain.node_check.service import check
from backend.chain.node_check.verdict import Verdict
from backend.chain.rpc.terms import DEFAULTS
from tests.conftest import HOME
from tests.support.node_pool.options import Batches, PoolOptions
from tests.support.node_pool.pool import NodePool
from tests.support.scratch import scratch
from tests.support.server import free_port

HYPER = 30367
BASE = 30184
CHAIN_ID = 1_340_998


@pytest.fixture(scope="module")
def anvil() -> Iterator[str]:
    """A chain of this module, 1,100 blocks long; its URL."""
    port = free_port()
    words = ["--port", str(port), "--chain-id", str(CHAIN_ID), "--accounts", "1", "--silent"]
    process = subprocess.Popen([str(binary(HOME)), *words, "--cache-path", str(scratch("anvil"))])
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=50), trust_env=False, timeout=60) as client:
            body = {"jsonrpc": "2.0", "id": 1, "method": "anvil_mine", "params": [hex(1_100)]}
            client.post(f"http://127.0.0.1:{port}", json=body).raise_for_status()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@asynccontextmanager
async def pooled(anvil: str, **options: Any) -> AsyncIterator[NodePool]:
    """A separate pool in front of the chain."""
    pool = NodePool(anvil, PoolOptions(**options))
    await pool.start()
    await pool.mine()
    try:
        yield pool
    finally:
        await pool.stop()


async def verdict_on(anvil: str, eid: int = BASE, chain_id: int = CHAIN_ID, **options: Any) -> Verdict:
    """Return the verdict on a pool with some options, for a chain's default terms."""
    async with pooled(anvil, **options) as pool:
        report = await check(Site(eid, chain_id, replace(DEFAULTS[eid])), "Chain", [pool.url])
    (verdict,) = report.verdicts
    return verdict


def limits(verdict: Verdict) -> dict[str, str]:
    """Return the lines that are not ok, by their names."""
    return {line.name: line.found for line in verdict.lines if line.level is not Level.OK}


@pytest.mark.long
async def test_healthy_node_passes_every_probe(anvil: str) -> None:
    verdict = await verdict_on(anvil)
    assert (verdict.summary, limits(verdict), verdict.settings) == ("Good enough.", {}, {})
    found = {line.name: line.found for line in verdict.lines}
    assert found["Log range"] == "1,000 blocks in one eth_getLogs; more were not tried."
    assert found["Older blocks"] == "State can be read at every block (archive)."
    assert found["Batches"] == "20 calls in one batch."
    assert found["Finalized tag"] == "12 blocks behind the newest."
    assert found["Safe tag"] == "6 blocks behind the newest."


async def test_node_like_hyperevm_is_good_enough_for_hyperevm(anvil: str) -> None:
    response = {"history": 0, "log_range": 50, "safe": 0, "final": 0}
    verdict = await verdict_on(anvil, HYPER, **response, missing=frozenset({"eth_feeHistory"}))
    assert (verdict.is_good_enough, verdict.settings) == (True, {})
    assert limits(verdict) == {"Older blocks": "State can be read only at the newest block."}


async def test_node_like_hyperevm_without_batches_is_not_good_enough(anvil: str) -> None:
    verdict = await verdict_on(anvil, HYPER, history=0, log_range=50, batches=Batches.HTTP_400)
    assert not verdict.is_good_enough
    assert limits(verdict)["Batches"] == "Refused."


@pytest.mark.parametrize("batches", [Batches.HTTP_400, Batches.ERROR_OBJECT, Batches.ERROR_LIST])
async def test_refused_batches_are_found_in_every_form(anvil: str, batches: Batches) -> None:
    verdict = await verdict_on(anvil, batches=batches)
    assert (verdict.is_good_enough, verdict.settings) == (True, {"batch": 1})


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({"log_range": 5}, {"log_range": 5}),
        ({"log_range": 700}, {"log_range": 500}),
        ({"most_calls": 12}, {"batch": 10}),
        ({"history": 128}, {"history": 120}),
        ({"safe": None, "final": None}, {"safe": 600, "final": 600}),
    ],
)
async def test_limits_are_measured_and_settings_fit_them(
    anvil: str, options: dict[str, Any], settings: dict[str, Any]
) -> None:
    verdict = await verdict_on(anvil, **options)
    assert (verdict.is_good_enough, verdict.settings) == (True, settings)


async def test_pool_is_detected_by_decreasing_heights(anvil: str) -> None:
    verdict = await verdict_on(anvil, lags=(0, 8, 15), refuses_logs_beyond_head=True)
    assert verdict.is_good_enough
    assert limits(verdict) == {"Machines": "A pool of machines, 15 blocks apart in 20 requests."}


async def test_syncing_machine_is_reported(anvil: str) -> None:
    verdict = await verdict_on(anvil, machines=2, syncing_at=3)
    assert not verdict.is_good_enough
    assert "blocks apart in 20 requests" in limits(verdict)["Machines"]


async def test_rate_limit_is_waited_for_and_reported(anvil: str) -> None:
    verdict = await verdict_on(anvil, rate_limited=0.1, seed=3)
    assert verdict.is_good_enough
    assert limits(verdict).keys() == {"Rate limit"}


@pytest.mark.parametrize(
    ("missing", "name"),
    [
        ("eth_sendRawTransaction", "Sending"),
        ("eth_estimateGas", "Gas estimates"),
        ("eth_getTransactionReceipt", "Receipts"),
        ("eth_getLogs", "Log range"),
    ],
)
async def test_missing_method_is_reported(anvil: str, missing: str, name: str) -> None:
    verdict = await verdict_on(anvil, missing=frozenset({missing}))
    assert not verdict.is_good_enough
    assert name in limits(verdict)


async def test_node_of_another_chain_is_reported(anvil: str) -> None:
    verdict = await verdict_on(anvil, chain_id=1)
    assert limits(verdict)["Chain ID"] == f"The chain ID is {CHAIN_ID}, but the chain {BASE} has 1."


async def test_gateway_that_always_fails_is_reported_as_silent(anvil: str) -> None:
    verdict = await verdict_on(anvil, gateway_errors=1.0)
    assert (verdict.answers, verdict.summary) == (False, "The node does not answer: HTTP status 502, not JSON-RPC.")


def command(*arguments: str) -> tuple[int, str]:
    """Run `signum chain check` as a process, without a database; return its exit code and output."""
    run = [sys.executable, "-m", "backend.cli", "chain", "check", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_command_prints_the_host_of_a_url_without_its_key() -> None:
    url = f"http://user:pa55@127.0.0.1:{free_port()}/v2/5ecret?key=s3cret"
    for more in ((), ("--json",)):
        code, response = command("--eid", "40161", "--url", url, *more)
        assert code == 2
        assert "127.0.0.1" in response
        assert not any(secret in response for secret in ("5ecret", "s3cret", "pa55"))


@pytest.mark.long
def test_command_checks_a_url_for_the_public_chain(anvil: str) -> None:
    code, response = command("--eid", "40161", "--url", anvil, "--json")
    (node,) = json.loads(response)["nodes"]
    assert code == 1
    assert node["lines"][0]["found"] == f"The chain ID is {CHAIN_ID}, but the chain 40161 has 11155111."
    code, response = command("--eid", "40161", "--url", anvil)
    assert code == 1
    assert response.startswith("Sepolia (40161). Requests succeed when their transactions have 2 confirmations")
    assert "SIGNUM_CHAIN_TERMS" not in response or '\'{"40161":' in response


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eid", "7"), "The chain list has no EVM chain with the endpoint ID 7."),
        (("--eid", "40168"), "The chain list has no EVM chain with the endpoint ID 40168."),
        (("--eid", "30101"), "SIGNUM_RPC_URLS has no node for Ethereum. Name one with --url."),
        (("--eid", "30101", "--url", "ftp://x"), "--url needs a URL that begins with http:// or https://."),
    ],
)
def test_command_reports_what_it_cannot_check(arguments: tuple[str, ...], words: str) -> None:
    code, response = command(*arguments)
    assert (code, words in response) == (1, True)
