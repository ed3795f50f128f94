"""Keys of server wallets: private files, and nothing of them anywhere else."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from backend.chain.wallet_provider import LIGHT_SCRYPT, STANDARD_SCRYPT, Keystore
from backend.errors import BadRequest


async def test_files_are_private_and_open_again(tmp_path: Path) -> None:
    folder = tmp_path / "keystore"
    made = await Keystore(folder, "secret", LIGHT_SCRYPT).create()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]

    again = Keystore(folder, "secret", LIGHT_SCRYPT)
    signature = await again.sign_message(made.address, "hello")
    assert Account.recover_message(encode_defunct(text="hello"), signature=signature) == made.address
    assert "secret" not in repr(again)


def kept(folder: Path) -> list[dict[str, Any]]:
    """How the keys of a folder are encrypted."""
    return [json.loads(path.read_text())["crypto"] for path in folder.glob("*.json")]


async def test_key_is_kept_under_scrypt(tmp_path: Path) -> None:
    await Keystore(tmp_path, "secret", LIGHT_SCRYPT).create()
    [key] = kept(tmp_path)
    assert (key["kdf"], key["kdfparams"]["n"]) == ("scrypt", LIGHT_SCRYPT)
    assert STANDARD_SCRYPT == 2**18, "where chains are not embedded"


async def test_a_wrong_password_and_an_unknown_wallet_say_so_without_the_key(tmp_path: Path) -> None:
    made = await Keystore(tmp_path, "secret", LIGHT_SCRYPT).create()
    with pytest.raises(BadRequest, match="does not open"):
        await Keystore(tmp_path, "other", LIGHT_SCRYPT).sign_message(made.address, "hello")
    with pytest.raises(BadRequest, match="No key is held"):
        await Keystore(tmp_path, "secret", LIGHT_SCRYPT).sign_message("0x" + "1" * 40, "hello")


async def test_the_operator_is_made_once(tmp_path: Path) -> None:
    first = await Keystore(tmp_path, "secret", LIGHT_SCRYPT).operator()
    assert await Keystore(tmp_path, "secret", LIGHT_SCRYPT).operator() == first
    assert (tmp_path / "operator").stat().st_mode & 0o777 == 0o600


async def test_operator_is_told_in_every_event_loop_at_the_same_time(tmp_path: Path) -> None:
    """The engine's workflows may have a loop of their own."""
    store = Keystore(tmp_path, "secret", LIGHT_SCRYPT)
    address = await store.operator()

    async def asked_often() -> set[str]:
        return set(await asyncio.gather(*(store.operator() for _ in range(300))))

    told = await asyncio.gather(*(asyncio.to_thread(asyncio.run, asked_often()) for _ in range(3)), asked_often())
    assert told == [{address}] * 4
