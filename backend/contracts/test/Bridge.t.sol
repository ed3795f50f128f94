// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Vm} from "forge-std/Vm.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {LocalEndpoint} from "../src/LocalEndpoint.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {Restrictions} from "../src/Restrictions.sol";
import {
    ExecutorConfig,
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin,
    SetConfigParam,
    UlnConfig
} from "../src/interfaces/IMessaging.sol";
import {EnforcedOptionParam, IOFT, OFTLimit, OFTReceipt, SendParam} from "../src/interfaces/IOFT.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";
import {EndpointStandIn} from "./EndpointStandIn.sol";
import {Fixture} from "./Fixture.sol";

/// @dev Two chains in one: the second has its own endpoint, registry and token.
contract BridgeTest is Fixture {
    uint32 constant HERE = 40362;
    uint32 constant THERE = 40161;

    struct Packet {
        Origin origin;
        uint32 dstEid;
        address receiver;
        bytes32 guid;
        bytes message;
    }

    AttestationRegistry registryThere;
    LocalEndpoint endpointThere;
    RWAToken tokenThere;

    function setUp() public override {
        super.setUp();
        registryThere = new AttestationRegistry(agent);
        vm.prank(agent);
        registryThere.addAttester(orgAttester, ORG, "org", 3, true);
        endpointThere = new LocalEndpoint(THERE, operator);
        tokenThere = new RWAToken("Asset", "AST", 8, ORG, registryThere, endpointThere, issuer, treasury);
        vm.startPrank(issuer);
        token.setPeer(THERE, toBytes32(address(tokenThere)));
        tokenThere.setPeer(HERE, toBytes32(address(token)));
        vm.stopPrank();
        vm.prank(operator);
        endpoint.setMessageFee(100);
    }

    function toBytes32(address a) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(a)));
    }

    function param(address to, uint256 amount) internal pure returns (SendParam memory p) {
        p.dstEid = THERE;
        p.to = toBytes32(to);
        p.amountLD = amount;
    }

    function send(address from, address to, uint256 amount) internal returns (Packet memory) {
        vm.recordLogs();
        vm.deal(from, 100);
        vm.prank(from);
        token.send{value: 100}(param(to, amount), MessagingFee(100, 0), from);
        return sentPacket();
    }

    function sendRules(Rules memory r, address to, uint256 amount) internal returns (Packet memory) {
        vm.recordLogs();
        vm.deal(issuer, 100);
        vm.prank(issuer);
        token.sendWithRules{value: 100}(param(to, amount), r, MessagingFee(100, 0), issuer);
        return sentPacket();
    }

    /// @dev Reads the packet the way a relayer does.
    function sentPacket() internal returns (Packet memory p) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != LocalEndpoint.PacketSent.selector) continue;
            (bytes memory packet,,) = abi.decode(logs[i].data, (bytes, bytes, address));
            return this.parse(packet);
        }
        revert("no packet");
    }

    function parse(bytes calldata packet) external pure returns (Packet memory p) {
        assertEq(uint8(packet[0]), 1, "version");
        p.origin.nonce = uint64(bytes8(packet[1:9]));
        p.origin.srcEid = uint32(bytes4(packet[9:13]));
        p.origin.sender = bytes32(packet[13:45]);
        p.dstEid = uint32(bytes4(packet[45:49]));
        p.receiver = address(uint160(uint256(bytes32(packet[49:81]))));
        p.guid = bytes32(packet[81:113]);
        p.message = packet[113:];
        assertEq(p.guid, keccak256(bytes.concat(packet[1:81])), "guid");
    }

    function verify(Packet memory p) internal {
        vm.prank(operator);
        endpointThere.verify(p.origin, p.receiver, keccak256(bytes.concat(p.guid, p.message)));
    }

    function deliver(Packet memory p) internal {
        endpointThere.lzReceive(p.origin, p.receiver, p.guid, p.message, "");
    }

    function relay(Packet memory p) internal {
        verify(p);
        deliver(p);
    }

    function attestThere(address who) internal {
        vm.prank(orgAttester);
        registryThere.attest(who, 1, "DEU", false, 0, "", "");
    }

    function test_send_withRulesAndAmount_arrivesWithBoth() public {
        mint(issuer_(), 5e18);
        Rules memory r = Rules(1, 1, false, false, countries("USA"), 0, 10, 1e12, new address[](0));
        attestThere(issuer);
        Packet memory p = sendRules(r, issuer, 2e18);
        assertEq(p.origin.nonce, 1);
        assertEq(p.origin.srcEid, HERE);
        assertEq(p.dstEid, THERE);
        assertEq(p.receiver, address(tokenThere));
        relay(p);
        assertEq(keccak256(abi.encode(tokenThere.rules())), keccak256(abi.encode(r)));
        assertEq(tokenThere.rulesVersion(), token.rulesVersion());
        assertEq(token.totalSupply(), 3e18);
        assertEq(tokenThere.balanceOf(issuer), 2e8);
    }

    function issuer_() internal returns (address) {
        attest(orgAttester, issuer, 1, "DEU", false);
        return issuer;
    }

    function test_sendWithRules_withoutAmount_updatesRulesOnly() public {
        Rules memory r;
        r.minKycLevel = 3;
        SendParam memory p = param(address(0), 0);
        assertEq(token.quoteSendWithRules(p, r).nativeFee, 100);
        relay(sendRules(r, address(0), 0));
        assertEq(tokenThere.rules().minKycLevel, 3);
        assertEq(tokenThere.totalSupply(), 0);
    }

    function test_sendWithRules_byAnotherAccount_reverts() public {
        vm.deal(alice, 100);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        token.sendWithRules{value: 100}(param(alice, 0), openRules(), MessagingFee(100, 0), alice);
    }

    function test_delivery_ofOlderRules_keepsNewerRules() public {
        Rules memory loose;
        Rules memory strict;
        strict.minKycLevel = 3;
        issuer_();
        mint(issuer, 1e18);
        // Rejected at first: the receiver has no attestation on the other chain.
        Packet memory first = sendRules(loose, issuer, 1e18);
        verify(first);
        vm.expectRevert(
            abi.encodeWithSelector(
                RWAToken.TransferRestricted.selector, Restrictions.RECEIVER_NOT_ATTESTED, address(0), issuer, 1e8
            )
        );
        deliver(first);
        assertEq(tokenThere.rulesVersion(), 0);
        relay(sendRules(strict, address(0), 0));
        vm.prank(orgAttester);
        registryThere.attest(issuer, 3, "DEU", false, 0, "", "");
        vm.expectEmit(address(tokenThere));
        emit RWAToken.RulesIgnored(2, 3);
        deliver(first);
        assertEq(tokenThere.rules().minKycLevel, 3);
        assertEq(tokenThere.balanceOf(issuer), 1e8);
    }

    function test_delivery_beforeRulesAreSet_canBeRetried() public {
        mint(alice, 1e18);
        attestThere(alice);
        Packet memory p = send(alice, alice, 1e18);
        verify(p);
        vm.expectRevert(
            abi.encodeWithSelector(
                RWAToken.TransferRestricted.selector, Restrictions.RULES_NOT_SET, address(0), alice, 1e8
            )
        );
        deliver(p);
        relay(sendRules(openRules(), address(0), 0));
        deliver(p);
        assertEq(tokenThere.balanceOf(alice), 1e8);
    }

    function test_delivery_refusedByTheToken_staysVerifiedAndCanBeRetried() public {
        relay(sendRules(openRules(), address(0), 0));
        mint(alice, 1e18);
        Packet memory p = send(alice, alice, 1e18);
        verify(p);
        for (uint256 i = 0; i < 2; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(
                    RWAToken.TransferRestricted.selector, Restrictions.RECEIVER_NOT_ATTESTED, address(0), alice, 1e8
                )
            );
            deliver(p);
        }
        assertTrue(endpointThere.inboundPayloadHash(p.receiver, HERE, p.origin.sender, p.origin.nonce) != 0);
        attestThere(alice);
        deliver(p);
        assertEq(endpointThere.inboundPayloadHash(p.receiver, HERE, p.origin.sender, p.origin.nonce), 0);
        assertTrue(endpointThere.delivered(p.receiver, HERE, p.origin.sender, p.origin.nonce));
        // It is neither delivered nor verified twice.
        vm.expectRevert();
        deliver(p);
        vm.prank(operator);
        vm.expectRevert(
            abi.encodeWithSelector(LocalEndpoint.PathNotVerifiable.selector, p.origin, p.receiver)
        );
        endpointThere.verify(p.origin, p.receiver, keccak256(bytes.concat(p.guid, p.message)));
    }

    function test_send_toAnotherAccount_isCheckedAsATransfer() public {
        mint(alice, 10e18);
        vm.deal(alice, 1000);
        MessagingFee memory fee = MessagingFee(100, 0);
        vm.startPrank(alice);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, alice, stranger, 1e18);
        token.send{value: 100}(param(stranger, 1e18), fee, alice);
        vm.stopPrank();
        Rules memory r;
        r.lockupEnd = uint64(block.timestamp + 1);
        setRules(r);
        vm.prank(alice);
        expectRestricted(Restrictions.LOCKUP, alice, address(0), 1e18);
        token.send{value: 100}(param(bob, 1e18), fee, alice);
        r.lockupEnd = 0;
        setRules(r);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 10e18);
        vm.prank(alice);
        expectRestricted(Restrictions.FROZEN, alice, address(0), 1e18);
        token.send{value: 100}(param(bob, 1e18), fee, alice);
        vm.prank(issuer);
        token.setFrozenTokens(alice, 0);
        vm.prank(issuer);
        token.pause();
        vm.prank(alice);
        expectRestricted(Restrictions.PAUSED, alice, address(0), 1e18);
        token.send{value: 100}(param(bob, 1e18), fee, alice);
        vm.prank(issuer);
        token.unpause();
        send(alice, bob, 1e18);
        assertEq(token.totalSupply(), 9e18);
    }

    function test_send_byAnUnattestedSender_reverts() public {
        mint(alice, 1e18);
        vm.prank(agent);
        registry.removeAttester(orgAttester);
        vm.deal(alice, 100);
        vm.prank(alice);
        expectRestricted(Restrictions.SENDER_NOT_ATTESTED, alice, address(0), 1e18);
        token.send{value: 100}(param(alice, 1e18), MessagingFee(100, 0), alice);
    }

    function test_send_withInvalidParameters_reverts() public {
        mint(alice, 1e18);
        vm.deal(alice, 1000);
        MessagingFee memory fee = MessagingFee(100, 0);
        vm.startPrank(alice);
        SendParam memory p = param(alice, 1e18);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.NotEnoughNative.selector, 99));
        token.send{value: 99}(p, fee, alice);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.InsufficientFee.selector, 100, 99));
        token.send{value: 99}(p, MessagingFee(99, 0), alice);
        vm.expectRevert(RWAToken.LzTokenUnsupported.selector);
        token.send{value: 100}(p, MessagingFee(100, 1), alice);
        vm.expectRevert(RWAToken.LzTokenUnsupported.selector);
        token.quoteSend(p, true);
        p.composeMsg = "x";
        vm.expectRevert(RWAToken.ComposeUnsupported.selector);
        token.send{value: 100}(p, fee, alice);
        p.composeMsg = "";
        p.dstEid = 1;
        vm.expectRevert(abi.encodeWithSelector(RWAToken.NoPeer.selector, 1));
        token.send{value: 100}(p, fee, alice);
        p.dstEid = THERE;
        p.to = 0;
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidDestination.selector, bytes32(0)));
        token.send{value: 100}(p, fee, alice);
        p.to = bytes32(type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidDestination.selector, p.to));
        token.send{value: 100}(p, fee, alice);
        p = param(alice, 1e12 + 1);
        p.minAmountLD = 1e12 + 1;
        vm.expectRevert(abi.encodeWithSelector(IOFT.SlippageExceeded.selector, 1e12, 1e12 + 1));
        token.send{value: 100}(p, fee, alice);
        vm.expectRevert(abi.encodeWithSelector(IOFT.SlippageExceeded.selector, 0, 1));
        token.send{value: 100}(param(alice, 1e12 - 1), fee, alice);
    }

    function test_send_withExcessFee_refundsTheExcess() public {
        mint(alice, 1e18);
        vm.deal(alice, 150);
        vm.prank(alice);
        token.send{value: 150}(param(alice, 1e18), MessagingFee(150, 0), bob);
        assertEq(bob.balance, 50);
        vm.prank(operator);
        endpoint.withdrawFees(payable(carol));
        assertEq(carol.balance, 100);
    }

    function test_lzReceive_fromAnotherCallerOrSender_reverts() public {
        Origin memory origin = Origin(HERE, toBytes32(stranger), 1);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.OnlyEndpoint.selector, address(this)));
        tokenThere.lzReceive(origin, 0, "", address(0), "");
        vm.prank(address(endpointThere));
        vm.expectRevert(abi.encodeWithSelector(RWAToken.OnlyPeer.selector, HERE, origin.sender));
        tokenThere.lzReceive(origin, 0, "", address(0), "");
        vm.prank(operator);
        vm.expectRevert(
            abi.encodeWithSelector(LocalEndpoint.PathNotInitializable.selector, origin, address(tokenThere))
        );
        endpointThere.verify(origin, address(tokenThere), "x");
        // A chain without a peer does not accept the peer 0.
        assertFalse(tokenThere.allowInitializePath(Origin(1, 0, 1)));
    }

    function test_endpoint_unverifiedOrForeignVerification_reverts() public {
        Packet memory p = sendRules(openRules(), address(0), 0);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger));
        endpointThere.verify(p.origin, p.receiver, "x");
        vm.expectRevert();
        deliver(p);
        verify(p);
        p.message = bytes.concat(p.message, "x");
        vm.expectRevert();
        deliver(p);
    }

    function testFuzz_bridge_anyAmount_conservesSupplyAndLeavesDust(uint256 amount) public {
        amount = bound(amount, 1e12, 1e30);
        relay(sendRules(openRules(), address(0), 0));
        attestThere(alice);
        mint(alice, amount);
        relay(send(alice, alice, amount));
        assertEq(token.balanceOf(alice), amount % 1e12);
        assertEq(token.totalSupply() / 1e12 + tokenThere.totalSupply() / 1e2, amount / 1e12);
        assertEq(tokenThere.balanceOf(alice), amount / 1e12 * 1e2);
        assertEq(token.holderCount(), amount % 1e12 == 0 ? 0 : 1);
        assertEq(tokenThere.holderCount(), 1);
    }

    function test_token_views_describeTheOApp() public view {
        (uint64 senderVersion, uint64 receiverVersion) = token.oAppVersion();
        assertEq(senderVersion, 1);
        assertEq(receiverVersion, 2);
        assertEq(token.token(), address(token));
        assertFalse(token.approvalRequired());
        assertEq(token.nextNonce(THERE, 0), 0);
        assertEq(endpoint.delegates(address(token)), issuer);
    }

    function test_quoteSend_matchesWhatIsSent() public view {
        (OFTLimit memory limit,, OFTReceipt memory receipt) = token.quoteOFT(param(alice, 1e18 + 1));
        assertEq(limit.minAmountLD, 1e12);
        assertEq(limit.maxAmountLD, uint256(type(uint64).max) * 1e12);
        assertEq(receipt.amountSentLD, 1e18);
        assertEq(receipt.amountReceivedLD, 1e18);
        assertEq(token.quoteSend(param(alice, 1e18), false).nativeFee, 100);
        assertEq(token.quoteSendWithRules(param(alice, 1e18), openRules()).nativeFee, 100);
    }

    function test_setDelegate_byTheOwner_isStoredAtTheEndpoint() public {
        vm.prank(issuer);
        token.setDelegate(carol);
        assertEq(endpoint.delegates(address(token)), carol);
    }

    function test_sendWithRules_beforeRulesAreSet_reverts() public {
        vm.prank(issuer);
        vm.expectRevert(RWAToken.InvalidRules.selector);
        tokenThere.sendWithRules(param(alice, 0), openRules(), MessagingFee(0, 0), issuer);
    }

    function test_lzReceive_malformedPacket_reverts() public {
        Origin memory origin = Origin(HERE, toBytes32(address(token)), 1);
        vm.deal(address(endpointThere), 1);
        vm.startPrank(address(endpointThere));
        vm.expectRevert(RWAToken.InvalidMessage.selector);
        tokenThere.lzReceive(origin, 0, new bytes(39), address(0), "");
        vm.expectRevert(RWAToken.InvalidMessage.selector);
        tokenThere.lzReceive{value: 1}(origin, 0, new bytes(40), address(0), "");
    }

    function test_endpoint_feeInLzToken_reverts() public {
        MessagingParams memory p = MessagingParams(THERE, toBytes32(alice), "", "", true);
        vm.expectRevert(LocalEndpoint.LzTokenUnsupported.selector);
        endpoint.quote(p, alice);
        vm.expectRevert(LocalEndpoint.LzTokenUnsupported.selector);
        endpoint.send(p, alice);
    }

    function test_verify_deliveredMessage_reverts() public {
        Packet memory p = sendRules(openRules(), address(0), 0);
        relay(p);
        vm.prank(operator);
        vm.expectRevert(
            abi.encodeWithSelector(LocalEndpoint.PathNotVerifiable.selector, p.origin, address(tokenThere))
        );
        endpointThere.verify(p.origin, p.receiver, "x");
        vm.expectRevert();
        deliver(p);
    }

    // ------------------------------------------------------------------------------------------ options and peers

    bytes constant GAS = hex"000301001101000000000000000000000000000493e0";
    bytes constant MORE = hex"0003010011010000000000000000000000000000c350";

    function enforce(uint16 msgType, bytes memory options) internal {
        EnforcedOptionParam[] memory list = new EnforcedOptionParam[](1);
        list[0] = EnforcedOptionParam(THERE, msgType, options);
        vm.prank(issuer);
        token.setEnforcedOptions(list);
    }

    function sentOptions() internal returns (bytes memory options) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != LocalEndpoint.PacketSent.selector) continue;
            (, options,) = abi.decode(logs[i].data, (bytes, bytes, address));
        }
    }

    function test_enforcedOptions_set_areInEveryPacketOfTheirType() public {
        mint(alice, 2e18);
        vm.expectEmit(address(token));
        emit RWAToken.EnforcedOptionSet(THERE, 1, GAS);
        enforce(1, GAS);
        assertEq(token.enforcedOptions(THERE, 1), GAS);
        vm.recordLogs();
        vm.deal(alice, 200);
        vm.startPrank(alice);
        token.send{value: 100}(param(alice, 1e18), MessagingFee(100, 0), alice);
        assertEq(sentOptions(), GAS, "a front end that sends none");
        SendParam memory p = param(alice, 1e18);
        p.extraOptions = MORE;
        token.send{value: 100}(p, MessagingFee(100, 0), alice);
        assertEq(sentOptions(), token.combineOptions(THERE, 1, MORE));
        vm.stopPrank();
        vm.deal(issuer, 100);
        p.extraOptions = GAS;
        p.amountLD = 0;
        vm.prank(issuer);
        token.sendWithRules{value: 100}(p, openRules(), MessagingFee(100, 0), issuer);
        assertEq(sentOptions(), GAS, "rules are a kind of their own");
    }

    function test_combineOptions_withSenderOptions_appendsThem() public {
        assertEq(token.combineOptions(THERE, 1, ""), "");
        assertEq(token.combineOptions(THERE, 1, MORE), MORE);
        enforce(1, GAS);
        assertEq(token.combineOptions(THERE, 1, ""), GAS);
        assertEq(
            token.combineOptions(THERE, 1, MORE), bytes.concat(GAS, hex"010011010000000000000000000000000000c350")
        );
        assertEq(token.combineOptions(THERE, 2, ""), "");
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidOptions.selector, bytes(hex"0001aa")));
        token.combineOptions(THERE, 1, hex"0001aa");
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidOptions.selector, bytes(hex"00")));
        token.combineOptions(THERE, 1, hex"00");
    }

    function test_enforcedOptions_ofAnotherTypeOrByAnotherAccount_reverts() public {
        EnforcedOptionParam[] memory list = new EnforcedOptionParam[](1);
        list[0] = EnforcedOptionParam(THERE, 1, hex"0002");
        vm.prank(issuer);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidOptions.selector, bytes(hex"0002")));
        token.setEnforcedOptions(list);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        token.setEnforcedOptions(list);
    }

    function test_peers_views_acceptThePeerOnly() public view {
        assertTrue(token.isPeer(THERE, toBytes32(address(tokenThere))));
        assertFalse(token.isPeer(THERE, toBytes32(stranger)));
        Origin memory origin = Origin(THERE, toBytes32(address(tokenThere)), 1);
        assertTrue(token.isComposeMsgSender(origin, "", address(token)));
        assertFalse(token.isComposeMsgSender(origin, "", stranger));
    }

    // ------------------------------------------------------------------------------------------ delegate

    function test_delegate_afterTransferOfOwnership_isTheNewOwner() public {
        assertEq(endpoint.delegates(address(token)), issuer);
        vm.prank(issuer);
        token.transferOwnership(bob);
        assertEq(endpoint.delegates(address(token)), bob);
        vm.prank(issuer);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.Unauthorized.selector, issuer, address(token)));
        endpoint.setSendLibrary(address(token), THERE, stranger);
        vm.prank(bob);
        token.renounceOwnership();
        assertEq(endpoint.delegates(address(token)), address(0));
    }

    // ------------------------------------------------------------------------------------------ libraries and verifiers

    function uln(uint64 confirmations, uint8 required, uint8 optional, address[] memory verifiers)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encode(UlnConfig(confirmations, required, optional, 0, verifiers, new address[](0)));
    }

    function configure(uint32 configType, bytes memory config) internal {
        SetConfigParam[] memory params = new SetConfigParam[](1);
        params[0] = SetConfigParam(THERE, configType, config);
        vm.prank(issuer);
        endpoint.setConfig(address(token), address(endpoint), params);
    }

    function configured(uint32 configType) internal view returns (bytes memory) {
        return endpoint.getConfig(address(token), address(endpoint), THERE, configType);
    }

    function test_libraries_setOrUnset_areReadBack() public {
        address app = address(token);
        assertEq(endpoint.getSendLibrary(app, THERE), address(endpoint));
        assertTrue(endpoint.isDefaultSendLibrary(app, THERE));
        (address library_, bool isDefault) = endpoint.getReceiveLibrary(app, THERE);
        assertEq(library_, operator);
        assertTrue(isDefault);
        vm.startPrank(issuer);
        endpoint.setSendLibrary(app, THERE, bob);
        endpoint.setReceiveLibrary(app, THERE, carol, 0);
        vm.stopPrank();
        assertEq(endpoint.getSendLibrary(app, THERE), bob);
        assertFalse(endpoint.isDefaultSendLibrary(app, THERE));
        (library_, isDefault) = endpoint.getReceiveLibrary(app, THERE);
        assertEq(library_, carol);
        assertFalse(isDefault);
    }

    function test_verifiers_setOrUnset_areReadBack() public {
        address[] memory relayer = new address[](1);
        relayer[0] = operator;
        assertEq(configured(2), abi.encode(UlnConfig(1, 1, 0, 0, relayer, new address[](0))));
        address[] memory two = new address[](2);
        (two[0], two[1]) = (address(1), address(2));
        configure(2, uln(0, 2, 255, two));
        assertEq(configured(2), abi.encode(UlnConfig(1, 2, 0, 0, two, new address[](0))));
        configure(2, uln(7, 0, 0, new address[](0)));
        assertEq(configured(2), abi.encode(UlnConfig(7, 1, 0, 0, relayer, new address[](0))));
        configure(2, abi.encode(UlnConfig(7, 255, 2, 1, new address[](0), two)));
        assertEq(configured(2), abi.encode(UlnConfig(7, 0, 2, 1, new address[](0), two)));
    }

    function test_executor_setOrUnset_isReadBack() public {
        assertEq(configured(1), abi.encode(ExecutorConfig(10_000, operator)));
        configure(1, abi.encode(ExecutorConfig(0, bob)));
        assertEq(configured(1), abi.encode(ExecutorConfig(10_000, bob)));
        configure(1, abi.encode(ExecutorConfig(500, address(0))));
        assertEq(configured(1), abi.encode(ExecutorConfig(500, operator)));
    }

    // ------------------------------------------------------------------------------------------ pause and limit of a path

    function pausePath(RWAToken which, uint32 eid, bool paused) internal {
        vm.prank(issuer);
        which.setPathPaused(eid, paused);
    }

    function test_pausedPath_inBothDirections_refusesPackets() public {
        relay(sendRules(openRules(), address(0), 0));
        attestThere(alice);
        mint(alice, 3e18);
        Packet memory p = send(alice, alice, 1e18);
        verify(p);
        vm.expectEmit(address(tokenThere));
        emit RWAToken.PathPauseSet(HERE, true);
        pausePath(tokenThere, HERE, true);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.PathPaused.selector, HERE));
        deliver(p);
        pausePath(token, THERE, true);
        vm.deal(alice, 100);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.PathPaused.selector, THERE));
        token.send{value: 100}(param(alice, 1e18), MessagingFee(100, 0), alice);
        vm.deal(issuer, 100);
        vm.prank(issuer);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.PathPaused.selector, THERE));
        token.sendWithRules{value: 100}(param(issuer, 0), openRules(), MessagingFee(100, 0), issuer);
        (bool paused,,,) = token.pathOf(THERE);
        assertTrue(paused);
        pausePath(tokenThere, HERE, false);
        pausePath(token, THERE, false);
        deliver(p);
        send(alice, alice, 1e18);
        assertEq(tokenThere.balanceOf(alice), 1e8);
    }

    function test_pathLimit_withinAWindow_isEnforcedAndReleasedEvenly() public {
        mint(alice, 100e18);
        vm.expectEmit(address(token));
        emit RWAToken.PathLimitSet(THERE, 10e18, 1000);
        vm.prank(issuer);
        token.setPathLimit(THERE, 10e18, 1000);
        send(alice, alice, 8e18);
        expectLimited(3e18, 2e18);
        skip(500);
        (, uint256 limit, uint32 window, uint256 available) = token.pathOf(THERE);
        assertEq(limit, 10e18);
        assertEq(window, 1000);
        assertEq(available, 7e18);
        send(alice, alice, 7e18);
        expectLimited(1e18, 0);
        // A new limit does not free used capacity.
        vm.prank(issuer);
        token.setPathLimit(THERE, 12e18, 1000);
        expectLimited(3e18, 2e18);
        vm.prank(issuer);
        token.setPathLimit(THERE, 5e18, 1000);
        expectLimited(1e18, 0);
        skip(10_000);
        send(alice, alice, 5e18);
        vm.prank(issuer);
        token.setPathLimit(THERE, 0, 0);
        send(alice, alice, 50e18);
    }

    function expectLimited(uint256 amount, uint256 available) internal {
        vm.deal(alice, 100);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.PathLimited.selector, THERE, available));
        token.send{value: 100}(param(alice, amount), MessagingFee(100, 0), alice);
    }

    function test_pathLimit_forArrivingPackets_isEnforced() public {
        relay(sendRules(openRules(), address(0), 0));
        attestThere(alice);
        mint(alice, 10e18);
        vm.prank(issuer);
        tokenThere.setPathLimit(HERE, 1e8, 3600);
        Packet memory first = send(alice, alice, 1e18);
        Packet memory second = send(alice, alice, 1e18);
        relay(first);
        verify(second);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.PathLimited.selector, HERE, 0));
        deliver(second);
        skip(3600);
        deliver(second);
        assertEq(tokenThere.balanceOf(alice), 2e8);
        // Rules alone have no amount to limit.
        relay(sendRules(openRules(), address(0), 0));
    }

    function test_pathLimit_outOfRangeOrByAnotherAccount_reverts() public {
        vm.startPrank(issuer);
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidLimit.selector, 1e18, 0));
        token.setPathLimit(THERE, 1e18, 0);
        uint256 over = (uint256(type(uint64).max) + 1) * 1e12;
        vm.expectRevert(abi.encodeWithSelector(RWAToken.InvalidLimit.selector, over, 1));
        token.setPathLimit(THERE, over, 1);
        vm.stopPrank();
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        token.setPathLimit(THERE, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        token.setPathPaused(THERE, true);
    }

    function testFuzz_pathLimit_anyPackets_passAtMostTwiceTheLimitInAWindow(uint64[8] memory gaps, uint256 seed) public {
        mint(alice, 1e30);
        vm.prank(issuer);
        token.setPathLimit(THERE, 10e18, 1000);
        uint256 passed;
        uint256 start = block.timestamp;
        for (uint256 i = 0; i < gaps.length; ++i) {
            skip(gaps[i] % 200);
            if (block.timestamp - start > 1000) break;
            (,,, uint256 available) = token.pathOf(THERE);
            uint256 amount = available * (seed % 100) / 100 / 1e12 * 1e12;
            if (amount == 0) continue;
            send(alice, alice, amount);
            passed += amount;
        }
        assertLe(passed, 20e18);
    }

    // ------------------------------------------------------------------------------------------ packets given up

    function drop(Packet memory p) internal {
        vm.prank(issuer);
        tokenThere.dropPacket(p.origin, p.message);
    }

    function test_dropPacket_verifiedPacket_isNeverDelivered() public {
        relay(sendRules(openRules(), address(0), 0));
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        verify(p);
        vm.expectEmit(address(tokenThere));
        emit RWAToken.PacketDropped(p.guid, HERE, p.origin.nonce);
        drop(p);
        assertTrue(tokenThere.isGivenUp(p.guid));
        attestThere(alice);
        vm.expectRevert();
        deliver(p);
        vm.prank(operator);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.PathNotVerifiable.selector, p.origin, p.receiver));
        endpointThere.verify(p.origin, p.receiver, keccak256(bytes.concat(p.guid, p.message)));
        vm.expectRevert();
        drop(p);
    }

    function test_dropPacket_unverifiedPacket_isNeverVerified() public {
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        drop(p);
        assertTrue(tokenThere.isGivenUp(p.guid));
        vm.prank(operator);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.PathNotVerifiable.selector, p.origin, p.receiver));
        endpointThere.verify(p.origin, p.receiver, keccak256(bytes.concat(p.guid, p.message)));
        vm.prank(issuer);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.InvalidNonce.selector, p.origin.nonce));
        tokenThere.dropPacket(p.origin, p.message);
    }

    function test_dropPacket_deliveredPacket_reverts() public {
        relay(sendRules(openRules(), address(0), 0));
        attestThere(alice);
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        relay(p);
        vm.expectRevert(abi.encodeWithSelector(LocalEndpoint.InvalidNonce.selector, p.origin.nonce));
        drop(p);
        assertFalse(tokenThere.isGivenUp(p.guid));
    }

    function test_dropPacket_otherContent_reverts() public {
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        verify(p);
        p.message = bytes.concat(p.message, "x");
        vm.expectRevert();
        drop(p);
    }

    function test_dropPacketAndMintBack_byAnotherAccount_reverts() public {
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        tokenThere.dropPacket(p.origin, p.message);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, alice));
        token.mintBack(p.guid, alice, 2e18);
        vm.expectRevert(
            abi.encodeWithSelector(LocalEndpoint.Unauthorized.selector, alice, address(tokenThere))
        );
        endpointThere.clear(address(tokenThere), p.origin, p.guid, p.message);
        vm.expectRevert(
            abi.encodeWithSelector(LocalEndpoint.Unauthorized.selector, alice, address(tokenThere))
        );
        endpointThere.skip(address(tokenThere), HERE, p.origin.sender, 1);
    }

    function test_mintBack_droppedPacket_mintsOnce() public {
        mint(alice, 5e18);
        Packet memory p = send(alice, alice, 2e18);
        drop(p);
        vm.startPrank(issuer);
        vm.expectEmit(address(token));
        emit RWAToken.PacketReturned(p.guid, alice, 2e18);
        token.mintBack(p.guid, alice, 2e18);
        assertEq(token.balanceOf(alice), 5e18);
        assertTrue(token.isGivenUp(p.guid));
        vm.expectRevert(abi.encodeWithSelector(RWAToken.AlreadyReturned.selector, p.guid));
        token.mintBack(p.guid, alice, 2e18);
        expectRestricted(Restrictions.RECEIVER_NOT_ATTESTED, address(0), stranger, 1e18);
        token.mintBack("another", stranger, 1e18);
        assertFalse(token.isGivenUp("another"));
    }

    // ------------------------------------------------------------------------------------------ on an endpoint like LayerZero's

    function onStandIn() internal returns (EndpointStandIn point, RWAToken receiver) {
        point = new EndpointStandIn(THERE);
        receiver = new RWAToken("Asset", "AST", 8, ORG, registryThere, point, issuer, treasury);
        vm.prank(issuer);
        receiver.setPeer(HERE, toBytes32(address(token)));
    }

    function drop(RWAToken receiver, uint64 nonce, bytes memory message) internal {
        vm.prank(issuer);
        receiver.dropPacket(Origin(HERE, toBytes32(address(token)), nonce), message);
    }

    function test_dropPacket_onLayerZerosEndpoint_clearsOrSkips() public {
        (EndpointStandIn point, RWAToken receiver) = onStandIn();
        bytes32 sender = toBytes32(address(token));
        bytes memory message = abi.encodePacked(toBytes32(alice), uint64(1));
        bytes32 guid = keccak256(abi.encodePacked(uint64(1), HERE, sender, THERE, toBytes32(address(receiver))));
        point.verify(Origin(HERE, sender, 1), address(receiver), keccak256(bytes.concat(guid, message)));
        // As at LayerZero's endpoint, the second cannot be skipped before the first is verified or gone.
        vm.expectRevert(abi.encodeWithSelector(EndpointStandIn.LZ_InvalidNonce.selector, 3));
        drop(receiver, 3, message);
        drop(receiver, 1, message);
        assertTrue(receiver.isGivenUp(guid));
        vm.expectRevert();
        point.lzReceive(Origin(HERE, sender, 1), address(receiver), guid, message, "");
        drop(receiver, 2, message);
        vm.expectRevert(EndpointStandIn.LZ_PathNotVerifiable.selector);
        point.verify(Origin(HERE, sender, 2), address(receiver), keccak256("any"));
        // A delivered or dropped packet cannot be dropped again.
        vm.expectRevert(abi.encodeWithSelector(EndpointStandIn.LZ_InvalidNonce.selector, 2));
        drop(receiver, 2, message);
    }
}
