"""Compare chain, tables and requests once all work has finished. The chain is read from anvil, the tables by plain SQL,
so that a fault in the product's own reading cannot hide."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from eth_utils.crypto import keccak
from psycopg.rows import dict_row

from tests.nodes import truth
from tests.nodes.stories.network import Chain, Network
from tests.nodes.stories.plots import Expected, Outcome

SUPERSEDED = "#failed"
ATTESTED = "0x" + keccak(text="Attested(bytes32,address,address,uint8,bytes3,bool,uint64,bytes32,bytes32)").hex()
PLACED = "0x" + keccak(text="OrderPlaced(uint256,address,bool,uint256,uint256)").hex()


@dataclass
class Findings:
    """Differences by kind, with a line each."""

    executed_twice: list[str] = field(default_factory=list)
    events_lost: list[str] = field(default_factory=list)
    events_duplicated: list[str] = field(default_factory=list)
    wrong_statuses: list[str] = field(default_factory=list)
    compared: Counter[str] = field(default_factory=Counter)

    @property
    def lines(self) -> Iterable[tuple[str, list[str]]]:
        """Each kind as text, with its lines."""
        yield "executed twice", self.executed_twice
        yield "events lost", self.events_lost
        yield "events duplicated", self.events_duplicated
        yield "wrong statuses", self.wrong_statuses

    @property
    def is_empty(self) -> bool:
        """Whether there are no differences."""
        return not any(lines for _, lines in self.lines)


class Tables:
    """The database, as its owner."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        with psycopg.connect(self._url, row_factory=dict_row, autocommit=True) as connection:
            return connection.execute(query, parameters).fetchall()  # type: ignore[arg-type]

    def unsettled(self) -> list[str]:
        """Return unfinished work: running requests, and transactions that are open or not final yet."""
        requests = self.rows(
            "select id, kind, status from requests where status not in ('succeeded', 'failed', 'denied')"
        )
        transactions = self.rows("select key, status from transactions where status in ('pending', 'submitting')")
        return [f"{r['kind']} {r['id']} is {r['status']}" for r in requests] + [
            f"the transaction {t['key']} is {t['status']}" for t in transactions
        ]

    def cursor(self, eid: int) -> int:
        """Return the block up to which a chain is indexed."""
        return self.head(eid)[0]

    def head(self, eid: int) -> tuple[int, str]:
        """Return the number and hash of the block up to which a chain is indexed."""
        rows = self.rows("select block_number, block_hash from cursors where chain_eid = %s and stream = 'head'", eid)
        return (int(rows[0]["block_number"]), str(rows[0]["block_hash"])) if rows else (0, "")


async def compare(network: Network, tables: Tables, stories: Sequence[Outcome]) -> Findings:
    """Compare everything."""
    findings = Findings()
    for chain in network.chains.values():
        await compare_transactions(chain, tables, findings)
        await _transfers(chain, tables, stories, findings)
        await _frozen(chain, stories, findings)
        await _attestations(chain, tables, stories, findings)
        await _orders(chain, tables, findings)
    _requests(tables, stories, findings)
    _records(tables, findings)
    return findings


# Transactions


async def compare_transactions(chain: Chain, tables: Tables, findings: Findings) -> None:
    """Each row matches its receipts, and of each intent at most one transaction succeeded."""
    rows = tables.rows("select * from transactions where chain_eid = %s", chain.eid)
    passed: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        mined = await _receipts(chain, row)
        passed[row["key"].partition(SUPERSEDED)[0]] += [r["transactionHash"] for r in mined if r["status"] == "0x1"]
        _check_row(row, mined, findings)
    for key, hashes in passed.items():
        if len(hashes) > 1:
            findings.executed_twice.append(f"{key} by {' and '.join(hashes)}")
    await _check_known(chain, rows, findings)


async def _receipts(chain: Chain, row: dict[str, Any]) -> list[dict[str, Any]]:
    hashes = [row["tx_hash"], *(entry["tx_hash"] for entry in row["earlier"])]
    answer = await chain.node.batch([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes])
    return [receipt for receipt in answer if receipt is not None]


def _check_row(row: dict[str, Any], mined: list[dict[str, Any]], findings: Findings) -> None:
    findings.compared["transactions"] += 1
    name = f"the transaction {row['key']} on {row['chain_eid']}"
    if not mined:
        if row["status"] == "confirmed":
            findings.wrong_statuses.append(f"{name} is confirmed and not on the chain")
        return
    (receipt,) = mined
    expected = "confirmed" if receipt["status"] == "0x1" else "failed"
    place = (row["status"], row["tx_hash"], row["block_number"], row["block_hash"])
    chains = (expected, receipt["transactionHash"], int(receipt["blockNumber"], 16), receipt["blockHash"])
    if place != chains:
        findings.wrong_statuses.append(f"{name} is {place}, on the chain {chains}")


async def _check_known(chain: Chain, rows: list[dict[str, Any]], findings: Findings) -> None:
    """Every transaction of the product's wallets on chain is in the table."""
    known = Counter(row["signer"] for row in rows if row["block_number"] is not None)
    for signer, number in known.items():
        count = await truth.count(chain.node, signer)
        if count != number:
            findings.wrong_statuses.append(f"{signer} has {count} transactions on {chain.eid}, in the table {number}")


# Events


async def _transfers(chain: Chain, tables: Tables, stories: Sequence[Outcome], findings: Findings) -> None:
    found = "select token_address from asset_deployments where chain_eid = %s and token_address is not null"
    for row in tables.rows(found, chain.eid):
        at = row["token_address"]
        on_chain = await truth.transfers(chain.node, at)
        _compare_transfers(chain.eid, at, on_chain, tables, findings)
        _compare_stories(
            [e for s in stories for e in s.transfers if (e.eid, e.token) == (chain.eid, at)], on_chain, findings
        )


def _compare_transfers(
    eid: int, at: str, on_chain: Sequence[truth.Transfer], tables: Tables, findings: Findings
) -> None:
    query = (
        "select t.* from token_transfers t "
        "join asset_deployments d on d.asset_id = t.asset_id and d.chain_eid = t.chain_eid "
        "where d.token_address = %s and t.chain_eid = %s"
    )
    in_table = Counter(
        truth.Transfer(
            int(r["block_number"]),
            int(r["log_index"]),
            r["tx_hash"],
            r["from_address"].lower(),
            r["to_address"].lower(),
            int(r["amount"]),
        )
        for r in tables.rows(query, at, eid)
    )
    chain = Counter(on_chain)
    findings.compared["transfers"] += chain.total()
    findings.events_lost += [f"{at} on {eid}: {entry}" for entry in (chain - in_table).elements()]
    findings.events_duplicated += [f"{at} on {eid}: {entry}" for entry in (in_table - chain).elements()]


def _compare_stories(expected: Sequence[Expected], on_chain: Sequence[truth.Transfer], findings: Findings) -> None:
    for entry in expected:
        fitting = [t for t in on_chain if t.amount == entry.amount and _fits(t, entry)]
        findings.compared["operations"] += 1
        if len(fitting) > entry.times:
            findings.executed_twice.append(f"{entry}: {len(fitting)} times")
        elif len(fitting) < entry.times:
            findings.wrong_statuses.append(f"{entry}: {len(fitting)} times")


def _fits(transfer: truth.Transfer, entry: Expected) -> bool:
    sender = entry.from_address is None or entry.from_address.lower() == transfer.from_address
    return sender and (entry.to_address is None or entry.to_address.lower() == transfer.to_address)


# States


async def _frozen(chain: Chain, stories: Sequence[Outcome], findings: Findings) -> None:
    expected: Counter[tuple[str, str]] = Counter()
    for eid, at, account, change in (entry for story in stories for entry in story.frozen):
        if eid == chain.eid:
            expected[at, account] += change
    for (at, account), total in expected.items():
        findings.compared["frozen amounts"] += 1
        answer = await chain.read("RWAToken", at, "getFrozenTokens", account)
        if answer > total:
            findings.executed_twice.append(f"{account} has {answer} of {at} frozen instead of {total}")
        elif answer < total:
            findings.wrong_statuses.append(f"{account} has {answer} of {at} frozen instead of {total}")


async def _attestations(chain: Chain, tables: Tables, stories: Sequence[Outcome], findings: Findings) -> None:
    found = "select address from chain_contracts where name = 'registry' and chain_eid = %s"
    (at,) = (row["address"] for row in tables.rows(found, chain.eid))
    logs = await chain.node.call("eth_getLogs", {"fromBlock": "0x0", "address": at})
    attested = Counter("0x" + log["topics"][2][-40:] for log in logs if log["topics"][0] == ATTESTED)
    for eid, subject in (entry for story in stories for entry in story.attested):
        if eid != chain.eid:
            continue
        findings.compared["operations"] += 1
        times = attested[subject.lower()]
        if times > 1:
            findings.executed_twice.append(f"{subject} was attested {times} times on {eid}")
        elif times < 1:
            findings.wrong_statuses.append(f"{subject} was not attested on {eid}")
    for record in tables.rows("select uid, status from attestations where chain_eid = %s", chain.eid):
        is_valid = record["uid"] and await chain.read("AttestationRegistry", at, "isValid", record["uid"])
        findings.compared["attestations"] += 1
        if (record["status"] == "active") != bool(is_valid):
            findings.wrong_statuses.append(f"the attestation {record['uid']} is {record['status']}: valid {is_valid}")


async def _orders(chain: Chain, tables: Tables, findings: Findings) -> None:
    query = (
        "select o.*, m.market_address from orders o join markets m on m.id = o.market_id where m.chain_eid = %s "
        "and o.chain_order_id is not null"
    )
    statuses = ("none", "open", "partial", "filled", "cancelled")
    rows = tables.rows(query, chain.eid)
    found = tables.rows("select market_address from markets where chain_eid = %s and market_address <> ''", chain.eid)
    for at in (row["market_address"] for row in found):
        logs = await chain.node.call("eth_getLogs", {"fromBlock": "0x0", "address": at, "topics": [PLACED]})
        placed = Counter(int(log["topics"][1], 16) for log in logs)
        in_table = Counter(int(row["chain_order_id"]) for row in rows if row["market_address"] == at)
        findings.events_lost += [f"the order {number} of {at}" for number in (placed - in_table).elements()]
        findings.events_duplicated += [f"the order {number} of {at}" for number in (in_table - placed).elements()]
    for row in rows:
        answer = await chain.read("Market", row["market_address"], "getOrder", int(row["chain_order_id"]))
        findings.compared["orders"] += 1
        table = (row["status"], int(row["filled"]), int(row["amount"]))
        on_chain = (statuses[answer["status"]], answer["filled"], answer["amount"])
        if table != on_chain:
            findings.wrong_statuses.append(f"the order {row['chain_order_id']} is {table}, on the chain {on_chain}")


def _requests(tables: Tables, stories: Sequence[Outcome], findings: Findings) -> None:
    statuses = {str(row["id"]): row["status"] for row in tables.rows("select id, status from requests")}
    findings.compared["requests"] += len(statuses)
    for story in stories:
        if story.problem is not None:
            findings.wrong_statuses.append(f"{story.kind} did not finish: {story.problem}")
            continue
        for request_id in story.requests:
            if statuses.get(request_id) != "succeeded":
                findings.wrong_statuses.append(f"{story.kind} {request_id} is {statuses.get(request_id)} at the end")


def _records(tables: Tables, findings: Findings) -> None:
    """Records whose request succeeded are in their final state, and no alarm is open."""
    ends = {
        "transfers": "confirmed",
        "bridges": "confirmed",
        "asset_deployments": "active",
        "markets": "active",
        "distributions": "active",
    }
    for table, end in ends.items():
        for row in tables.rows(f"select id, status from {table} where status <> %s", end):
            findings.wrong_statuses.append(f"{table} {row['id']} is {row['status']}")
        findings.compared["records"] += len(tables.rows(f"select id from {table}"))
    for row in tables.rows("select kind, chain_eid, detail from chain_alarms"):
        findings.wrong_statuses.append(f"an alarm on {row['chain_eid']}: {row['kind']}: {row['detail']}")
