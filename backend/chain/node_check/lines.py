"""The meaning of each fact about a node, one line per fact. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from backend.chain.finality import Finality
from backend.chain.node_check.facts import NodeFacts, Tag
from backend.chain.rpc import durations
from backend.chain.rpc.terms import FINALIZED, SAFE, ChainTerms

LARGEST_TRANSACTION = 6_200_000
"""Gas of our largest transaction, the deployment of a token (docs/public-networks.md), with the margin of 1.3."""
BIG_BLOCKS = frozenset({30367, 40362})
"""Endpoint IDs of HyperEVM, whose accounts choose between small and big blocks."""
STALE = 20
"""Number of block times after which the newest block counts as old."""
TOO_FAR_APART = 120.0
"""Seconds between the machines of a pool after which one of them counts as faulty."""
SPARE = 64
"""Blocks below the confirmations whose state is still read."""
BELIEVED = 60.0
"""Seconds; if finality takes longer, a tag that names the newest block itself is not trusted."""


NEWEST_ONLY = "State can be read only at the newest block."
UNUSED = "Signum does not use it with this chain's settings."


class Level(StrEnum):
    """How well a node supports a feature. `limits`: Signum works around the limitation. `missing`: it cannot, or the
    settings must change first."""

    OK = "ok"
    LIMITS = "limits"
    MISSING = "missing"


@dataclass(frozen=True)
class Line:
    """One feature of a node: the finding, and what Signum does about it."""

    name: str
    level: Level
    found: str
    effect: str = ""


@dataclass(frozen=True)
class Site:
    """The chain that a node is checked for."""

    eid: int
    chain_id: int
    terms: ChainTerms
    is_embedded: bool = False


def lines_of(facts: NodeFacts, site: Site) -> Iterator[Line]:
    """Yield a line for each probed feature."""
    yield _chain_id(facts, site)
    yield _freshness(facts, site)
    yield _machines(facts, site)
    yield _batches(facts, site)
    yield _history(facts, site)
    yield _log_range(facts, site)
    yield _log_pinning(facts)
    yield _tag("Finalized tag", FINALIZED, facts.final, site)
    yield _tag("Safe tag", SAFE, facts.safe, site)
    yield _fees(facts)
    yield _method("Gas estimates", "eth_estimateGas", facts.estimates)
    yield _method("Receipts", "eth_getTransactionReceipt", facts.receipts)
    yield _method("Sending", "eth_sendRawTransaction", facts.sends)
    yield _block_size(facts, site)
    yield _rate(facts)


def _unknown(name: str) -> Line:
    return Line(name, Level.MISSING, "Not determined: the node did not answer in time.", "Run the check again.")


def _chain_id(facts: NodeFacts, site: Site) -> Line:
    if facts.chain_id == site.chain_id:
        return Line("Chain ID", Level.OK, f"{facts.chain_id}, as expected.")
    found = f"The chain ID is {facts.chain_id}, but the chain {site.eid} has {site.chain_id}."
    return Line("Chain ID", Level.MISSING, found, "The node belongs to another chain and is never used.")


def _freshness(facts: NodeFacts, site: Site) -> Line:
    name = "Newest block"
    if facts.age is None:
        return _unknown(name)
    if site.is_embedded:
        return Line(name, Level.OK, "The embedded chain makes a block only when there is a transaction.")
    found = f"{max(0, round(facts.age)):,} seconds old."
    if facts.age <= max(STALE * site.terms.block_time, 30.0):
        return Line(name, Level.OK, found)
    return Line(
        name, Level.MISSING, found, "The node is still syncing, or stuck. Signum would see nothing new through it."
    )


def _machines(facts: NodeFacts, site: Site) -> Line:
    name = "Machines"
    if facts.pool is None:
        return _unknown(name)
    if not facts.pool.apart:
        return Line(name, Level.OK, _all_current(facts.pool.requests))
    found = (
        f"A pool of machines, {facts.pool.apart:,} block{_s(facts.pool.apart)} apart in {facts.pool.requests} requests."
    )
    if facts.pool.apart * site.terms.block_time > TOO_FAR_APART:
        return Line(
            name, Level.MISSING, found, "One machine is far behind the others; requests that reach it are delayed."
        )
    effect = "Signum does not use a machine that is behind confirmed blocks, and asks again."
    return Line(name, Level.LIMITS, found, effect)


def _batches(facts: NodeFacts, site: Site) -> Line:
    name = "Batches"
    if facts.batch is None:
        return _unknown(name)
    if facts.batch >= min(site.terms.batch, facts.batch_asked) and facts.batch > 1:
        return Line(name, Level.OK, f"{facts.batch} calls in one batch.")
    if facts.batch > 1:
        return Line(name, Level.LIMITS, f"At most {facts.batch} calls in one batch.", "Signum splits larger batches.")
    if not can_pin(facts):
        effect = "Reads cannot be pinned to one state, neither by one batch nor by a block number."
        return Line(name, Level.MISSING, "Refused.", effect)
    return Line(name, Level.LIMITS, "Refused.", "Signum sends each call separately, which is slower.")


def _history(facts: NodeFacts, site: Site) -> Line:
    name = "Older blocks"
    if facts.history is None:
        return _unknown(name)
    if facts.is_archive:
        return Line(name, Level.OK, "State can be read at every block (archive).")
    if site.is_embedded:
        found = f"State can be read {facts.history:,} block{_s(facts.history)} back." if facts.history else NEWEST_ONLY
        return Line(name, Level.OK, found, "An embedded chain forgets older state when it restarts.")
    if facts.history == 0:
        why = " (the block parameter is ignored)" if facts.ignores_block else ""
        found = f"{NEWEST_ONLY.rstrip('.')}{why}."
        if site.terms.history == 0:
            effect = "Signum reads at the newest block, several values in one batch."
            return Line(name, Level.LIMITS, found, effect)
        return Line(name, Level.MISSING, found, "The terms of this chain expect older blocks; set history to 0.")
    found = f"State can be read {facts.history:,} blocks back."
    needed = site.terms.confirmations + SPARE
    if site.terms.history is not None or facts.history >= needed:
        return Line(name, Level.OK, found, "Signum needs no older state.")
    return Line(name, Level.LIMITS, found, "Comparisons at an older block may have to wait for a newer one.")


def _log_range(facts: NodeFacts, site: Site) -> Line:
    name = "Log range"
    if facts.log_range is None:
        return _unknown(name)
    if facts.log_range == 0:
        return Line(name, Level.MISSING, "eth_getLogs is refused.", "Signum cannot read transfers, orders or claims.")
    most = f"{facts.log_range:,} block{_s(facts.log_range)} in one eth_getLogs"
    found = f"{most}; more were not tried." if facts.log_range == facts.log_range_asked else f"At most {most}."
    if facts.log_range >= min(site.terms.log_range, facts.log_range_asked):
        return Line(name, Level.OK, found)
    return Line(name, Level.LIMITS, found, "Signum halves the range until it fits, and reads more often.")


def _log_pinning(facts: NodeFacts) -> Line:
    name = "Logs of a block"
    ways = {"in one batch with the block": facts.logs_with_block, "by block hash": facts.logs_by_hash}
    if any(ways.values()):
        return Line(name, Level.OK, f"Available {' and '.join(words for words, has in ways.items() if has)}.")
    if facts.logs_by_hash is None:
        return _unknown(name)
    effect = "An empty response may come from a machine that does not have the blocks yet, so events could be lost."
    return Line(name, Level.MISSING, "Available neither by block hash nor in a batch with the block.", effect)


def _tag(name: str, tag: str, found: Tag | None, site: Site) -> Line:
    is_used = tag in (site.terms.safe, site.terms.final)
    if found is None:
        return _unknown(name) if is_used else Line(name, Level.OK, "Not determined.", UNUSED)
    if not found.is_supported:
        effect = "Signum counts blocks instead, at least 20 minutes of them." if is_used else UNUSED
        return Line(name, Level.LIMITS if is_used else Level.OK, "Not supported.", effect)
    if not is_used:
        return Line(name, Level.OK, "Supported.", UNUSED)
    if is_believed(tag, found, site):
        behind = (
            f"{found.behind:,} block{_s(found.behind)} behind the newest." if found.behind else "At the newest block."
        )
        return Line(name, Level.OK, behind)
    words = "The tag names the newest block, so it says nothing about finality."
    if tag != _waited_for(site.terms):
        return Line(name, Level.LIMITS, words, "Requests on this chain do not wait for it.")
    return Line(name, Level.MISSING, words, "Requests would succeed too early. Count blocks, or use another provider.")


def _waited_for(terms: ChainTerms) -> str | int | None:
    """Return the tag, or the number of blocks, that requests of a chain wait for."""
    return {Finality.SAFE: terms.safe, Finality.FINAL: terms.final}.get(terms.succeeds_at)


def _fees(facts: NodeFacts) -> Line:
    name = "Fees"
    if facts.priority_fee:
        return Line(name, Level.OK, "The node proposes a fee (eth_maxPriorityFeePerGas).")
    if facts.priority_fee is None and not facts.gas_price:
        return _unknown(name)
    others = [words for words, has in (("eth_gasPrice", facts.gas_price), ("eth_feeHistory", facts.fee_history)) if has]
    found = f"No eth_maxPriorityFeePerGas; {' and '.join(others)} instead." if others else "No method returns a price."
    effect = "Signum takes the tip from eth_gasPrice." if facts.gas_price else "Signum pays a tip of 0.1 gwei."
    return Line(name, Level.LIMITS, found, effect)


def _method(name: str, method: str, is_supported: bool | None) -> Line:
    if is_supported is None:
        return _unknown(name)
    if is_supported:
        return Line(name, Level.OK, f"Supported ({method}).")
    return Line(name, Level.MISSING, f"{method} is not supported.", "Signum cannot work without it.")


def _block_size(facts: NodeFacts, site: Site) -> Line:
    name = "Block size"
    if facts.gas_limit is None:
        return _unknown(name)
    found = f"{facts.gas_limit:,} gas in a block."
    if facts.gas_limit >= LARGEST_TRANSACTION:
        return Line(name, Level.OK, found)
    if site.eid in BIG_BLOCKS:
        effect = "Deployments need big blocks. Request them from Hyperliquid for the operator and for each treasury."
        return Line(name, Level.LIMITS, found, effect)
    return Line(name, Level.MISSING, found, f"A token's deployment needs up to {LARGEST_TRANSACTION:,}.")


def _rate(facts: NodeFacts) -> Line:
    name = "Rate limit"
    if not facts.limited:
        return Line(name, Level.OK, f"No rate limit in {facts.calls} calls.")
    found = f"Reached {facts.limited} time{_s(facts.limited)} in {facts.calls} calls."
    return Line(
        name, Level.LIMITS, found, ("Signum waits as long as the node asks, and uses the next URL in the meantime.")
    )


def _all_current(requests: int) -> str:
    return f"{requests} of {requests} requests were answered by an up-to-date machine."


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def is_believed(name: str, tag: Tag, site: Site) -> bool:
    """Return whether a tag exists and names a block that can be final by the chain's own rules."""
    if not tag.is_supported:
        return False
    return tag.behind > 0 or site.is_embedded or durations.tag_seconds(site.eid, name) < BELIEVED


def can_pin(facts: NodeFacts) -> bool:
    """Return whether several reads can see one state: by a block number, or by one batch."""
    return (facts.batch or 1) > 1 or (facts.history or 0) > 0 or facts.is_archive
