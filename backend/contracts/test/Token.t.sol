// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {Countries} from "../src/Countries.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {Restrictions} from "../src/Restrictions.sol";
import {IERC7943Fungible} from "../src/interfaces/IERC7943.sol";
import {IOFT} from "../src/interfaces/IOFT.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {Fixture} from "./Fixture.sol";

contract TokenTest is Fixture {
    function test_supportsInterface_knownIds_areSupported() public view {
        assertEq(type(IERC7943Fungible).interfaceId, bytes4(0x3edbb4c4));
        assertTrue(token.supportsInterface(0x3edbb4c4));
        assertTrue(token.supportsInterface(0x01ffc9a7));
        assertTrue(token.supportsInterface(0x36372b07));
        assertFalse(token.supportsInterface(0xffffffff));
        (bytes4 id, uint64 version) = token.oftVersion();
        assertEq(id, bytes4(0x02e49c2c));
        assertEq(version, 1);
    }

    function test_ownerFunctions_byAnotherAccount_revert() public {
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(refusal);
        token.setRules(openRules());
        vm.expectRevert(refusal);
        token.mint(alice, 1);
        vm.expectRevert(refusal);
        token.setVenue(stranger, true);
        vm.expectRevert(refusal);
        token.setTreasury(stranger);
        vm.expectRevert(refusal);
        token.pause();
        vm.expectRevert(refusal);
        token.unpause();
        vm.expectRevert(refusal);
        token.recover(alice, bob, noOrders());
        vm.expectRevert(refusal);
        token.setFrozenTokens(alice, 1);
        vm.expectRevert(refusal);
        token.forcedTransfer(alice, bob, 1);
        vm.expectRevert(refusal);
        token.setPeer(1, 0);
        vm.expectRevert(refusal);
        token.setDelegate(stranger);
    }

    function test_constructor_decimalsOutOfRange_reverts() public {
        vm.expectRevert(IOFT.InvalidLocalDecimals.selector);
        new RWAToken("x", "x", 5, ORG, registry, endpoint, issuer, treasury);
        vm.expectRevert(IOFT.InvalidLocalDecimals.selector);
        new RWAToken("x", "x", 19, ORG, registry, endpoint, issuer, treasury);
        assertEq(new RWAToken("x", "x", 6, ORG, registry, endpoint, issuer, treasury).decimalConversionRate(), 1);
    }

    function test_rules_everyField_isReadBack() public {
        Rules memory r = Rules(1, 2, true, true, countries("USA"), 1_900_000_000, 7, 5e18, new address[](1));
        r.trustedIssuers[0] = otherAttester;
        setRules(r);
        assertEq(keccak256(abi.encode(token.rules())), keccak256(abi.encode(r)));
        assertEq(token.rulesVersion(), 2);
        setRules(openRules());
        assertEq(keccak256(abi.encode(token.rules())), keccak256(abi.encode(openRules())));
    }

    function test_setRules_invalidRules_revert() public {
        Rules memory r;
        r.regulation = 5;
        vm.startPrank(issuer);
        vm.expectRevert(RWAToken.InvalidRules.selector);
        token.setRules(r);
        r.regulation = 0;
        r.blockedCountries = countries("usa");
        vm.expectRevert(abi.encodeWithSelector(Countries.InvalidCountry.selector, bytes3("usa")));
        token.setRules(r);
        r.blockedCountries = new bytes3[](251);
        vm.expectRevert(RWAToken.InvalidRules.selector);
        token.setRules(r);
        r.blockedCountries = new bytes3[](0);
        r.trustedIssuers = new address[](33);
        vm.expectRevert(RWAToken.InvalidRules.selector);
        token.setRules(r);
    }

    function test_mint_beforeRulesAreSet_reverts() public {
        RWAToken fresh = new RWAToken("x", "x", 18, ORG, registry, endpoint, issuer, treasury);
        vm.prank(issuer);
        expectRestricted(Restrictions.RULES_NOT_SET, address(0), alice, 1);
        fresh.mint(alice, 1);
        assertFalse(fresh.canReceive(alice));
    }

    function test_transfer_betweenAttestedAccounts_succeeds() public {
        mint(alice, 10e18);
        transfer(alice, bob, 4e18);
        assertEq(token.balanceOf(bob), 4e18);
        assertEq(token.holderCount(), 2);
        assertCodes(token.checkTransfer(alice, bob, 1), codes());
        assertEq(token.detectTransferRestriction(alice, bob, 1), 0);
        assertTrue(token.canTransfer(alice, bob, 1));
    }

    function test_transferFrom_toAnUnattestedAccount_reverts() public {
        mint(alice, 1e18);
        vm.prank(alice);
        token.approve(stranger, 1e18);
        vm.startPrank(stranger);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, alice, stranger, 1);
        token.transferFrom(alice, stranger, 1);
        token.transferFrom(alice, bob, 1);
    }

    function test_checkTransfer_everyFailedRule_isListed() public {
        mint(alice, 10);
        vm.startPrank(issuer);
        token.setFrozenTokens(alice, 5);
        token.pause();
        Rules memory r;
        r.minKycLevel = 2;
        r.requiresAccreditation = true;
        r.lockupEnd = uint64(block.timestamp + 1);
        r.maxHolders = 1;
        r.maxPerHolder = 5;
        r.blockedCountries = countries("FRA");
        token.setRules(r);
        vm.stopPrank();
        uint8[] memory all = token.checkTransfer(alice, bob, 11);
        uint8[9] memory expected = [1, 4, 5, 6, 11, 12, 13, 14, 15];
        assertEq(all.length, 9);
        for (uint256 i = 0; i < 9; ++i) {
            assertEq(all[i], expected[i]);
        }
        assertEq(token.detectTransferRestriction(alice, bob, 11), 1);
        assertEq(token.messageForTransferRestriction(1), "The token is paused");
    }

    function test_transfer_withoutValidAttestations_reverts() public {
        mint(alice, 10);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, alice, stranger, 1);
        transfer(alice, stranger, 1);
        vm.prank(orgAttester);
        registry.attest(alice, 1, "DEU", false, uint64(block.timestamp + 10), "", "");
        vm.warp(block.timestamp + 10);
        expectRestricted(Restrictions.SENDER_NOT_ATTESTED, alice, bob, 1);
        transfer(alice, bob, 1);
    }

    function test_transfer_anyAttestedCountryBlocked_reverts() public {
        Rules memory r;
        r.blockedCountries = countries("USA");
        setRules(r);
        mint(alice, 10);
        attest(rootAttester, alice, 1, "USA", false);
        assertCodes(token.checkTransfer(alice, bob, 1), codes(Restrictions.SENDER_COUNTRY_BLOCKED));
        assertCodes(token.checkTransfer(treasury, alice, 0), codes(Restrictions.RECEIVER_COUNTRY_BLOCKED));
        // Even if level and accreditation must come from the organization's own attesters.
        r.orgOnly = true;
        setRules(r);
        assertCodes(token.checkTransfer(treasury, alice, 0), codes(Restrictions.RECEIVER_COUNTRY_BLOCKED));
    }

    function test_accreditation_levelInAnotherAttestation_isNotEnough() public {
        Rules memory r;
        r.minKycLevel = 3;
        r.requiresAccreditation = true;
        setRules(r);
        attest(orgAttester, bob, 1, "FRA", true);
        attest(rootAttester, bob, 4, "FRA", false);
        assertCodes(token.checkTransfer(treasury, bob, 0), codes(Restrictions.RECEIVER_ACCREDITATION));
        attest(orgAttester, bob, 3, "FRA", true);
        assertCodes(token.checkTransfer(treasury, bob, 0), codes());
    }

    function test_orgOnly_attestationOfAnotherOrganization_isNotEnough() public {
        Rules memory r;
        r.orgOnly = true;
        setRules(r);
        attest(rootAttester, stranger, 5, "DEU", true);
        assertCodes(token.checkTransfer(treasury, stranger, 0), codes(Restrictions.ORG_ONLY));
        assertCodes(token.checkTransfer(treasury, alice, 0), codes());
    }

    function test_trustedIssuers_attestationOfATrustedIssuer_counts() public {
        attest(otherAttester, stranger, 1, "DEU", false);
        assertFalse(token.canReceive(stranger));
        Rules memory r;
        r.trustedIssuers = new address[](1);
        r.trustedIssuers[0] = otherAttester;
        setRules(r);
        assertTrue(token.canReceive(stranger));
    }

    function test_lockup_everyoneButTheTreasury_cannotSend() public {
        mint(alice, 10);
        mint(treasury, 10);
        Rules memory r;
        r.lockupEnd = uint64(block.timestamp + 100);
        setRules(r);
        expectRestricted(Restrictions.LOCKUP, alice, bob, 1);
        transfer(alice, bob, 1);
        transfer(treasury, bob, 1);
        vm.prank(alice);
        expectRestricted(Restrictions.LOCKUP, alice, address(0), 1);
        token.burn(1);
        vm.warp(block.timestamp + 100);
        transfer(alice, bob, 1);
    }

    function test_burn_frozenTokens_reverts() public {
        mint(alice, 10);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 5);
        vm.startPrank(alice);
        expectRestricted(Restrictions.FROZEN, alice, address(0), 6);
        token.burn(6);
        token.burn(5);
        assertEq(token.totalSupply(), 5);
    }

    function test_transfer_aboveTheLimits_reverts() public {
        Rules memory r;
        r.maxHolders = 1;
        r.maxPerHolder = 10;
        setRules(r);
        mint(alice, 10);
        expectRestricted(Restrictions.MAX_PER_HOLDER, address(0), alice, 1);
        mint(alice, 1);
        expectRestricted(Restrictions.MAX_HOLDERS, alice, bob, 1);
        transfer(alice, bob, 1);
        // A holder who leaves makes room.
        transfer(alice, bob, 10);
        assertEq(token.holderCount(), 1);
        // A transfer to oneself changes nothing.
        transfer(bob, bob, 10);
        assertEq(token.holderCount(), 1);
        // The treasury is not a holder and has no limit.
        mint(treasury, 100);
        assertEq(token.holderCount(), 1);
    }

    function test_setTreasury_anotherAccount_updatesTheHolderCount() public {
        mint(treasury, 5);
        mint(alice, 5);
        assertEq(token.holderCount(), 1);
        vm.prank(issuer);
        token.setTreasury(alice);
        assertEq(token.holderCount(), 1);
        vm.prank(issuer);
        token.setTreasury(stranger);
        assertEq(token.holderCount(), 2);
    }

    function test_pause_everyMovementButForcedTransfer_reverts() public {
        mint(alice, 10);
        vm.prank(issuer);
        token.pause();
        expectRestricted(Restrictions.PAUSED, alice, bob, 1);
        transfer(alice, bob, 1);
        expectRestricted(Restrictions.PAUSED, address(0), alice, 1);
        mint(alice, 1);
        vm.prank(issuer);
        token.forcedTransfer(alice, bob, 1);
        vm.prank(issuer);
        token.unpause();
        transfer(alice, bob, 1);
    }

    function test_canTransfer_insufficientBalance_isIgnored() public {
        mint(alice, 10);
        assertTrue(token.canTransfer(alice, bob, 11));
        assertEq(token.detectTransferRestriction(alice, bob, 11), Restrictions.INSUFFICIENT_BALANCE);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 4);
        assertTrue(token.canTransfer(alice, bob, 6));
        assertFalse(token.canTransfer(alice, bob, 7));
        assertFalse(token.canTransfer(alice, stranger, 1));
        assertFalse(token.canTransfer(stranger, alice, 1));
        assertFalse(token.canTransfer(address(0), alice, 1));
        assertFalse(token.canTransfer(alice, address(0), 1));
    }

    function test_freeze_aboveTheBalance_coversLaterTokens() public {
        mint(alice, 10);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 100);
        assertEq(token.getFrozenTokens(alice), 100);
        mint(alice, 10);
        expectRestricted(Restrictions.FROZEN, alice, bob, 1);
        transfer(alice, bob, 1);
    }

    function test_forcedTransfer_frozenTokens_unfreezesThem() public {
        mint(alice, 10);
        vm.startPrank(issuer);
        token.setFrozenTokens(alice, 8);
        vm.expectEmit(address(token));
        emit IERC7943Fungible.Frozen(alice, 5);
        vm.expectEmit(address(token));
        emit IERC7943Fungible.ForcedTransfer(alice, bob, 5);
        token.forcedTransfer(alice, bob, 5);
        assertEq(token.getFrozenTokens(alice), 5);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, alice, stranger, 1);
        token.forcedTransfer(alice, stranger, 1);
        expectRestricted(Restrictions.INSUFFICIENT_BALANCE, alice, bob, 6);
        token.forcedTransfer(alice, bob, 6);
    }

    function test_recover_lostWallet_movesBalanceAndFrozenAmount() public {
        mint(alice, 10);
        vm.startPrank(issuer);
        token.setFrozenTokens(alice, type(uint256).max);
        token.setFrozenTokens(bob, 3);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, alice, stranger, 10);
        token.recover(alice, stranger, noOrders());
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidRecovery.selector, alice, alice));
        token.recover(alice, alice, noOrders());
        token.recover(alice, bob, noOrders());
        assertEq(token.balanceOf(bob), 10);
        assertEq(token.getFrozenTokens(bob), type(uint256).max);
        assertEq(token.getFrozenTokens(alice), 0);
        assertEq(token.holderCount(), 1);
    }

    function test_venue_asAnAccount_isRefused() public {
        mint(alice, 10);
        expectRestricted(Restrictions.INVALID_RECEIVER, alice, address(market), 1);
        transfer(alice, address(market), 1);
        expectRestricted(Restrictions.INVALID_RECEIVER, address(0), address(market), 1);
        mint(address(market), 1);
        vm.startPrank(issuer);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidVenue.selector, alice));
        token.setVenue(alice, true);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidVenue.selector, treasury));
        token.setVenue(treasury, true);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidVenue.selector, address(market)));
        token.setTreasury(address(market));
        vm.stopPrank();
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.NotVenue.selector, stranger));
        token.depositEscrow(alice, 1);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.NotVenue.selector, stranger));
        token.settleEscrow(alice, stranger, 1);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.EscrowTooSmall.selector, stranger, alice, 1));
        token.releaseEscrow(alice, 1);
        vm.prank(address(market));
        vm.expectRevert();
        token.depositEscrow(alice, 1);
    }

    function test_escrow_ofAVenue_cannotBeTaken() public {
        mint(alice, 10e18);
        place(market, alice, false, 1e6, 10e18, none());
        vm.startPrank(issuer);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.EscrowHeld.selector, address(market)));
        token.forcedTransfer(address(market), bob, 10e18);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.EscrowHeld.selector, address(market)));
        token.recover(address(market), bob, noOrders());
        token.setVenue(address(market), false);
        expectRestricted(Restrictions.INVALID_RECEIVER, alice, address(market), 0);
        token.forcedTransfer(alice, address(market), 0);
        vm.stopPrank();
        // Even an attestation of the market does not help.
        attest(orgAttester, address(market), 1, "DEU", false);
        vm.prank(address(market));
        vm.expectRevert();
        token.transfer(bob, 10e18);
        assertEq(token.balanceOf(address(market)), 10e18);
    }

    function test_mint_aboveTheSharedUnits_reverts() public {
        uint256 most = uint256(type(uint64).max) * 1e12;
        mint(treasury, most);
        vm.prank(issuer);
        vm.expectRevert();
        token.mint(treasury, 1e12);
    }

    function testFuzz_checkTransfer_anyFacts_agreesWithTransfer(uint256 balance, uint256 frozen, uint256 amount, uint256 maximum, bool to)
        public
    {
        balance = bound(balance, 0, 1e24);
        amount = bound(amount, 0, 2e24);
        mint(alice, balance);
        Rules memory r;
        r.maxPerHolder = maximum;
        r.maxHolders = 1;
        setRules(r);
        vm.prank(issuer);
        token.setFrozenTokens(alice, frozen);
        address receiver = to ? bob : stranger;
        bool passes = token.checkTransfer(alice, receiver, amount).length == 0;
        vm.prank(alice);
        (bool ok,) = address(token).call(abi.encodeCall(token.transfer, (receiver, amount)));
        assertEq(ok, passes);
        if (ok) assertLe(amount, balance > frozen ? balance - frozen : 0);
    }

    function testFuzz_forcedTransfer_anyAmount_leavesAtMostTheRestFrozen(uint256 balance, uint256 frozen, uint256 amount) public {
        balance = bound(balance, 1, 1e24);
        frozen = bound(frozen, 0, balance);
        amount = bound(amount, 0, balance);
        mint(alice, balance);
        vm.startPrank(issuer);
        token.setFrozenTokens(alice, frozen);
        token.forcedTransfer(alice, bob, amount);
        uint256 left = balance - amount;
        assertEq(token.getFrozenTokens(alice), frozen < left ? frozen : left);
    }

    function test_canSendAndCanReceive_eachKindOfAccount_isCorrect() public {
        assertTrue(token.canSend(alice));
        assertTrue(token.canSend(treasury));
        assertFalse(token.canSend(stranger));
        assertFalse(token.canSend(address(0)));
        assertFalse(token.canSend(address(market)));
        assertTrue(token.canReceive(alice));
        assertFalse(token.canReceive(stranger));
        vm.prank(issuer);
        token.pause();
        assertFalse(token.canSend(alice));
        assertFalse(token.canReceive(alice));
    }

    function test_releaseEscrow_moreThanHeld_reverts() public {
        vm.prank(issuer);
        token.setVenue(carol, true);
        mint(alice, 10);
        vm.prank(alice);
        token.approve(carol, 10);
        vm.startPrank(carol);
        token.depositEscrow(alice, 10);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.EscrowTooSmall.selector, carol, alice, 11));
        token.releaseEscrow(alice, 11);
        expectRestricted(Restrictions.INSUFFICIENT_BALANCE, alice, bob, 11);
        token.settleEscrow(alice, bob, 11);
        vm.stopPrank();
        assertFalse(token.canSend(carol));
        // A removed venue that still holds escrow can neither send nor receive.
        vm.prank(issuer);
        token.setVenue(carol, false);
        assertFalse(token.canSend(carol));
        assertFalse(token.canReceive(carol));
    }

    /// @dev For any frozen amount, exactly `balance - frozen` can leave a wallet: that passes, one more is rejected.
    function testFuzz_transfer_anyFrozenAmount_movesOnlyTheRest(uint256 balance, uint256 frozen) public {
        balance = bound(balance, 1, 1e30);
        frozen = bound(frozen, 1, 2e30);
        mint(alice, balance);
        vm.prank(issuer);
        token.setFrozenTokens(alice, frozen);
        uint256 free = balance > frozen ? balance - frozen : 0;
        uint256 state = vm.snapshotState();
        expectRestricted(
            free + 1 > balance ? Restrictions.INSUFFICIENT_BALANCE : Restrictions.FROZEN, alice, bob, free + 1
        );
        transfer(alice, bob, free + 1);
        vm.prank(alice);
        vm.expectRevert();
        token.burn(free + 1);
        transfer(alice, bob, free);
        assertEq(token.balanceOf(alice), balance - free);
        vm.revertToState(state);
        vm.prank(alice);
        token.burn(free);
        assertEq(token.totalSupply(), balance - free);
    }

    /// @dev The holder count equals a full count after any two movements among three accounts and the treasury.
    function testFuzz_holderCount_anyMovements_equalsTheNumberOfHolders(uint256 a, uint256 b, uint256 c, uint256 seed) public {
        address[4] memory who = [alice, bob, carol, treasury];
        mint(alice, bound(a, 0, 10));
        mint(bob, bound(b, 0, 10));
        mint(treasury, bound(c, 0, 10));
        for (uint256 i = 0; i < 6; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            address from = who[random % 4];
            transfer(from, who[(random >> 8) % 4], (random >> 16) % (token.balanceOf(from) + 1));
        }
        uint256 census;
        for (uint256 i = 0; i < 3; ++i) {
            if (token.balanceOf(who[i]) != 0) ++census;
        }
        assertEq(token.holderCount(), census);
    }
}
