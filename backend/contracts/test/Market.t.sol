// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

import {Market, MarketRules} from "../src/Market.sol";
import {MarketFactory} from "../src/MarketFactory.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {Restrictions} from "../src/Restrictions.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {Fixture} from "./Fixture.sol";

/// @dev A quote currency that refuses some receivers, or takes a fee.
contract Difficult is ERC20("Difficult", "DIF") {
    mapping(address => bool) public refused;
    uint256 public fee;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function refuse(address who, bool yes) external {
        refused[who] = yes;
    }

    function setFee(uint256 newFee) external {
        fee = newFee;
    }

    function _update(address from, address to, uint256 amount) internal override {
        require(!refused[to], "refused");
        super._update(from, to, amount);
        if (fee != 0 && from != address(0)) super._update(to, address(1), fee);
    }
}

contract MarketTest is Fixture {
    uint256 constant PRICE = 12_500_000;

    function expectMarket(uint8 code, address who, uint256 amount) internal {
        vm.expectRevert(abi.encodeWithSelector(Market.MarketRestricted.selector, code, who, amount));
    }

    function status(uint256 id) internal view returns (uint8) {
        return uint8(market.getOrder(id).status);
    }

    function sell(address who, uint256 price, uint256 amount) internal returns (uint256) {
        mint(who, amount);
        return place(market, who, false, price, amount, none());
    }

    function buy(address who, uint256 price, uint256 amount, uint256[] memory hints) internal returns (uint256) {
        return place(market, who, true, price, amount, hints);
    }

    function test_place_exampleOfTheReadme_hasTheseAmounts() public {
        uint256 ask = sell(alice, PRICE, 2.5e18);
        uint256 needed = market.budget(true, PRICE, 2.5e18, 1);
        vm.prank(operator);
        usd.mint(bob, needed);
        vm.startPrank(bob);
        usd.approve(address(market), needed);
        vm.expectEmit(address(market));
        emit Market.OrderPlaced(2, bob, true, PRICE, 2.5e18);
        vm.expectEmit(address(market));
        emit Market.Trade(ask, 2, PRICE, 2.5e18, 93_750, 31_250);
        vm.expectEmit(address(market));
        emit Market.OrderStatus(ask, 3, 2.5e18);
        vm.expectEmit(address(market));
        emit Market.OrderStatus(2, 3, 2.5e18);
        uint256 bid = market.place(true, PRICE, 2.5e18, hint(ask));
        vm.stopPrank();
        assertEq(usd.balanceOf(bob), needed - 31_343_750);
        assertEq(usd.balanceOf(alice), 31_218_750);
        assertEq(usd.balanceOf(protocol), 12_500);
        assertEq(usd.balanceOf(collector), 112_500);
        assertEq(usd.balanceOf(address(market)), 0);
        assertEq(token.balanceOf(bob), 2.5e18);
        assertEq(status(ask), 3);
        assertEq(status(bid), 3);
        assertEq(token.holderCount(), 1);
    }

    function test_place_sellIntoABid_fillsIt() public {
        uint256 bid = buy(bob, PRICE, 2e18, none());
        assertEq(market.getOrder(bid).quoteEscrow, 25_000_000 + 25_000);
        assertEq(usd.balanceOf(address(market)), 25_025_000);
        mint(alice, 1e18);
        place(market, alice, false, PRICE - 1, 1e18, hint(bid));
        // At the bid's price: the taker fee of 30 bps out of the proceeds, the maker fee of 10 bps on top.
        assertEq(usd.balanceOf(alice), 12_500_000 - 37_500);
        assertEq(market.getOrder(bid).quoteEscrow, 12_500_000 + 12_500);
        assertEq(status(bid), 2);
        vm.prank(bob);
        market.cancel(bid);
        assertEq(status(bid), 4);
        assertEq(market.getOrder(bid).filled, 1e18);
        assertEq(usd.balanceOf(address(market)), 0);
    }

    function test_place_betterPrice_returnsTheDifference() public {
        uint256 ask = sell(alice, 10_000_000, 1e18);
        uint256 needed = market.budget(true, 20_000_000, 1e18, 1);
        buy(bob, 20_000_000, 1e18, hint(ask));
        assertEq(usd.balanceOf(bob), needed - 10_030_000);
    }

    function test_place_unfilledRest_becomesARestingOrder() public {
        uint256 ask = sell(alice, PRICE, 1e18);
        uint256 bid = buy(bob, PRICE, 3e18, hint(ask));
        assertEq(status(bid), 2);
        assertEq(market.getOrder(bid).quoteEscrow, 25_025_000);
        assertEq(usd.balanceOf(address(market)), 25_025_000);
    }

    function test_place_hintsThatDoNotMatch_areSkipped() public {
        uint256 dear = sell(alice, PRICE + 1, 1e18);
        uint256 gone = sell(alice, PRICE, 1e18);
        vm.prank(alice);
        market.cancel(gone);
        uint256 own = sell(bob, PRICE, 1e18);
        uint256 sameSide = buy(carol, 1_000_000, 1e18, none());
        uint256 good = sell(carol, PRICE, 1e18);
        uint256[] memory hints = new uint256[](7);
        (hints[0], hints[1], hints[2], hints[3], hints[4], hints[5]) = (dear, gone, own, sameSide, 999, good);
        hints[6] = good;
        uint256 bid = buy(bob, PRICE, 2e18, hints);
        assertEq(market.getOrder(bid).filled, 1e18);
        assertEq(status(good), 3);
        assertEq(status(dear), 1);
        assertEq(status(own), 1);
    }

    function test_place_tooManyHintsOrEmptyOrder_reverts() public {
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(Market.TooManyHints.selector, 33));
        market.place(true, PRICE, 1e18, new uint256[](33));
        vm.expectRevert(Market.InvalidOrder.selector);
        market.place(true, 0, 1e18, none());
        vm.expectRevert(Market.InvalidOrder.selector);
        market.place(true, PRICE, 0, none());
        vm.expectRevert(Market.InvalidOrder.selector);
        market.place(true, PRICE, 1e10, none());
    }

    function test_checkOrder_marketRules_applyToBothSides() public {
        MarketRules memory r;
        r.minKycLevel = 2;
        r.requiresAccreditation = true;
        r.blockedCountries = countries("FRA");
        market = newMarket(r, 30, 10);
        mint(bob, 1e18);
        // All rules of buyer and seller are listed.
        uint256[] memory three =
            codes(Restrictions.MARKET_KYC_LEVEL, Restrictions.MARKET_ACCREDITATION, Restrictions.MARKET_COUNTRY_BLOCKED);
        assertCodes(market.checkOrder(bob, true, 1e18), three);
        assertCodes(market.checkOrder(bob, false, 1e18), three);
        vm.prank(bob);
        expectMarket(Restrictions.MARKET_KYC_LEVEL, bob, 1e18);
        market.place(false, PRICE, 1e18, none());
        attest(orgAttester, bob, 3, "DEU", true);
        assertCodes(market.checkOrder(bob, true, 1e18), codes());
        place(market, bob, false, PRICE, 1e18, none());
        assertCodes(
            market.checkOrder(stranger, true, 1e18),
            codes(Restrictions.RECEIVER_NOT_ATTESTED, Restrictions.MARKET_NOT_ATTESTED)
        );
    }

    function test_fill_makerNoLongerEligible_isSkipped() public {
        MarketRules memory r;
        r.minKycLevel = 1;
        market = newMarket(r, 30, 10);
        uint256 ask = sell(alice, PRICE, 1e18);
        attest(orgAttester, alice, 0, "DEU", false);
        buy(bob, PRICE, 1e18, hint(ask));
        assertEq(status(ask), 1);
        attest(orgAttester, alice, 1, "DEU", false);
        buy(bob, PRICE, 1e18, hint(ask));
        assertEq(status(ask), 3);
    }

    function test_checkOrder_zeroAddress_failsAsASeller() public view {
        assertCodes(
            market.checkOrder(address(0), false, 1e18),
            codes(Restrictions.INSUFFICIENT_BALANCE, Restrictions.SENDER_NOT_ATTESTED, Restrictions.MARKET_NOT_ATTESTED)
        );
    }

    function test_lockup_ofMarketOrToken_stopsSellersExceptTheTreasury() public {
        mint(treasury, 1e18);
        mint(alice, 1e18);
        MarketRules memory r;
        r.lockupEnd = uint64(block.timestamp + 100);
        market = newMarket(r, 30, 10);
        assertCodes(market.checkOrder(alice, false, 1), codes(Restrictions.MARKET_LOCKUP));
        vm.prank(alice);
        expectMarket(Restrictions.MARKET_LOCKUP, alice, 1e18);
        market.place(false, PRICE, 1e18, none());
        // The issuer itself may sell.
        uint256 ask = place(market, treasury, false, PRICE, 1e18, none());
        buy(bob, PRICE, 1e18, hint(ask));
        assertEq(status(ask), 3);
        // A lockup set on the token after an order was placed stops its fills.
        vm.warp(block.timestamp + 100);
        ask = place(market, alice, false, PRICE, 1e18, none());
        Rules memory t;
        t.lockupEnd = uint64(block.timestamp + 100);
        setRules(t);
        buy(bob, PRICE, 1e18, hint(ask));
        assertEq(status(ask), 1);
        vm.prank(alice);
        market.cancel(ask);
        assertEq(token.balanceOf(alice), 1e18);
    }

    function test_place_aboveTheMarketsLimits_reverts() public {
        MarketRules memory r;
        r.maxHolders = 1;
        r.maxPerHolder = 2e18;
        market = newMarket(r, 30, 10);
        uint256 ask = sell(alice, PRICE, 2e18);
        assertEq(token.holderCount(), 1);
        assertCodes(
            market.checkOrder(bob, true, 3e18),
            codes(Restrictions.MARKET_MAX_HOLDERS, Restrictions.MARKET_MAX_PER_HOLDER)
        );
        vm.prank(bob);
        expectMarket(Restrictions.MARKET_MAX_HOLDERS, bob, 1e18);
        market.place(true, PRICE, 1e18, none());
        assertEq(status(ask), 1);
    }

    function test_fill_aboveTheMarketsLimitPerHolder_isSkipped() public {
        MarketRules memory r;
        r.maxPerHolder = 2e18;
        market = newMarket(r, 30, 10);
        uint256 first = buy(bob, PRICE, 2e18, none());
        uint256 second = buy(bob, PRICE, 2e18, none());
        mint(alice, 4e18);
        place(market, alice, false, PRICE, 4e18, codes(first, second));
        assertEq(status(first), 3);
        assertEq(status(second), 1);
    }

    function test_fill_sellerUnderTheMarketsLockup_isSkipped() public {
        MarketRules memory r;
        r.lockupEnd = uint64(block.timestamp + 100);
        market = newMarket(r, 30, 10);
        mint(treasury, 1e18);
        attest(orgAttester, treasury, 1, "DEU", false);
        uint256 ask = place(market, treasury, false, PRICE, 1e18, none());
        vm.prank(issuer);
        token.setTreasury(stranger);
        buy(bob, PRICE, 1e18, hint(ask));
        assertEq(status(ask), 1);
    }

    function test_fill_remainderThatCostsNothing_isSkipped() public {
        // The bid keeps 0.9 base units of the quote; a sale for it would yield nothing.
        uint256 bid = buy(bob, 1, 1.9e18, none());
        mint(alice, 2e18);
        place(market, alice, false, 1, 1e18, hint(bid));
        assertEq(market.getOrder(bid).filled, 1e18);
        place(market, alice, false, 1, 1e18, hint(bid));
        assertEq(market.getOrder(bid).filled, 1e18);
    }

    function test_fill_buyerAboveTheTokensLimit_isSkipped() public {
        Rules memory r;
        r.maxPerHolder = 2e18;
        setRules(r);
        uint256 first = buy(bob, PRICE, 2e18, none());
        uint256 second = buy(bob, PRICE, 2e18, none());
        mint(alice, 2e18);
        place(market, alice, false, PRICE, 2e18, hint(first));
        mint(carol, 2e18);
        place(market, carol, false, PRICE, 2e18, hint(second));
        assertEq(status(first), 3);
        assertEq(status(second), 1);
        vm.prank(bob);
        expectMarket(Restrictions.MAX_PER_HOLDER, bob, 1e18);
        market.place(true, PRICE, 1e18, none());
    }

    function test_escrow_ofASeller_countsAsTheSellersHolding() public {
        Rules memory r;
        r.maxHolders = 1;
        r.maxPerHolder = 10e18;
        setRules(r);
        sell(alice, PRICE, 10e18);
        assertEq(token.balanceOf(alice), 0);
        assertEq(token.holdingOf(alice), 10e18);
        assertEq(token.holdingOf(address(market)), 0);
        assertEq(token.holderCount(), 1);
        expectRestricted(Restrictions.MAX_PER_HOLDER, address(0), alice, 1);
        mint(alice, 1);
        expectRestricted(Restrictions.MAX_HOLDERS, address(0), bob, 1);
        mint(bob, 1);
    }

    function test_freeze_tokensInOpenOrders_stopsTheirFills() public {
        uint256 ask = sell(alice, PRICE, 10e18);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 6e18);
        uint256 bid = buy(bob, PRICE, 5e18, hint(ask));
        assertEq(market.getOrder(bid).filled, 0);
        buy(carol, PRICE, 4e18, hint(ask));
        assertEq(market.getOrder(ask).filled, 4e18);
    }

    function test_cancel_whileStoppedOrIneligible_refunds() public {
        uint256 ask = sell(alice, PRICE, 2e18);
        uint256 bid = buy(bob, 1_000_000, 2e18, none());
        vm.startPrank(agent);
        registry.removeAttester(orgAttester);
        vm.stopPrank();
        vm.startPrank(issuer);
        token.pause();
        token.setFrozenTokens(alice, type(uint256).max);
        token.setVenue(address(market), false);
        market.halt(true);
        Rules memory r;
        r.lockupEnd = type(uint64).max;
        r.maxPerHolder = 1;
        token.setRules(r);
        vm.stopPrank();
        vm.prank(alice);
        market.cancel(ask);
        vm.prank(bob);
        market.cancel(bid);
        assertEq(token.balanceOf(alice), 2e18);
        assertEq(token.holdingOf(alice), 2e18);
        assertEq(token.holderCount(), 1);
        assertEq(usd.balanceOf(address(market)), 0);
    }

    function test_cancel_byMakerOrOwnerOnly_succeeds() public {
        uint256 ask = sell(alice, PRICE, 1e18);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(Market.NotMaker.selector, stranger, ask));
        market.cancel(ask);
        vm.prank(issuer);
        market.cancel(ask);
        assertEq(token.balanceOf(alice), 1e18);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(Market.NotOpen.selector, ask));
        market.cancel(ask);
        vm.expectRevert(abi.encodeWithSelector(Market.NotOpen.selector, 77));
        market.cancel(77);
    }

    function test_halt_byTheOwner_stopsOrders() public {
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(Market.NotOwner.selector, stranger));
        market.halt(true);
        vm.prank(issuer);
        market.halt(true);
        assertTrue(market.halted());
        vm.prank(alice);
        expectMarket(Restrictions.MARKET_HALTED, alice, 1e18);
        market.place(true, PRICE, 1e18, none());
        vm.prank(issuer);
        market.halt(false);
        buy(alice, PRICE, 1e18, none());
        assertEq(market.owner(), issuer);
        vm.prank(issuer);
        token.transferOwnership(bob);
        assertEq(market.owner(), bob);
    }

    function test_place_pausedToken_reverts() public {
        mint(alice, 1e18);
        vm.prank(issuer);
        token.pause();
        vm.prank(bob);
        expectMarket(Restrictions.PAUSED, bob, 1e18);
        market.place(true, PRICE, 1e18, none());
        vm.prank(alice);
        expectRestricted(Restrictions.PAUSED, alice, address(market), 1e18);
        market.place(false, PRICE, 1e18, none());
    }

    function test_payout_refusedByTheQuote_becomesClaimable() public {
        Difficult quote = new Difficult();
        vm.startPrank(issuer);
        Market m = Market(factory.createMarket(address(token), address(quote), collector, 30, 10, openMarket()));
        token.setVenue(address(m), true);
        vm.stopPrank();
        mint(alice, 1e18);
        vm.startPrank(alice);
        token.approve(address(m), 1e18);
        m.place(false, 1e18, 1e18, none());
        vm.stopPrank();
        quote.refuse(alice, true);
        quote.refuse(collector, true);
        quote.mint(bob, 10e18);
        vm.startPrank(bob);
        quote.approve(address(m), type(uint256).max);
        m.place(true, 1e18, 1e18, hint(1));
        uint256 bid = m.place(true, 1e18, 1e18, none());
        quote.refuse(bob, true);
        m.cancel(bid);
        vm.stopPrank();
        assertEq(m.claimable(alice), 1e18 - 1e15);
        assertEq(m.claimable(collector), 36e14);
        assertEq(m.claimable(bob), 1e18 + 1e15);
        assertEq(quote.balanceOf(address(m)), m.claimable(alice) + m.claimable(bob) + m.claimable(collector));
        vm.startPrank(alice);
        vm.expectRevert();
        m.claim();
        quote.refuse(alice, false);
        m.claim();
        assertEq(quote.balanceOf(alice), 1e18 - 1e15);
        vm.expectRevert(abi.encodeWithSelector(Market.NothingToClaim.selector, alice));
        m.claim();
    }

    function test_recover_withOpenOrders_movesTheirEscrow() public {
        uint256 ask = sell(alice, PRICE, 6e18);
        uint256 bid = buy(alice, PRICE, 2e18, none());
        uint256 done = sell(alice, PRICE, 1e18);
        buy(bob, PRICE, 1e18, hint(done));
        mint(alice, 4e18);
        uint256 escrow = market.getOrder(bid).quoteEscrow;
        uint256 earned = usd.balanceOf(alice);
        vm.startPrank(issuer);
        token.setFrozenTokens(alice, 5e18);
        token.pause();
        market.halt(true);
        uint256[] memory ids = new uint256[](3);
        (ids[0], ids[1], ids[2]) = (ask, bid, done);
        vm.expectEmit(address(market));
        emit Market.OrdersRecovered(alice, carol, escrow);
        vm.expectEmit(address(token));
        emit RWAToken.Recovered(alice, carol, 10e18);
        token.recover(alice, carol, ordersAt(market, ids));
        vm.stopPrank();
        assertEq(token.balanceOf(carol), 10e18);
        assertEq(token.holdingOf(alice), 0);
        assertEq(token.getFrozenTokens(carol), 5e18);
        assertEq(usd.balanceOf(carol), escrow);
        assertEq(usd.balanceOf(alice), earned);
        assertEq(usd.balanceOf(address(market)), 0);
        assertEq(token.balanceOf(address(market)), 0);
        assertEq(token.holderCount(), 2);
        (uint8 a, uint8 b, uint8 c) = (status(ask), status(bid), status(done));
        assertEq(a, 4);
        assertEq(b, 4);
        assertEq(c, 3);
    }

    function test_recover_partlyFilledOrder_movesItsRest() public {
        uint256 bid = buy(alice, PRICE, 3e18, none());
        mint(bob, 1e18);
        place(market, bob, false, PRICE, 1e18, hint(bid));
        uint256 escrow = market.getOrder(bid).quoteEscrow;
        vm.prank(issuer);
        token.recover(alice, carol, ordersAt(market, hint(bid)));
        assertEq(token.balanceOf(carol), 1e18);
        assertEq(usd.balanceOf(carol), escrow);
        assertEq(market.getOrder(bid).filled, 1e18);
    }

    function test_recover_orderOfAnotherMaker_reverts() public {
        uint256 ask = sell(bob, PRICE, 1e18);
        vm.startPrank(issuer);
        vm.expectRevert(abi.encodeWithSelector(Market.NotMaker.selector, alice, ask));
        token.recover(alice, carol, ordersAt(market, hint(ask)));
        // Even the issuer must use the token, which checks that the replacement is eligible.
        vm.expectRevert(abi.encodeWithSelector(Market.NotToken.selector, issuer));
        market.recover(bob, issuer, hint(ask));
        vm.stopPrank();
        // The market of another token rejects calls of this one.
        RWAToken other = new RWAToken("Other", "OTH", 18, ORG, registry, endpoint, issuer, treasury);
        vm.startPrank(issuer);
        Market foreign = Market(factory.createMarket(address(other), address(0), collector, 30, 10, openMarket()));
        vm.expectRevert(abi.encodeWithSelector(Market.NotToken.selector, address(token)));
        token.recover(bob, carol, ordersAt(foreign, none()));
        vm.stopPrank();
        assertEq(status(ask), 1);
    }

    function test_recover_claimableQuote_paysTheNewWallet() public {
        Difficult quote = new Difficult();
        vm.startPrank(issuer);
        Market m = Market(factory.createMarket(address(token), address(quote), collector, 30, 10, openMarket()));
        token.setVenue(address(m), true);
        vm.stopPrank();
        quote.mint(alice, 10e18);
        vm.startPrank(alice);
        quote.approve(address(m), type(uint256).max);
        uint256 bid = m.place(true, 1e18, 1e18, none());
        uint256 second = m.place(true, 1e18, 1e18, none());
        quote.refuse(alice, true);
        m.cancel(bid);
        vm.stopPrank();
        assertEq(m.claimable(alice), 1e18 + 1e15);
        vm.prank(issuer);
        token.recover(alice, carol, ordersAt(m, hint(second)));
        assertEq(m.claimable(alice), 0);
        assertEq(quote.balanceOf(carol), 2e18 + 2e15);
        assertEq(quote.balanceOf(address(m)), 0);
    }

    function test_place_quoteWithTransferFee_reverts() public {
        Difficult quote = new Difficult();
        quote.setFee(1);
        vm.prank(issuer);
        Market m = Market(factory.createMarket(address(token), address(quote), collector, 0, 0, openMarket()));
        quote.mint(bob, 10e18);
        vm.startPrank(bob);
        quote.approve(address(m), type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(Market.QuoteShort.selector, 1e18, 1e18 - 1));
        m.place(true, 1e18, 1e18, none());
    }

    function test_createMarket_invalidCallerOrTerms_reverts() public {
        assertTrue(factory.isMarket(address(market)));
        assertFalse(factory.isMarket(address(token)));
        assertEq(factory.marketCount(), 1);
        assertEq(factory.interfaceName(), "signum.MarketFactory.v1");
        assertEq(factory.protocolFeeBps(), 1000);
        assertEq(address(market.quote()), address(usd));
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(MarketFactory.NotTokenOwner.selector, stranger, address(token)));
        factory.createMarket(address(token), address(0), collector, 0, 0, openMarket());
        vm.startPrank(issuer);
        vm.expectRevert(abi.encodeWithSelector(MarketFactory.NotRWAToken.selector, alice));
        factory.createMarket(alice, address(0), collector, 0, 0, openMarket());
        vm.expectRevert(Market.InvalidMarket.selector);
        factory.createMarket(address(token), address(0), collector, 9_999, 2, openMarket());
        vm.expectRevert(Market.InvalidMarket.selector);
        factory.createMarket(address(token), address(0), address(0), 0, 0, openMarket());
        vm.expectRevert(Market.InvalidMarket.selector);
        factory.createMarket(address(token), alice, collector, 0, 0, openMarket());
        vm.expectRevert();
        factory.setProtocol(issuer, 0);
        vm.expectRevert();
        factory.setDefaultQuote(issuer);
        vm.stopPrank();
        vm.startPrank(operator);
        vm.expectRevert(MarketFactory.InvalidProtocol.selector);
        factory.setProtocol(operator, 10_001);
        factory.setProtocol(operator, 10_000);
    }

    function test_rules_everyField_isReadBack() public {
        MarketRules memory r = MarketRules(2, 3, true, countries("USA"), 4, 5, 6);
        assertEq(keccak256(abi.encode(newMarket(r, 0, 0).rules())), keccak256(abi.encode(r)));
    }

    function testFuzz_fill_anyTerms_conservesMoneyAndTakesExactFees(
        uint256 price,
        uint256 askAmount,
        uint256 bidAmount,
        uint16 takerBps,
        uint16 makerBps,
        bool takerBuys
    ) public {
        price = bound(price, 1, 1e12);
        askAmount = bound(askAmount, 1e18, 1e24);
        bidAmount = bound(bidAmount, 1e18, 1e24);
        takerBps = uint16(bound(takerBps, 0, 10_000));
        makerBps = uint16(bound(makerBps, 0, 10_000 - takerBps));
        market = newMarket(openMarket(), takerBps, makerBps);
        mint(alice, askAmount);
        if (takerBuys) {
            place(market, alice, false, price, askAmount, none());
            buy(bob, price, bidAmount, hint(1));
        } else {
            buy(bob, price, bidAmount, none());
            place(market, alice, false, price, askAmount, hint(1));
        }
        uint256 amount = askAmount < bidAmount ? askAmount : bidAmount;
        uint256 exact = amount * price;
        uint256 cost = takerBuys ? (exact + 1e18 - 1) / 1e18 : exact / 1e18;
        uint256 takerFee = cost * takerBps / 10_000;
        uint256 makerFee = cost * makerBps / 10_000;
        assertEq(token.balanceOf(bob), amount);
        assertEq(usd.balanceOf(alice), cost - (takerBuys ? makerFee : takerFee));
        assertEq(usd.balanceOf(protocol), (takerFee + makerFee) / 10);
        assertEq(usd.balanceOf(collector), takerFee + makerFee - (takerFee + makerFee) / 10);
        assertEq(
            usd.balanceOf(address(market)), market.getOrder(1).quoteEscrow + market.getOrder(2).quoteEscrow
        );
        assertEq(
            usd.totalSupply(),
            usd.balanceOf(alice) + usd.balanceOf(bob) + usd.balanceOf(protocol) + usd.balanceOf(collector)
                + usd.balanceOf(address(market))
        );
    }

    /// @dev Many odd fills of one bid, each rounded separately, never exceed its escrow.
    function testFuzz_fill_manyAsks_stayWithinTheBidsEscrow(uint256 price, uint256 seed) public {
        price = bound(price, 1e3, 1e9);
        uint256 bid = buy(bob, price, 10e18 + 7, none());
        for (uint256 i = 0; i < 6; ++i) {
            uint256 amount = uint256(keccak256(abi.encode(seed, i))) % 2e18 + 1e15;
            mint(alice, amount);
            place(market, alice, false, price, amount, hint(bid));
        }
        if (market.getOrder(bid).status == Market.Status.FILLED) {
            assertEq(market.getOrder(bid).quoteEscrow, 0);
        } else {
            vm.prank(bob);
            market.cancel(bid);
        }
        assertEq(usd.balanceOf(address(market)), 0);
    }

    /// @dev The other way round: the budget of a taker that buys from many asks covers its own rounding.
    function testFuzz_budget_manyAsks_coversTheRounding(uint256 price, uint256 seed) public {
        price = bound(price, 1e3, 1e9);
        uint256[] memory hints = new uint256[](6);
        uint256 total;
        for (uint256 i = 0; i < 6; ++i) {
            uint256 amount = uint256(keccak256(abi.encode(seed, i))) % 2e18 + 1e15;
            total += amount;
            hints[i] = sell(alice, price, amount);
        }
        uint256 bid = buy(bob, price, total, hints);
        assertEq(status(bid), 3);
        assertEq(usd.balanceOf(address(market)), 0);
        assertEq(token.balanceOf(address(market)), 0);
    }

    function test_factory_interfaceAndTerms_areReadBack() public {
        assertTrue(factory.supportsInterface(0x01ffc9a7));
        assertTrue(
            factory.supportsInterface(
                factory.createMarket.selector ^ factory.isMarket.selector ^ factory.interfaceName.selector
            )
        );
        assertFalse(factory.supportsInterface(0xffffffff));
        vm.startPrank(operator);
        vm.expectEmit(address(factory));
        emit MarketFactory.DefaultQuoteSet(alice);
        factory.setDefaultQuote(alice);
        assertEq(factory.defaultQuote(), alice);
        vm.expectRevert(MarketFactory.InvalidProtocol.selector);
        factory.setProtocol(address(0), 0);
        vm.expectRevert(MarketFactory.InvalidProtocol.selector);
        new MarketFactory(operator, address(0), address(usd));
    }

    function test_testUSD_faucet_paysTheFixedAmount() public {
        assertEq(usd.decimals(), 6);
        vm.prank(stranger);
        usd.faucet();
        assertEq(usd.balanceOf(stranger), usd.FAUCET_AMOUNT());
    }
}
