"""Checks every operation that succeeds in any test: a change must be in the audit log."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import sqlalchemy as sa

from backend.core import db
from tests.support.openapi_guard import Entries

ACTIONS = {
    "verify_siwe": ("user.wallet_linked",),
    "unlink_wallet": ("user.wallet_unlinked",),
    "logout": ("session.ended",),
    "end_session": ("session.ended",),
    "sign_out_everywhere": ("session.ended",),
    "reset_password": ("user.password_changed",),
    "change_password": ("user.password_changed",),
    "confirm_totp": ("user.factor_added",),
    "add_passkey": ("user.factor_added",),
    "remove_factor": ("user.factor_removed",),
    "renew_recovery_codes": ("user.recovery_codes_created",),
    "create_organization": ("organization.created",),
    "create_sub_organization": ("organization.created",),
    "update_organization": ("organization.updated",),
    "move_sub_organization": ("organization.moved",),
    "add_member": ("member.added", "approval.created"),
    "change_member": ("member.updated", "approval.created"),
    "remove_member": ("member.removed", "approval.created"),
    "accept_membership": ("member.updated",),
    "decline_membership": ("member.removed",),
    "invite": ("invitation.created", "approval.created"),
    "revoke_invitation": ("invitation.revoked",),
    "accept_invitation": ("invitation.accepted",),
    "create_key": ("api_key.created",),
    "revoke_key": ("api_key.revoked",),
    "revoke": ("session.ended",),
    "decide": ("oauth_client.authorized",),
    "create_client": ("oauth_client.created",),
    "remove_client": ("oauth_client.removed",),
    "disconnect_application": ("oauth_client.disconnected",),
    "create_wallet": ("wallet.created",),
    "update_wallet": ("wallet.updated",),
    "delete_wallet": ("wallet.removed",),
    "pay_test_funds": ("wallet.test_funds_requested",),
    "enable_chain": ("chain.enabled",),
    "disable_chain": ("chain.disabled",),
    "create_party": ("party.created",),
    "update_party": ("party.updated",),
    "verify_party": ("party.verified",),
    "import_parties": ("party.created",),
    "reject_party": ("party.rejected",),
    "register_issuer": ("issuer.registering",),
    "create_attestation": ("attestation.created",),
    "revoke_attestation": ("attestation.revoking",),
    "create_asset": ("asset.created",),
    "update_asset": ("asset.updated", "approval.created"),
    "share_caps": ("asset.updated", "approval.created"),
    "archive_asset": ("asset.archived",),
    "update_daily_limits": ("asset.limits_changed", "approval.created"),
    "deploy_market": ("market.pending_bridge", "market.deploying"),
    "place_order": ("order.requested",),
    "cancel_order": ("order.cancelling",),
    "bridge_asset": ("bridge.created",),
    "return_bridge": ("bridge.return_requested",),
    "create_distribution": ("distribution.created",),
    "activate_distribution": ("distribution.activating",),
    "delete_distribution": ("distribution.deleted",),
    "cancel_distribution": ("distribution.cancelling",),
    "pay_recipient": ("distribution.paying",),
    "claim_kept_amount": ("distribution.paying",),
    "change_approval_policy": ("approval.created",),
    "approve_request": ("approval.approved",),
    "deny_request": ("approval.denied",),
    "withdraw_request": ("approval.withdrawn",),
    "comment_on_approval": ("approval.commented",),
    "mint": ("control.requested",),
    "burn": ("control.requested",),
    "pause": ("control.requested",),
    "unpause": ("control.requested",),
    "freeze": ("control.requested",),
    "unfreeze": ("control.requested",),
    "forced_transfer": ("control.requested",),
    "recover": ("control.requested",),
    "pause_path": ("control.requested",),
    "unpause_path": ("control.requested",),
    "limit_path": ("control.requested",),
    "create_transfer": ("transfer.created",),
    "retry_request": ("request.retried",),
    "print_evidence": ("asset.evidence_reported",),
    "upload_document": ("party.document_added",),
    "upload_investor_document": ("party.document_added",),
    "leave_organization": ("member.removed",),
    "create_webhook": ("webhook.created",),
    "update_webhook": ("webhook.updated", "webhook.disabled"),
    "delete_webhook": ("webhook.removed",),
    "rotate_webhook_secret": ("webhook.secret_rotated",),
    "test_webhook": ("webhook.tested",),
    "recover_webhook": ("webhook.recovering",),
    "replay_delivery": ("webhook.replayed",),
}
"""The audit entries of an operation: one of these."""

SILENT = {
    "login": "signs in, which changes no organization",
    "refresh": "continues a sign-in",
    "update_preferences": "changes what a person has set for themselves, which no organization sees",
    "begin_siwe": "gives a nonce",
    "begin_totp": "gives a secret that counts once it is confirmed",
    "begin_passkey": "gives a challenge",
    "challenge_factor": "gives a challenge",
    "verify_factor": "continues a sign-in",
    "forgot_password": "sends an email if the account exists; the change comes with its link",
    "check_eligibility": "asks",
    "preview_invitation": "asks",
    "check_password_link": "asks",
    "verify_parties": "may refuse every item; tests/parties/test_batch.py checks its entries",
    "freeze_accounts": "may refuse every item; each accepted one is a request of its own",
    "unfreeze_accounts": "may refuse every item; each accepted one is a request of its own",
    "create_attestations": "may refuse every item; each accepted one is a request of its own",
    "create_transfers": "may refuse every item; each accepted one is a request of its own",
    "check_transfer": "asks",
    "read_evidence": "reads an archive that is not kept",
    "verify_evidence": "compares an archive that is not kept",
    "check_order": "asks",
    "check_investor_order": "asks",
    "prepare_investor_order": "gives transactions; the investor's wallet sends them",
    "prepare_investor_cancellation": "gives a transaction; the investor's wallet sends it",
    "prepare_investor_claim": "gives a transaction; the investor's wallet sends it",
    "token": "signs in an application",
    "introspect": "asks",
    "post_userinfo": "asks",
    "save_view": "keeps a person's own filters of a list",
    "delete_view": "forgets a person's own filters of a list",
    "save_draft": "keeps what a person has entered in a form and not sent",
    "delete_draft": "forgets what a person has entered in a form and not sent",
    "move_clock": "moves the embedded chains' time, which is no organization's",
    "begin_attempt": "disturbs the demo; what it asks for is in the log as its own operations",
    "begin_fault": "makes an embedded chain ill, which is no organization's",
    "reset_devnet": "removes every organization, its log too",
}
"""Operations that change no record of an organization, with the reason."""

REPEATABLE = {
    "verify_siwe",
    "logout",
    "end_session",
    "sign_out_everywhere",
    "reset_password",
    "change_password",
    "update_organization",
    "move_sub_organization",
    "change_member",
    "revoke_key",
    "revoke",
    "decide",
    "remove_client",
    "update_wallet",
    "enable_chain",
    "disable_chain",
    "update_party",
    "import_parties",
    "register_issuer",
    "activate_distribution",
    "pay_recipient",
    "claim_kept_amount",
    "cancel_order",
    "update_webhook",
    "withdraw_request",
    "change_approval_policy",
}
"""Operations that may have nothing to change, or concern a person without an organization. Then there is no entry. In a
whole run of tests, at least one of their successes is in the log; a single test or folder need not use them in every
way. Generated requests are exempt: none of them has to change anything."""
WHOLE_RUN = "SIGNUM_TEST_WHOLE_RUN"
"""The environment variable that `make test` sets."""
GENERATED = b"schemathesis"
"""How their user agent starts."""

SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass
class Audited:
    """ASGI middleware that records successful operations: `successes` are their requests, by operation."""

    app: Any
    document: dict[str, Any]
    successes: dict[str, list[str]]

    def __post_init__(self) -> None:
        self._entries = Entries(self.document)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on and record it if it succeeds."""
        entry = self._entries.of(scope)
        agent = dict(scope["headers"]).get(b"user-agent", b"")
        if agent.startswith(GENERATED) and entry is not None and entry["operationId"] in REPEATABLE:
            entry = None
        if entry is None or scope["method"] in SAFE or "dry_run" in parse_qs(scope["query_string"].decode("latin-1")):
            await self.app(scope, receive, send)
            return

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start" and 200 <= message["status"] < 300:
                headers = {k.decode().lower(): v.decode() for k, v in message["headers"]}
                if "idempotency-replayed" not in headers:
                    self.successes[entry["operationId"]].append(headers["x-request-id"])
            await send(message)

        await self.app(scope, receive, watched)


async def audit_faults(successes: dict[str, list[str]], *, is_whole_run: bool) -> list[str]:
    """Return the operations whose successes lack their entries in the log."""
    async with db.worker() as session:
        rows = await session.execute(sa.text("select request_id, action from audit_log where request_id is not null"))
        return silent_operations(successes, {(r.request_id, r.action) for r in rows}, is_whole_run=is_whole_run)


def silent_operations(
    successes: Mapping[str, Sequence[str]], entries: Collection[tuple[str, str]], *, is_whole_run: bool
) -> list[str]:
    """Return the operations whose successes lack their entries, given as (request ID, action)."""
    found = []
    for operation, requests in successes.items():
        if operation in SILENT or (operation in REPEATABLE and not is_whole_run):
            continue
        actions = ACTIONS.get(operation, ())
        heard = [any((request, action) in entries for action in actions) for request in requests]
        if not (any(heard) if operation in REPEATABLE else all(heard)):
            found.append(f"{operation}: {heard.count(False)} of {len(heard)} left no {' or '.join(actions) or 'entry'}")
    return found
