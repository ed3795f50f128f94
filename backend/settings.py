"""Settings, read once from the environment."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

CHECKOUT = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """Every setting Signum reads. Names of the environment are upper case, with `SIGNUM_` before our own."""

    model_config = SettingsConfigDict(env_prefix="SIGNUM_", extra="ignore")

    host: str = Field("127.0.0.1", validation_alias=AliasChoices("HOST", "host"))
    port: int = Field(8000, ge=1, le=65535, validation_alias=AliasChoices("PORT", "port"))
    home: Path = CHECKOUT / ".signum"
    """Data folder: database, chains, keystore, demo.json. `SIGNUM_HOME`."""

    database_url: str | None = Field(None, validation_alias=AliasChoices("DATABASE_URL", "database_url"))
    """The owner's URL (`postgresql://…`); None starts the embedded server."""

    rpc_urls: dict[int, list[str]] = {}
    """JSON object of endpoint id to RPC URL, or to a list of them of which the first that answers is asked; empty
    starts the embedded chains. `SIGNUM_RPC_URLS`."""

    confirmations: dict[int, int] = {}
    """JSON object of endpoint id to the blocks a transaction waits for; default 12 on mainnets, 2 on testnets."""

    keystore_scrypt_n: int | None = Field(None, ge=2)
    """Cost of the keystore's scrypt, a power of two; default 2^18, and 2^12 with embedded chains."""

    public_url: str | None = None
    """Origin people reach us at, such as `https://signum.example`; default `http://localhost:{port}`."""

    demo: bool = True
    rate_limits: Literal["on", "off"] = "on"
    keystore_password: str | None = None
    """Password of the keystore; without one a file of mode 0600 in the data folder holds it."""

    documents_key: str | None = Field(None, min_length=16)
    """Secret that seals the documents of parties; without one a file of mode 0600 in the data folder holds it."""

    claims_host: str | None = None
    bridge_give_up_seconds: int = Field(
        86_400, validation_alias=AliasChoices("BRIDGE_GIVE_UP", "bridge_give_up_seconds")
    )
    protocol_share_bps: int = Field(1_000, ge=0, le=10_000)
    session_days: int = 14

    @field_validator("rpc_urls", mode="before")
    @classmethod
    def _as_lists(cls, urls: Any) -> Any:
        """One URL is a list of one."""
        if not isinstance(urls, dict):
            return urls
        return {eid: [given] if isinstance(given, str) else given for eid, given in urls.items()}

    @field_validator("rpc_urls")
    @classmethod
    def _are_urls(cls, urls: dict[int, list[str]]) -> dict[int, list[str]]:
        """Every chain that is named has an http(s) URL. The message never has one: it may carry a provider's key."""
        for eid, given in urls.items():
            if not given or not all(url.startswith(("http://", "https://")) for url in given):
                raise ValueError(f"the chain {eid} needs a URL that begins with http:// or https://")
        return urls

    @field_validator("home")
    @classmethod
    def _from_here(cls, home: Path) -> Path:
        """A relative folder counts from where the command was given."""
        return home.absolute()

    @property
    def origin(self) -> str:
        """Scheme, host and port that browsers use, without a slash at the end."""
        return (self.public_url or f"http://localhost:{self.port}").rstrip("/")

    @property
    def base_url(self) -> str:
        """The specification's `{base_url}`."""
        return f"{self.origin}/v1"

    @property
    def embedded_chains(self) -> bool:
        """Whether the chains are the ones we start ourselves."""
        return not self.rpc_urls

    @property
    def secure(self) -> bool:
        """Whether browsers reach us over https (cookies are then `__Host-` and Secure)."""
        return self.origin.startswith("https://")


@lru_cache
def settings() -> Settings:
    """The process's settings."""
    return Settings()
