"""Settings, read once from the environment."""

from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from backend.core.addresses import checksummed
from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.setting_fields.database import DatabaseSettings
from backend.core.setting_fields.observability import ObservabilitySettings
from backend.core.setting_fields.paths import PathSettings
from backend.core.setting_fields.secret_key_texts import SecretKeyText
from backend.core.setting_fields.sources import Environment, fault_lines
from backend.core.setting_fields.urls import Origin, RedisUrl
from backend.installation import default_home

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class TermsOverride(BaseModel):
    """Overrides of a chain's terms; `backend.chain.rpc.terms.ChainTerms` explains each field."""

    model_config = ConfigDict(extra="forbid")

    block_time: float = Field(2.0, gt=0)
    confirmations: int = Field(2, ge=0)
    safe: Literal["safe", "finalized", "latest"] | Annotated[int, Field(ge=0)] = "safe"
    final: Literal["safe", "finalized", "latest"] | Annotated[int, Field(ge=0)] = "finalized"
    succeeds_at: Literal["included", "safe", "final"] = "final"
    log_range: int = Field(2_000, ge=1)
    history: int | None = Field(None, ge=0)
    batch: int = Field(20, ge=1)


class Settings(DatabaseSettings, ObservabilitySettings):
    """Every setting of Signum. Environment names are upper case, with the prefix `SIGNUM_` for Signum's own."""

    model_config = SettingsConfigDict(
        env_prefix="SIGNUM_",
        extra="ignore",
        env_ignore_empty=True,
        hide_input_in_errors=True,  # it contains passwords and providers' keys
    )

    host: str = Field("127.0.0.1", validation_alias=AliasChoices("HOST", "host"))
    port: int = Field(8000, ge=1, le=65535, validation_alias=AliasChoices("PORT", "port"))
    home: Path = Field(default_factory=default_home)
    """Data folder: database, chains, secret.key, demo.json. `SIGNUM_HOME`."""

    rpc_urls: dict[int, list[str]] = {}
    """JSON object of endpoint id to RPC URL, or to a list of URLs of which the first that responds is used.

    Empty starts the embedded chains. `SIGNUM_RPC_URLS`.
    """

    confirmations: dict[int, int] = {}
    """JSON object of endpoint id to the confirmations of a transaction in blocks; default 12 on mainnets, 2 on
    testnets.
    """

    chain_terms: dict[int, TermsOverride] = {}
    """JSON object of endpoint id to the terms of that chain that differ from the defaults, such as `{"30101":
    {"succeeds_at": "safe", "log_range": 500}}`. `SIGNUM_CHAIN_TERMS`.
    """

    endpoints: dict[int, str] = {}
    """JSON object of endpoint id to the address of LayerZero's EndpointV2 there, instead of the built-in one."""

    bridge_paths: dict[int, dict[int, PathSettings]] = {}
    """JSON object of source endpoint id to destination endpoint id to the path between them: who verifies its packets,
    with which libraries, after how many confirmations, and the gas of a delivery.

    `SIGNUM_BRIDGE_PATHS`.
    """

    quote_tokens: dict[int, str] = {}
    """JSON object of endpoint id to the quote token of markets there, such as USDC. `SIGNUM_QUOTE_TOKENS`."""

    worker_chains: list[int] = []
    """JSON list of endpoint ids that `signum worker --chain EID` serves instead of the server."""

    worker_health_port: int | None = Field(None, ge=1, le=65535)
    """Port on which `signum worker` answers `/v1/health` and `/v1/ready`; None for no port.
    `SIGNUM_WORKER_HEALTH_PORT`."""

    worker_health_host: str = "127.0.0.1"
    """Address of that port. The answers contain no organization's data. `SIGNUM_WORKER_HEALTH_HOST`."""

    min_free_mib: int = Field(64, ge=0)
    """MiB that must be free on the disk of the data folder; with less, `/v1/ready` answers 503.
    `SIGNUM_MIN_FREE_MIB`."""

    nightly_hour: int = Field(3, ge=0, le=23)
    """UTC hour at which the nightly work begins. `SIGNUM_NIGHTLY_HOUR`."""

    drain_seconds: int = Field(20, ge=0)
    """Seconds for which a stopping worker waits for running work."""

    wallet_provider: Literal["keystore", "aws-kms"] = "keystore"
    """Provider of new server wallets' keys. Existing keys stay with their provider."""

    kms_alias_prefix: str = Field("alias/signum", pattern=r"^alias/[A-Za-z0-9/_-]{1,120}$")
    """Prefix of the aliases of Signum's keys in AWS KMS. Use a different one for each installation in an account."""

    public_url: Origin | None = None
    """Public origin of this server, such as `https://signum.example`; default `http://localhost:{port}`."""

    founders: Literal["anyone", "operator"] = "anyone"
    """Who can found root organizations: anyone with an account who is an admin or belongs to no organization, or only
    admins of the operator's organization. `SIGNUM_FOUNDERS`."""

    demo: bool = True
    demo_history: bool = True
    """Whether the demo begins a year ago. Tests and quick starts create only its present. `SIGNUM_DEMO_HISTORY`."""

    rate_limits: Literal["on", "off"] = "on"
    redis_url: RedisUrl | None = Field(None, validation_alias=AliasChoices("REDIS_URL", "redis_url"))
    """Redis server on which several processes count rate limits together; with None, each process counts its own."""

    trusted_proxies: list[IPv4Network | IPv6Network] = []
    """JSON list of the networks whose `X-Forwarded-For` is trusted: `["10.0.0.0/8"]`. `SIGNUM_TRUSTED_PROXIES`."""

    smtp_url: str | None = Field(
        None, pattern=r"^smtps?://[^/?#\s]+/?(\?starttls=no)?$", validation_alias=AliasChoices("SMTP_URL", "smtp_url")
    )
    """`smtp://user:password@host:587` (with STARTTLS) or `smtps://…:465`; with None, emails stay in the outbox."""

    mail_from: str | None = None
    """Sender of emails: `Signum <signum@example.com>`. Required with `SMTP_URL`. `SIGNUM_MAIL_FROM`."""

    secret_key: SecretKeyText | None = None
    """Encrypts the keys in the database; if unset, `secret.key` in the data folder holds it."""
    secret_key_previous: SecretKeyText | None = None
    """The secret key before it, accepted while it is replaced."""

    keystore_folder: Path | None = None
    """Folder of wallet keys of an earlier version, which are imported; default `keystore` in the data folder."""

    keystore_password: str | None = Field(None, min_length=1)
    """Password of that folder, if no file in it holds it. For the import only."""

    documents_key: str | None = Field(None, min_length=16)
    """Secret under which an earlier version sealed documents, if no file in the data folder holds it. For the import
    only."""

    claims_host: str | None = None
    bridge_give_up_seconds: int = Field(
        86_400, validation_alias=AliasChoices("BRIDGE_GIVE_UP", "bridge_give_up_seconds")
    )
    webhook_loopback: bool | None = None
    """Whether webhooks may be sent to this machine (http://localhost:…), for testing.

    By default only where the chains are embedded, the server listens on loopback and no public URL is set.
    """

    webhook_ports: list[int] = [443, 8443]
    """Ports of public webhook receivers; JSON array. `SIGNUM_WEBHOOK_PORTS`."""

    protocol_share_bps: int = Field(1_000, ge=0, le=10_000)
    """The protocol's share of each market fee, in basis points of the fee; set on every chain's factory."""

    protocol_wallet: str | None = None
    """Recipient of the protocol's share; default the operator's own wallet. `SIGNUM_PROTOCOL_WALLET`."""

    session_days: int = 14
    session_idle_minutes: int = Field(480, ge=0)
    """Idle minutes after which a browser session ends; 0 for no limit. `SIGNUM_SESSION_IDLE_MINUTES`."""

    keep_alive_seconds: int = Field(30, ge=5, le=3_600)
    """Seconds that a connection may be idle between requests, and that the head of a request may take to arrive."""

    body_bytes: int = Field(268_435_456, ge=8_388_608)
    """Bytes of request bodies in memory at a time, of all clients.

    A quarter is for small bodies of callers with and without a credential, the rest for callers with one.
    `SIGNUM_BODY_BYTES`.
    """

    body_bytes_each: int = Field(67_108_864, ge=2_097_152)
    """The same for one address and for one principal; never above a quarter of either part.

    `SIGNUM_BODY_BYTES_EACH`.
    """

    upload_bytes: int = Field(1_073_741_824, ge=16_777_216)
    """Bytes of files above 1 MiB (recipient lists, documents) in the data folder at a time, of all clients.

    `SIGNUM_UPLOAD_BYTES`.
    """

    upload_bytes_each: int = Field(134_217_728, ge=10_485_760)
    """The same for one key, person and address. A root organization has half of all. `SIGNUM_UPLOAD_BYTES_EACH`."""

    document_bytes: int = Field(10_737_418_240, ge=10_485_760)
    """Bytes of documents that one organization may store. `SIGNUM_DOCUMENT_BYTES`."""

    distribution_recipients: int = Field(20_000_000, ge=1_000)
    """Recipients of distributions that one hierarchy may store. `SIGNUM_DISTRIBUTION_RECIPIENTS`."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources, the first of which wins."""
        return init_settings, Environment(settings_cls)

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.smtp_url and "@" not in (self.mail_from or ""):
            raise ValueError("SMTP_URL requires SIGNUM_MAIL_FROM, the sender of emails")
        return self

    @field_validator("rpc_urls", mode="before")
    @classmethod
    def _as_lists(cls, urls: Any) -> Any:
        """Turn one URL into a list of one."""
        if not isinstance(urls, dict):
            return urls
        return {eid: [given] if isinstance(given, str) else given for eid, given in urls.items()}

    @field_validator("rpc_urls")
    @classmethod
    def _are_urls(cls, urls: dict[int, list[str]]) -> dict[int, list[str]]:
        """Check that every named chain has http(s) URLs.

        The message never includes a URL: it may contain a provider's key.
        """
        for eid, given in urls.items():
            if not given or not all(url.startswith(("http://", "https://")) for url in given):
                raise ValueError(f"the chain {eid} needs a URL that starts with http:// or https://")
        return urls

    @field_validator("confirmations")
    @classmethod
    def _are_depths(cls, depths: dict[int, int]) -> dict[int, int]:
        """Check that every depth is at least 0."""
        for eid, depth in depths.items():
            if depth < 0:
                raise ValueError(f"the chain {eid} cannot wait for {depth} blocks")
        return depths

    @field_validator("endpoints", "quote_tokens")
    @classmethod
    def _are_addresses(cls, addresses: dict[int, str]) -> dict[int, str]:
        """Return EVM addresses with their EIP-55 checksums."""
        return {eid: checksummed(address, f"the chain {eid} has an address that") for eid, address in addresses.items()}

    @field_validator("protocol_wallet")
    @classmethod
    def _is_address(cls, address: str | None) -> str | None:
        """Return an EVM address with its EIP-55 checksum."""
        return None if address is None else checksummed(address, "the address")

    @field_validator("wallet_provider")
    @classmethod
    def _is_installed(cls, name: str) -> str:
        """Check that the provider's packages are installed."""
        if name == "aws-kms" and find_spec("boto3") is None:
            raise ValueError("aws-kms needs boto3: install Signum with the extra `aws`")
        return name

    @field_validator("home")
    @classmethod
    def _from_here(cls, home: Path) -> Path:
        """Resolve a relative folder against the working directory."""
        return home.absolute()

    @property
    def keystore(self) -> Path:
        """Return the folder of wallet keys of an earlier version."""
        return (self.keystore_folder or self.home / "keystore").absolute()

    @property
    def origin(self) -> str:
        """Return the scheme, host and port that browsers use, without a trailing slash."""
        return (self.public_url or f"http://localhost:{self.port}").rstrip("/")

    @property
    def origins(self) -> list[str]:
        """Return every origin that serves the console: the public one only, or this machine's local names."""
        local = [f"http://{host}:{self.port}" for host in ("localhost", "127.0.0.1", "[::1]")]
        return [self.origin] if self.public_url else local

    @property
    def base_url(self) -> str:
        """Return the specification's `{base_url}`."""
        return f"{self.origin}/v1"

    @property
    def embedded_chains(self) -> bool:
        """Return whether the chains are the embedded ones."""
        return not self.rpc_urls

    @property
    def allows_loopback_webhooks(self) -> bool:
        """Return whether webhooks may be sent to this machine: by default where the whole installation and its users
        are local.
        """
        is_local = self.embedded_chains and self.host in LOOPBACK and self.public_url is None
        return is_local if self.webhook_loopback is None else self.webhook_loopback

    @property
    def can_have_history(self) -> bool:
        """Return whether the demo may be created in the past: only it is in the chains and the database."""
        return self.demo and self.embedded_chains and self.outside_database is None

    @property
    def is_local_demo(self) -> bool:
        """Return whether only this machine reaches the installation, and all of it is embedded."""
        return self.can_have_history and self.host in LOOPBACK and self.public_url is None and not self.trusted_proxies

    @property
    def secure(self) -> bool:
        """Return whether browsers use https (cookies are then `__Host-` and Secure)."""
        return self.origin.startswith("https://")


def settings() -> Settings:
    """Return the process's settings. Raises CannotStart with a line for each invalid one."""
    try:
        return runtime.part(Settings)
    except ValidationError as error:
        raise CannotStart("\n".join(fault_lines(error.errors(), Settings.model_fields))) from None
