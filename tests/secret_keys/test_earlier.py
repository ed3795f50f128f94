"""An installation of an earlier version, with keys in files, starts and loses nothing."""

import json
import secrets
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import scrypt
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from eth_account import Account

from backend.core import logins
from tests.secret_keys.processes import SECRET_KEY, Machine
from tests.secret_keys.test_start import result

PASSWORD, DOCUMENTS_KEY = "the password of the keystore", "the key of the documents"
PLACE = "{}:{}:0:1"


def sealed(key: bytes, content: bytes, place: str) -> bytes:
    """Seal a content as earlier versions did."""
    nonce = secrets.token_bytes(12)
    return nonce + AESGCM(key).encrypt(nonce, content, place.encode())


@dataclass
class Earlier:
    """The files and rows of an earlier version."""

    machine: Machine
    operator: str
    wallets: list[str]
    file: UUID

    @classmethod
    def of(cls, machine: Machine) -> "Earlier":
        """Write them as version 0.1.0 did."""
        folder = machine.home / "keystore"
        folder.mkdir()
        accounts = [Account.create() for _ in range(3)]
        for account in accounts:
            stored = Account.encrypt(account.key, PASSWORD, kdf="scrypt", iterations=2**12)
            (folder / f"{account.address.lower()}.json").write_text(json.dumps(stored))
        (folder / "operator").write_text(accounts[0].address)
        (folder / "password").write_text(PASSWORD)
        (machine.home / "documents.key").write_text(DOCUMENTS_KEY)
        found = cls(machine, accounts[0].address, [account.address for account in accounts], uuid4())
        with psycopg.connect(logins.conninfo(machine.database_url)) as connection:
            found._seal(connection)
        return found

    def _seal(self, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
        key = scrypt(PASSWORD.encode(), salt=b"signum sealing", n=2**15, r=8, p=1, maxmem=2**26, dklen=32)
        text = b64encode(sealed(key, b'{"kty":"RSA"}', "kid")).decode()
        connection.execute(
            "insert into signing_keys (id, created_at, updated_at, kid, sealed) values (%s, now(), now(), 'kid', %s)",
            [uuid4(), text],
        )
        organization = uuid4()
        connection.execute("set session_replication_role = replica")  # the rows that these refer to do not matter
        connection.execute(
            "insert into party_files (id, created_at, updated_at, organization_id, sha256, media_type, size, parts)"
            " values (%s, now(), now(), %s, 'digest', 'application/pdf', 4, 1)",
            [self.file, organization],
        )
        documents = HKDF(SHA256(), 32, salt=None, info=b"signum documents").derive(DOCUMENTS_KEY.encode())
        piece = sealed(documents, b"%PDF", PLACE.format(organization, "digest"))
        connection.execute(
            "insert into party_file_parts (id, created_at, updated_at, organization_id, file_id, number, sealed)"
            " values (%s, now(), now(), %s, %s, 0, %s)",
            [uuid4(), organization, self.file, piece],
        )

    def start(self, home: Path | None = None, **environment: str) -> "list[str]":
        """Start a process that signs with every wallet."""
        machine = Machine(home or self.machine.home, self.machine.database_url)
        found = result(machine.sign(*self.wallets, SIGNUM_SECRET_KEY=SECRET_KEY, **environment))
        assert found["operator"] == self.operator
        return list(found["signed"])  # type: ignore[call-overload]


@pytest.fixture
def earlier(machine: Callable[[str], Machine]) -> Earlier:
    """An installation of an earlier version."""
    return Earlier.of(machine("earlier"))


def test_wallets_and_operator_are_kept_and_the_files_are_needed_once(earlier: Earlier, tmp_path: Path) -> None:
    assert earlier.start() == earlier.wallets
    assert earlier.start(tmp_path / "another machine, without files") == earlier.wallets
    assert len(list((earlier.machine.home / "keystore").iterdir())) == 5, "the earlier version can still start"


@pytest.mark.long
def test_start_killed_during_the_import_is_repeated(earlier: Earlier, tmp_path: Path) -> None:
    process = earlier.machine.sign(*earlier.wallets, SIGNUM_SECRET_KEY=SECRET_KEY)
    process.stdout.readline()  # type: ignore[union-attr]  # the data keys were created
    process.kill()
    process.communicate()
    assert earlier.start() == earlier.wallets
    assert earlier.start(tmp_path / "other") == earlier.wallets


@pytest.mark.long
def test_earlier_contents_open_and_are_rotated(earlier: Earlier) -> None:
    earlier.start()
    listed = earlier.machine.run("keys", "list", SIGNUM_SECRET_KEY=SECRET_KEY)[1]
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["digests", "0"], ["documents", "0"], ["secrets", "0"], ["wallets", "1"],
    ]  # fmt: skip
    for purpose in ("secrets", "documents"):
        code, output = earlier.machine.run("keys", "rotate", purpose, SIGNUM_SECRET_KEY=SECRET_KEY)
        assert (code, "cannot be decrypted" in output, "1 contents were" in output) == (0, False, True), output


@pytest.mark.long
@pytest.mark.parametrize(
    ("variable", "file"), [("SIGNUM_KEYSTORE_PASSWORD", "keystore/password"), ("SIGNUM_DOCUMENTS_KEY", "documents.key")]
)
def test_first_start_with_a_wrong_or_missing_earlier_secret_is_refused(
    earlier: Earlier, variable: str, file: str
) -> None:
    home = earlier.machine.home
    wrong = earlier.machine.refusal(SIGNUM_SECRET_KEY=SECRET_KEY, **{variable: "a wrong secret of an installation"})
    assert wrong.startswith(f"{variable} (or {home / file}) does not open the ")
    right = (home / file).read_text()
    (home / file).unlink()
    missing = earlier.machine.refusal(SIGNUM_SECRET_KEY=SECRET_KEY)
    assert missing.startswith(f"{variable} is not set and {home / file} does not exist, but an earlier version ")
    assert earlier.start(**{variable: right}) == earlier.wallets


def test_first_start_without_the_folder_of_the_wallets_is_refused(earlier: Earlier, tmp_path: Path) -> None:
    other = Machine(tmp_path, earlier.machine.database_url)
    own = {"SIGNUM_KEYSTORE_PASSWORD": PASSWORD, "SIGNUM_DOCUMENTS_KEY": DOCUMENTS_KEY}
    said = other.refusal(SIGNUM_SECRET_KEY=SECRET_KEY, **own)
    assert said.startswith(f"SIGNUM_KEYSTORE_FOLDER: the folder {tmp_path / 'keystore'} has no wallet keys.")
    folder = str(earlier.machine.home / "keystore")
    assert earlier.start(tmp_path, SIGNUM_KEYSTORE_FOLDER=folder, **own) == earlier.wallets
