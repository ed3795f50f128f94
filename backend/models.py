"""All tables, imported in one place, so that SQLModel.metadata is complete."""

from backend.api_keys.models import ApiKeyRow
from backend.approvals.models import CommentRow
from backend.assets.models import AssetRow, DeploymentRow, RuleSetRow
from backend.attestations.models import AttestationRow
from backend.audit.models import AuditHeadRow, AuditRow
from backend.auth.models import IdempotencyRow, OneTimeSecretRow, RefreshTokenRow, SessionRow, SigningKeyRow
from backend.auth.oauth_models import OAuthClientRow, OAuthCodeRow, OAuthConsentRow
from backend.bridges.models import BridgeRow
from backend.chain.chain_models import ChainContractRow, ChainRow
from backend.chain.models import (
    ChainAlarmRow,
    CursorRow,
    FollowedContractRow,
    SignerRow,
    StateEventRow,
    TokenTransferRow,
    TransactionRow,
)
from backend.chain.signing.models import WalletKeyRow
from backend.chains.models import OrganizationChainRow
from backend.daily_totals.models import (
    AnyHolderChangeRow,
    AssetDayRow,
    HolderChangeRow,
    MarketDayRow,
    OrganizationDayRow,
)
from backend.daily_use.models import DailyLimitRow, DailyUseRow
from backend.distributions.models import ClaimRow, DistributionRow, HeldRecipientRow, RecipientRow, TreePartRow
from backend.drafts.models import DraftRow
from backend.engine.models import ExecutorLeaseRow
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.invitations.models import InvitationRow
from backend.issuers.models import IssuerRow, IssuerWalletRow
from backend.mail.models import OutboxRow
from backend.markets.models import AnnouncementRow, MarketRow, OrderRow, TradeRow
from backend.organizations.models import OrganizationRow
from backend.parties.models import DocumentRow, FilePartRow, FileRow, PartyRow
from backend.preferences.models import PreferencesRow
from backend.reconciliation.models import ReconciliationRow
from backend.requests.models import ApprovalRow, RequestRow, RequestStepRow
from backend.saved_views.models import SavedViewRow
from backend.secret_keys.models import DataKeyRow
from backend.transfers.models import TransferRow
from backend.users.models import MemberRow, UserRow, UserWalletRow
from backend.wallets.models import WalletRow
from backend.webhooks.models import DeliveryRow, EndpointRow

__all__ = [
    "AnnouncementRow",
    "AnyHolderChangeRow",
    "ApiKeyRow",
    "ApprovalRow",
    "AssetDayRow",
    "AssetRow",
    "AttestationRow",
    "AuditHeadRow",
    "AuditRow",
    "BridgeRow",
    "ChainAlarmRow",
    "ChainContractRow",
    "ChainRow",
    "ClaimRow",
    "CommentRow",
    "CursorRow",
    "DailyLimitRow",
    "DailyUseRow",
    "DataKeyRow",
    "DeliveryRow",
    "DeploymentRow",
    "DistributionRow",
    "DocumentRow",
    "DraftRow",
    "EndpointRow",
    "ExecutorLeaseRow",
    "FactorRow",
    "FilePartRow",
    "FileRow",
    "FollowedContractRow",
    "HeldRecipientRow",
    "HolderChangeRow",
    "IdempotencyRow",
    "InvitationRow",
    "IssuerRow",
    "IssuerWalletRow",
    "MarketDayRow",
    "MarketRow",
    "MemberRow",
    "OAuthClientRow",
    "OAuthCodeRow",
    "OAuthConsentRow",
    "OneTimeSecretRow",
    "OrderRow",
    "OrganizationChainRow",
    "OrganizationDayRow",
    "OrganizationRow",
    "OutboxRow",
    "PartyRow",
    "PreferencesRow",
    "RecipientRow",
    "ReconciliationRow",
    "RecoveryCodeRow",
    "RefreshTokenRow",
    "RequestRow",
    "RequestStepRow",
    "RuleSetRow",
    "SavedViewRow",
    "SessionRow",
    "SignerRow",
    "SigningKeyRow",
    "StateEventRow",
    "TokenTransferRow",
    "TradeRow",
    "TransactionRow",
    "TransferRow",
    "TreePartRow",
    "UserRow",
    "UserWalletRow",
    "WalletKeyRow",
    "WalletRow",
]
