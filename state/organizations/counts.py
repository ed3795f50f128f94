"""The overview's numbers."""

from dataclasses import dataclass

from backend.assets.schemas import AssetStatus
from backend.chains.schemas import OrganizationChain
from backend.organizations.schemas import Summary


@dataclass
class Counts:
    """The numbers of the summary that the page shows."""

    clients: int = 0
    members: int = 0
    wallets: int = 0
    assets: int = 0
    failed_assets: int = 0
    live_keys: int = 0
    revoked_keys: int = 0
    subs: int = 0
    subs_all: int = 0
    failed: int = 0
    transactions: int = 0


@dataclass
class EnabledChainView:
    """An enabled chain."""

    id: str
    name: str
    status: str
    height: int


def counts_of(summary: Summary) -> Counts:
    """Convert the summary."""
    sent = summary.transactions
    return Counts(
        clients=summary.members.clients,
        members=summary.members.total,
        wallets=summary.wallets,
        assets=summary.assets.total,
        failed_assets=summary.assets.by_status.get(AssetStatus.FAILED, 0),
        live_keys=summary.api_keys.active,
        revoked_keys=summary.api_keys.revoked,
        subs=summary.sub_organizations,
        subs_all=summary.sub_organizations_all,
        failed=sent.failed,
        transactions=sent.pending + sent.submitting + sent.confirmed + sent.failed,
    )


def enabled_chain_view(chain: OrganizationChain) -> EnabledChainView:
    """Convert an enabled chain."""
    return EnabledChainView(
        id=str(chain.id),
        name=chain.display_name or chain.chain_name or str(chain.id),
        status=chain.status or "",
        height=chain.height or 0,
    )
