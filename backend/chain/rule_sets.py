"""The rules of a token and of a market, as the contracts take and give them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from backend.fields import RegulationType

_REGULATIONS = (
    RegulationType.NONE,
    RegulationType.REG_D,
    RegulationType.REG_S,
    RegulationType.REG_A_PLUS,
    RegulationType.REG_CF,
)


@dataclass(frozen=True, slots=True)
class MarketRules:
    """A market's own rules. 0 is no limit and no lockup; the lockup's end is in Unix seconds; amounts in base units."""

    regulation_type: RegulationType = RegulationType.NONE
    min_kyc_level: int = 0
    requires_accreditation: bool = False
    blocked_countries: tuple[str, ...] = ()
    lockup_end_time: int = 0
    max_holders: int = 0
    max_tokens_per_holder: int = 0

    def as_abi(self) -> dict[str, Any]:
        """The contract's struct."""
        return {
            "regulation": _REGULATIONS.index(self.regulation_type),
            "minKycLevel": self.min_kyc_level,
            "requiresAccreditation": self.requires_accreditation,
            "blockedCountries": list(self.blocked_countries),
            "lockupEnd": self.lockup_end_time,
            "maxHolders": self.max_holders,
            "maxPerHolder": self.max_tokens_per_holder,
        }

    @classmethod
    def of_abi(cls, told: Mapping[str, Any]) -> Self:
        """The contract's struct, read back."""
        return cls(
            _REGULATIONS[told["regulation"]],
            told["minKycLevel"],
            told["requiresAccreditation"],
            tuple(told["blockedCountries"]),
            told["lockupEnd"],
            told["maxHolders"],
            told["maxPerHolder"],
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON: the amount a decimal string, tuples lists."""
        values = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}
        return {
            **values,
            "regulation_type": self.regulation_type.value,
            "max_tokens_per_holder": str(self.max_tokens_per_holder),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What `as_dict` gave."""
        read: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        return cls(
            **{
                **read,
                "regulation_type": RegulationType(values["regulation_type"]),
                "max_tokens_per_holder": int(values["max_tokens_per_holder"]),
            }
        )


@dataclass(frozen=True, slots=True)
class TokenRules(MarketRules):
    """A token's rules: those of a market, and whose attestations count."""

    org_only: bool = False
    trusted_issuers: tuple[str, ...] = ()

    def as_abi(self) -> dict[str, Any]:
        """The contract's struct."""
        return {**MarketRules.as_abi(self), "orgOnly": self.org_only, "trustedIssuers": list(self.trusted_issuers)}

    @classmethod
    def of_abi(cls, told: Mapping[str, Any]) -> Self:
        """The contract's struct, read back."""
        common: dict[str, Any] = asdict(MarketRules.of_abi(told))
        return cls(**common, org_only=told["orgOnly"], trusted_issuers=tuple(told["trustedIssuers"]))
