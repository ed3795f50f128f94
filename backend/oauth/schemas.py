"""Request and response bodies of OpenID Connect and OAuth. Names are those of their RFCs."""

from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from backend.auth.scopes import IdentityScope, Scope
from backend.core.fields import Body, ClientKind, Flag, Name, Record, Timestamp, explained
from backend.core.settings import settings
from backend.lists.schemas import RecordPage

AnyScope = Annotated[IdentityScope | Scope, explained("is not a scope")]
CLAIMS_HOST = settings().claims_host or urlsplit(settings().base_url).hostname
IDENTITIES = f"https://{CLAIMS_HOST}/claims/chain_identities"
ATTESTATIONS = f"https://{CLAIMS_HOST}/claims/attestations"
RedirectUri = Annotated[
    str, StringConstraints(min_length=1, max_length=2_000), Field(examples=["https://app.example/callback"])
]
Short = Annotated[str, StringConstraints(max_length=500)]
Long = Annotated[str, StringConstraints(max_length=4_000)]
Jwt = Annotated[str, StringConstraints(max_length=8_192)]


class OAuthClientCreate(Body):
    """A new application.

    `scopes` is the most it may request from people. `backchannel_logout_uri` receives a logout token when a person's
    session with it ends (OpenID Connect Back-Channel Logout).
    """

    name: Name
    kind: ClientKind = ClientKind.CONFIDENTIAL
    redirect_uris: Annotated[list[RedirectUri], Field(min_length=1, max_length=20)]
    backchannel_logout_uri: RedirectUri | None = None
    scopes: Annotated[list[AnyScope], Field(min_length=1, max_length=20)] = [
        IdentityScope.OPENID,
        IdentityScope.PROFILE,
        IdentityScope.EMAIL,
    ]


class OAuthClient(Record):
    """An application; `id` is its `client_id`."""

    id: UUID
    organization_id: UUID
    name: str
    kind: ClientKind
    redirect_uris: list[str]
    backchannel_logout_uri: str | None = None
    scopes: list[AnyScope]
    revoked_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class OAuthClientCreated(OAuthClient):
    """The only response with the secret; null for a public application."""

    secret: str | None


class OAuthClientList(RecordPage):
    """A page of applications."""

    oauth_clients: list[OAuthClient]
    nextCursor: str | None


class AuthorizationQuery(BaseModel):
    """An authorization request (OIDC Core 3.1.2.1, RFC 7636). Unknown parameters are ignored."""

    model_config = ConfigDict(extra="ignore")

    client_id: Short | None = None
    redirect_uri: Annotated[str, StringConstraints(max_length=2_000)] | None = None
    response_type: Annotated[Short | None, Field(description="`code`.")] = None
    scope: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    state: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    nonce: Short | None = None
    code_challenge: Short | None = None
    code_challenge_method: Annotated[Short | None, Field(description="`S256`.")] = None
    prompt: Annotated[Short | None, Field(description="`none`, or `login` and `consent`.")] = None
    max_age: Annotated[Annotated[str, StringConstraints(max_length=10)] | None, Field(description="Seconds.")] = None
    response_mode: Annotated[Short | None, Field(description="`query`.")] = None
    request: Long | None = None
    request_uri: Long | None = None


class ConsentScope(BaseModel):
    """A scope, with a description for the person."""

    scope: str
    description: str


class ConnectedApplication(Record):
    """An application that a person has connected: its permissions, when it was connected and last used.

    `sessions` and `api_keys` count the active ones.
    """

    id: UUID
    name: str
    organization_id: UUID
    organization_name: str
    scopes: list[ConsentScope]
    connected_at: Timestamp
    last_used_at: Timestamp | None
    sessions: int
    api_keys: int


class ConnectedApplicationList(RecordPage):
    """A page of connected applications."""

    applications: list[ConnectedApplication]
    nextCursor: str | None


class Consent(BaseModel):
    """Content of the consent page."""

    client_id: UUID
    client_name: str
    organization_name: str
    redirect_host: str
    scopes: list[ConsentScope]


class Decision(AuthorizationQuery):
    """A person's decision on an authorization request, whose parameters it repeats."""

    model_config = ConfigDict(extra="forbid")

    approve: Flag


class Decided(BaseModel):
    """Address of the application to which the browser returns."""

    redirect_to: str | None


class TokenForm(BaseModel):
    """A token request. Parameters of other grant types are ignored (RFC 6749 3.2)."""

    grant_type: Annotated[
        Short | None, Field(description="`authorization_code`, `refresh_token` or `client_credentials`.")
    ] = None
    code: Short | None = None
    redirect_uri: Annotated[str, StringConstraints(max_length=2_000)] | None = None
    code_verifier: Short | None = None
    refresh_token: Short | None = None
    scope: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    client_id: Short | None = None
    client_secret: Short | None = None


class TokenAnswer(BaseModel):
    """RFC 6749 5.1 and OIDC Core 3.1.3.3."""

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  (a token type, not a token)
    expires_in: int
    scope: str
    refresh_token: str | None = None
    id_token: str | None = None


class TokenReference(BaseModel):
    """A token that its client introspects or revokes (RFC 7009, RFC 7662)."""

    token: Jwt | None = None
    token_type_hint: Short | None = None
    client_id: Short | None = None
    client_secret: Short | None = None


class Introspection(BaseModel):
    """RFC 7662. Only `active` where the token has ended, or the caller may not introspect it."""

    active: bool
    scope: str | None = None
    client_id: str | None = None
    token_type: str | None = None
    sub: str | None = None
    iss: str | None = None
    aud: str | None = None
    exp: int | None = None
    iat: int | None = None
    jti: str | None = None
    org_id: str | None = None


class OAuthProblem(BaseModel):
    """RFC 6749 5.2."""

    error: str
    error_description: str


class ChainIdentity(BaseModel):
    """A wallet whose ownership the person has proven."""

    address: str
    chain_eid: int | None
    vm_type: str


class AttestedClaim(Record):
    """An active attestation."""

    uid: str | None
    chain_eid: int
    address: str
    schema_name: str = Field(serialization_alias="schema", validation_alias=AliasChoices("schema_name", "schema"))
    kyc_level: int
    accredited: bool
    country: str
    issuer: UUID
    expires_at: Timestamp | None
    created_at: Timestamp


class UserInfo(BaseModel):
    """Claims about a person. Claims that the scopes do not allow are omitted."""

    sub: str = Field(description="The user's ID.")
    name: str | None = None
    picture: str | None = None
    email: str | None = None
    email_verified: bool | None = None
    chain_identities: list[ChainIdentity] | None = Field(None, alias=IDENTITIES, description="With `chains:read`.")
    attestations: list[AttestedClaim] | None = Field(None, alias=ATTESTATIONS, description="With `kyc:status`.")

    @model_validator(mode="before")
    @classmethod
    def _of_any_host(cls, claims: Any) -> Any:
        """Accept claims of any host: each installation names its claims by its own host."""
        ours = {name.rsplit("/", 1)[-1]: name for name in (IDENTITIES, ATTESTATIONS)}
        is_named = isinstance(claims, dict) and any("/claims/" in str(name) for name in claims)
        return {_ours(name, ours): value for name, value in claims.items()} if is_named else claims


def _ours(name: str, ours: dict[str, str]) -> str:
    return ours.get(name.rsplit("/", 1)[-1], name) if "/claims/" in name else name


class KeySet(BaseModel):
    """JSON Web Keys (RFC 7517)."""

    keys: list[dict[str, Any]]
