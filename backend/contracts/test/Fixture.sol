// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {LocalEndpoint} from "../src/LocalEndpoint.sol";
import {Market, MarketRules} from "../src/Market.sol";
import {MarketFactory} from "../src/MarketFactory.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {Restrictions} from "../src/Restrictions.sol";
import {TestUSD} from "../src/TestUSD.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {VenueOrders} from "../src/interfaces/IVenue.sol";

/// @dev A root organization, the issuer's organization below it, an unrelated one, one token and one market.
abstract contract Fixture is Test {
    bytes32 constant ROOT = bytes32("root");
    bytes32 constant ORG = bytes32("org");
    bytes32 constant OTHER = bytes32("other");

    address agent = makeAddr("agent");
    address issuer = makeAddr("issuer");
    address treasury = makeAddr("treasury");
    address operator = makeAddr("operator");
    address protocol = makeAddr("protocol");
    address collector = makeAddr("collector");
    address rootAttester = makeAddr("rootAttester");
    address orgAttester = makeAddr("orgAttester");
    address otherAttester = makeAddr("otherAttester");
    address alice = makeAddr("alice");
    address bob = makeAddr("bob");
    address carol = makeAddr("carol");
    address stranger = makeAddr("stranger");

    AttestationRegistry registry;
    LocalEndpoint endpoint;
    RWAToken token;
    TestUSD usd;
    MarketFactory factory;
    Market market;

    function setUp() public virtual {
        vm.warp(1_800_000_000);
        registry = new AttestationRegistry(agent);
        endpoint = new LocalEndpoint(40362, operator);
        vm.startPrank(agent);
        registry.setParent(ORG, ROOT);
        registry.addAttester(rootAttester, ROOT, "root", 5, true);
        registry.addAttester(orgAttester, ORG, "org", 3, true);
        registry.addAttester(otherAttester, OTHER, "other", 5, true);
        vm.stopPrank();

        token = new RWAToken("Asset", "AST", 18, ORG, registry, endpoint, issuer, treasury);
        vm.prank(issuer);
        token.setRules(openRules());
        attest(orgAttester, alice, 1, "DEU", false);
        attest(orgAttester, bob, 1, "FRA", false);
        attest(orgAttester, carol, 1, "ITA", false);

        usd = new TestUSD(operator);
        factory = new MarketFactory(operator, protocol, address(usd));
        market = newMarket(openMarket(), 30, 10);
    }

    function newMarket(MarketRules memory rules, uint16 takerBps, uint16 makerBps) internal returns (Market made) {
        vm.startPrank(issuer);
        made = Market(factory.createMarket(address(token), address(0), collector, takerBps, makerBps, rules));
        token.setVenue(address(made), true);
        vm.stopPrank();
    }

    function openRules() internal pure returns (Rules memory r) {}

    function openMarket() internal pure returns (MarketRules memory r) {}

    function setRules(Rules memory r) internal {
        vm.prank(issuer);
        token.setRules(r);
    }

    function countries(bytes3 country) internal pure returns (bytes3[] memory list) {
        list = new bytes3[](1);
        list[0] = country;
    }

    function attest(address by, address subject, uint8 level, bytes3 country, bool accredited)
        internal
        returns (bytes32)
    {
        vm.prank(by);
        return registry.attest(subject, level, country, accredited, 0, "", "");
    }

    function mint(address to, uint256 amount) internal {
        vm.prank(issuer);
        token.mint(to, amount);
    }

    function transfer(address from, address to, uint256 amount) internal {
        vm.prank(from);
        token.transfer(to, amount);
    }

    function expectRestricted(uint8 code, address from, address to, uint256 amount) internal {
        vm.expectRevert(abi.encodeWithSelector(RWAToken.TransferRestricted.selector, code, from, to, amount));
    }

    function assertCodes(uint8[] memory actual, uint256[] memory expected) internal pure {
        assertEq(actual.length, expected.length, "number of codes");
        for (uint256 i = 0; i < expected.length; ++i) {
            assertEq(actual[i], expected[i]);
        }
    }

    function codes() internal pure returns (uint256[] memory list) {}

    function codes(uint256 a) internal pure returns (uint256[] memory list) {
        list = new uint256[](1);
        list[0] = a;
    }

    function codes(uint256 a, uint256 b) internal pure returns (uint256[] memory list) {
        list = new uint256[](2);
        (list[0], list[1]) = (a, b);
    }

    function codes(uint256 a, uint256 b, uint256 c) internal pure returns (uint256[] memory list) {
        list = new uint256[](3);
        (list[0], list[1], list[2]) = (a, b, c);
    }

    function place(Market m, address who, bool isBuy, uint256 price, uint256 amount, uint256[] memory hints)
        internal
        returns (uint256)
    {
        uint256 needed = m.budget(isBuy, price, amount, hints.length);
        if (isBuy) {
            vm.prank(operator);
            usd.mint(who, needed);
            vm.startPrank(who);
            usd.approve(address(m), needed);
        } else {
            vm.startPrank(who);
            token.approve(address(m), needed);
        }
        uint256 id = m.place(isBuy, price, amount, hints);
        vm.stopPrank();
        return id;
    }

    function none() internal pure returns (uint256[] memory) {}

    function noOrders() internal pure returns (VenueOrders[] memory) {}

    function ordersAt(Market venue, uint256[] memory ids) internal pure returns (VenueOrders[] memory list) {
        list = new VenueOrders[](1);
        list[0] = VenueOrders(address(venue), ids);
    }

    function hint(uint256 id) internal pure returns (uint256[] memory list) {
        return codes(id);
    }
}
