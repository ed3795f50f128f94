"""The time of records: behind the machine only while the demo's year is created, and never for security."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend.auth.models import IdempotencyRow, OneTimeSecretRow, RefreshTokenRow, SessionRow, SigningKeyRow
from backend.auth.oauth_models import OAuthClientRow, OAuthCodeRow, OAuthConsentRow
from backend.core import recorded_time
from backend.core.columns import Row
from backend.core.recorded_time import recorded_now
from backend.core.settings import settings
from backend.daily_use.models import DailyUseRow
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.models import ApiKeyRow, AssetRow, MemberRow, OrganizationRow, RequestRow, TransactionRow

YEAR = timedelta(days=340)
SECURITY = (
    SessionRow, RefreshTokenRow, SigningKeyRow, OneTimeSecretRow, IdempotencyRow, OAuthClientRow, OAuthCodeRow,
    OAuthConsentRow, FactorRow, RecoveryCodeRow, ApiKeyRow, DailyUseRow,
)  # fmt: skip
RECORDS = (OrganizationRow, AssetRow, RequestRow, TransactionRow, MemberRow)


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A moment in the demo's year."""
    monkeypatch.setattr(settings(), "demo", True)
    recorded_time.stand_behind(YEAR)
    yield
    recorded_time.stand_behind(timedelta(0))


def age(time: datetime) -> timedelta:
    return datetime.now(UTC) - time


def close(left: timedelta, right: timedelta) -> bool:
    return abs(left - right) < timedelta(seconds=30)


def default(row: type[Row], column: str) -> datetime:
    return row.model_fields[column].get_default(call_default_factory=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("row", SECURITY)
def test_credentials_and_limits_keep_the_machine_clock(past: None, row: type[Row]) -> None:
    assert close(age(default(row, "created_at")), timedelta(0))
    assert close(age(default(row, "updated_at")), timedelta(0))


@pytest.mark.parametrize("row", RECORDS)
def test_records_follow_the_recorded_time(past: None, row: type[Row]) -> None:
    assert close(age(default(row, "created_at")), YEAR)
    assert close(age(TransactionRow.model_fields["sent_at"].get_default(call_default_factory=True)), YEAR)


def test_sessions_begin_and_expire_by_the_machine_clock(past: None) -> None:
    made = SessionRow(user_id=uuid4(), kind="token", token_hash="", expires_at=datetime.now(UTC))
    assert close(age(made.signed_in_at), timedelta(0))
    assert close(age(made.last_used_at), timedelta(0))


def test_recorded_time_is_the_machine_clock_otherwise() -> None:
    assert close(age(recorded_now()), timedelta(0))
    assert not recorded_time.is_in_the_past()


@pytest.mark.parametrize(
    "changes",
    [
        {"demo": False},
        {"rpc_urls": {40161: ["https://rpc.example"]}},
        {"database_url": "postgresql://db.example/signum"},
        {"database_url_web": "postgresql://w", "database_url_worker": "postgresql://w"},
    ],
)
def test_recorded_time_stays_outside_a_demo(monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]) -> None:
    monkeypatch.setattr(recorded_time, "settings", lambda: type(settings())(**{"demo": True, **changes}))
    with pytest.raises(RuntimeError, match="only the demo"):
        recorded_time.stand_behind(YEAR)
    assert not recorded_time.is_in_the_past()


def test_records_are_never_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "demo", True)
    with pytest.raises(RuntimeError):
        recorded_time.stand_behind(-YEAR)
