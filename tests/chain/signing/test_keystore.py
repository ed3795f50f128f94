"""Keys of server wallets are encrypted in the database, and nowhere else."""

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_keys.backends import get_backend
from eth_keys.backends.coincurve import CoinCurveECCBackend
from sqlalchemy.exc import ProgrammingError

from backend.chain.signing import wallet_keys
from backend.chain.signing.keystore_files import KeystoreFiles
from backend.chain.signing.wallet_provider import Keystore
from backend.core import db
from backend.core.encryption import WALLETS
from backend.core.errors import BadRequest
from tests.support.keyrings import ring

pytestmark = pytest.mark.usefixtures("api")


def keystore(folder: Path, password: str | None = "secret") -> Keystore:
    """A process's keystore, which has opened no key yet."""
    return Keystore(KeystoreFiles(folder, password))


def written(folder: Path, password: str = "secret") -> str:
    """Write a key as an earlier version did; return its address."""
    account = Account.create()
    stored = Account.encrypt(account.key, password, kdf="scrypt", iterations=2**12)
    (folder / f"{account.address.lower()}.json").write_text(json.dumps(stored))
    return str(account.address)


def test_signatures_are_made_by_libsecp256k1() -> None:
    """In Python, one takes 4 ms."""
    assert type(get_backend()) is CoinCurveECCBackend


async def signer(store: Keystore, address: str) -> str:
    """Return who has signed a message that an address should sign."""
    signature = await store.sign_message(address, "hello")
    return str(Account.recover_message(encode_defunct(text="hello"), signature=signature))


async def stored(address: str) -> bytes | None:
    """Return what the database has of a key."""
    async with db.worker() as session:
        query = sa.text("select sealed from wallet_keys where address = :address")
        return await session.scalar(query, {"address": address})


async def test_another_process_signs_with_the_same_key(tmp_path: Path) -> None:
    made = await keystore(tmp_path / "one").create()
    assert await signer(keystore(tmp_path / "other"), made.address) == made.address
    assert not (await asyncio.to_thread(os.listdir, tmp_path)), "no file is needed"


async def test_stored_key_is_encrypted_for_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = [await keystore(tmp_path).create() for _ in range(2)]
    sealed = await stored(one.address)
    key = wallet_keys.read(one.address)
    assert sealed
    assert key
    assert key.to_bytes() not in sealed
    async with db.worker() as session:
        swap = sa.text("update wallet_keys set sealed = :sealed where address = :address")
        await session.execute(swap, {"sealed": sealed, "address": other.address})
    with pytest.raises(Exception, match="cannot be decrypted"):
        await keystore(tmp_path).sign_message(other.address, "hello")
    monkeypatch.setattr(WALLETS, "_ring", lambda: ring(bytes(32)))
    with pytest.raises(Exception, match="cannot be decrypted"):
        await keystore(tmp_path).sign_message(one.address, "hello")


@pytest.mark.parametrize("table", ["wallet_keys", "data_keys"])
async def test_request_cannot_read_keys(table: str) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with db.transaction() as session:
            await session.execute(sa.text(f"select * from {table}"))


async def test_unknown_wallet_does_not_sign(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="There is no key"):
        await keystore(tmp_path).sign_message("0x" + "1" * 40, "hello")


async def test_operator_is_one_for_all_processes_and_event_loops(tmp_path: Path) -> None:
    async def asked_often() -> set[str]:
        store = keystore(tmp_path)
        return set(await asyncio.gather(*(store.operator() for _ in range(30))))

    answers = await asyncio.gather(*(asyncio.to_thread(asyncio.run, asked_often()) for _ in range(3)), asked_often())
    assert len(set.union(*answers)) == 1


async def test_key_used_concurrently_is_decrypted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = (await keystore(tmp_path).create()).address
    decrypt, decrypted = Keystore._decrypt, []

    def count(store: Keystore, address: str) -> Any:
        decrypted.append(address)
        return decrypt(store, address)

    monkeypatch.setattr(Keystore, "_decrypt", count)
    store = keystore(tmp_path)
    assert len(set(await asyncio.gather(*(store.sign_message(address, "hello") for _ in range(20))))) == 1
    assert decrypted == [address]


async def test_discarded_key_is_deleted_and_does_not_sign(tmp_path: Path) -> None:
    store = keystore(tmp_path)
    kept_key, key = await store.create(), await store.create()
    await store.discard(key)
    assert (await store.has(kept_key.address), await store.has(key.address)) == (True, False)
    with pytest.raises(BadRequest, match="There is no key"):
        await store.sign_message(key.address, "hello")


async def test_key_of_a_cancelled_creation_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released, removed = threading.Event(), threading.Event(), threading.Event()
    create, remove, addresses = Keystore._create, Keystore._remove, []

    def wait(store: Keystore) -> Any:
        begun.set()
        assert released.wait(60)
        return create(store)

    def note(store: Keystore, address: str) -> None:
        assert wallet_keys.read(address)
        remove(store, address)
        addresses.append(address)
        removed.set()

    monkeypatch.setattr(Keystore, "_create", wait)
    monkeypatch.setattr(Keystore, "_remove", note)
    making = asyncio.create_task(keystore(tmp_path).create())
    await asyncio.to_thread(begun.wait, 60)
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    released.set()
    assert await asyncio.to_thread(removed.wait, 60)
    assert await stored(addresses[0]) is None


async def test_file_of_an_earlier_version_signs_before_and_after_its_import(tmp_path: Path) -> None:
    used, unused = written(tmp_path), written(tmp_path)
    assert await signer(keystore(tmp_path), used) == used
    assert await stored(unused) is None
    assert await asyncio.to_thread(keystore(tmp_path).import_files) == 1
    assert await asyncio.to_thread(keystore(tmp_path).import_files) == 0, "imported once"
    elsewhere = keystore(tmp_path / "elsewhere")
    assert [await signer(elsewhere, address) for address in (used, unused)] == [used, unused]


async def test_import_killed_midway_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {written(tmp_path) for _ in range(3)}
    store, reads = wallet_keys.store, []

    def die_at_the_second(key: Any) -> str:
        reads.append(key)
        if len(reads) == 2:
            raise SystemExit
        return store(key)

    with monkeypatch.context() as patched:
        patched.setattr(wallet_keys, "store", die_at_the_second)
        with pytest.raises(SystemExit):
            keystore(tmp_path).import_files()
    assert await asyncio.to_thread(keystore(tmp_path).import_files) == 2
    elsewhere = keystore(tmp_path / "elsewhere")
    assert {await signer(elsewhere, address) for address in addresses} == addresses


async def test_file_that_the_password_does_not_open_is_kept_and_has_no_wallet(tmp_path: Path) -> None:
    address = written(tmp_path, "another password")
    assert await asyncio.to_thread(keystore(tmp_path).import_files) == 0
    with pytest.raises(BadRequest, match="There is no key"):
        await keystore(tmp_path).sign_message(address, "hello")
    assert await signer(keystore(tmp_path, "another password"), address) == address
