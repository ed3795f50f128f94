"""Second factors as they cross the door."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.fields import Body, Name, Record, Timestamp

Code = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=6, max_length=40),
    Field(description="Six digits of an authenticator app, or a recovery code.", examples=["492039"]),
]


class FactorKind(StrEnum):
    """What a second factor is."""

    TOTP = "totp"
    PASSKEY = "passkey"


class Factor(Record):
    """A second factor of the signed-in person."""

    id: UUID
    kind: FactorKind
    name: str
    last_used_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class FactorList(BaseModel):
    """The second factors of the signed-in person."""

    factors: list[Factor]
    recovery_codes_left: int = Field(description="Recovery codes that were not used yet.")
    fresh_until: Timestamp | None = Field(description="Until when this session counts as freshly confirmed.")


class WalletProof(Body):
    """A message in the form of EIP-4361 with a nonce of POST /v1/auth/siwe/nonce, and the wallet's signature (EIP-191)
    of it."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    signature: Annotated[
        str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{130}$"), Field(examples=["0x" + "1b" * 65], max_length=132)
    ]


class EnrolmentStart(Body):
    """What proves an account without a second factor: its password, or where it has none, a wallet of the account."""

    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class TotpEnrolment(BaseModel):
    """What an authenticator app needs. It counts once a code confirms it."""

    secret: str | None = Field(description="Base32, for typing it in; null in a replayed answer.")
    otpauth_uri: str | None = Field(description="`otpauth://totp/…`, for a QR code.")


class TotpConfirmation(Body):
    """The code that the app shows now."""

    code: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[0-9 ]{6,7}$"), Field(examples=["492039"])]
    name: Name = "Authenticator app"


class PasskeyOptions(BaseModel):
    """Options for `navigator.credentials`, in WebAuthn's JSON form. They work once, for 5 minutes."""

    publicKey: dict[str, Any]


Base64Url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=12_000)]
CredentialId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=1_400)]


class PasskeyAttestation(BaseModel):
    """What an authenticator says of a new passkey, in base64url."""

    clientDataJSON: Base64Url
    attestationObject: Base64Url
    transports: list[Annotated[str, StringConstraints(max_length=40)]] = Field(default_factory=list, max_length=20)


class PasskeyAssertion(BaseModel):
    """What an authenticator says to a challenge, in base64url."""

    clientDataJSON: Base64Url
    authenticatorData: Base64Url
    signature: Base64Url
    userHandle: Base64Url | None = None


class NewPasskey(BaseModel):
    """The answer of `navigator.credentials.create`, by `toJSON()`; what else it has is not read."""

    id: CredentialId
    rawId: CredentialId
    type: Literal["public-key"] = "public-key"
    response: PasskeyAttestation


class ShownPasskey(BaseModel):
    """The answer of `navigator.credentials.get`, by `toJSON()`; what else it has is not read."""

    id: CredentialId
    rawId: CredentialId
    type: Literal["public-key"] = "public-key"
    response: PasskeyAssertion


class PasskeyRegistration(Body):
    """A new passkey."""

    credential: NewPasskey
    name: Name = "Passkey"


class FactorProof(Body):
    """Proof that it is the person. With a second factor: a code or a passkey's answer. Without one: the password, or
    where the account has none, a wallet's signature."""

    code: Code | None = None
    credential: ShownPasskey | None = None
    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class FactorAdded(Factor):
    """A factor that was added; recovery codes come with the first one and are shown in this answer only."""

    recovery_codes: list[str] | None = Field(default=None, description="Null for any factor but the first.")


class RecoveryCodes(BaseModel):
    """New recovery codes, shown in this answer only. Each works once; those from before stop working."""

    recovery_codes: list[str] | None = Field(description="Null in a replayed answer.")


class FreshFactor(BaseModel):
    """Until when this session counts as freshly confirmed."""

    fresh_until: Timestamp
