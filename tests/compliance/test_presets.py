"""What a framework sets and what it leaves unset."""

import pytest

from backend.compliance.presets import PRESETS
from backend.compliance.schemas import Preset


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_preset_enforces_no_absent_rule(preset: Preset) -> None:
    assert not [line for line in preset.enforces if line.startswith("No ")]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_preset_omits_exactly_the_rules_without_a_value(preset: Preset) -> None:
    values = {
        "KYC level": preset.required_kyc_level,
        "Accreditation": preset.requires_accreditation,
        "Maximum holders": preset.max_holders,
        "Blocked countries": preset.blocked_countries,
        "Lock-up": preset.lockup_months,
    }
    assert preset.omits == [name for name, value in values.items() if not value]
