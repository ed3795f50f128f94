// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

import {Market} from "../src/Market.sol";
import {MerkleDistributor} from "../src/MerkleDistributor.sol";
import {Fixture} from "./Fixture.sol";

/// @dev A currency that calls another contract during each transfer and records the result.
contract CallingBack is ERC20("Calling back", "CB") {
    address public target;
    bytes public data;
    uint256 public calls;
    bytes4 public lastError;
    bool public passed;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function arm(address target_, bytes calldata data_) external {
        (target, data, calls, lastError, passed) = (target_, data_, 0, 0, false);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (target == address(0) || from == address(0)) return;
        ++calls;
        (bool ok, bytes memory result) = target.call(data);
        passed = passed || ok;
        if (!ok && result.length >= 4) lastError = bytes4(result);
    }
}

/// @notice Currencies that re-enter during a payment.
contract HostileTest is Fixture {
    uint256 constant PRICE = 1e18;

    CallingBack quote;
    Market m;

    function setUp() public override {
        super.setUp();
        quote = new CallingBack();
        vm.startPrank(issuer);
        m = Market(factory.createMarket(address(token), address(quote), collector, 30, 10, openMarket()));
        token.setVenue(address(m), true);
        vm.stopPrank();
        mint(alice, 4e18);
        quote.mint(bob, 10e18);
        vm.prank(alice);
        token.approve(address(m), 4e18);
        vm.prank(bob);
        quote.approve(address(m), type(uint256).max);
    }

    function ask() internal returns (uint256) {
        vm.prank(alice);
        return m.place(false, PRICE, 1e18, none());
    }

    /// @dev The currency calls each function that writes during a fill: the guard rejects every call, and the fill is
    /// unaffected.
    function test_fill_reentrantCalls_revert() public {
        bytes[4] memory again = [
            abi.encodeCall(m.place, (true, PRICE, 1e18, none())),
            abi.encodeCall(m.cancel, (1)),
            abi.encodeCall(m.claim, ()),
            abi.encodeCall(m.recover, (alice, bob, none()))
        ];
        uint256 collected;
        for (uint256 i = 0; i < again.length; ++i) {
            uint256 id = ask();
            quote.arm(address(m), again[i]);
            vm.prank(bob);
            m.place(true, PRICE, 1e18, hint(id));
            assertGt(quote.calls(), 0);
            assertFalse(quote.passed());
            assertEq(quote.lastError(), ReentrancyGuard.ReentrancyGuardReentrantCall.selector);
            collected += 4e15;
            assertEq(quote.balanceOf(alice), (i + 1) * (1e18 - 1e15));
            assertEq(quote.balanceOf(collector) + quote.balanceOf(protocol), collected);
            assertEq(quote.balanceOf(address(m)), 0);
            assertEq(token.balanceOf(bob), (i + 1) * 1e18);
        }
        assertEq(m.orderCount(), 8);
    }

    /// @dev The same during a cancellation and its refund.
    function test_cancel_reentrantCalls_revert() public {
        vm.startPrank(bob);
        uint256 first = m.place(true, PRICE, 1e18, none());
        uint256 second = m.place(true, PRICE, 1e18, none());
        quote.arm(address(m), abi.encodeCall(m.cancel, (second)));
        m.cancel(first);
        vm.stopPrank();
        assertEq(quote.lastError(), ReentrancyGuard.ReentrancyGuardReentrantCall.selector);
        assertEq(uint8(m.getOrder(second).status), uint8(Market.Status.OPEN));
        assertEq(quote.balanceOf(address(m)), m.getOrder(second).quoteEscrow);
    }

    /// @dev A claim that is repeated during its payment is paid once.
    function test_claim_reentrantClaim_paysOnce() public {
        MerkleDistributor d = distributor(2e18);
        bytes32[] memory p = proof(leaf(1, bob, 1e18));
        quote.arm(address(d), abi.encodeCall(d.claim, (0, alice, 1e18, p)));
        d.claim(0, alice, 1e18, p);
        assertEq(quote.calls(), 1);
        assertFalse(quote.passed());
        assertEq(quote.lastError(), MerkleDistributor.AlreadyClaimed.selector);
        assertEq(quote.balanceOf(alice), 1e18);
        assertEq(d.claimedAmount(), 1e18);
        assertEq(quote.balanceOf(address(d)), 1e18);
    }

    /// @dev A claim during the funding reduces the sum received, so the activation reverts.
    function test_activate_claimDuringTheFunding_reverts() public {
        MerkleDistributor d = new MerkleDistributor(issuer, quote);
        quote.mint(issuer, 2e18);
        bytes32 root = pair(leaf(0, alice, 1e18), leaf(1, bob, 1e18));
        bytes32[] memory p = proof(leaf(1, bob, 1e18));
        vm.startPrank(issuer);
        quote.approve(address(d), 2e18);
        quote.arm(address(d), abi.encodeCall(d.claim, (0, alice, 1e18, p)));
        vm.expectRevert(abi.encodeWithSelector(MerkleDistributor.Underfunded.selector, 2e18, 1e18));
        d.activate(root, 2e18, 2);
        vm.stopPrank();
        assertEq(d.merkleRoot(), 0);
        assertEq(quote.balanceOf(alice), 0);
        assertEq(quote.balanceOf(issuer), 2e18);
    }

    function distributor(uint256 sum) internal returns (MerkleDistributor d) {
        d = new MerkleDistributor(issuer, quote);
        quote.mint(issuer, sum);
        vm.startPrank(issuer);
        quote.approve(address(d), sum);
        d.activate(pair(leaf(0, alice, 1e18), leaf(1, bob, 1e18)), sum, 2);
        vm.stopPrank();
    }

    function leaf(uint256 index, address account, uint256 amount) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(index, account, amount))));
    }

    function pair(bytes32 a, bytes32 b) internal pure returns (bytes32) {
        return a < b ? keccak256(bytes.concat(a, b)) : keccak256(bytes.concat(b, a));
    }

    function proof(bytes32 sibling) internal pure returns (bytes32[] memory p) {
        p = new bytes32[](1);
        p[0] = sibling;
    }
}
