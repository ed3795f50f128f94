// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {MerkleDistributor} from "../src/MerkleDistributor.sol";
import {TestUSD} from "../src/TestUSD.sol";

contract DistributorTest is Test {
    // Made by another implementation of the same tree: (0, 0x11…, 1e18), (1, 0x22…, 2.5e18).
    bytes32 constant ROOT = 0xe18fcf0399e49d44b4c6ab3099854a63da3a7c5050108c56cffb7d63800d3804;
    address constant FIRST = 0x1111111111111111111111111111111111111111;
    address constant SECOND = 0x2222222222222222222222222222222222222222;

    address owner = makeAddr("owner");
    TestUSD usd;
    MerkleDistributor distributor;

    function setUp() public {
        usd = new TestUSD(owner);
        distributor = new MerkleDistributor(owner, usd);
        vm.startPrank(owner);
        usd.mint(owner, 3.5e18);
        usd.approve(address(distributor), 3.5e18);
        vm.stopPrank();
    }

    function leaf(uint256 index, address account, uint256 amount) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(index, account, amount))));
    }

    function proof(bytes32 sibling) internal pure returns (bytes32[] memory p) {
        p = new bytes32[](1);
        p[0] = sibling;
    }

    function activate() internal {
        vm.prank(owner);
        distributor.activate(ROOT, 3.5e18, 2);
    }

    function claimFirst() internal {
        distributor.claim(0, FIRST, 1e18, proof(leaf(1, SECOND, 2.5e18)));
    }

    function test_claimsAgainstTheKnownRoot() public {
        activate();
        assertEq(usd.balanceOf(address(distributor)), 3.5e18);
        claimFirst();
        assertTrue(distributor.isClaimed(0));
        assertFalse(distributor.isClaimed(1));
        distributor.claim(1, SECOND, 2.5e18, proof(leaf(0, FIRST, 1e18)));
        assertEq(usd.balanceOf(FIRST), 1e18);
        assertEq(usd.balanceOf(SECOND), 2.5e18);
        assertEq(distributor.claimedAmount(), 3.5e18);
    }

    function test_oneClaimOnceAndOnlyAsEntitled() public {
        bytes32[] memory p = proof(leaf(1, SECOND, 2.5e18));
        vm.expectRevert(MerkleDistributor.NotActive.selector);
        distributor.claim(0, FIRST, 1e18, p);
        activate();
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.InvalidProof.selector, 0, FIRST, 2e18));
        distributor.claim(0, FIRST, 2e18, p);
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.InvalidProof.selector, 0, SECOND, 1e18));
        distributor.claim(0, SECOND, 1e18, p);
        claimFirst();
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.AlreadyClaimed.selector, 0));
        distributor.claim(0, FIRST, 1e18, p);
    }

    function test_indexBeyondTheRecipientsIsRefused() public {
        vm.prank(owner);
        distributor.activate(ROOT, 3.5e18, 1);
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.InvalidProof.selector, 1, SECOND, 2.5e18));
        distributor.claim(1, SECOND, 2.5e18, proof(leaf(0, FIRST, 1e18)));
    }

    function test_ownerActivatesAndClosesOnce() public {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, address(this)));
        distributor.activate(ROOT, 1, 1);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, address(this)));
        distributor.close();
        vm.prank(owner);
        vm.expectRevert(MerkleDistributor.NotActive.selector);
        distributor.close();
        vm.prank(owner);
        vm.expectRevert(MerkleDistributor.InvalidDistribution.selector);
        distributor.activate(0, 1, 1);
        activate();
        vm.prank(owner);
        vm.expectRevert(MerkleDistributor.AlreadyActivated.selector);
        distributor.activate(ROOT, 1, 1);
        claimFirst();
        vm.prank(owner);
        distributor.close();
        assertEq(usd.balanceOf(owner), 2.5e18);
        vm.expectRevert(MerkleDistributor.NotActive.selector);
        distributor.claim(1, SECOND, 2.5e18, proof(leaf(0, FIRST, 1e18)));
        vm.prank(owner);
        vm.expectRevert(MerkleDistributor.NotActive.selector);
        distributor.close();
    }
}
