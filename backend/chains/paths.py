"""The bridge paths of chains: their settings, and each token's configuration as read back."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chain.layerzero import paths, verifiers
from backend.chain.layerzero.paths import Verifiers
from backend.chain.rpc import node_urls
from backend.chains.schemas import BridgePath, PathEnd, PathToken, SendingPathEnd
from backend.core.fields import Environment, VmType
from backend.core.setting_fields.paths import PathEnd as EndSettings
from backend.core.setting_fields.paths import PathSettings


async def of_chains(context: Context, chains: list[Any]) -> dict[int, list[BridgePath]]:
    """Return endpoint ID to its paths to each other chain that has a node."""
    ours = [c for c in chains if c.vm_type is VmType.EVM and c.xchain_eid in node_urls.reachable()]
    tokens = await _tokens(context)
    return {
        one.xchain_eid: [
            _path(one, other, tokens[one.xchain_eid, other.xchain_eid]) for other in ours if other is not one
        ]
        for one in ours
    }


_TOKENS = sa.text(
    "select d.asset_id, d.chain_eid, d.token_address, d.paths, a.symbol from asset_deployments d"
    " join assets a on a.id = d.asset_id where d.organization_id = :organization order by a.symbol"
)
"""From the assets' tables, which are above this package."""


async def _tokens(context: Context) -> dict[tuple[int, int], list[PathToken]]:
    """Return the organization's tokens by their chain and the other one, as last read."""
    found: dict[tuple[int, int], list[PathToken]] = defaultdict(list)
    for row in await context.session.execute(_TOKENS, {"organization": context.organization_id}):
        for remote, read in row.paths.items():
            there = (row.chain_eid, int(remote))
            found[there].append(_token(row, read, paths.of(*there), paths.of(*reversed(there))))
    return found


def _token(row: Any, read: Mapping[str, Any], there: PathSettings | None, back: PathSettings | None) -> PathToken:
    sends, receives = SendingPathEnd(**read["sends"]), PathEnd(**read["receives"])
    agrees = sends.enforced_options == paths.enforced_options(there)
    if there is not None:
        agrees = agrees and _agrees(sends, there, there.send)
        agrees = agrees and there.send.executor in (None, sends.executor)
    if back is not None:
        agrees = agrees and _agrees(receives, back, back.receive)
    return PathToken(
        asset_id=str(row.asset_id),
        symbol=row.symbol,
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
    path = paths.of(*eids)
    least = min(paths.required_dvns(*eids), paths.required_dvns(*reversed(eids)))
    is_mainnet = Environment.MAINNET in (one.environment, other.environment)
    return BridgePath(
        destination_chain_eid=other.xchain_eid,
        destination_name=other.display_name,
        is_allowed=not is_mainnet or least >= verifiers.LEAST_DVNS,
        summary=summary(one, other),
        confirmations=path.confirmations if path else None,
        required_dvns=path.send.required_dvns if path else [],
        optional_dvns=path.send.optional_dvns if path else [],
        optional_threshold=path.optional_threshold if path else 0,
        send_library=path.send.library if path else None,
        receive_library=path.receive.library if path else None,
        enforced_gas=path.enforced_gas if path else None,
        tokens=tokens,
    )


def summary(one: Any, other: Any) -> str:
    """Return who verifies packets from one chain to another, as a sentence."""
    eids, names = (one.xchain_eid, other.xchain_eid), (one.display_name, other.display_name)
    path, is_mainnet = paths.of(*eids), Environment.MAINNET in (one.environment, other.environment)
    if path is None and node_urls.is_embedded(eids[0]):
        return "The operator verifies and delivers packets between embedded chains."
    if is_mainnet:
        for pair, called in ((eids, names), (eids[::-1], names[::-1])):
            try:
                verifiers.check_verifiers(paths.required_dvns(*pair), called, pair)
            except verifiers.TooFewVerifiers as refusal:
                return refusal.detail
    if path is None or len(path.send.required_dvns) < verifiers.LEAST_DVNS:
        return verifiers.few_verifiers(*names)
    return verifiers.verified_by(
        len(path.send.required_dvns), path.optional_threshold, len(path.send.optional_dvns), path.confirmations
    )
