"""The record of an attempt: its result, and what a new server makes of it."""

from pathlib import Path

import pytest

from backend.attempts import records, service
from backend.attempts.records import Record
from backend.attempts.schemas import AttemptCall, AttemptKind, AttemptStatus
from backend.core.settings import Settings

KIND = AttemptKind.LOCKED_UP


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a demo on this machine."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    local = Settings(home=tmp_path, host="localhost", demo=True)
    for module in (records, service):
        monkeypatch.setattr(module, "settings", lambda: local)
    return tmp_path


def call(*, rules: list[str], contract: str | None, agrees: bool) -> AttemptCall:
    return AttemptCall(
        tried="Transfer 1 NREF", chain="Sepolia Devnet", symbol="NREF", decimals=18, rules=rules, contract=contract,
        contract_error=None, agrees=agrees, tx_hash="0x1", block_number=1,
    )  # fmt: skip


def test_attempt_that_both_refuse_has_held() -> None:
    record = Record.begun(KIND)
    record.called(call(rules=["The lockup has not ended."], contract="The lockup has not ended.", agrees=True))
    record.fact("The holder's tokens", "10 NREF", "10 NREF", holds=True)
    record.end()
    assert records.read(KIND).status is AttemptStatus.HELD


@pytest.mark.parametrize(
    "made",
    [
        call(rules=["The lockup has not ended."], contract=None, agrees=False),
        call(rules=[], contract="The lockup has not ended.", agrees=False),
        call(rules=[], contract=None, agrees=True),
    ],
    ids=["the contract allows it", "the rules allow it", "both allow it"],
)
def test_attempt_that_one_side_allows_is_broken(made: AttemptCall) -> None:
    record = Record.begun(KIND)
    record.called(made)
    record.end()
    assert records.read(KIND).status is AttemptStatus.BROKEN


def test_attempt_after_which_the_chain_holds_something_else_is_broken() -> None:
    record = Record.begun(KIND)
    record.called(call(rules=["Refused."], contract="Refused.", agrees=True))
    record.fact("The holder's tokens", "10 NREF", "0 NREF", holds=False)
    record.end()
    assert records.read(KIND).status is AttemptStatus.BROKEN


def test_file_of_another_version_counts_as_untried(home: Path) -> None:
    (home / "attempts").mkdir()
    (home / "attempts" / f"{KIND}.json").write_text('{"kind": "locked_up", "status": "shelved"}')
    assert records.read(KIND).status is AttemptStatus.UNTRIED


async def test_attempt_of_a_server_that_stopped_is_reported_as_lost() -> None:
    Record.begun(KIND)
    await service.carry_on()
    found = records.read(KIND)
    assert (found.status, found.problem) == (AttemptStatus.FAILED, service.LOST)
