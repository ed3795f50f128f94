"""An asset's rules in the format of its token on a chain."""

from collections.abc import Sequence

from backend.assets.models import AssetRow
from backend.assets.rules import NOTHING, Held, Terms, countries, holders_share, share
from backend.caps import rules as cap_rules
from backend.caps.schemas import CapShare
from backend.chain.abi.rule_sets import TokenRules
from backend.compliance.schemas import ComplianceRules


def terms_of(asset: AssetRow) -> Terms:
    """Return the rules of the latest change that has started."""
    return Terms(
        regulation_type=asset.regulation_type,
        compliance_rules=ComplianceRules(**asset.compliance_rules),
        max_holders=asset.max_holders,
        required_kyc_level=asset.required_kyc_level,
        org_only=asset.org_only,
        cap_shares=tuple(CapShare(**share) for share in asset.cap_shares),
    )


def write(asset: AssetRow, terms: Terms) -> None:
    """Write rules to the row."""
    asset.regulation_type, asset.max_holders = terms.regulation_type, terms.max_holders
    asset.required_kyc_level, asset.org_only = terms.required_kyc_level, terms.org_only
    asset.compliance_rules = terms.compliance_rules.model_dump()
    asset.cap_shares = [share.model_dump() for share in terms.cap_shares]


def token_rules(terms: Terms, chains: Sequence[int], eid: int, held: Held = NOTHING) -> TokenRules:
    """Return the rules on the chain `eid`, with its share of the caps. `chains`: all that have the token, oldest
    first. Shares that a person set count while they fit (`caps.rules.set_by_hand`)."""
    rules = terms.compliance_rules
    own = cap_rules.set_by_hand(terms.caps, terms.cap_shares, chains, held.used).get(eid) or CapShare(
        chain_eid=eid,
        max_holders=holders_share(terms.max_holders, chains, eid, held.holders),
        max_tokens_per_holder=str(share(int(rules.max_tokens_per_holder), chains, eid, held.largest)),
    )
    return TokenRules(
        regulation_type=terms.regulation_type,
        min_kyc_level=terms.required_kyc_level,
        requires_accreditation=rules.requires_accreditation,
        org_only=terms.org_only,
        blocked_countries=countries(rules.blocked_countries),
        lockup_end_time=rules.lockup_end_time,
        max_holders=own.max_holders,
        max_tokens_per_holder=int(own.max_tokens_per_holder),
        trusted_issuers=tuple(rules.trusted_issuers),
    )


def share_of(rules: TokenRules, eid: int) -> CapShare:
    """Return the share of the caps in a chain's rules."""
    return CapShare(
        chain_eid=eid, max_holders=rules.max_holders, max_tokens_per_holder=str(rules.max_tokens_per_holder)
    )
