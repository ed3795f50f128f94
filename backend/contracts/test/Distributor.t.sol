// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

import {MerkleDistributor} from "../src/MerkleDistributor.sol";
import {TestUSD} from "../src/TestUSD.sol";

/// @dev Keeps one base unit of each transfer.
contract Thief is ERC20("Thief", "T") {
    constructor() {
        _mint(msg.sender, 1000);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (from != address(0) && to != address(0)) super._update(to, address(0), 1);
    }
}

contract DistributorTest is Test {
    // From another implementation of the same tree: (0, 0x11…, 1e18), (1, 0x22…, 2.5e18).
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

    function test_claim_withValidProofs_paysEachRecipient() public {
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

    function test_claim_repeatedOrWithAnotherEntitlement_reverts() public {
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

    function test_claim_indexBeyondTheRecipients_reverts() public {
        vm.prank(owner);
        distributor.activate(ROOT, 3.5e18, 1);
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.InvalidProof.selector, 1, SECOND, 2.5e18));
        distributor.claim(1, SECOND, 2.5e18, proof(leaf(0, FIRST, 1e18)));
    }

    function test_activateAndClose_byTheOwner_succeedOnce() public {
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

    function test_claim_activatedWithoutATotal_paysFromLaterTransfers() public {
        vm.prank(owner);
        distributor.activate(ROOT, 0, 2);
        assertEq(usd.balanceOf(address(distributor)), 0);
        vm.expectRevert();
        claimFirst();
        vm.prank(owner);
        usd.transfer(address(distributor), 1e18);
        claimFirst();
        assertEq(usd.balanceOf(FIRST), 1e18);
        vm.prank(owner);
        distributor.close();
    }

    function test_constructor_currencyWithoutCode_reverts() public {
        vm.expectRevert(MerkleDistributor.InvalidDistribution.selector);
        new MerkleDistributor(owner, TestUSD(FIRST));
    }

    function test_activate_currencyWithTransferFee_reverts() public {
        Thief thief = new Thief();
        MerkleDistributor d = new MerkleDistributor(address(this), thief);
        thief.approve(address(d), 100);
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.Underfunded.selector, 100, 99));
        d.activate(ROOT, 100, 1);
    }

    /// @dev With any number of entitlements, some claimed, the rest is the sum of the others, and `close` returns it.
    function testFuzz_close_anyClaims_returnsTheUnclaimedRest(uint256 seed, uint8 size) public {
        uint256 n = bound(size, 1, 16);
        (bytes32[] memory leaves, uint256[] memory amounts, uint256 total) = entitlements(seed, n);
        vm.startPrank(owner);
        usd.mint(owner, total);
        distributor = new MerkleDistributor(owner, usd);
        usd.approve(address(distributor), total);
        distributor.activate(rootOf(leaves), total, n);
        vm.stopPrank();
        uint256 claimed;
        for (uint256 i = 0; i < n; ++i) {
            if (seed >> i & 1 == 0) continue;
            distributor.claim(i, recipient(i), amounts[i], proofOf(leaves, i));
            claimed += amounts[i];
            assertEq(usd.balanceOf(recipient(i)), amounts[i]);
        }
        assertEq(distributor.claimedAmount(), claimed);
        assertEq(usd.balanceOf(address(distributor)), total - claimed);
        uint256 before = usd.balanceOf(owner);
        vm.prank(owner);
        distributor.close();
        assertEq(usd.balanceOf(owner) - before, total - claimed);
    }

    function recipient(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function entitlements(uint256 seed, uint256 n)
        internal
        pure
        returns (bytes32[] memory leaves, uint256[] memory amounts, uint256 total)
    {
        leaves = new bytes32[](n);
        amounts = new uint256[](n);
        for (uint256 i = 0; i < n; ++i) {
            amounts[i] = uint256(keccak256(abi.encode(seed, i))) % 1e18 + 1;
            total += amounts[i];
            leaves[i] = leaf(i, recipient(i), amounts[i]);
        }
    }

    function pair(bytes32 a, bytes32 b) internal pure returns (bytes32) {
        return a < b ? keccak256(bytes.concat(a, b)) : keccak256(bytes.concat(b, a));
    }

    /// @dev Returns the next level; an unpaired last node moves up unchanged.
    function up(bytes32[] memory level) internal pure returns (bytes32[] memory next) {
        next = new bytes32[]((level.length + 1) / 2);
        for (uint256 i = 0; i < next.length; ++i) {
            next[i] = 2 * i + 1 < level.length ? pair(level[2 * i], level[2 * i + 1]) : level[2 * i];
        }
    }

    function rootOf(bytes32[] memory level) internal pure returns (bytes32) {
        while (level.length > 1) {
            level = up(level);
        }
        return level[0];
    }

    function proofOf(bytes32[] memory level, uint256 i) internal pure returns (bytes32[] memory p) {
        p = new bytes32[](0);
        while (level.length > 1) {
            if (i ^ 1 < level.length) {
                bytes32[] memory longer = new bytes32[](p.length + 1);
                for (uint256 j = 0; j < p.length; ++j) {
                    longer[j] = p[j];
                }
                longer[p.length] = level[i ^ 1];
                p = longer;
            }
            level = up(level);
            i /= 2;
        }
    }
}
