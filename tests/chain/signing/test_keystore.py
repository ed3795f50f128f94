"""Keys of server wallets are in private files and nowhere else."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from backend.chain.signing.wallet_provider import LIGHT_SCRYPT, STANDARD_SCRYPT, Keystore
from backend.core.errors import BadRequest


async def test_keystore_files_are_private_and_open_again(tmp_path: Path) -> None:
    folder = tmp_path / "keystore"
    made = await Keystore(folder, "secret", LIGHT_SCRYPT).create()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]

    again = Keystore(folder, "secret", LIGHT_SCRYPT)
    signature = await again.sign_message(made.address, "hello")
    assert Account.recover_message(encode_defunct(text="hello"), signature=signature) == made.address
    assert "secret" not in repr(again)


def kept(folder: Path) -> list[dict[str, Any]]:
    """Return how the keys of a folder are encrypted."""
    return [json.loads(path.read_text())["crypto"] for path in folder.glob("*.json")]


async def test_keystore_key_is_encrypted_with_scrypt(tmp_path: Path) -> None:
    await Keystore(tmp_path, "secret", LIGHT_SCRYPT).create()
    [key] = kept(tmp_path)
    assert (key["kdf"], key["kdfparams"]["n"]) == ("scrypt", LIGHT_SCRYPT)
    assert STANDARD_SCRYPT == 2**18, "where chains are not embedded"


async def test_wrong_password_and_unknown_wallet_are_reported_without_the_key(tmp_path: Path) -> None:
    made = await Keystore(tmp_path, "secret", LIGHT_SCRYPT).create()
    with pytest.raises(BadRequest, match="does not decrypt"):
        await Keystore(tmp_path, "other", LIGHT_SCRYPT).sign_message(made.address, "hello")
    with pytest.raises(BadRequest, match="There is no key"):
        await Keystore(tmp_path, "secret", LIGHT_SCRYPT).sign_message("0x" + "1" * 40, "hello")


async def test_operator_is_created_once(tmp_path: Path) -> None:
    first = await Keystore(tmp_path, "secret", LIGHT_SCRYPT).operator()
    assert await Keystore(tmp_path, "secret", LIGHT_SCRYPT).operator() == first
    assert (tmp_path / "operator").stat().st_mode & 0o777 == 0o600


async def test_operator_is_available_in_concurrent_event_loops(tmp_path: Path) -> None:
    """The engine's workflows can have their own event loop."""
    store = Keystore(tmp_path, "secret", LIGHT_SCRYPT)
    address = await store.operator()

    async def asked_often() -> set[str]:
        return set(await asyncio.gather(*(store.operator() for _ in range(300))))

    answer = await asyncio.gather(*(asyncio.to_thread(asyncio.run, asked_often()) for _ in range(3)), asked_often())
    assert answer == [{address}] * 4


async def test_key_used_concurrently_is_decrypted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = (await Keystore(tmp_path, "secret", LIGHT_SCRYPT).create()).address
    decrypt, decrypted = Keystore._decrypt, []

    def count(store: Keystore, address: str) -> Any:
        decrypted.append(address)
        return decrypt(store, address)

    monkeypatch.setattr(Keystore, "_decrypt", count)
    store = Keystore(tmp_path, "secret", LIGHT_SCRYPT)
    assert len(set(await asyncio.gather(*(store.sign_message(address, "hello") for _ in range(20))))) == 1
    assert decrypted == [address]


async def test_discarded_key_has_no_file_and_does_not_sign(tmp_path: Path) -> None:
    store = Keystore(tmp_path, "secret", LIGHT_SCRYPT)
    kept_key, key = await store.create(), await store.create()
    await store.discard(key)
    assert (await store.has(kept_key.address), await store.has(key.address)) == (True, False)
    with pytest.raises(BadRequest, match="There is no key"):
        await store.sign_message(key.address, "hello")


async def test_key_of_a_cancelled_creation_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released, removed = threading.Event(), threading.Event(), threading.Event()
    create, remove = Keystore._create, Keystore._remove

    def wait(store: Keystore) -> Any:
        begun.set()
        assert released.wait(60)
        return create(store)

    def note(store: Keystore, address: str) -> None:
        assert store._file(address).exists()
        remove(store, address)
        removed.set()

    monkeypatch.setattr(Keystore, "_create", wait)
    monkeypatch.setattr(Keystore, "_remove", note)
    making = asyncio.create_task(Keystore(tmp_path, "secret", LIGHT_SCRYPT).create())
    await asyncio.to_thread(begun.wait, 60)
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    released.set()
    assert await asyncio.to_thread(removed.wait, 60)
    assert kept(tmp_path) == []
