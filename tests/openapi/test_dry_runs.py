"""Everything that changes an organization, asset, attestation, market, token or distribution has a dry run."""

import pytest

from tests.openapi.operations import CASES, Case

OTHER = {
    "Sign-in", "OpenID Connect", "Members", "Invitations", "API keys", "Wallets", "Chains", "Parties",
    "Webhooks", "Devnet",
}  # fmt: skip
"""The tags of operations on other records."""
NOT_NEEDED = {
    "check_transfer": "it changes nothing",
    "check_order": "it changes nothing",
    "check_investor_order": "it changes nothing",
    "prepare_investor_order": "it changes nothing: the investor's wallet signs and sends",
    "prepare_investor_cancellation": "it changes nothing: the investor's wallet signs and sends",
    "prepare_investor_claim": "it changes nothing: the investor's wallet signs and sends",
    "claim_kept_amount": "it pays an investor what a distribution owes them; there is nothing to choose",
    "read_evidence": "it changes nothing",
    "verify_evidence": "it changes nothing",
    "print_evidence": "it changes nothing: it draws a file that was sent",
    "upload_investor_document": "it only adds a file to the investor's own party",
    "leave_organization": "it only ends the person's own membership",
    "approve_request": "GET of the approval has the plan of what it would do",
    "deny_request": "nothing is done by it",
    "withdraw_request": "nothing is done by it",
    "comment_on_approval": "it only adds a text",
    "save_draft": "only the person sees what they entered",
    "delete_draft": "only the person sees what they entered",
    "save_view": "only the person sees it",
    "delete_view": "only the person sees it",
    "retry_request": "it continues an earlier plan",
}
CHANGING = [case for case in CASES if case.method != "get" and not set(case.entry["tags"]) & OTHER]
CONCERNED = [case for case in CHANGING if str(case) not in NOT_NEEDED]


@pytest.mark.parametrize("case", CONCERNED, ids=str)
def test_operation_has_a_dry_run(case: Case) -> None:
    assert [p["name"] for p in case.entry["parameters"] if p.get("name") == "dry_run"] == ["dry_run"]
    schema = case.entry["responses"]["200"]["content"]["application/json"]["schema"]
    plans = [k for k in [schema, *schema.get("anyOf", [])] if k.get("$ref", "").endswith("Plan")]
    assert len(plans) == 1


def test_dry_run_exceptions_name_existing_operations() -> None:
    assert NOT_NEEDED.keys() <= {str(c) for c in CASES}
    assert len(CONCERNED) > 25
