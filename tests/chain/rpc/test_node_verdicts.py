"""The verdict on a node, from the results of its probes."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.chain.node_check.facts import NodeFacts, Pool, Sample, Tag, blocks_apart
from backend.chain.node_check.lines import Level, Line, Site
from backend.chain.node_check.report import Report
from backend.chain.node_check.verdict import Verdict, fitting, judge
from backend.chain.rpc.terms import DEFAULTS, ChainTerms
from backend.core.settings import Settings, TermsOverride

ETHEREUM = Site(30101, 1, DEFAULTS[30101])
BASE = Site(30184, 8453, DEFAULTS[30184])
HYPER = Site(30367, 999, DEFAULTS[30367])


def healthy(site: Site, **changes: Any) -> NodeFacts:
    """A node that supports everything."""
    facts = NodeFacts(
        host="rpc.example",
        chain_id=site.chain_id,
        pool=Pool(20, 0),
        batch=20,
        batch_asked=20,
        history=20_000_000,
        is_archive=True,
        ignores_block=False,
        log_range=10_000,
        log_range_asked=10_000,
        logs_by_hash=True,
        logs_with_block=True,
        safe=Tag(True, 33),
        final=Tag(True, 65),
        priority_fee=True,
        fee_history=True,
        gas_price=True,
        estimates=True,
        receipts=True,
        sends=True,
        age=5.0,
        gas_limit=45_000_000,
        calls=61,
    )
    return replace(facts, **changes)


def hyperevm(**changes: Any) -> NodeFacts:
    """HyperEVM's public RPC according to its documentation: 50-block log ranges, the newest state only, small
    blocks."""
    reply: dict[str, Any] = {
        "history": 0,
        "is_archive": False,
        "log_range": 50,
        "gas_limit": 3_000_000,
        "age": 1.0,
        "safe": Tag(True, 0),
        "final": Tag(True, 0),
    }
    return healthy(HYPER, **(reply | changes))


def line(verdict: Verdict, name: str) -> Line:
    return next(line for line in verdict.lines if line.name == name)


def test_healthy_node_is_good_enough_without_changes() -> None:
    verdict = judge(healthy(ETHEREUM), ETHEREUM)
    assert (verdict.is_good_enough, verdict.summary, verdict.settings, verdict.advice) == (True, "Good enough.", {}, [])
    assert {line.level for line in verdict.lines} == {Level.OK}


def test_hyperevm_public_rpc_is_good_enough_with_its_default_terms() -> None:
    verdict = judge(hyperevm(), HYPER)
    assert (verdict.is_good_enough, verdict.settings) == (True, {})
    assert {line.name for line in verdict.lines if line.level is Level.LIMITS} == {"Older blocks", "Block size"}
    assert "big blocks" in line(verdict, "Block size").effect


def test_node_without_batches_and_older_blocks_is_not_good_enough() -> None:
    verdict = judge(hyperevm(batch=1, logs_with_block=None), HYPER)
    assert not verdict.is_good_enough
    assert line(verdict, "Batches").level is Level.MISSING
    assert "pinned" in line(verdict, "Batches").effect
    assert "Use another provider for this chain, or another plan of the same one." in verdict.advice


def test_node_without_batches_but_with_older_blocks_is_good_enough() -> None:
    verdict = judge(healthy(ETHEREUM, batch=1, logs_with_block=None), ETHEREUM)
    assert (verdict.is_good_enough, verdict.settings) == (True, {"batch": 1})


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"chain_id": 5}, "Chain ID", "The chain ID is 5, but the chain 30101 has 1."),
        ({"age": 4_000.0}, "Newest block", "4,000 seconds old."),
        ({"pool": Pool(20, 900)}, "Machines", "900 blocks apart in 20 requests."),
        ({"log_range": 0}, "Log range", "eth_getLogs is refused."),
        (
            {"logs_by_hash": False, "logs_with_block": False},
            "Logs of a block",
            "Available neither by block hash nor in a batch",
        ),
        ({"final": Tag(True, 0)}, "Finalized tag", "names the newest block"),
        ({"estimates": False}, "Gas estimates", "eth_estimateGas is not supported."),
        ({"receipts": False}, "Receipts", "eth_getTransactionReceipt is not supported."),
        ({"sends": False}, "Sending", "eth_sendRawTransaction is not supported."),
        ({"gas_limit": 2_000_000}, "Block size", "2,000,000 gas in a block."),
        ({"sends": None}, "Sending", "Not determined"),
    ],
)
def test_node_lacking_something_needed_is_not_good_enough(changes: dict[str, Any], name: str, words: str) -> None:
    verdict = judge(healthy(ETHEREUM, **changes), ETHEREUM)
    assert not verdict.is_good_enough
    assert [line.name for line in verdict.lines if line.level is Level.MISSING] == [name]
    assert words in line(verdict, name).found


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({"log_range": 500}, {"log_range": 500}),
        ({"batch": 5}, {"batch": 5}),
        ({"batch": 1}, {"batch": 1}),
        ({"history": 120, "is_archive": False}, {"history": 120}),
        ({"final": Tag(False)}, {"final": 600}),
        ({"safe": Tag(False), "final": Tag(False)}, {"safe": 600, "final": 600}),
        ({"pool": Pool(20, 6)}, {}),
        ({"priority_fee": False}, {}),
        ({"limited": 3}, {}),
    ],
)
def test_node_with_limits_is_good_enough_and_settings_fit_it(changes: dict[str, Any], settings: dict[str, Any]) -> None:
    verdict = judge(healthy(BASE, **changes), BASE)
    assert (verdict.is_good_enough, verdict.settings) == (True, settings)


def test_latest_state_only_node_needs_the_setting_on_other_chains() -> None:
    verdict = judge(healthy(BASE, history=0, is_archive=False), BASE)
    assert not verdict.is_good_enough
    assert verdict.summary == "Not good enough with the current settings; good enough with the settings below."
    fitted = replace(BASE, terms=replace(BASE.terms, **verdict.settings))
    assert judge(healthy(BASE, history=0, is_archive=False), fitted).is_good_enough


def test_embedded_chain_without_older_state_is_good_enough() -> None:
    site = replace(BASE, is_embedded=True)
    verdict = judge(healthy(site, history=0, is_archive=False, age=9_000.0), site)
    assert (verdict.is_good_enough, verdict.settings) == (True, {})


def test_pool_or_rate_limit_suggests_a_second_provider() -> None:
    for changes in ({"pool": Pool(20, 4)}, {"limited": 2}):
        (advice,) = judge(healthy(BASE, **changes), BASE).advice
        assert "SIGNUM_RPC_URLS" in advice


def test_node_that_does_not_answer_has_no_report_lines() -> None:
    facts = NodeFacts("rpc.example", failure="The node does not answer: no response.")
    verdict = judge(facts, BASE)
    assert (verdict.answers, verdict.is_good_enough, verdict.lines) == (False, False, [])


TAGS = st.none() | st.builds(Tag, st.booleans(), st.integers(0, 5_000))
YES_NO = st.none() | st.booleans()
FACTS = st.builds(
    NodeFacts,
    host=st.just("rpc.example"),
    chain_id=st.sampled_from([None, 1, 999, 8453]),
    pool=st.none() | st.builds(Pool, st.just(20), st.integers(0, 10_000)),
    batch=st.none() | st.integers(1, 20),
    batch_asked=st.just(20),
    history=st.none() | st.integers(0, 10_000),
    is_archive=st.booleans(),
    ignores_block=YES_NO,
    log_range=st.none() | st.integers(0, 10_000),
    log_range_asked=st.just(10_000),
    logs_by_hash=YES_NO,
    logs_with_block=YES_NO,
    safe=TAGS,
    final=TAGS,
    priority_fee=YES_NO,
    fee_history=YES_NO,
    gas_price=YES_NO,
    estimates=YES_NO,
    receipts=YES_NO,
    sends=YES_NO,
    age=st.none() | st.floats(-5, 10_000),
    gas_limit=st.none() | st.integers(0, 10**8),
    limited=st.integers(0, 50),
)
SITES = st.sampled_from([ETHEREUM, BASE, HYPER])


@given(FACTS, SITES)
def test_verdict_is_good_enough_when_no_requirement_is_missing(facts: NodeFacts, site: Site) -> None:
    verdict = judge(facts, site)
    assert verdict.is_good_enough == (Level.MISSING not in {line.level for line in verdict.lines})
    assert len({line.name for line in verdict.lines}) == len(verdict.lines)


@given(FACTS, SITES)
def test_suggested_settings_satisfy_the_check(facts: NodeFacts, site: Site) -> None:
    settings = fitting(facts, site)
    TermsOverride.model_validate(settings)
    fitted = replace(site, terms=replace(site.terms, **settings))
    assert fitting(facts, fitted) == {}
    worse = {line.name for line in judge(facts, fitted).lines if line.level is Level.MISSING}
    assert worse <= {line.name for line in judge(facts, site).lines if line.level is Level.MISSING}


@given(st.lists(st.integers(0, 40), min_size=1), st.integers(0, 10**6), st.floats(0.25, 12))
def test_single_machine_is_never_detected_as_a_pool(gaps: list[int], first: int, block_time: float) -> None:
    at, samples = 0.0, []
    for gap in gaps:
        asked, at = at, at + gap / 10
        samples.append(Sample(asked, at, first + int(at / block_time)))
    assert blocks_apart(samples, block_time) == 0


def test_decreasing_heights_reveal_a_pool() -> None:
    samples = [Sample(0.0, 0.1, 100), Sample(0.2, 0.3, 94), Sample(0.4, 0.5, 101)]
    assert blocks_apart(samples, 12.0) == 6


def test_concurrent_heights_reveal_a_pool_beyond_chance() -> None:
    assert blocks_apart([Sample(0.0, 0.2, 100), Sample(0.0, 0.2, 99)], 12.0) == 0
    assert blocks_apart([Sample(0.0, 0.2, 120), Sample(0.0, 0.2, 100)], 12.0) == 17


def test_report_setting_keeps_the_settings_of_other_chains() -> None:
    verdicts = [judge(healthy(BASE, log_range=500), BASE), judge(healthy(BASE, log_range=100, batch=5), BASE)]
    report = Report(BASE.eid, "Base", "", verdicts, {"30101": {"final": 64}, "30184": {"confirmations": 9}})
    assert report.setting is not None
    given = json.loads(report.setting)
    assert given == {"30101": {"final": 64}, "30184": {"confirmations": 9, "log_range": 100, "batch": 5}}
    assert Settings(chain_terms=given).chain_terms[30184].log_range == 100


@pytest.mark.parametrize(
    ("states", "code"),
    [([True], 0), ([True, False], 1), ([None], 2), ([True, None], 2), ([False, None], 1)],
)
def test_report_exit_code_distinguishes_good_enough_from_silent(states: list[bool | None], code: int) -> None:
    verdicts = [Verdict("rpc.example", state is not None, bool(state), "") for state in states]
    assert Report(BASE.eid, "Base", "", verdicts).exit_code == code


def test_default_terms_of_every_chain_are_good_enough() -> None:
    for eid, terms in DEFAULTS.items():
        assert isinstance(terms, ChainTerms)
        site = Site(eid, 7, terms)
        assert judge(healthy(site), site).is_good_enough


def test_young_embedded_chain_is_described_without_contradictions() -> None:
    site = replace(BASE, is_embedded=True)
    found = healthy(site, history=0, is_archive=False, log_range=10, log_range_asked=10, safe=Tag(True, 0))
    verdict = judge(found, site)
    assert [one.name for one in verdict.lines if one.level is not Level.OK] == []
    assert line(verdict, "Chain ID").found == "8453, as expected."
    assert line(verdict, "Machines").found == "20 of 20 requests were answered by an up-to-date machine."
    assert line(verdict, "Older blocks").found == "State can be read only at the newest block."
    assert line(verdict, "Log range").found == "10 blocks in one eth_getLogs; more were not tried."
    assert line(verdict, "Rate limit").found == "No rate limit in 61 calls."
