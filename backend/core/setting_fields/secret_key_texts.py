"""Values of the secret key: a text, or `aws-kms:` and the ARN of a key that stays in AWS KMS."""

import re
from importlib.util import find_spec
from typing import Annotated

from pydantic import AfterValidator, Field

KMS = "aws-kms:"
_IN_KMS = re.compile(KMS + r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+")


def _checked(text: str) -> str:
    """Return the value. Raises ValueError where it begins like a key in KMS, but cannot be used as one."""
    if not text.startswith(KMS):
        return text
    if not _IN_KMS.fullmatch(text):
        raise ValueError(
            f"After {KMS} it must be the ARN of a key, such as arn:aws:kms:eu-central-1:111122223333:key/…. An alias "
            "could name another key later"
        )
    if find_spec("boto3") is None:
        raise ValueError("a key in AWS KMS needs boto3: install Signum with the extra `aws`")
    return text


SecretKeyText = Annotated[str, Field(min_length=32), AfterValidator(_checked)]
"""At least 32 characters."""
