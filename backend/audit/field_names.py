"""Displayed names of the fields of records, for the audit log and for evidence packs."""

import re

NAMES = {
    "amount_to_freeze": "to freeze",
    "banner_url": "banner",
    "caps": "limits by chain",
    "claimed_recipients": "recipients who claimed",
    "compare_with": "compared with",
    "compliance_rules": "rules",
    "country": "country",
    "currency_symbol": "currency",
    "disabled_reason": "disabled",
    "destination_tx_hash": "transaction at the destination",
    "distributor_address": "distributor",
    "from_address": "from",
    "guid": "packet",
    "has_recipients": "list of recipients stored",
    "hierarchy_path": "path",
    "initial_supply": "initial supply",
    "kyc_level": "KYC level",
    "kyc_required": "KYC required",
    "logo_url": "logo",
    "lockup_end_time": "lock-up ends",
    "maker_address": "maker",
    "market_address": "market contract",
    "market_factory_address": "market factory",
    "max_holders": "maximum holders",
    "max_kyc_level": "highest KYC level",
    "max_tokens_per_holder": "maximum per holder",
    "min_kyc_level": "KYC level required",
    "old_secrets_until": "old secrets work until",
    "org_only": "organization only",
    "org_type": "type",
    "quote_token_address": "quote token",
    "regulation_type": "framework",
    "required_kyc_level": "KYC level required",
    "requires_accreditation": "accredited investors only",
    "rwa_token_address": "token",
    "sha256": "SHA-256",
    "source_tx_hash": "transaction at the source",
    "to_address": "to",
    "token_address": "token",
    "total_amount": "sum",
    "total_recipients": "recipients",
    "tx_hash": "transaction",
    "tx_hashes": "transactions",
    "uid": "attestation UID",
    "wallet_address": "wallet",
    "website": "website",
}
"""Fields whose displayed names differ from their own."""
ABBREVIATION = re.compile(r"\b(api|id|kyc|url)\b")


def called(name: str) -> str:
    """Return a field's displayed name: `expires_at` is "expires", `chain_eid` is "chain"."""
    if known := NAMES.get(name):
        return known
    plain = name.removesuffix("_at").removesuffix("_bps").removesuffix("_eid").replace("_", " ")
    return "chain" if plain == "xchain" else ABBREVIATION.sub(lambda found: found[0].upper(), plain)
