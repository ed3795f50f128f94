// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {MarketRules} from "../src/Market.sol";
import {MerkleDistributor} from "../src/MerkleDistributor.sol";
import {MessagingFee} from "../src/interfaces/IMessaging.sol";
import {SendParam} from "../src/interfaces/IOFT.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {Fixture} from "./Fixture.sol";

/// @dev The gas of the operations that users pay for, each in its own transaction with cold storage. A run whose
/// figures differ from `snapshots/GasTest.json` fails.
/// forge-config: default.isolate = true
contract GasTest is Fixture {
    uint32 constant THERE = 40161;

    function setUp() public override {
        super.setUp();
        Rules memory r;
        r.minKycLevel = 1;
        r.blockedCountries = countries("PRK");
        r.maxHolders = 100;
        r.maxPerHolder = 1e24;
        setRules(r);
        mint(alice, 1000e18);
        vm.prank(issuer);
        token.setPeer(THERE, bytes32(uint256(1)));
    }

    function test_attest() public {
        vm.prank(orgAttester);
        bytes32 uid = registry.attest(stranger, 1, "DEU", true, 0, "kyc", "");
        vm.snapshotGasLastCall("attest");
        vm.prank(orgAttester);
        registry.revoke(uid, "left");
        vm.snapshotGasLastCall("revoke");
    }

    function test_token() public {
        vm.startPrank(issuer);
        token.mint(bob, 1e18);
        vm.snapshotGasLastCall("mint to a new holder");
        token.setRules(token.rules());
        vm.snapshotGasLastCall("setRules");
        vm.stopPrank();
        vm.startPrank(alice);
        token.transfer(carol, 1e18);
        vm.snapshotGasLastCall("transfer to a new holder");
        token.transfer(carol, 1e18);
        vm.snapshotGasLastCall("transfer to a holder");
        vm.deal(alice, 1e18);
        SendParam memory p;
        (p.dstEid, p.to, p.amountLD) = (THERE, bytes32(uint256(uint160(alice))), 1e18);
        token.send(p, MessagingFee(0, 0), alice);
        vm.snapshotGasLastCall("bridge");
    }

    function test_market() public {
        place(market, alice, false, 12_500_000, 10e18, none());
        vm.snapshotGasLastCall("place a resting sell order");
        place(market, bob, true, 12_500_000, 4e18, hint(1));
        vm.snapshotGasLastCall("place a buy order that one order fills");
        vm.prank(alice);
        market.cancel(1);
        vm.snapshotGasLastCall("cancel");
    }

    function test_recover() public {
        uint256 ask = place(market, alice, false, 12_500_000, 10e18, none());
        uint256 bid = place(market, alice, true, 10_000_000, 10e18, none());
        vm.prank(issuer);
        token.recover(alice, carol, ordersAt(market, codes(ask, bid)));
        vm.snapshotGasLastCall("recover with two orders");
    }

    function test_deploy() public {
        MarketRules memory r;
        vm.prank(issuer);
        factory.createMarket(address(token), address(0), collector, 30, 10, r);
        vm.snapshotGasLastCall("createMarket");
    }

    function test_claim() public {
        bytes32 other = keccak256("other");
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(uint256(0), alice, uint256(5)))));
        bytes32 root = keccak256(leaf < other ? bytes.concat(leaf, other) : bytes.concat(other, leaf));
        vm.startPrank(operator);
        MerkleDistributor distributor = new MerkleDistributor(operator, usd);
        usd.mint(operator, 10);
        usd.approve(address(distributor), 10);
        distributor.activate(root, 10, 2);
        vm.snapshotGasLastCall("activate a distribution");
        bytes32[] memory proof = new bytes32[](1);
        proof[0] = other;
        distributor.claim(0, alice, 5, proof);
        vm.snapshotGasLastCall("claim");
    }
}
