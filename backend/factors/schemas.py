"""Request and response bodies of second factors."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from backend.core.content_rules import CODE, at_most
from backend.core.fields import Body, Name, Record, Timestamp

Code = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=6, max_length=40),
    Field(
        description="Six digits from an authenticator app, or a recovery code.",
        examples=["492039"],
        json_schema_extra={"pattern": CODE},
    ),
    BeforeValidator(at_most(40)),
]


class FactorKind(StrEnum):
    """The kind of a second factor."""

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
    recovery_codes_left: int = Field(description="Unused recovery codes.")
    fresh_until: Timestamp | None = Field(description="When the fresh confirmation of this session expires.")


class WalletProof(Body):
    """An EIP-4361 message with a nonce from POST /v1/auth/siwe/nonce, and the wallet's EIP-191 signature of it."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    signature: Annotated[
        str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{130}$"), Field(examples=["0x" + "1b" * 65], max_length=132)
    ]


class EnrolmentStart(Body):
    """Proof of an account without a second factor: its password; without a password, a wallet of the account."""

    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class TotpEnrolment(BaseModel):
    """Data for an authenticator app. The factor is active once a code confirms it."""

    secret: str | None = Field(description="Base32, for manual entry; null in a replayed response.")
    otpauth_uri: str | None = Field(description="`otpauth://totp/…`, for a QR code.")


class TotpConfirmation(Body):
    """The app's current code."""

    code: Annotated[str, StringConstraints(pattern="^ *[0-9]{3} ?[0-9]{3} *$"), Field(examples=["492039"])]
    name: Name = "Authenticator app"


class PasskeyOptions(BaseModel):
    """Options for `navigator.credentials`, in WebAuthn's JSON form. They work once, for 5 minutes."""

    publicKey: dict[str, Any]


Base64Url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=12_000)]
CredentialId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=1_400)]


class PasskeyAttestation(BaseModel):
    """An authenticator's attestation of a new passkey, in base64url."""

    clientDataJSON: Base64Url
    attestationObject: Base64Url
    transports: list[Annotated[str, StringConstraints(max_length=40)]] = Field(default_factory=list, max_length=20)


class PasskeyAssertion(BaseModel):
    """An authenticator's response to a challenge, in base64url."""

    clientDataJSON: Base64Url
    authenticatorData: Base64Url
    signature: Base64Url
    userHandle: Base64Url | None = None


class NewPasskey(BaseModel):
    """The result of `navigator.credentials.create`, from `toJSON()`. Other members are ignored."""

    id: CredentialId
    rawId: CredentialId
    type: Literal["public-key"] = "public-key"
    response: PasskeyAttestation


class ShownPasskey(BaseModel):
    """The result of `navigator.credentials.get`, from `toJSON()`. Other members are ignored."""

    id: CredentialId
    rawId: CredentialId
    type: Literal["public-key"] = "public-key"
    response: PasskeyAssertion


class PasskeyRegistration(Body):
    """A new passkey."""

    credential: NewPasskey
    name: Name = "Passkey"


class FactorProof(Body):
    """Proof of identity.

    With a second factor: a code or a passkey response. Without one: the password; without a password, a wallet
    signature.
    """

    code: Code | None = None
    credential: ShownPasskey | None = None
    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class FactorAdded(Factor):
    """An added factor. The first one comes with recovery codes, which are shown only in this response."""

    recovery_codes: list[str] | None = Field(default=None, description="Null except for the first factor.")


class RecoveryCodes(BaseModel):
    """New recovery codes, shown only in this response. Each works once; earlier codes stop working."""

    recovery_codes: list[str] | None = Field(description="Null in a replayed response.")


class FreshFactor(BaseModel):
    """When the fresh confirmation of this session expires."""

    fresh_until: Timestamp
