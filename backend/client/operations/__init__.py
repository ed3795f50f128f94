"""Every operation of the API, by chapter. Made by `make client` from backend/openapi.json."""

from backend.client.operations.api_keys import APIKeysOperations
from backend.client.operations.approvals import ApprovalsOperations
from backend.client.operations.assets import AssetsOperations
from backend.client.operations.attestations import AttestationsOperations
from backend.client.operations.audit import AuditOperations
from backend.client.operations.bridges import BridgesOperations
from backend.client.operations.chains import ChainsOperations
from backend.client.operations.compliance import ComplianceOperations
from backend.client.operations.controls import ControlsOperations
from backend.client.operations.daily_limits import DailyLimitsOperations
from backend.client.operations.devnet import DevnetOperations
from backend.client.operations.distributions import DistributionsOperations
from backend.client.operations.invitations import InvitationsOperations
from backend.client.operations.issuer import IssuerOperations
from backend.client.operations.mail import MailOperations
from backend.client.operations.markets import MarketsOperations
from backend.client.operations.members import MembersOperations
from backend.client.operations.openid_connect import OpenIDConnectOperations
from backend.client.operations.organizations import OrganizationsOperations
from backend.client.operations.parties import PartiesOperations
from backend.client.operations.requests import RequestsOperations
from backend.client.operations.search import SearchOperations
from backend.client.operations.sign_in import SignInOperations
from backend.client.operations.status import StatusOperations
from backend.client.operations.transfers import TransfersOperations
from backend.client.operations.wallets import WalletsOperations
from backend.client.operations.webhooks import WebhooksOperations


class Operations(
    StatusOperations,
    SignInOperations,
    OrganizationsOperations,
    MembersOperations,
    InvitationsOperations,
    MailOperations,
    APIKeysOperations,
    OpenIDConnectOperations,
    WalletsOperations,
    ChainsOperations,
    PartiesOperations,
    IssuerOperations,
    AttestationsOperations,
    ComplianceOperations,
    AssetsOperations,
    MarketsOperations,
    BridgesOperations,
    DistributionsOperations,
    ControlsOperations,
    DailyLimitsOperations,
    TransfersOperations,
    WebhooksOperations,
    RequestsOperations,
    AuditOperations,
    SearchOperations,
    ApprovalsOperations,
    DevnetOperations,
):
    """Every operation of the API."""
