"""Invalid settings of public chains: a line for each, before anything starts."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from backend.chain import chain_list
from backend.chains import chain_settings
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from tests.server.test_serve import signum

GOOD = "0x6EDCE65403992e310A62460808c4b910D972f10f"
RPC = {40161: ["https://rpc.example"]}


@pytest.mark.long
def test_setting_errors_have_one_line_each(tmp_path: Path) -> None:
    done = signum(
        SIGNUM_HOME=str(tmp_path),
        SIGNUM_RPC_URLS=json.dumps({"40161": "https://rpc.example", "30168": "https://sol.example", "7": "https://x"}),
        SIGNUM_ENDPOINTS=json.dumps({"40245": GOOD}),
        SIGNUM_QUOTE_TOKENS=json.dumps({"40161": GOOD, "40102": GOOD}),
        SIGNUM_CONFIRMATIONS=json.dumps({"40106": 3}),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "signum: SIGNUM_RPC_URLS names 7, which is not an endpoint ID of an EVM chain in the chain list.",
        "signum: SIGNUM_RPC_URLS names 30168, which is not an endpoint ID of an EVM chain in the chain list.",
        "signum: SIGNUM_ENDPOINTS names the chain 40245, but SIGNUM_RPC_URLS has no node for it.",
        "signum: SIGNUM_QUOTE_TOKENS names the chain 40102, but SIGNUM_RPC_URLS has no node for it.",
        "signum: SIGNUM_CONFIRMATIONS names the chain 40106, but SIGNUM_RPC_URLS has no node for it.",
    ]
    chain_settings.check(Settings(rpc_urls=RPC, endpoints={40161: GOOD}, confirmations={40161: 0}))


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("endpoints", {40161: "0x12"}, "the chain 40161 has an address that is not an EVM address"),
        ("quote_tokens", {40161: GOOD.replace("E", "e")}, "wrong checksum"),
        ("endpoints", {40161: "0x" + "0" * 40}, "not all of them 0"),
        ("protocol_wallet", "ada.eth", "the address is not an EVM address"),
        ("confirmations", {40161: -1}, "cannot wait for -1 blocks"),
    ],
)
def test_invalid_addresses_and_depths_in_settings_are_rejected(setting: str, value: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Settings(**{"rpc_urls": RPC, setting: value})


DVNS = ["0x" + "a1" * 20, "0x" + "b2" * 20]
PATH: dict[str, Any] = {"send": {"required_dvns": DVNS}, "receive": {"required_dvns": DVNS}, "confirmations": 15}


def test_bridge_path_between_unsupported_chains_is_reported() -> None:
    paths = {30101: {30184: PATH, 40161: PATH, 30101: PATH, 7: PATH}, 30184: {30101: PATH}}
    with pytest.raises(CannotStart) as refused:
        chain_settings.check(Settings(rpc_urls={30101: ["https://rpc.example"]}, bridge_paths=paths))
    assert str(refused.value).splitlines() == [
        "SIGNUM_BRIDGE_PATHS names a path from 30101 to 7; 7 is not an endpoint ID of an EVM chain in the chain list.",
        "SIGNUM_BRIDGE_PATHS names a path from 30101 to 30101; a path must lead to another chain.",
        "SIGNUM_BRIDGE_PATHS names a path from 30101 to 30184; SIGNUM_RPC_URLS has no node for 30184.",
        "SIGNUM_BRIDGE_PATHS names a path from 30101 to 40161; one chain is a mainnet and the other a testnet.",
        "SIGNUM_BRIDGE_PATHS names a path from 30184 to 30101; SIGNUM_RPC_URLS has no node for 30184.",
    ]
    both = {30101: {30184: PATH}, 30184: {30101: PATH}}
    urls = {eid: ["https://rpc.example"] for eid in (30101, 30184)}
    chain_settings.check(Settings(rpc_urls=urls, bridge_paths=both))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"send": {"required_dvns": DVNS[:1]}}, "send has 1 required DVNs and receive has 2"),
        ({"send": {"required_dvns": [DVNS[0]] * 2}}, "send names a DVN twice"),
        ({"receive": {"required_dvns": [DVNS[0]], "optional_dvns": [DVNS[0]]}}, "receive names a DVN twice"),
        ({"send": {"required_dvns": []}}, "at least 1 item"),
        ({"optional_threshold": 1}, "optional_threshold is 1, but 0 optional DVNs are named"),
        (
            {"send": {"required_dvns": DVNS[:1], "optional_dvns": DVNS[1:]}},
            "optional DVNs need an optional_threshold of at least 1",
        ),
        ({"send": {"required_dvns": ["0x12", DVNS[0]]}}, "0x12 is not an EVM address"),
        ({"confirmations": 0}, "greater than or equal to 1"),
        ({"verifiers": DVNS}, "Extra inputs are not permitted"),
    ],
)
def test_bridge_path_that_contradicts_itself_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Settings(bridge_paths={30101: {30184: PATH | change}})


def test_bridge_path_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNUM_BRIDGE_PATHS", json.dumps({"30101": {"30184": PATH | {"enforced_gas": 400_000}}}))
    path = Settings().bridge_paths[30101][30184]
    assert (path.enforced_gas, path.confirmations, path.optional_threshold) == (400_000, 15, 0)
    assert [dvn.lower() for dvn in path.receive.required_dvns] == DVNS


def test_address_setting_accepts_lower_case() -> None:
    assert Settings(endpoints={40161: GOOD.lower()}).endpoints == {40161: GOOD}


async def test_embedded_chain_database_is_rejected_for_public_chains(
    api: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backend.core import db

    async with db.worker() as session:
        await chain_list.check(session)
        monkeypatch.setattr(chain_list, "settings", lambda: Settings(rpc_urls=RPC))
        with pytest.raises(CannotStart, match="This database belongs to embedded chains"):
            await chain_list.check(session)
