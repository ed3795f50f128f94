"""Settings of public chains that are not right: a line for each, before anything starts."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from backend.chains import given, registry
from backend.errors import CannotStart
from backend.settings import Settings
from tests.serve.test_serve import signum

GOOD = "0x6EDCE65403992e310A62460808c4b910D972f10f"
RPC = {40161: ["https://rpc.example"]}


def test_every_mistake_has_a_line_of_its_own(tmp_path: Path) -> None:
    done = signum(
        SIGNUM_HOME=str(tmp_path),
        SIGNUM_RPC_URLS=json.dumps({"40161": "https://rpc.example", "30168": "https://sol.example", "7": "https://x"}),
        SIGNUM_ENDPOINTS=json.dumps({"40245": GOOD}),
        SIGNUM_QUOTE_TOKENS=json.dumps({"40161": GOOD, "40102": GOOD}),
        SIGNUM_CONFIRMATIONS=json.dumps({"40106": 3}),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "signum: SIGNUM_RPC_URLS names 7, which is no endpoint id of an EVM chain in the registry.",
        "signum: SIGNUM_RPC_URLS names 30168, which is no endpoint id of an EVM chain in the registry.",
        "signum: SIGNUM_ENDPOINTS names the chain 40245, for which SIGNUM_RPC_URLS has no node.",
        "signum: SIGNUM_QUOTE_TOKENS names the chain 40102, for which SIGNUM_RPC_URLS has no node.",
        "signum: SIGNUM_CONFIRMATIONS names the chain 40106, for which SIGNUM_RPC_URLS has no node.",
    ]
    given.check(Settings(rpc_urls=RPC, endpoints={40161: GOOD}, confirmations={40161: 0}))


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("endpoints", {40161: "0x12"}, "the chain 40161 has an address that is no address"),
        ("quote_tokens", {40161: GOOD.replace("E", "e")}, "wrong checksum"),
        ("endpoints", {40161: "0x" + "0" * 40}, "not all of them 0"),
        ("protocol_wallet", "ada.eth", "the address is no address"),
        ("confirmations", {40161: -1}, "cannot wait for -1 blocks"),
    ],
)
def test_addresses_and_depths_are_looked_at(setting: str, value: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Settings(**{"rpc_urls": RPC, setting: value})


def test_an_address_may_be_in_small_letters() -> None:
    assert Settings(endpoints={40161: GOOD.lower()}).endpoints == {40161: GOOD}


async def test_a_database_of_the_embedded_chains_is_not_taken_for_public_ones(
    api: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backend import db

    async with db.worker() as session:
        await registry.check(session)
        monkeypatch.setattr(registry, "settings", lambda: Settings(rpc_urls=RPC))
        with pytest.raises(CannotStart, match="This database is of embedded chains"):
            await registry.check(session)
