"""The rules of a token and of a market, in the contracts' format."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from backend.core.fields import RegulationType

_REGULATIONS = (
    RegulationType.NONE,
    RegulationType.REG_D,
    RegulationType.REG_S,
    RegulationType.REG_A_PLUS,
    RegulationType.REG_CF,
)


@dataclass(frozen=True, slots=True)
class MarketRules:
    """A market's own rules. 0 is no limit and no lock-up; the lock-up's end is in Unix seconds; amounts in base
    units."""

    regulation_type: RegulationType = RegulationType.NONE
    min_kyc_level: int = 0
    requires_accreditation: bool = False
    blocked_countries: tuple[str, ...] = ()
    lockup_end_time: int = 0
    max_holders: int = 0
    max_tokens_per_holder: int = 0

    def as_abi(self) -> dict[str, Any]:
        """Return the contract's struct."""
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
    def of_abi(cls, answer: Mapping[str, Any]) -> Self:
        """Parse the contract's struct."""
        return cls(
            _REGULATIONS[answer["regulation"]],
            answer["minKycLevel"],
            answer["requiresAccreditation"],
            tuple(answer["blockedCountries"]),
            answer["lockupEnd"],
            answer["maxHolders"],
            answer["maxPerHolder"],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return JSON: the amount as a decimal string, tuples as lists."""
        values = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}
        return {
            **values,
            "regulation_type": self.regulation_type.value,
            "max_tokens_per_holder": str(self.max_tokens_per_holder),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the result of `as_dict`."""
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
        """Return the contract's struct."""
        return {**MarketRules.as_abi(self), "orgOnly": self.org_only, "trustedIssuers": list(self.trusted_issuers)}

    @classmethod
    def of_abi(cls, answer: Mapping[str, Any]) -> Self:
        """Parse the contract's struct."""
        common: dict[str, Any] = asdict(MarketRules.of_abi(answer))
        return cls(**common, org_only=answer["orgOnly"], trusted_issuers=tuple(answer["trustedIssuers"]))
