"""Summaries of operations, where the function's name does not read like one, and descriptions of the chapters."""

from typing import Final

SUMMARIES: Final = {
    "add_passkey": "Add a passkey",
    "approve_request": "Approve a request",
    "authorize": "Start an authorization",
    "begin_fault": "Start or end a fault",
    "begin_passkey": "Request options for a new passkey",
    "begin_siwe": "Create a nonce for a wallet sign-in",
    "begin_totp": "Start the setup of an authenticator app",
    "burn": "Burn tokens",
    "challenge_factor": "Request a passkey challenge",
    "change_approval_policy": "Request a change of the approval policy",
    "change_member": "Change a member's role",
    "change_password": "Change the password",
    "check_eligibility": "Check whether people can be invited",
    "check_nodes": "Check the nodes of a chain",
    "check_order": "Check whether an order would pass",
    "check_transfer": "Check whether a transfer would pass",
    "comment_on_approval": "Comment on an approval",
    "configuration": "Get the OpenID Connect discovery document",
    "confirm_totp": "Confirm an authenticator app",
    "create_client": "Register an application",
    "create_key": "Create an API key",
    "decide": "Consent to an application, or refuse",
    "create_webhook": "Create a webhook endpoint",
    "delete_webhook": "Delete a webhook endpoint",
    "deny_request": "Deny a request",
    "explain_error": "Explain an error type",
    "export_audit": "Export the audit log as CSV",
    "forced_transfer": "Force a transfer",
    "forgot_password": "Request a password reset",
    "freeze": "Freeze an account",
    "get_caps": "Get the caps of an asset by chain",
    "get_delivery": "Get a delivery of a webhook endpoint",
    "get_devnet": "Get the embedded chains",
    "get_evidence": "Download compliance evidence of an asset",
    "get_health": "Check that the process responds",
    "get_issuer": "Get an organization as an issuer",
    "get_me": "Get the signed-in person",
    "get_proof": "Get a recipient's proof",
    "get_summary": "Get counts of an organization",
    "get_setup": "Get the steps to an organization's first market",
    "get_tree": "List the organization tree",
    "get_webhook": "Get a webhook endpoint",
    "introspect": "Introspect a token",
    "invite": "Invite a person",
    "jwks": "List the keys that verify tokens",
    "limit_path": "Limit a bridge path",
    "list_access": "List people with access",
    "list_asset_paths": "List bridge paths of an asset",
    "list_audit": "List audit entries",
    "list_clients": "List applications",
    "list_deliveries": "List deliveries of a webhook endpoint",
    "list_distributions": "List distributions of an asset",
    "list_documents": "List documents of a party",
    "list_holders": "List holders of an asset",
    "list_keys": "List API keys",
    "list_markets": "List markets of an asset",
    "list_orders": "List orders of a market",
    "list_organization_chains": "List chains of an organization",
    "list_organization_distributions": "List distributions of an organization",
    "list_organization_markets": "List markets of an organization",
    "list_outbox": "List emails of an organization",
    "list_presets": "List compliance presets",
    "list_rules_history": "List rules history of an asset",
    "list_sub_organizations": "List sub-organizations",
    "list_trades": "List trades of a market",
    "list_webhooks": "List webhook endpoints",
    "login": "Sign in with a password",
    "logout": "Sign out",
    "mint": "Mint tokens",
    "move_clock": "Move the time of the embedded chains",
    "move_sub_organization": "Move a sub-organization",
    "pause": "Pause a token",
    "pause_path": "Pause a bridge path",
    "pay_test_funds": "Pay test funds to a wallet",
    "post_userinfo": "Get claims about a person by POST",
    "recover": "Recover a wallet",
    "recover_webhook": "Replay failed deliveries",
    "refresh": "Refresh tokens",
    "register_issuer": "Register an organization as an issuer",
    "remove_client": "Remove an application",
    "renew_recovery_codes": "Replace recovery codes",
    "reset_devnet": "Reset the embedded chains and the database",
    "reset_password": "Set a new password",
    "return_bridge": "Return the supply of a failed bridge",
    "revoke": "Revoke the grant of a token",
    "revoke_key": "Revoke an API key",
    "rotate_webhook_secret": "Rotate the secret of a webhook endpoint",
    "search_organization": "Search an organization",
    "search_organization_csv": "Export search results as CSV",
    "show_consent": "Get the content of the consent page",
    "sign_out_everywhere": "Sign out everywhere",
    "stream_events": "Stream events of an organization",
    "stream_request_events": "Stream the progress of a request",
    "share_caps": "Set the shares of an asset's caps",
    "test_webhook": "Send a test event",
    "token": "Issue tokens",
    "unfreeze": "Unfreeze an account",
    "unlink_wallet": "Unlink a wallet",
    "unpause": "Unpause a token",
    "unpause_path": "Resume a bridge path",
    "update_webhook": "Change a webhook endpoint",
    "userinfo": "Get claims about a person",
    "verify_audit": "Verify the audit log",
    "verify_factor": "Prove a person's identity",
    "verify_siwe": "Sign in with a wallet, or link one",
}
"""By the function's name. Any other summary is the name in words: `deploy_market` is "Deploy a market"."""

CHAPTERS: Final = {
    "Status": "Health and readiness of the server, and explanations of error types.",
    "Sign-in": "Sign-in, passwords, sessions, linked wallets and second factors of a person.",
    "Organizations": "Organizations form trees. A role in one applies to everything below it.",
    "Members": "People with a role in an organization.",
    "Invitations": "Emails with which people join an organization.",
    "Mail": "Emails of an organization, with their delivery status.",
    "API keys": "Credentials of programs, each for one organization and some scopes.",
    "OpenID Connect": "Applications in which people sign in with their Signum account, or that act for them.",
    "Wallets": "Server wallets, whose keys Signum holds, and linked wallets, of which it knows the address only.",
    "Chains": "The registry of chains, and those that an organization uses.",
    "Parties": "People and companies whose identity an organization verifies.",
    "Issuer": "The organization as an issuer of attestations, chain by chain.",
    "Attestations": "Records on chain that an issuer has verified a party: KYC level, country and accreditation.",
    "Compliance": "Regulatory frameworks with initial rules.",
    "Assets": "Tokens with rules that their contracts enforce on every chain.",
    "Markets": "On-chain order books of an asset, their orders and trades.",
    "Bridges": "Transfers of an asset, its rules and its supply to another chain.",
    "Distributions": "Payouts to many recipients, each of whom claims with a Merkle proof.",
    "Controls": "What the owner of a token does: mint, burn, pause, freeze, forced transfer, recovery, bridge paths.",
    "Daily limits": "Amounts of an asset above which a second person must approve.",
    "Transfers": "Transfers of tokens from server wallets.",
    "Webhooks": "Endpoints that receive signed events about changes.",
    "Requests": "Accepted asynchronous operations with their steps and transactions.",
    "Audit": "The append-only log of every change, with a hash chain.",
    "Search": "Search over an organization and everything below it.",
    "Approvals": "Actions that wait for a second person.",
    "Devnet": "Time, faults and reset of the embedded chains, for the operator's admins.",
}
"""By tag."""

_VERBS = ("List ", "Get ", "Search ")
_VOWELS = tuple("aeiouAEIO")


def summary_of(name: str) -> str:
    """Return the summary of an operation by its function's name."""
    if name.endswith("_csv") and name not in SUMMARIES:
        return f"Export {_without_verb(summary_of(name.removesuffix('_csv')))} as CSV"
    return SUMMARIES.get(name) or _words(name)


def _without_verb(summary: str) -> str:
    return next((summary.removeprefix(verb) for verb in _VERBS if summary.startswith(verb)), summary)


def _words(name: str) -> str:
    """Return a name in words, with an article before a single thing."""
    verb, *rest = name.split("_")
    thing = " ".join(rest).replace("sub organization", "sub-organization")
    article = "" if not thing or thing.endswith("s") or verb == "list" else "an " if thing[0] in _VOWELS else "a "
    return f"{verb.capitalize()} {article}{thing}".strip()
