"""Initial values of each regulatory framework. Configuration, not legal advice: the issuer can change every value."""

from typing import Final

from backend.compliance.schemas import Preset
from backend.core.fields import RegulationType

PRESETS: Final = (
    Preset(
        regulation_type=RegulationType.REG_D,
        name="Reg D 506(c)",
        summary="Accredited investors, general solicitation.",
        enforces=["Accreditation of every receiver", "12-month lock-up", "At most 2,000 holders", "KYC level 1"],
        omits=["Blocked countries"],
        leaves_to_issuer=["Form D", "Reasonable steps to verify accreditation", "Bad actor checks"],
        required_kyc_level=1,
        max_holders=2_000,
        requires_accreditation=True,
        blocked_countries=[],
        lockup_months=12,
    ),
    Preset(
        regulation_type=RegulationType.REG_S,
        name="Reg S",
        summary="Offshore offers to persons outside the USA.",
        enforces=["USA blocked", "12-month lock-up", "KYC level 1"],
        omits=["Accreditation", "Maximum holders"],
        leaves_to_issuer=["Flow-back into the USA through other channels", "No directed selling efforts in the USA"],
        required_kyc_level=1,
        max_holders=0,
        requires_accreditation=False,
        blocked_countries=["USA"],
        lockup_months=12,
    ),
    Preset(
        regulation_type=RegulationType.REG_A_PLUS,
        name="Reg A+ Tier 2",
        summary="Public offers up to 75 million USD a year.",
        enforces=["KYC level 1"],
        omits=["Accreditation", "Maximum holders", "Blocked countries", "Lock-up"],
        leaves_to_issuer=["The offering circular", "The 10% limit for non-accredited investors", "Annual reports"],
        required_kyc_level=1,
        max_holders=0,
        requires_accreditation=False,
        blocked_countries=[],
        lockup_months=0,
    ),
    Preset(
        regulation_type=RegulationType.REG_CF,
        name="Reg CF",
        summary="Crowdfunding up to 5 million USD a year.",
        enforces=["12-month lock-up", "KYC level 1"],
        omits=["Accreditation", "Maximum holders", "Blocked countries"],
        leaves_to_issuer=["A registered portal", "Each investor's yearly limit", "Form C"],
        required_kyc_level=1,
        max_holders=0,
        requires_accreditation=False,
        blocked_countries=[],
        lockup_months=12,
    ),
    Preset(
        regulation_type=RegulationType.NONE,
        name="None",
        summary="Only the rules that you set.",
        enforces=["An attestation of every receiver"],
        omits=["KYC level", "Accreditation", "Maximum holders", "Blocked countries", "Lock-up"],
        leaves_to_issuer=["The framework"],
        required_kyc_level=0,
        max_holders=0,
        requires_accreditation=False,
        blocked_countries=[],
        lockup_months=0,
    ),
)
"""In the order of the specification's `regulation_type`."""
