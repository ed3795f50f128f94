// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {Market} from "../src/Market.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {TestUSD} from "../src/TestUSD.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {Fixture} from "./Fixture.sol";

/// @dev Does at random what traders, the issuer and the attester may do.
contract Actor is Test {
    address[] public traders;
    address immutable treasury;
    address immutable issuer;
    address immutable attester;
    address immutable operator;
    AttestationRegistry immutable registry;
    RWAToken immutable token;
    TestUSD immutable usd;
    Market immutable market;

    uint256 public trades;
    bool public frozenMoved;

    constructor(
        address[] memory traders_,
        address[4] memory people,
        AttestationRegistry registry_,
        RWAToken token_,
        TestUSD usd_,
        Market market_
    ) {
        traders = traders_;
        (treasury, issuer, attester, operator) = (people[0], people[1], people[2], people[3]);
        (registry, token, usd, market) = (registry_, token_, usd_, market_);
    }

    function count() external view returns (uint256) {
        return traders.length;
    }

    function pick(uint256 seed) internal view returns (address) {
        return traders[seed % traders.length];
    }

    function mint(uint256 who, uint256 amount) external {
        amount = bound(amount, 0, 1e21);
        vm.prank(issuer);
        token.mint(pick(who), amount);
    }

    function transfer(uint256 from, uint256 to, uint256 amount) external {
        address sender = pick(from);
        amount = bound(amount, 0, token.balanceOf(sender));
        uint256 frozen = token.getFrozenTokens(sender);
        vm.prank(sender);
        token.transfer(pick(to), amount);
        if (amount != 0 && sender != pick(to) && token.balanceOf(sender) < frozen) frozenMoved = true;
    }

    function placeSell(uint256 who, uint256 price, uint256 amount, uint256 first) external {
        address trader = pick(who);
        amount = bound(amount, 0, token.balanceOf(trader));
        uint256[] memory hints = hintsFrom(first);
        price = bound(price, 1e5, 1e7);
        // One prank a call: what a call that reverts had started would outlive it.
        vm.prank(trader);
        token.approve(address(market), amount);
        vm.prank(trader);
        uint256 id = market.place(false, price, amount, hints);
        if (market.getOrder(id).filled != 0) ++trades;
    }

    function placeBuy(uint256 who, uint256 price, uint256 amount, uint256 first) external {
        address trader = pick(who);
        price = bound(price, 1e5, 1e7);
        amount = bound(amount, 1e16, 1e20);
        uint256[] memory hints = hintsFrom(first);
        uint256 needed = market.budget(true, price, amount, hints.length);
        vm.prank(operator);
        usd.mint(trader, needed);
        vm.prank(trader);
        usd.approve(address(market), needed);
        vm.prank(trader);
        uint256 id = market.place(true, price, amount, hints);
        if (market.getOrder(id).filled != 0) ++trades;
    }

    function hintsFrom(uint256 first) internal view returns (uint256[] memory hints) {
        uint256 orders = market.orderCount();
        hints = new uint256[](orders < 8 ? orders : 8);
        for (uint256 i = 0; i < hints.length; ++i) {
            hints[i] = (first % orders + i) % orders + 1;
        }
    }

    function cancel(uint256 id) external {
        address maker = market.getOrder(bound(id, 1, market.orderCount())).maker;
        id = bound(id, 1, market.orderCount());
        vm.prank(maker);
        market.cancel(id);
    }

    function freeze(uint256 who, uint256 amount) external {
        amount = amount % 3 == 0 ? bound(amount, 0, 1e21) : 0;
        vm.prank(issuer);
        token.setFrozenTokens(pick(who), amount);
    }

    function force(uint256 from, uint256 to, uint256 amount) external {
        address account = pick(from);
        amount = bound(amount, 0, token.balanceOf(account));
        vm.prank(issuer);
        token.forcedTransfer(account, pick(to), amount);
    }

    function recover(uint256 from, uint256 to) external {
        vm.prank(issuer);
        token.recover(pick(from), pick(to));
    }

    function burn(uint256 who, uint256 amount) external {
        address account = pick(who);
        amount = bound(amount, 0, token.balanceOf(account));
        vm.prank(account);
        token.burn(amount);
    }

    function attest(uint256 who, uint256 days_) external {
        uint64 end = uint64(block.timestamp + bound(days_, 1, 30) * 1 days);
        vm.prank(attester);
        registry.attest(pick(who), 1, "DEU", false, end, "", "");
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 0, 2 days));
    }

    function pause(uint256 seed) external {
        bool on = seed % 4 == 0;
        if (on == token.paused()) return;
        vm.prank(issuer);
        on ? token.pause() : token.unpause();
    }

    function moveTreasury(uint256 who) external {
        address next = who % 2 == 0 ? treasury : pick(who);
        vm.prank(issuer);
        token.setTreasury(next);
    }
}

contract InvariantsTest is Fixture {
    Actor actor;

    function setUp() public override {
        super.setUp();
        address[] memory traders = new address[](4);
        (traders[0], traders[1], traders[2], traders[3]) = (alice, bob, carol, treasury);
        actor = new Actor(traders, [treasury, issuer, orgAttester, operator], registry, token, usd, market);
        for (uint256 i = 0; i < 4; ++i) {
            mint(traders[i], 100e18);
        }
        Rules memory r;
        r.maxHolders = 4;
        r.maxPerHolder = 1e22;
        setRules(r);
        targetContract(address(actor));
    }

    /// @dev The quote a market holds is what its orders and its creditors are owed, and no more.
    function invariant_quoteEscrowEqualsOrdersAndClaims() public view {
        uint256 owed = market.claimable(collector) + market.claimable(protocol);
        for (uint256 i = 0; i < actor.count(); ++i) {
            owed += market.claimable(actor.traders(i));
        }
        for (uint256 id = 1; id <= market.orderCount(); ++id) {
            owed += market.getOrder(id).quoteEscrow;
        }
        assertEq(usd.balanceOf(address(market)), owed);
    }

    /// @dev The tokens a market holds are the open parts of its sell orders, account by account.
    function invariant_tokenEscrowEqualsOpenSellOrders() public view {
        uint256 total;
        for (uint256 i = 0; i < actor.count(); ++i) {
            address trader = actor.traders(i);
            uint256 open;
            for (uint256 id = 1; id <= market.orderCount(); ++id) {
                Market.Order memory o = market.getOrder(id);
                bool live = o.status == Market.Status.OPEN || o.status == Market.Status.PARTIAL;
                if (live && !o.isBuy && o.maker == trader) open += o.amount - o.filled;
            }
            assertEq(token.escrowOf(address(market), trader), open);
            assertEq(token.holdingOf(trader), token.balanceOf(trader) + open);
            total += open;
        }
        assertEq(token.balanceOf(address(market)), total);
    }

    /// @dev The count of holders is what a census finds.
    function invariant_holderCountIsTheCensus() public view {
        uint256 holders;
        uint256 sum;
        for (uint256 i = 0; i < actor.count(); ++i) {
            address trader = actor.traders(i);
            sum += token.holdingOf(trader);
            if (trader != token.treasury() && token.holdingOf(trader) != 0) ++holders;
        }
        assertEq(token.holderCount(), holders);
        assertEq(token.totalSupply(), sum);
    }

    /// @dev No transfer of an account's own ever went below its frozen amount.
    function invariant_frozenTokensDoNotMove() public view {
        assertFalse(actor.frozenMoved());
    }

    /// @dev Fees go out in full: nothing of a trade stays with the market.
    function invariant_filledOrdersHoldNothing() public view {
        for (uint256 id = 1; id <= market.orderCount(); ++id) {
            Market.Order memory o = market.getOrder(id);
            assertLe(o.filled, o.amount);
            if (o.status == Market.Status.FILLED || o.status == Market.Status.CANCELLED) {
                assertEq(o.quoteEscrow, 0);
            }
        }
    }
}
