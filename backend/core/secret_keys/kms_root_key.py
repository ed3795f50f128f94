"""A secret key that never leaves AWS KMS: data keys are encrypted and decrypted there.

boto3 comes with the extra `aws`, and finds account and credentials by its own settings. Each process calls KMS when it
starts, and when a data key was rotated.
"""

import hashlib
from functools import cached_property
from typing import Any

from backend.core.errors import CannotStart
from backend.core.secret_keys.wrapping import CannotUnwrap
from backend.core.setting_fields.secret_key_texts import KMS

TIMEOUT = 5
"""Seconds that AWS has for one answer."""


class KmsRootKey:
    """A symmetric key of AWS KMS. `text` is `aws-kms:` and its ARN."""

    def __init__(self, text: str) -> None:
        self._arn = text.removeprefix(KMS)

    def __repr__(self) -> str:
        """Return a text without account data."""
        return f"KmsRootKey({self.fingerprint})"

    @property
    def fingerprint(self) -> str:
        """The first 64 bits of a digest of the ARN, in hexadecimal."""
        return hashlib.sha256(b"signum aws-kms " + self._arn.encode()).hexdigest()[:16]

    def wrap(self, key: bytes, place: str) -> bytes:
        """Encrypt a data key. Raises CannotStart."""
        return bytes(self._ask("encrypt", place, Plaintext=key)["CiphertextBlob"])

    def unwrap(self, wrapped: bytes, place: str) -> bytes:
        """Return a data key. Raises CannotUnwrap, and CannotStart if KMS does not answer or refuses."""
        return bytes(self._ask("decrypt", place, CiphertextBlob=wrapped)["Plaintext"])

    def _ask(self, operation: str, place: str, **arguments: Any) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            call = getattr(self._client, operation)
            return call(KeyId=self._arn, EncryptionContext={"signum": place}, **arguments)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in ("InvalidCiphertextException", "IncorrectKeyException"):
                raise CannotUnwrap(place) from None
            raise CannotStart(f"AWS KMS refused to use the secret key {self.fingerprint} ({code}).") from None
        except BotoCoreError as error:
            raise CannotStart(
                f"AWS KMS, which has the secret key {self.fingerprint}, cannot be used ({type(error).__name__})."
            ) from None

    @cached_property
    def _client(self) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(connect_timeout=TIMEOUT, read_timeout=TIMEOUT, retries={"max_attempts": 3, "mode": "standard"})
        return boto3.session.Session().client("kms", region_name=self._arn.split(":")[3], config=config)
