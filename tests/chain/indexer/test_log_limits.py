"""The size of one `eth_getLogs`, learned from refusals."""

from backend.chain.indexer.log_limits import ADDRESSES, LogLimits


def test_log_range_is_halved_to_one_block_before_the_addresses() -> None:
    limits = LogLimits(2_000, 2_000)
    asked = []
    while limits.refused(limits.blocks, limits.addresses):
        asked.append((limits.blocks, limits.addresses))
    assert asked[:3] == [(1_000, ADDRESSES), (500, ADDRESSES), (250, ADDRESSES)]
    assert asked[10] == (1, 100)
    assert asked[-1] == (1, 1)


def test_log_refusal_of_a_short_range_halves_that_range() -> None:
    limits = LogLimits(2_000, 2_000)
    limits.refused(12, 3)
    assert limits.blocks == 6


def test_log_range_grows_stepwise_up_to_the_terms() -> None:
    limits = LogLimits(2_000, 300)
    seen = []
    for _ in range(6):
        seen.append(limits.blocks)
        limits.accepted(limits.blocks)
    assert seen == [300, 600, 1_200, 2_000, 2_000, 2_000]


def test_log_read_below_the_range_does_not_grow_it() -> None:
    limits = LogLimits(2_000, 100)
    for _ in range(50):
        limits.accepted(99)
    assert limits.blocks == 100


def test_log_addresses_grow_before_the_range() -> None:
    limits = LogLimits(2_000, 1, addresses=50)
    sizes = []
    for _ in range(4):
        limits.accepted(1)
        sizes.append((limits.blocks, limits.addresses))
    assert sizes == [(1, 100), (1, 200), (2, 200), (2, 200)]


def test_log_range_growth_is_rarely_tried_on_a_node_with_a_smaller_limit() -> None:
    limits, refusals = LogLimits(2_000, 2_000), 0
    for _ in range(1_000):
        if limits.blocks > 50:
            refusals += 1
            limits.refused(limits.blocks, 1)
        else:
            limits.accepted(limits.blocks)
    assert limits.blocks >= 16
    assert refusals < 100


def test_log_range_grows_immediately_when_the_limit_is_lifted() -> None:
    limits = LogLimits(2_000, 2_000)
    for _ in range(200):
        if limits.blocks > 5:
            limits.refused(limits.blocks, 1)
        else:
            limits.accepted(limits.blocks)
    reads = 0
    while limits.blocks < 2_000:
        limits.accepted(limits.blocks)
        reads += 1
    assert reads < 32
