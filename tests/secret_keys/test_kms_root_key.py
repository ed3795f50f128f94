"""A secret key that stays in AWS KMS. moto stands in for AWS."""

from collections.abc import Iterator

import boto3
import psycopg
import pytest
from moto import mock_aws
from pydantic import ValidationError

from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.secret_keys.keyring import Keyring, Purpose, keyring
from backend.core.secret_keys.kms_root_key import KmsRootKey
from backend.core.secret_keys.root_key import RootKeys, root_key
from backend.core.secret_keys.wrapping import CannotUnwrap
from backend.core.settings import Settings, settings
from backend.secret_keys import data_keys, rotation
from tests.secret_keys.processes import SECRET_KEY

REGION = "eu-central-1"


@pytest.fixture
def kms(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A key in an empty account, as the value of the setting."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        made = boto3.client("kms", region_name=REGION).create_key()
        yield f"aws-kms:{made['KeyMetadata']['Arn']}"


@pytest.fixture
def installation(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An installation on a database of its own, whose secret key is a text."""
    monkeypatch.setattr(database, "thread_connection", lambda: psycopg.connect(url))
    monkeypatch.setattr(settings(), "secret_key", SECRET_KEY)
    runtime.reset(RootKeys, Keyring)
    yield url
    runtime.reset(RootKeys, Keyring)


def test_secret_key_is_replaced_by_one_in_kms(kms: str, installation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data_keys.prepare(settings())
    before = keyring().stable(Purpose.WALLETS).secret
    monkeypatch.setattr(settings(), "secret_key", kms)
    monkeypatch.setattr(settings(), "secret_key_previous", SECRET_KEY)
    runtime.reset(RootKeys, Keyring)
    data_keys.prepare(settings())
    assert rotation.wrap_again() == len(Purpose)
    monkeypatch.setattr(settings(), "secret_key_previous", None)
    runtime.reset(RootKeys, Keyring)
    data_keys.prepare(settings())
    assert keyring().stable(Purpose.WALLETS).secret == before
    monkeypatch.setattr(settings(), "secret_key", SECRET_KEY)
    runtime.reset(RootKeys, Keyring)
    with pytest.raises(CannotStart, match=f"under the one with the fingerprint {root_key(kms).fingerprint}"):
        data_keys.prepare(settings())


def test_data_key_is_opened_for_its_place_only(kms: str) -> None:
    root = root_key(kms)
    wrapped = root.wrap(b"k" * 32, "wallets 1")
    assert b"k" * 32 not in wrapped
    assert root.unwrap(wrapped, "wallets 1") == b"k" * 32
    for changed, place in ((wrapped, "wallets 2"), (wrapped[:-1] + bytes([wrapped[-1] ^ 1]), "wallets 1")):
        with pytest.raises(CannotUnwrap):
            root.unwrap(changed, place)


def test_refusal_names_the_fingerprint_and_no_account(kms: str) -> None:
    missing = kms[:-4] + "dead"
    root = root_key(missing)
    with pytest.raises(CannotStart) as refused:
        root.wrap(b"k" * 32, "wallets 1")
    assert str(refused.value) == f"AWS KMS refused to use the secret key {root.fingerprint} (NotFoundException)."
    assert missing.removeprefix("aws-kms:") not in f"{refused.value} {root}"


def test_process_without_credentials_says_so(kms: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(CannotStart, match=r"cannot be used \(NoCredentialsError\)"):
        root_key(kms).wrap(b"k" * 32, "wallets 1")


def test_fingerprint_is_that_of_the_key() -> None:
    one, other = (KmsRootKey(f"aws-kms:arn:aws:kms:{REGION}:111122223333:key/{name}") for name in ("a", "b"))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == root_key(f"aws-kms:arn:aws:kms:{REGION}:111122223333:key/a").fingerprint


@pytest.mark.parametrize("name", ["alias/signum-and-more-than-32-characters", f"arn:aws:kms:{REGION}:1:alias/signum"])
def test_only_the_arn_of_a_key_is_accepted(name: str) -> None:
    with pytest.raises(ValidationError, match="must be the ARN of a key"):
        Settings(secret_key=f"aws-kms:{name}")
