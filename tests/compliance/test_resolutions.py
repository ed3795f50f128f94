"""What puts a broken rule right: said for every rule, and the named calls exist."""

import json
from pathlib import Path
from uuid import uuid4

from backend.chain.restrictions import RESTRICTIONS
from backend.compliance.resolutions import resolved
from backend.compliance.schemas import RuleVerdict

DOCUMENT = Path(__file__).parents[2] / "backend" / "openapi.json"
CODES = [code for code in RESTRICTIONS if code]


def test_every_rule_that_fails_says_what_would_resolve_it() -> None:
    organization, asset = uuid4(), uuid4()
    paths = json.loads(DOCUMENT.read_text())["paths"]
    failed = [RuleVerdict(rule=RESTRICTIONS[c].rule, passed=False, code=c, reason="No.") for c in CODES]
    told = {v.code: v.resolution for v in resolved(failed, organization, asset)}
    assert list(told) == CODES
    for code, resolution in told.items():
        assert resolution is not None
        assert resolution.description == RESTRICTIONS[code].resolution
        if resolution.path is not None and resolution.method is not None:
            template = resolution.path.replace(str(organization), "{orgId}").replace(str(asset), "{assetId}")
            assert resolution.method.lower() in paths[template], template
    by_words_alone = {code for code, r in told.items() if r is not None and r.path is None}
    assert by_words_alone == {3, 4, 32, 36, 37, 38, 39}


def test_a_rule_that_passes_needs_nothing() -> None:
    kept = RuleVerdict(rule="paused", passed=True, code=1, reason="The token moves.")
    assert resolved([kept], uuid4(), uuid4()) == [kept]
