"""A process's connections are divided among its pools."""

from hypothesis import given
from hypothesis import strategies as st

from backend.core.connections.pools import LOOPS, OUTSIDE, REPLICA, sizes
from backend.core.setting_fields.database import DatabaseSettings

LEAST = DatabaseSettings.model_fields["database_connections"].metadata[0].ge


@given(st.integers(LEAST, 5_000))
def test_pools_stay_within_the_budget_and_have_work_for_each_caller(budget: int) -> None:
    found = sizes(budget)
    most = {pool: found.most(pool) for pool in found.kept}
    assert LOOPS * sum(size for pool, size in most.items() if pool != REPLICA) + OUTSIDE <= budget
    assert min(most.values()) >= 2
    assert 2 <= found.places["app"] < most["app"]
    assert 1 <= found.places["flow"] < most["flow"]
    assert 2 <= found.places["step"] < most["flow"]


@given(st.integers(LEAST, 5_000))
def test_larger_budget_takes_no_connection_from_a_pool(budget: int) -> None:
    smaller, larger = sizes(budget), sizes(budget + 1)
    assert all(larger.most(pool) >= smaller.most(pool) for pool in smaller.kept)
