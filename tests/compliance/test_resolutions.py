"""Resolutions of broken rules: every rule has one, and the named calls exist."""

import json
from pathlib import Path
from uuid import uuid4

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.compliance.resolutions import resolved
from backend.compliance.schemas import RuleVerdict
from backend.core.settings import settings

DOCUMENT = Path(__file__).parents[2] / "backend" / "openapi.json"
CODES = [code for code in RESTRICTIONS if code]


def test_failing_rule_has_a_resolution() -> None:
    organization, asset = uuid4(), uuid4()
    paths = json.loads(DOCUMENT.read_text())["paths"]
    failed = [RuleVerdict(rule=RESTRICTIONS[c].rule, passed=False, code=c, reason="No.") for c in CODES]
    answer = {v.code: v.resolution for v in resolved(failed, organization, asset, 40161)}
    assert list(answer) == CODES
    for code, resolution in answer.items():
        assert resolution is not None
        assert resolution.description == RESTRICTIONS[code].resolution
        if resolution.path is not None and resolution.method is not None:
            assert resolution.href == f"{settings().base_url}{resolution.path}"
            template = f"/v1{resolution.path}".replace(str(organization), "{orgId}").replace(str(asset), "{assetId}")
            assert resolution.method.lower() in paths[template], template
    by_words_alone = {code for code, r in answer.items() if r is not None and r.path is None}
    assert by_words_alone == {3, 4, 32, 36, 37, 38, 39}


def test_passing_rule_has_no_resolution() -> None:
    kept = RuleVerdict(rule="paused", passed=True, code=1, reason="The token is not paused.")
    assert resolved([kept], uuid4(), uuid4(), 40161) == [kept]
