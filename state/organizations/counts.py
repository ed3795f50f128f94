"""The overview's numbers."""

from dataclasses import dataclass

from backend.assets.schemas import AssetStatus
from backend.chains.schemas import OrganizationChain
from backend.organizations.schemas import Summary


@dataclass
class Counts:
    """The summary; `updating` counts assets that a request is changing or deploying."""

    staff: int = 0
    clients: int = 0
    members: int = 0
    wallets: int = 0
    assets: int = 0
    active: int = 0
    updating: int = 0
    draft: int = 0
    failed_assets: int = 0
    archived: int = 0
    live_keys: int = 0
    revoked_keys: int = 0
    subs: int = 0
    subs_all: int = 0
    pending: int = 0
    submitting: int = 0
    confirmed: int = 0
    failed: int = 0
    transactions: int = 0


@dataclass
class EnabledChainView:
    """An enabled chain."""

    id: str
    name: str
    status: str
    eid: int
    height: int


def counts_of(summary: Summary) -> Counts:
    """Convert the summary."""
    by_status = {status: summary.assets.by_status.get(status, 0) for status in AssetStatus}
    sent = summary.transactions
    return Counts(
        staff=summary.members.staff,
        clients=summary.members.clients,
        members=summary.members.total,
        wallets=summary.wallets,
        assets=summary.assets.total,
        active=by_status[AssetStatus.ACTIVE],
        updating=by_status[AssetStatus.UPDATING] + by_status[AssetStatus.DEPLOYING],
        draft=by_status[AssetStatus.DRAFT],
        failed_assets=by_status[AssetStatus.FAILED],
        archived=by_status[AssetStatus.ARCHIVED],
        live_keys=summary.api_keys.active,
        revoked_keys=summary.api_keys.revoked,
        subs=summary.sub_organizations,
        subs_all=summary.sub_organizations_all,
        pending=sent.pending,
        submitting=sent.submitting,
        confirmed=sent.confirmed,
        failed=sent.failed,
        transactions=sent.pending + sent.submitting + sent.confirmed + sent.failed,
    )


def enabled_chain_view(chain: OrganizationChain) -> EnabledChainView:
    """Convert an enabled chain."""
    return EnabledChainView(
        id=str(chain.id),
        name=chain.display_name or chain.chain_name or str(chain.id),
        status=chain.status or "",
        eid=chain.xchain_eid or 0,
        height=chain.height or 0,
    )
