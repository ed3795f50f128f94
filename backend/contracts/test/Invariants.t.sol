// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {Market} from "../src/Market.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {TestUSD} from "../src/TestUSD.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {VenueOrders} from "../src/interfaces/IVenue.sol";
import {Fixture} from "./Fixture.sol";

/// @dev Performs random actions of traders, the issuer and the attester.
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
    bool public leftBehind;

    /// What the two fee receivers must have received, calculated from the events alone.
    uint256 public collectorDue;
    uint256 public protocolDue;
    bool public feesWrong;

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

    /// @dev No action may take a holding below its frozen amount, except by the issuer.
    modifier keepsFrozen() {
        uint256[] memory floors = new uint256[](traders.length);
        for (uint256 i = 0; i < traders.length; ++i) {
            uint256 frozen = token.getFrozenTokens(traders[i]);
            uint256 holding = token.holdingOf(traders[i]);
            floors[i] = frozen < holding ? frozen : holding;
        }
        _;
        for (uint256 i = 0; i < traders.length; ++i) {
            if (token.holdingOf(traders[i]) < floors[i]) frozenMoved = true;
        }
    }

    /// @dev Recalculates the fees of every fill of the last call, independently of the market.
    modifier countsFees(bool takerBuys) {
        vm.recordLogs();
        _;
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != Market.Trade.selector) continue;
            (uint256 price, uint256 amount, uint256 takerFee, uint256 makerFee) =
                abi.decode(logs[i].data, (uint256, uint256, uint256, uint256));
            uint256 cost = amount * price / 1e18;
            if (takerBuys && cost * 1e18 != amount * price) ++cost;
            if (takerFee != cost * 30 / 10_000 || makerFee != cost * 10 / 10_000) feesWrong = true;
            uint256 share = (takerFee + makerFee) / 10;
            protocolDue += share;
            collectorDue += takerFee + makerFee - share;
            ++trades;
        }
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

    function transfer(uint256 from, uint256 to, uint256 amount) external keepsFrozen {
        address sender = pick(from);
        amount = bound(amount, 0, token.balanceOf(sender));
        vm.prank(sender);
        token.transfer(pick(to), amount);
    }

    function placeSell(uint256 who, uint256 price, uint256 amount, uint256 first)
        external
        keepsFrozen
        countsFees(false)
    {
        address trader = pick(who);
        amount = bound(amount, 0, token.balanceOf(trader));
        uint256[] memory hints = hintsFrom(first);
        price = bound(price, 1e5, 1e7);
        // One prank per call: startPrank would outlive a call that reverts.
        vm.prank(trader);
        token.approve(address(market), amount);
        vm.prank(trader);
        market.place(false, price, amount, hints);
    }

    function placeBuy(uint256 who, uint256 price, uint256 amount, uint256 first)
        external
        keepsFrozen
        countsFees(true)
    {
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
        market.place(true, price, amount, hints);
    }

    function hintsFrom(uint256 first) internal view returns (uint256[] memory hints) {
        uint256 orders = market.orderCount();
        hints = new uint256[](orders < 8 ? orders : 8);
        for (uint256 i = 0; i < hints.length; ++i) {
            hints[i] = (first % orders + i) % orders + 1;
        }
    }

    function cancel(uint256 id) external keepsFrozen {
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

    /// @dev Sometimes with its open orders, sometimes without.
    function recover(uint256 from, uint256 to, bool withOrders) external {
        address lost = pick(from);
        VenueOrders[] memory orders = new VenueOrders[](withOrders ? 1 : 0);
        if (withOrders) orders[0] = VenueOrders(address(market), ordersOf(lost));
        vm.prank(issuer);
        token.recover(lost, pick(to), orders);
        if (withOrders && token.holdingOf(lost) != 0) leftBehind = true;
    }

    function ordersOf(address maker) internal view returns (uint256[] memory ids) {
        uint256 orders = market.orderCount();
        ids = new uint256[](orders);
        uint256 found;
        for (uint256 id = 1; id <= orders; ++id) {
            if (market.getOrder(id).maker == maker) ids[found++] = id;
        }
        assembly ("memory-safe") {
            mstore(ids, found)
        }
    }

    function burn(uint256 who, uint256 amount) external keepsFrozen {
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

    /// @dev The quote a market holds is exactly what it owes its orders and claimants.
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

    /// @dev The tokens a market holds are the open parts of its sell orders, for each account.
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

    /// @dev The holder count equals a full count of the holders.
    function invariant_holderCountEqualsTheNumberOfHolders() public view {
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

    /// @dev No transfer, burn or fill takes an account below its frozen amount, and a wallet can move only tokens that
    /// are not frozen.
    function invariant_frozenTokensDoNotMove() public view {
        assertFalse(actor.frozenMoved());
        for (uint256 i = 0; i < actor.count(); ++i) {
            address trader = actor.traders(i);
            uint256 frozen = token.getFrozenTokens(trader);
            uint256 balance = token.balanceOf(trader);
            uint256 free = balance > frozen ? balance - frozen : 0;
            assertFalse(frozen != 0 && token.canTransfer(trader, treasury, free + 1), "frozen may be moved");
        }
    }

    /// @dev A recovery that names every order leaves nothing in the lost wallet or in its orders.
    function invariant_recoveryLeavesNothingInTheLostWallet() public view {
        assertFalse(actor.leftBehind());
    }

    /// @dev Every fee is exact and fully paid to its two receivers in their shares.
    function invariant_feesAreExactAndPaid() public view {
        assertFalse(actor.feesWrong());
        assertEq(usd.balanceOf(collector) + market.claimable(collector), actor.collectorDue());
        assertEq(usd.balanceOf(protocol) + market.claimable(protocol), actor.protocolDue());
    }

    /// @dev A filled or cancelled order leaves nothing in the market.
    function invariant_closedOrdersHoldNothing() public view {
        for (uint256 id = 1; id <= market.orderCount(); ++id) {
            Market.Order memory o = market.getOrder(id);
            assertLe(o.filled, o.amount);
            if (o.status == Market.Status.FILLED || o.status == Market.Status.CANCELLED) {
                assertEq(o.quoteEscrow, 0);
            }
        }
    }
}
