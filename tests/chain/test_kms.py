"""Wallets whose keys stay in AWS KMS. AWS itself is moto's; the chain they sign for is real."""

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

from backend.chain import devnet, kms, wallet_provider
from backend.chain.calls import Call
from backend.chain.kms import AwsKms
from backend.chain.wallet_provider import Keystore, holder, provider
from backend.errors import BadRequest, Unavailable
from backend.settings import Settings, settings
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.watching import passed, row_of
from tests.conftest import World
from tests.issuance import Issuance

PREFIX = "alias/signum"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty account."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    def sign(key: Any, digest: bytes, _: str) -> bytes:
        """moto hashes what AWS takes as the digest it is told to be."""
        signature: bytes = key.private_key.sign(digest, ec.ECDSA(Prehashed(SHA256())))
        return signature

    monkeypatch.setattr(ECDSAPrivateKey, "sign", sign)
    with mock_aws():
        yield


@pytest.fixture
def chosen(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """KMS is the provider of this installation."""
    monkeypatch.setattr(settings(), "wallet_provider", "aws-kms")
    wallet_provider._kms.cache_clear()
    yield
    wallet_provider._kms.cache_clear()


async def test_a_message_is_signed_by_the_key_of_its_address(aws: None) -> None:
    made = await AwsKms(PREFIX).create()
    again = AwsKms(PREFIX)
    assert (await again.has(made.address), made.provider) == (True, "aws-kms")
    for text in ("hello", "", "ünï", "x" * 5_000):
        signature = await again.sign_message(made.address, text)
        assert Account.recover_message(encode_defunct(text=text), signature=signature) == made.address


async def test_signatures_are_the_lower_of_the_two(aws: None) -> None:
    keys = AwsKms(PREFIX)
    address = (await keys.create()).address
    for _ in range(20):
        signature = await keys._sign(address, secrets.token_bytes(32))
        assert 0 < signature.s <= SECPK1_N // 2


async def test_what_it_does_not_hold_it_does_not_sign(aws: None) -> None:
    keys, stranger = AwsKms(PREFIX), "0x" + "1" * 40
    assert not await keys.has(stranger)
    with pytest.raises(BadRequest, match="No key is held"):
        await keys.sign_message(stranger, "hello")
    other = await AwsKms("alias/elsewhere").create()
    assert not await keys.has(other.address), "another installation's key in the same account"


async def test_the_operator_is_made_once(aws: None) -> None:
    first = await AwsKms(PREFIX).operator()
    assert await AwsKms(PREFIX).operator() == first
    assert await AwsKms(PREFIX).has(first)


async def test_a_wallet_of_kms_signs_a_real_transaction(stage: Stage, chosen: None) -> None:
    made = await provider().create()
    await devnet.fund(HOME_EID, made.address)
    outcome = await stage.do(HOME_EID, made.address, Call(made.address, "0x", 1), key="kms")
    row = await row_of("kms")
    assert passed(outcome, row)
    assert Account.recover_transaction(row.raw) == made.address


async def test_wallets_from_before_go_on_signing(stage: Stage, chosen: None) -> None:
    outcome = await stage.do(HOME_EID, stage.treasury, Call(stage.treasury, "0x", 1), key="from before")
    assert passed(outcome, await row_of("from before"))
    assert isinstance(await holder(stage.treasury), Keystore)
    assert isinstance(await holder((await provider().create()).address), AwsKms)
    with pytest.raises(BadRequest, match="No key is held"):
        await holder("0x" + "2" * 40)


async def test_the_api_makes_such_wallets_and_tells_nothing_of_their_keys(
    world: World, chosen: None, capfd: pytest.CaptureFixture[str]
) -> None:
    firm = await Issuance.found(world)
    wallet = await firm.post("/wallets", {"label": "Treasury"})
    assert (wallet["provider"], "key_ref" in wallet) == ("aws-kms", False)
    found = await provider()._ask("describe_key", KeyId=f"{PREFIX}/{wallet['address'].lower()}")  # type: ignore[attr-defined]
    told = capfd.readouterr()
    for secret in (found["KeyMetadata"]["KeyId"], found["KeyMetadata"]["Arn"]):
        assert secret not in str(wallet) + str(await firm.get(f"/wallets/{wallet['id']}")) + told.out + told.err


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
async def test_what_aws_says_goes_no_further_than_its_code(
    chosen: None, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
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


async def test_a_signature_of_another_key_is_refused(aws: None) -> None:
    keys = AwsKms(PREFIX)
    one, two = (await keys.create()).address, (await keys.create()).address
    digest = secrets.token_bytes(32)
    told = await keys._ask(
        "sign",
        KeyId=f"{PREFIX}/{one.lower()}",
        Message=digest,
        MessageType="DIGEST",
        SigningAlgorithm="ECDSA_SHA_256",
    )
    with pytest.raises(Unavailable, match="another key"):
        kms.recoverable(told["Signature"], digest, keys._keys[two])


def test_without_boto3_it_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNUM_WALLET_PROVIDER", "aws-kms")
    assert Settings().wallet_provider == "aws-kms"
    monkeypatch.setattr("backend.settings.find_spec", lambda _: None)
    with pytest.raises(ValidationError, match="extra `aws`"):
        Settings()


def test_boto3_is_not_loaded_where_it_is_not_used() -> None:
    script = "import sys, backend.chain.kms, backend.chain.transactions; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
