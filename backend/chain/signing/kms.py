"""Wallets whose keys never leave AWS KMS: secp256k1 keys that sign digests there.

A key's alias ends in its wallet's address, so that no AWS data is stored here. boto3 comes with the extra `aws` and is
imported when the first key is used.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
from eth_keys.constants import SECPK1_N
from eth_keys.datatypes import PublicKey, Signature
from eth_utils.crypto import keccak

from backend.chain.signing.keys import NewKey, Signed
from backend.core import threads
from backend.core.errors import BadRequest, Unavailable
from backend.core.threads import Work

log = structlog.get_logger()
TIMEOUT = 5
"""Seconds that AWS has for one answer."""
DELETION_DAYS = 7
"""Days until an unused key is deleted, the fewest that AWS accepts."""
_MISSING = frozenset({"NotFoundException"})


class AwsKms:
    """Keys of one AWS account and region, under aliases `{prefix}/0x…` and `{prefix}/operator`."""

    name = "aws-kms"

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._client: Any = None
        self._keys: dict[str, PublicKey] = {}
        self._operator: str | None = None
        self._making = asyncio.Lock()

    def __repr__(self) -> str:
        """Return a text without account data."""
        return "AwsKms()"

    async def create(self) -> NewKey:
        """Create a key; its alias is set before the key is returned."""
        made = await self._ask(
            "create_key",
            KeySpec="ECC_SECG_P256K1",
            KeyUsage="SIGN_VERIFY",
            Description="A Signum wallet",
            Tags=[{"TagKey": "application", "TagValue": "signum"}],
        )
        key_id = str(made["KeyMetadata"]["KeyId"])
        try:
            public = await self._public(key_id)
            address = public.to_checksum_address()
            await self._ask("create_alias", AliasName=self._alias(address), TargetKeyId=key_id)
        except BaseException:
            await self._schedule_deletion(key_id)
            raise
        self._keys[address] = public
        return NewKey(address, key_id, self.name)

    async def discard(self, key: NewKey) -> None:
        """Schedule the deletion of the key. Without the permission, the key stays unused."""
        self._keys.pop(key.address, None)
        await self._schedule_deletion(key.key_ref)

    async def _schedule_deletion(self, key_id: str) -> None:
        try:
            await self._ask("schedule_key_deletion", KeyId=key_id, PendingWindowInDays=DELETION_DAYS)
        except (Unavailable, _Missing) as error:
            log.warning("kms_key.left_unused", error=str(error))

    async def sign_transaction(self, address: str, transaction: dict[str, Any]) -> Signed:
        """Sign an EIP-1559 transaction."""
        from eth_account.typed_transactions.typed_transaction import TypedTransaction

        signature = await self._sign(address, bytes(TypedTransaction.from_dict(transaction).hash()))
        parts = {"v": signature.v, "r": signature.r, "s": signature.s}
        raw = bytes(TypedTransaction.from_dict(transaction | parts).encode())
        return Signed("0x" + raw.hex(), "0x" + keccak(raw).hex())

    async def sign_message(self, address: str, text: str) -> str:
        """Return an EIP-191 signature."""
        from eth_account.messages import encode_defunct

        message = encode_defunct(text=text)
        digest = keccak(b"\x19" + message.version + message.header + message.body)
        signature = await self._sign(address, digest)
        words: bytes = signature.r.to_bytes(32) + signature.s.to_bytes(32) + bytes([signature.v + 27])
        return "0x" + words.hex()

    async def has(self, address: str) -> bool:
        """Return whether there is an alias for the address."""
        return await self._known(address) is not None

    async def operator(self) -> str:
        """Return the address of the agent's own key, created on first use."""
        if self._operator is None:
            async with self._making:
                if self._operator is None:
                    self._operator = await self._find_operator() or await self._make_operator()
        return self._operator

    async def _find_operator(self) -> str | None:
        public = await self._looked_up(self._alias("operator"))
        return None if public is None else str(public.to_checksum_address())

    async def _make_operator(self) -> str:
        made = await self.create()
        try:
            await self._ask("create_alias", AliasName=self._alias("operator"), TargetKeyId=made.key_ref)
        except _Exists:
            return str(await self._find_operator())  # another process was first
        return made.address

    def _alias(self, name: str) -> str:
        return f"{self._prefix}/{name.lower()}"

    async def _known(self, address: str) -> PublicKey | None:
        if address not in self._keys:
            public = await self._looked_up(self._alias(address))
            if public is None or public.to_checksum_address() != address:
                return None
            self._keys[address] = public
        return self._keys[address]

    async def _looked_up(self, alias: str) -> PublicKey | None:
        try:
            return await self._public(alias)
        except _Missing:
            return None

    async def _public(self, key: str) -> PublicKey:
        """Return the public key: the last 64 bytes of its SubjectPublicKeyInfo."""
        reply = await self._ask("get_public_key", KeyId=key)
        return PublicKey(bytes(reply["PublicKey"])[-64:])

    async def _sign(self, address: str, digest: bytes) -> Signature:
        public = await self._known(address)
        if public is None:
            raise BadRequest(f"There is no key for the wallet {address}; it cannot sign here.")
        reply = await self._ask(
            "sign",
            KeyId=self._alias(address),
            Message=digest,
            MessageType="DIGEST",
            SigningAlgorithm="ECDSA_SHA_256",
        )
        return recoverable(bytes(reply["Signature"]), digest, public)

    async def _ask(self, operation: str, **arguments: Any) -> Any:
        """Make one KMS call. Raises Unavailable with AWS's error code only, because the rest names the account."""
        if self._client is None:
            self._client = await threads.run(Work.KEY_SERVICE, _client)
        call: Callable[[], Any] = partial(getattr(self._client, operation), **arguments)
        return await threads.run(Work.KEY_SERVICE, _translated, call)


class _Missing(Exception):
    """The key does not exist."""


class _Exists(Exception):
    """The alias already exists."""


def _client() -> Any:
    """Return a client; boto3's own settings select account and region: the environment, a profile, or the machine's
    role."""
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=TIMEOUT, read_timeout=TIMEOUT, retries={"max_attempts": 3, "mode": "standard"})
    return boto3.session.Session().client("kms", config=config)


def _translated(call: Callable[[], Any]) -> Any:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call()
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in _MISSING:
            raise _Missing from None
        if code == "AlreadyExistsException":
            raise _Exists from None
        raise Unavailable(f"The key service refused the request ({code}).") from None
    except BotoCoreError as error:
        raise Unavailable(f"The key service cannot be reached ({type(error).__name__}).") from None


def recoverable(der: bytes, digest: bytes, public: PublicKey) -> Signature:
    """Convert a DER signature to Ethereum's format: the lower of the two values of s, and the recovery ID.

    Raises Unavailable if it is not a signature of the key.
    """
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    r, s = decode_dss_signature(der)
    s = min(s, SECPK1_N - s)
    for v in (0, 1):
        signature = Signature(vrs=(v, r, s))
        if signature.recover_public_key_from_msg_hash(digest) == public:
            return signature
    raise Unavailable("The key service signed with another key.")
