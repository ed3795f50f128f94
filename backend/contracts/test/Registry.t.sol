// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {Countries} from "../src/Countries.sol";
import {Standing} from "../src/interfaces/IRWAToken.sol";
import {Fixture} from "./Fixture.sol";

contract RegistryTest is Fixture {
    function standing(address who, bool orgOnly) internal view returns (Standing memory) {
        return registry.eligibility(who, ORG, orgOnly, new address[](0));
    }

    function status(address who, address by) internal view returns (AttestationRegistry.Status s) {
        (s,) = registry.statusOf(who, by);
    }

    function test_lineageAndAttesters_byAnotherAccount_revert() public {
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(refusal);
        registry.setParent(ORG, OTHER);
        vm.expectRevert(refusal);
        registry.addAttester(stranger, ORG, "x", 5, true);
        vm.expectRevert(refusal);
        registry.removeAttester(orgAttester);
    }

    function test_setParent_cycleOrZero_reverts() public {
        vm.startPrank(agent);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.LineageCycle.selector, ROOT, ORG));
        registry.setParent(ROOT, ORG);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.LineageCycle.selector, ORG, ORG));
        registry.setParent(ORG, ORG);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.InvalidOrganization.selector, bytes32(0)));
        registry.setParent(0, ORG);
    }

    function test_lineage_beyondSixtyFourLevels_isNotReached() public {
        vm.startPrank(agent);
        for (uint256 i = 1; i <= 64; ++i) {
            registry.setParent(bytes32(i), bytes32(i + 1));
        }
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.LineageTooDeep.selector, bytes32(uint256(1000))));
        registry.setParent(bytes32(uint256(1000)), bytes32(uint256(1)));
        assertTrue(registry.isSameOrDescendant(bytes32(uint256(1)), bytes32(uint256(65))));
        registry.setParent(bytes32(uint256(65)), bytes32(uint256(66)));
        assertFalse(registry.isSameOrDescendant(bytes32(uint256(1)), bytes32(uint256(66))));
    }

    function test_attest_everyField_isReadBack() public {
        vm.prank(orgAttester);
        bytes32 uid = registry.attest(stranger, 2, "DEU", true, 1_900_000_000, "schema", "hash");
        AttestationRegistry.Attestation memory a = registry.getAttestation(uid);
        assertEq(a.subject, stranger);
        assertEq(a.attester, orgAttester);
        assertEq(a.orgId, ORG);
        assertEq(a.level, 2);
        assertEq(a.country, bytes3("DEU"));
        assertTrue(a.accredited);
        assertEq(a.issuedAt, block.timestamp);
        assertEq(a.expiresAt, 1_900_000_000);
        assertEq(a.schema, "schema");
        assertEq(a.dataHash, "hash");
        assertTrue(registry.isValid(uid));
        assertFalse(registry.isValid(0));
    }

    function test_attest_invalidCallerOrFields_reverts() public {
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAttester.selector, stranger));
        registry.attest(alice, 1, "DEU", false, 0, "", "");
        vm.startPrank(orgAttester);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.LevelAboveMaximum.selector, 4, 3));
        registry.attest(alice, 4, "DEU", false, 0, "", "");
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.AlreadyExpired.selector, uint64(block.timestamp)));
        registry.attest(alice, 1, "DEU", false, uint64(block.timestamp), "", "");
        vm.expectRevert(abi.encodeWithSelector(Countries.InvalidCountry.selector, bytes3("deu")));
        registry.attest(alice, 1, "deu", false, 0, "", "");
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.InvalidSubject.selector, address(0)));
        registry.attest(address(0), 1, "DEU", false, 0, "", "");
    }

    function test_attestation_atItsExpiry_isInvalid() public {
        vm.prank(orgAttester);
        bytes32 uid = registry.attest(stranger, 1, "DEU", false, 1_900_000_000, "", "");
        vm.warp(1_899_999_999);
        assertTrue(registry.isValid(uid));
        vm.warp(1_900_000_000);
        assertFalse(registry.isValid(uid));
        assertEq(uint8(status(stranger, orgAttester)), uint8(AttestationRegistry.Status.EXPIRED));
    }

    function test_attest_again_replacesOnlyTheAttestersOwn() public {
        bytes32 first = attest(orgAttester, stranger, 1, "DEU", false);
        bytes32 root = attest(rootAttester, stranger, 4, "FRA", true);
        bytes32 second = attest(orgAttester, stranger, 2, "DEU", false);
        assertFalse(registry.isValid(first));
        assertTrue(registry.isValid(second));
        assertTrue(registry.isValid(root));
        (, bytes32 uid) = registry.statusOf(stranger, orgAttester);
        assertEq(uid, second);
    }

    function test_revoke_byAttesterOrAncestorOnly_succeeds() public {
        bytes32 byOrg = attest(orgAttester, stranger, 1, "DEU", false);
        bytes32 byRoot = attest(rootAttester, stranger, 1, "DEU", false);
        // Another tenant may not revoke it, and a descendant may not revoke its ancestor's.
        vm.prank(otherAttester);
        vm.expectRevert(
            abi.encodeWithSelector(AttestationRegistry.NotAllowedToRevoke.selector, otherAttester, byOrg)
        );
        registry.revoke(byOrg, "x");
        vm.prank(orgAttester);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAllowedToRevoke.selector, orgAttester, byRoot));
        registry.revoke(byRoot, "x");
        vm.prank(rootAttester);
        registry.revoke(byOrg, "by an ancestor");
        assertEq(uint8(status(stranger, orgAttester)), uint8(AttestationRegistry.Status.REVOKED));
        vm.startPrank(rootAttester);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.AlreadyRevoked.selector, byOrg));
        registry.revoke(byOrg, "again");
        registry.revoke(byRoot, "by itself");
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.UnknownAttestation.selector, bytes32("x")));
        registry.revoke("x", "unknown");
    }

    function test_revoke_ofAnotherAttester_needsCanRevokeOthers() public {
        address second = makeAddr("second");
        vm.prank(agent);
        registry.addAttester(second, ORG, "second", 3, false);
        bytes32 uid = attest(orgAttester, stranger, 1, "DEU", false);
        vm.prank(second);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAllowedToRevoke.selector, second, uid));
        registry.revoke(uid, "x");
        vm.startPrank(agent);
        registry.addAttester(second, ORG, "second", 3, true);
        registry.removeAttester(second);
        vm.stopPrank();
        vm.prank(second);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAllowedToRevoke.selector, second, uid));
        registry.revoke(uid, "x");
    }

    function test_removeAttester_itsAttestations_becomeInvalid() public {
        bytes32 uid = attest(orgAttester, stranger, 3, "DEU", false);
        vm.prank(agent);
        registry.removeAttester(orgAttester);
        assertFalse(registry.isValid(uid));
        assertEq(uint8(status(stranger, orgAttester)), uint8(AttestationRegistry.Status.DISTRUSTED));
        assertFalse(standing(stranger, false).found);
        // Its former attestations stay invalid when it joins another organization.
        vm.prank(agent);
        registry.addAttester(orgAttester, OTHER, "moved", 5, false);
        assertFalse(registry.isValid(uid));
        vm.startPrank(agent);
        registry.removeAttester(orgAttester);
        registry.addAttester(orgAttester, ORG, "back, with less", 2, false);
        assertFalse(registry.isValid(uid));
        registry.addAttester(orgAttester, ORG, "back", 3, false);
        assertTrue(registry.isValid(uid));
    }

    function test_addAttester_ofAnotherOrganizationOrTooMany_reverts() public {
        vm.startPrank(agent);
        vm.expectRevert(
            abi.encodeWithSelector(AttestationRegistry.AttesterOfAnotherOrganization.selector, orgAttester, ORG)
        );
        registry.addAttester(orgAttester, OTHER, "x", 5, false);
        for (uint160 i = 1; i < 16; ++i) {
            registry.addAttester(address(i), ORG, "x", 5, false);
        }
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.TooManyAttesters.selector, ORG));
        registry.addAttester(address(99), ORG, "x", 5, false);
        registry.removeAttester(address(7));
        registry.addAttester(address(99), ORG, "x", 5, false);
        assertEq(registry.attestersOf(ORG).length, 16);
    }

    function test_eligibility_lineageAndTrustedIssuers_count() public {
        attest(otherAttester, stranger, 5, "USA", true);
        assertFalse(standing(stranger, false).found);
        address[] memory trusted = new address[](2);
        (trusted[0], trusted[1]) = (otherAttester, makeAddr("nobody"));
        Standing memory s = registry.eligibility(stranger, ORG, false, trusted);
        assertTrue(s.found);
        assertEq(s.countries.length, 1);
        assertFalse(registry.eligibility(stranger, ORG, true, trusted).found);
        attest(rootAttester, stranger, 4, "FRA", false);
        attest(orgAttester, stranger, 2, "DEU", true);
        s = standing(stranger, false);
        assertEq(s.level, 4);
        assertTrue(s.accredited);
        assertEq(s.accreditedLevel, 2);
        assertEq(s.countries.length, 2);
        s = standing(stranger, true);
        assertEq(s.level, 2);
        assertEq(s.countries.length, 1);
        assertEq(s.countries[0], bytes3("DEU"));
    }

    function test_eligibility_manyAttestersOfOtherTenants_doNotCount() public {
        for (uint160 i = 1; i < 100; ++i) {
            bytes32 org = bytes32(uint256(i) + 1e6);
            vm.prank(agent);
            registry.addAttester(address(i), org, "x", 5, false);
            attest(address(i), stranger, 1, "USA", false);
        }
        attest(orgAttester, stranger, 1, "DEU", false);
        Standing memory s = standing(stranger, false);
        assertTrue(s.found);
        assertEq(s.countries.length, 1);
    }

    function test_eligibility_deepestLineage_isAffordable() public {
        vm.startPrank(agent);
        registry.setParent(ROOT, bytes32(uint256(1)));
        for (uint256 i = 1; i < 62; ++i) {
            registry.setParent(bytes32(i), bytes32(i + 1));
        }
        vm.stopPrank();
        vm.cool(address(registry));
        uint256 before = gasleft();
        assertTrue(standing(alice, false).found);
        assertLt(before - gasleft(), 500_000);
    }

    function testFuzz_eligibility_twoAttestations_combinesTheBest(uint8 a, bool accA, uint8 b, bool accB) public {
        a = uint8(bound(a, 0, 3));
        b = uint8(bound(b, 0, 5));
        attest(orgAttester, stranger, a, "DEU", accA);
        attest(rootAttester, stranger, b, "DEU", accB);
        Standing memory s = standing(stranger, false);
        assertEq(s.level, a > b ? a : b);
        assertEq(s.accredited, accA || accB);
        uint8 best = accA ? a : 0;
        if (accB && b > best) best = b;
        assertEq(s.accreditedLevel, best);
    }

    function test_addAttester_zeroAddressOrOrganization_reverts() public {
        vm.startPrank(agent);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.InvalidAttester.selector, address(0)));
        registry.addAttester(address(0), ORG, "nobody", 1, false);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.InvalidOrganization.selector, bytes32(0)));
        registry.addAttester(stranger, 0, "homeless", 1, false);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAttester.selector, stranger));
        registry.removeAttester(stranger);
    }

    function test_getAttester_everyField_isReadBack() public view {
        AttestationRegistry.Attester memory a = registry.getAttester(orgAttester);
        assertEq(a.orgId, ORG);
        assertEq(a.maxKycLevel, 3);
        assertTrue(a.canRevokeOthers);
        assertTrue(a.active);
        assertEq(a.name, "org");
        assertFalse(registry.getAttester(stranger).active);
    }

    function test_revoke_unknownAttestation_reverts() public {
        assertFalse(registry.isValid("unknown"));
        vm.prank(orgAttester);
        vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.UnknownAttestation.selector, bytes32("unknown")));
        registry.revoke("unknown", "");
    }

    /// @dev A country consists of three letters from A to Z.
    function testFuzz_attest_countryOtherThanThreeCapitals_reverts(bytes3 country) public {
        bool letters = true;
        for (uint256 i = 0; i < 3; ++i) {
            letters = letters && uint8(country[i]) >= 65 && uint8(country[i]) <= 90;
        }
        vm.prank(orgAttester);
        if (!letters) vm.expectRevert(abi.encodeWithSelector(Countries.InvalidCountry.selector, country));
        registry.attest(alice, 1, country, false, 0, "", "");
    }

    /// @dev The lineage decides who may revoke: a random tree of eight organizations.
    function testFuzz_revoke_anyTree_reachesDescendantsOnly(uint256 seed, uint8 from, uint8 to) public {
        uint256[8] memory parents;
        vm.startPrank(agent);
        for (uint256 i = 2; i < 8; ++i) {
            // A parent has a smaller number; 0 means no parent.
            parents[i] = uint256(keccak256(abi.encode(seed, i))) % i;
            registry.setParent(bytes32(i), bytes32(parents[i]));
        }
        uint256 revoker = bound(from, 1, 7);
        uint256 author = bound(to, 1, 7);
        registry.addAttester(stranger, bytes32(revoker), "revoker", 5, true);
        registry.addAttester(bob, bytes32(author), "author", 5, false);
        vm.stopPrank();
        bytes32 uid = attest(bob, carol, 1, "DEU", false);
        bool reaches;
        for (uint256 org = author; org != 0; org = parents[org]) {
            reaches = reaches || org == revoker;
        }
        vm.prank(stranger);
        if (!reaches) {
            vm.expectRevert(abi.encodeWithSelector(AttestationRegistry.NotAllowedToRevoke.selector, stranger, uid));
        }
        registry.revoke(uid, "fuzz");
        assertEq(registry.isValid(uid), !reaches);
    }
}
