"""Wallets whose keys stay in AWS KMS. moto stands in for AWS; the chain is real."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_keys.constants import SECPK1_N
from moto import mock_aws
from moto.kms.utils import ECDSAPrivateKey
from pydantic import ValidationError

from backend.chain.abi.calls import Call
from backend.chain.devnet import anvil
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.signing import kms, wallet_provider
from backend.chain.signing.kms import AwsKms
from backend.chain.signing.wallet_provider import Keystore, holder, provider
from backend.core.errors import BadRequest, Unavailable
from backend.core.runtime import runtime
from backend.core.settings import Settings, settings
from backend.organizations import quotas
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import passed, row_of
from tests.conftest import World
from tests.support.firm import BASE, Firm
from tests.support.issuance import Issuance

PREFIX = "alias/signum"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty account."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    def sign(key: Any, digest: bytes, _: str) -> bytes:
        """moto hashes the value that AWS takes as the digest."""
        signature: bytes = key.private_key.sign(digest, ec.ECDSA(Prehashed(SHA256())))
        return signature

    monkeypatch.setattr(ECDSAPrivateKey, "sign", sign)
    with mock_aws():
        yield


@pytest.fixture
def kms_provider(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """KMS is the provider of this installation."""
    monkeypatch.setattr(settings(), "wallet_provider", "aws-kms")
    runtime.reset(wallet_provider.aws_kms)
    yield
    runtime.reset(wallet_provider.aws_kms)


async def test_message_is_signed_by_the_key_of_its_address(aws: None) -> None:
    made = await AwsKms(PREFIX).create()
    again = AwsKms(PREFIX)
    assert (await again.has(made.address), made.provider) == (True, "aws-kms")
    for text in ("hello", "", "ünï", "x" * 5_000):
        signature = await again.sign_message(made.address, text)
        assert Account.recover_message(encode_defunct(text=text), signature=signature) == made.address


@pytest.mark.long
async def test_kms_signatures_have_a_low_s(aws: None) -> None:
    keys = AwsKms(PREFIX)
    address = (await keys.create()).address
    for _ in range(20):
        signature = await keys._sign(address, secrets.token_bytes(32))
        assert 0 < signature.s <= SECPK1_N // 2


async def test_kms_does_not_sign_for_unknown_addresses(aws: None) -> None:
    keys, stranger = AwsKms(PREFIX), "0x" + "1" * 40
    assert not await keys.has(stranger)
    with pytest.raises(BadRequest, match="There is no key"):
        await keys.sign_message(stranger, "hello")
    other = await AwsKms("alias/elsewhere").create()
    assert not await keys.has(other.address), "another installation's key in the same account"


async def test_kms_operator_is_created_once(aws: None) -> None:
    first = await AwsKms(PREFIX).operator()
    assert await AwsKms(PREFIX).operator() == first
    assert await AwsKms(PREFIX).has(first)


async def test_kms_wallet_signs_a_real_transaction(stage: Stage, kms_provider: None) -> None:
    made = await provider().create()
    await anvil.fund(HOME_EID, made.address)
    outcome = await stage.do(HOME_EID, made.address, Call(made.address, "0x", 1), key="kms")
    row = await row_of("kms")
    assert passed(outcome, row)
    assert Account.recover_transaction(row.raw) == made.address


@pytest.mark.long
async def test_wallets_from_before_kms_still_sign(stage: Stage, kms_provider: None) -> None:
    outcome = await stage.do(HOME_EID, stage.treasury, Call(stage.treasury, "0x", 1), key="from before")
    assert passed(outcome, await row_of("from before"))
    assert isinstance(await holder(stage.treasury), Keystore)
    assert isinstance(await holder((await provider().create()).address), AwsKms)
    with pytest.raises(BadRequest, match="There is no key"):
        await holder("0x" + "2" * 40)


async def test_kms_wallets_created_by_the_api_reveal_no_key_ids(
    world: World, kms_provider: None, capfd: pytest.CaptureFixture[str]
) -> None:
    firm = await Issuance.found(world)
    wallet = await firm.post("/wallets", {"label": "Treasury"})
    assert (wallet["provider"], "key_ref" in wallet) == ("aws-kms", False)
    found = await provider()._ask("describe_key", KeyId=f"{PREFIX}/{wallet['address'].lower()}")  # type: ignore[attr-defined]
    answer = capfd.readouterr()
    for secret in (found["KeyMetadata"]["KeyId"], found["KeyMetadata"]["Arn"]):
        assert secret not in str(wallet) + str(await firm.get(f"/wallets/{wallet['id']}")) + answer.out + answer.err


async def test_kms_key_of_a_refused_request_is_scheduled_for_deletion(
    world: World, kms_provider: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, BASE, "http://127.0.0.1:9")
    await firm.refused("POST", "/wallets", 503, json={"label": "No gas"})
    assert await states(provider()) == ["PendingDeletion"]


async def test_kms_key_without_an_alias_is_scheduled_for_deletion(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = AwsKms(PREFIX)
    monkeypatch.setattr(keys, "_alias", lambda _: "not an alias")
    with pytest.raises(Unavailable):
        await keys.create()
    assert await states(keys) == ["PendingDeletion"]


async def test_organization_at_the_quota_of_server_wallets_makes_no_kms_key(
    world: World, kms_provider: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "SERVER_WALLETS", 1)
    firm = await Firm.found(world)
    await firm.post("/wallets", {"label": "Treasury"})
    await firm.refused("POST", "/wallets", 409, json={"label": "Custody"})
    assert await states(provider()) == ["Enabled"]


async def states(keys: Any) -> list[str]:
    """Return the states of all keys of the account."""
    listed = (await keys._ask("list_keys"))["Keys"]
    return [(await keys._ask("describe_key", KeyId=key["KeyId"]))["KeyMetadata"]["KeyState"] for key in listed]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            ClientError(
                {"Error": {"Code": "AccessDeniedException", "Message": "arn:aws:iam::123456789012:user/x may not"}},
                "Sign",
            ),
            "AccessDeniedException",
        ),
        (EndpointConnectionError(endpoint_url="https://kms.example/5ecret"), "EndpointConnectionError"),
    ],
)
async def test_aws_error_exposes_only_its_code(
    kms_provider: None, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    keys = AwsKms(PREFIX)
    address = (await keys.create()).address

    def refuse(**_: Any) -> Any:
        raise fault

    monkeypatch.setattr(keys._client, "sign", refuse)
    with pytest.raises(Unavailable) as refused:
        await keys.sign_message(address, "hello")
    assert words in refused.value.detail
    assert not any(secret in refused.value.detail for secret in ("123456789012", "5ecret"))
    assert repr(keys) == "AwsKms()"


async def test_kms_signature_of_another_key_is_rejected(aws: None) -> None:
    keys = AwsKms(PREFIX)
    one, two = (await keys.create()).address, (await keys.create()).address
    digest = secrets.token_bytes(32)
    answer = await keys._ask(
        "sign",
        KeyId=f"{PREFIX}/{one.lower()}",
        Message=digest,
        MessageType="DIGEST",
        SigningAlgorithm="ECDSA_SHA_256",
    )
    with pytest.raises(Unavailable, match="another key"):
        kms.recoverable(answer["Signature"], digest, keys._keys[two])


def test_kms_without_boto3_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNUM_WALLET_PROVIDER", "aws-kms")
    assert Settings().wallet_provider == "aws-kms"
    monkeypatch.setattr("backend.core.settings.find_spec", lambda _: None)
    with pytest.raises(ValidationError, match="extra `aws`"):
        Settings()


@pytest.mark.long
def test_boto3_is_loaded_only_when_used() -> None:
    script = (
        "import sys, backend.chain.signing.kms, backend.chain.transactions.execution; sys.exit('boto3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
