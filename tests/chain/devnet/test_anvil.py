"""The embedded chains recover what they lose with kill -9."""

import os
import re
import signal
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.devnet import anvil, install
from backend.chain.indexer import indexer
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions.execution import execute, recover
from backend.core import db
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.models import TransactionRow
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers
from tests.support.server import free_port


@pytest.mark.long
async def test_killed_anvil_chain_is_restored(stage: Stage, open_rules: TokenRules) -> None:
    holder = await stage.wallet()
    await stage.attest(HOME_EID, holder)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    last = await stage.do(HOME_EID, stage.treasury, token.transfer(at, holder, 40), key="before the kill")

    kill(HOME_EID)
    anvil.revive()
    await recover([HOME_EID])

    assert await token.balance_of(HOME_EID, at, holder) == 40
    assert await token.rules(HOME_EID, at) == open_rules
    again = await execute(token.transfer(at, holder, 40).intent("before the kill", eid=HOME_EID, signer=stage.treasury))
    assert again.tx_hash == last.tx_hash
    block = await (await connect(HOME_EID)).request("eth_getBlockByNumber", hex(again.block_number), False)
    assert block["hash"] == again.block_hash
    await indexer.catch_up(HOME_EID, again.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 40]
    await stage.do(HOME_EID, stage.treasury, token.transfer(at, holder, 1))


@pytest.mark.long
async def test_anvil_chain_without_state_is_rebuilt(stage: Stage, open_rules: TokenRules) -> None:
    """Without its state file the chain starts at block 0; every stored transaction is sent to it again."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    kill(HOME_EID)
    (node_urls.ports_file(settings().home).parent / f"{HOME_EID}.json").write_text('{"cut off')
    anvil.revive()
    await recover([HOME_EID])
    rpc = await connect(HOME_EID)
    async with db.worker() as session:
        mined = sa.select(TransactionRow.tx_hash, TransactionRow.block_hash).where(
            TransactionRow.chain_eid == HOME_EID, TransactionRow.block_number.is_not(None)
        )
        rows = (await session.execute(mined)).all()
    receipts = await rpc.batch([("eth_getTransactionReceipt", [tx_hash]) for tx_hash, _ in rows])
    assert [receipt["blockHash"] for receipt in receipts] == [block_hash for _, block_hash in rows]
    assert await token.balance_of(HOME_EID, at, stage.treasury) == 100
    assert (await recover([HOME_EID]))[HOME_EID] == 0  # nothing remains to be sent


def test_older_states_do_not_fill_the_disk(chains: None, tmp_path: Path) -> None:
    """A chain of many blocks keeps a limited number of their states, each of which is as large as the chain's."""
    command, port = str(install.binary(settings().home)), free_port()
    process = anvil._launch(command, tmp_path, node_urls.EMBEDDED[HOME_EID], port)
    try:
        call = {"jsonrpc": "2.0", "id": 1, "method": "anvil_mine", "params": [hex(900)]}
        with httpx.Client(transport=httpx.HTTPTransport(retries=5), timeout=60, trust_env=False) as node:
            for _ in range(2):  # states are written when others follow
                assert node.post(f"http://127.0.0.1:{port}", json=call).status_code == 200
        states = tmp_path / f"{HOME_EID}.states"
        assert 0 < sum(path.is_file() for path in states.rglob("*")) <= anvil.STATES_ON_DISK
    finally:
        process.kill()
        process.wait()


def kill(eid: int) -> None:
    """Kill a node without a warning."""
    process = runtime.part(anvil.NodeProcesses).running[eid]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_machine_without_glibc_gets_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    for library, version in (("glibc", "2.31"), ("", ""), ("musl", "1.2")):
        monkeypatch.setattr("platform.libc_ver", lambda *_, found=(library, version): found)
        with pytest.raises(install.DevnetError, match=r"need glibc 2\.35 or newer"):
            install.package()
    monkeypatch.setattr("platform.system", lambda: "Windows")
    with pytest.raises(install.DevnetError, match="do not run on Windows"):
        install.package()


@pytest.mark.parametrize(
    ("system", "machine", "here"),
    [("Darwin", "arm64", "macOS arm64"), ("Darwin", "x86_64", "macOS x86_64"), ("Linux", "aarch64", "Linux aarch64")],
)
def test_machine_without_the_package_uses_anvil_on_the_path_or_gets_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, here: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("platform.libc_ver", lambda *_: ("glibc", "2.39"))
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(install.DevnetError) as answer:
        install.binary(tmp_path)
    assert f"for {here}. Install Foundry" in str(answer.value)
    assert "\n" not in str(answer.value)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/local/bin/{name}")
    assert install.binary(tmp_path) == Path("/usr/local/bin/anvil")
    assert list(tmp_path.iterdir()) == []


def test_lock_file_covers_every_installed_package() -> None:
    lock = (install.MANIFEST / "bun.lock").read_text()
    assert set(re.findall(r'"@foundry-rs/(anvil-[a-z0-9-]+)@', lock)) == set(install.PACKAGES.values())
    assert lock.count('"sha512-') == len(install.PACKAGES)
