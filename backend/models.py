"""Every table, imported in one place, so that SQLModel.metadata is whole."""

from backend.api_keys.models import ApiKeyRow
from backend.assets.models import AssetRow, DeploymentRow, RuleSetRow
from backend.attestations.models import AttestationRow
from backend.auth.models import IdempotencyRow, OneTimeSecretRow, RefreshTokenRow, SessionRow, SigningKeyRow
from backend.bridges.models import BridgeRow
from backend.chain.models import CursorRow, SignerRow, TokenTransferRow, TransactionRow
from backend.chains.models import ChainContractRow, ChainRow, OrganizationChainRow
from backend.distributions.models import ClaimRow, DistributionRow, RecipientRow, TreePartRow
from backend.invitations.models import InvitationRow, OutboxRow
from backend.issuers.models import IssuerRow, IssuerWalletRow
from backend.markets.models import MarketRow, OrderRow
from backend.members.models import MemberRow, UserRow, UserWalletRow
from backend.oauth.models import OAuthClientRow, OAuthCodeRow, OAuthConsentRow
from backend.organizations.models import OrganizationRow
from backend.parties.models import DocumentRow, FilePartRow, FileRow, PartyRow
from backend.requests.models import RequestRow, RequestStepRow
from backend.transfers.models import TransferRow
from backend.wallets.models import WalletRow

__all__ = [
    "ApiKeyRow",
    "AssetRow",
    "AttestationRow",
    "BridgeRow",
    "ChainContractRow",
    "ChainRow",
    "ClaimRow",
    "CursorRow",
    "DeploymentRow",
    "DistributionRow",
    "DocumentRow",
    "FilePartRow",
    "FileRow",
    "IdempotencyRow",
    "InvitationRow",
    "IssuerRow",
    "IssuerWalletRow",
    "MarketRow",
    "MemberRow",
    "OAuthClientRow",
    "OAuthCodeRow",
    "OAuthConsentRow",
    "OneTimeSecretRow",
    "OrderRow",
    "OrganizationChainRow",
    "OrganizationRow",
    "OutboxRow",
    "PartyRow",
    "RecipientRow",
    "RefreshTokenRow",
    "RequestRow",
    "RequestStepRow",
    "RuleSetRow",
    "SessionRow",
    "SignerRow",
    "SigningKeyRow",
    "TokenTransferRow",
    "TransactionRow",
    "TransferRow",
    "TreePartRow",
    "UserRow",
    "UserWalletRow",
    "WalletRow",
]
