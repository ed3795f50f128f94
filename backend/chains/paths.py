"""The bridge paths of chains: what the settings ask of each, and what was read back of each token."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow, DeploymentRow
from backend.auth.principal import Context
from backend.bridges import rules
from backend.chain import endpoints, paths
from backend.chain.paths import Verifiers
from backend.chains.schemas import BridgePath, Environment, PathEnd, PathToken, SendingPathEnd, VmType
from backend.path_settings import PathEnd as EndSettings
from backend.path_settings import PathSettings


async def of_chains(context: Context, chains: list[Any]) -> dict[int, list[BridgePath]]:
    """Endpoint id to the paths that leave from there, to each other chain that has a node."""
    ours = [c for c in chains if c.vm_type is VmType.EVM and c.xchain_eid in endpoints.reachable()]
    tokens = await _tokens(context)
    return {
        one.xchain_eid: [
            _path(one, other, tokens[one.xchain_eid, other.xchain_eid]) for other in ours if other is not one
        ]
        for one in ours
    }


async def _tokens(context: Context) -> dict[tuple[int, int], list[PathToken]]:
    """The organization's tokens by their chain and the other one, as they were last read."""
    query = (
        sa.select(DeploymentRow, col(AssetRow.symbol))
        .join(AssetRow, col(AssetRow.id) == col(DeploymentRow.asset_id))
        .where(col(DeploymentRow.organization_id) == context.organization_id)
        .order_by(col(AssetRow.symbol))
    )
    found: dict[tuple[int, int], list[PathToken]] = defaultdict(list)
    for row, symbol in await context.session.execute(query):
        for remote, read in row.paths.items():
            there = (row.chain_eid, int(remote))
            found[there].append(_token(row, symbol, read, paths.of(*there), paths.of(*reversed(there))))
    return found


def _token(
    row: DeploymentRow, symbol: str, read: Mapping[str, Any], there: PathSettings | None, back: PathSettings | None
) -> PathToken:
    sends, receives = SendingPathEnd(**read["sends"]), PathEnd(**read["receives"])
    agrees = sends.enforced_options == paths.enforced_options(there)
    if there is not None:
        agrees = agrees and _agrees(sends, there, there.send)
        agrees = agrees and there.send.executor in (None, sends.executor)
    if back is not None:
        agrees = agrees and _agrees(receives, back, back.receive)
    return PathToken(
        asset_id=str(row.asset_id),
        symbol=symbol,
        token_address=row.token_address or "",
        sends=sends,
        receives=receives,
        agrees=agrees,
        read_at=read["read_at"],
    )


def _agrees(end: PathEnd, path: PathSettings, wanted: EndSettings) -> bool:
    held = Verifiers(end.confirmations, tuple(end.required_dvns), tuple(end.optional_dvns), end.optional_threshold)
    is_library = not end.is_default_library and wanted.library in (None, end.library)
    return is_library and held == Verifiers.of(path, wanted)


def _path(one: Any, other: Any, tokens: list[PathToken]) -> BridgePath:
    eids = (one.xchain_eid, other.xchain_eid)
    path, names = paths.of(*eids), (one.display_name, other.display_name)
    least = min(paths.required_dvns(*eids), paths.required_dvns(*reversed(eids)))
    is_mainnet = Environment.MAINNET in (one.environment, other.environment)
    return BridgePath(
        destination_chain_eid=other.xchain_eid,
        destination_name=other.display_name,
        is_allowed=not is_mainnet or least >= rules.LEAST_DVNS,
        summary=_summary(eids, names, path, is_mainnet),
        confirmations=path.confirmations if path else None,
        required_dvns=path.send.required_dvns if path else [],
        optional_dvns=path.send.optional_dvns if path else [],
        optional_threshold=path.optional_threshold if path else 0,
        send_library=path.send.library if path else None,
        receive_library=path.receive.library if path else None,
        enforced_gas=path.enforced_gas if path else None,
        tokens=tokens,
    )


def _summary(eids: tuple[int, int], names: tuple[str, str], path: PathSettings | None, is_mainnet: bool) -> str:
    if path is None and endpoints.is_embedded(eids[0]):
        return "The operator verifies and delivers packets between embedded chains."
    if is_mainnet:
        for pair, called in ((eids, names), (eids[::-1], names[::-1])):
            try:
                rules.check_verifiers(paths.required_dvns(*pair), called, pair)
            except rules.TooFewVerifiers as refusal:
                return refusal.detail
    if path is None or len(path.send.required_dvns) < rules.LEAST_DVNS:
        return rules.few_verifiers(*names)
    return rules.verified_by(
        len(path.send.required_dvns), path.optional_threshold, len(path.send.optional_dvns), path.confirmations
    )
