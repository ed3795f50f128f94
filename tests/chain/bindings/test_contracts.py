"""The helpers for the contracts, against the contracts: values are read back as written."""

import pytest

from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.bindings import factory, market, quote_token, registry, token
from backend.chain.deployment import contracts as deployment
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import BadRequest, NotFound
from backend.core.fields import RegulationType
from tests.chain.conftest import HOME_EID, Stage, names


async def test_token_rules_round_trip_through_the_chain(stage: Stage) -> None:
    rules = TokenRules(
        regulation_type=RegulationType.REG_A_PLUS,
        min_kyc_level=2,
        requires_accreditation=True,
        org_only=True,
        blocked_countries=("USA", "PRK"),
        lockup_end_time=1_900_000_000,
        max_holders=99,
        max_tokens_per_holder=2**200,
        trusted_issuers=(stage.treasury,),
    )
    at = await stage.token(HOME_EID, rules)
    assert await token.rules(HOME_EID, at) == rules
    assert await token.rules_version(HOME_EID, at) == 1
    details = await token.details(HOME_EID, at)
    assert (details.symbol, details.decimals, details.owner) == ("TST", 18, stage.treasury)


async def test_attestation_is_read_back_and_revoked(stage: Stage) -> None:
    at, subject = (await contracts_of(HOME_EID)).registry, await stage.wallet()
    uid = await stage.attest(HOME_EID, subject, level=2, country="FRA")
    read = await registry.attestation(HOME_EID, at, uid)
    assert (read.subject, read.attester, read.level, read.country) == (subject, stage.treasury, 2, "FRA")
    assert read.is_valid
    assert (await registry.standing(HOME_EID, at, subject, stage.organization_id)).countries == ("FRA",)
    await stage.do(HOME_EID, stage.treasury, registry.revoke(at, uid, "left"))
    assert not await registry.is_valid(HOME_EID, at, uid)
    assert (await registry.attestation(HOME_EID, at, uid)).revoked_at
    assert not (await registry.attestation(HOME_EID, at, "0x" + "1" * 64)).exists


async def test_transfer_restrictions_are_named(stage: Stage, open_rules: TokenRules) -> None:
    at, stranger = await stage.token(HOME_EID, open_rules, supply=5), await stage.wallet()
    codes = await (await connect(HOME_EID)).read(*token.transfer_codes(at, stranger, stranger, 1))
    assert names(codes) == ["INSUFFICIENT_BALANCE", "SENDER_NOT_ATTESTED", "RECEIVER_NOT_ATTESTED"]


@pytest.mark.long
async def test_market_trades_and_keeps_its_rules(stage: Stage, open_rules: TokenRules) -> None:
    contracts = await contracts_of(HOME_EID)
    assert contracts.quote_token is not None
    at = await stage.token(HOME_EID, open_rules, supply=10**20)
    assert (await factory.check(HOME_EID, contracts.market_factory)).default_quote == contracts.quote_token
    rules = MarketRules(min_kyc_level=1, blocked_countries=("USA",), max_holders=10)
    made = await stage.do(
        HOME_EID,
        stage.treasury,
        factory.create_market(
            contracts.market_factory,
            token=at,
            fee_collector=stage.treasury,
            taker_bps=30,
            maker_bps=10,
            rules=rules,
        ),
    )
    place = factory.created(made, contracts.market_factory)
    await stage.do(HOME_EID, stage.treasury, token.set_venue(at, place))
    info = await market.info(HOME_EID, place)
    assert (info.token, info.quote, info.taker_fee_bps, info.halted) == (at, contracts.quote_token, 30, False)
    assert info.rules == rules == await market.rules(HOME_EID, place)

    await stage.do(HOME_EID, stage.treasury, token.approve(at, place, 10**19))
    sold = await stage.do(HOME_EID, stage.treasury, market.place(place, side="sell", price=12_500_000, amount=10**19))
    ask = market.placed(sold)
    buyer = await stage.wallet()
    await stage.attest(HOME_EID, buyer)
    budget = await market.budget(HOME_EID, place, "buy", 12_500_000, 4 * 10**18, 1)
    await stage.do(HOME_EID, await operator(), quote_token.mint(contracts.quote_token, buyer, budget))
    await stage.do(HOME_EID, buyer, quote_token.approve(contracts.quote_token, place, budget))
    bought = market.placed(
        await stage.do(
            HOME_EID,
            buyer,
            market.place(
                place,
                side="buy",
                price=12_500_000,
                amount=4 * 10**18,
                hints=[ask.order_id],
            ),
        )
    )
    assert bought.status == "filled"
    assert (await market.order(HOME_EID, place, ask.order_id)).status == "partial"
    assert await token.balance_of(HOME_EID, at, buyer) == 4 * 10**18
    with pytest.raises(NotFound):
        await market.order(HOME_EID, place, 99)


async def test_factory_and_token_checks_reject_other_addresses(stage: Stage, open_rules: TokenRules) -> None:
    contracts = await contracts_of(HOME_EID)
    for read in (factory.check, token.details):
        with pytest.raises(BadRequest, match="no contract at"):
            await read(HOME_EID, stage.treasury)
        with pytest.raises(BadRequest, match="is not a"):
            await read(HOME_EID, contracts.registry)
    assert await deployment.ensure_contracts(HOME_EID) == contracts
