"""Messages between chains: delivered, refused, delivered later."""

from collections.abc import Awaitable, Callable

import pytest

from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import DeliveryStatus
from backend.core.errors import NotFound
from tests.chain.conftest import AWAY_EID, HOME_EID, Stage

Send = Callable[..., Awaitable[Outcome]]


async def pair(stage: Stage, rules: TokenRules) -> tuple[str, str]:
    """A token with supply on its home chain, and its peer without rules on another."""
    home, away = await stage.token(HOME_EID, rules, supply=10**21), await stage.token(AWAY_EID)
    await stage.do(HOME_EID, stage.treasury, token.set_peer(home, AWAY_EID, away))
    await stage.do(AWAY_EID, stage.treasury, token.set_peer(away, HOME_EID, home))
    return home, away


async def test_packet_delivers_rules_and_supply_once(stage: Stage, open_rules: TokenRules) -> None:
    home, away = await pair(stage, open_rules)
    there = TokenRules(min_kyc_level=2, max_holders=7, blocked_countries=("USA",), trusted_issuers=(stage.treasury,))
    parcel = {"destination_eid": AWAY_EID, "to": stage.treasury, "amount": 10**18}
    fee = await token.quote_send(HOME_EID, home, rules=there, **parcel)
    sent = await stage.do(
        HOME_EID,
        stage.treasury,
        token.send_with_rules(
            home,
            rules=there,
            fee=fee,
            refund=stage.treasury,
            **parcel,
        ),
    )
    packet = relayer.packets(sent)[0]
    assert (packet.source_eid, packet.destination_eid) == (HOME_EID, AWAY_EID)
    assert (packet.sender, packet.receiver) == (home, away)
    assert (await relayer.delivery_status(packet.guid, HOME_EID, sent.tx_hash)).status is DeliveryStatus.PENDING

    first = await relayer.deliver(packet.guid, HOME_EID, sent.tx_hash)
    assert first.status is DeliveryStatus.DELIVERED
    assert await relayer.deliver(packet.guid, HOME_EID, sent.tx_hash) == first
    assert await relayer.delivery_status(packet.guid, HOME_EID, sent.tx_hash) == first
    assert await token.rules(AWAY_EID, away) == there
    assert TokenRules.from_dict(there.as_dict()) == there
    assert await token.balance_of(AWAY_EID, away, stage.treasury) == 10**18
    assert await token.total_supply(HOME_EID, home) == 10**21 - 10**18


@pytest.mark.long
async def test_refused_packet_succeeds_after_the_attestation(stage: Stage, open_rules: TokenRules) -> None:
    home, away = await pair(stage, open_rules)
    await stage.do(AWAY_EID, stage.treasury, token.set_rules(away, open_rules))
    investor = await stage.wallet(HOME_EID, AWAY_EID)
    await stage.attest(HOME_EID, investor)
    sent = await stage.do(
        HOME_EID,
        stage.treasury,
        token.send(
            home,
            destination_eid=AWAY_EID,
            to=investor,
            amount=10**18,
            fee=0,
            refund=stage.treasury,
        ),
    )
    guid = relayer.packets(sent)[0].guid

    for _ in range(2):
        refused = await relayer.deliver(guid, HOME_EID, sent.tx_hash)
        assert (refused.status, refused.code) == (DeliveryStatus.REFUSED, 9)
        assert refused.reason == "The receiver has no valid attestation."
    assert (await relayer.delivery_status(guid, HOME_EID, sent.tx_hash)).code == 9

    await stage.attest(AWAY_EID, investor)
    assert (await relayer.deliver(guid, HOME_EID, sent.tx_hash)).status is DeliveryStatus.DELIVERED
    assert await token.balance_of(AWAY_EID, away, investor) == 10**18


async def test_unsent_message_is_not_delivered(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await relayer.deliver("0x" + "1" * 64, HOME_EID, "0x" + "2" * 64)
