// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

import {
    IMessagingEndpoint,
    IMessagingReceiver,
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin
} from "./interfaces/IMessaging.sol";

/// @title LocalEndpoint
/// @notice The messaging endpoint of a local chain: the ABI, events and packet layout that applications and relayers know
/// from public chains, with one trusted relayer (the owner) in the place of a network of verifiers.
/// @dev A packet is `version u8 = 1 | nonce u64 | srcEid u32 | sender b32 | dstEid u32 | receiver b32 | guid b32 | message`.
/// The relayer verifies the hash of `guid | message`; anyone can then deliver. A delivery that the receiver refuses
/// changes nothing, so the message stays verified and can be tried again.
contract LocalEndpoint is IMessagingEndpoint, Ownable {
    /// @notice The first byte of every packet.
    uint8 public constant PACKET_VERSION = 1;

    /// @inheritdoc IMessagingEndpoint
    uint32 public immutable eid;

    /// @notice The flat price of a message, in wei.
    uint256 public messageFee;

    /// @notice Who may configure an application, by its own word; nothing here depends on it.
    mapping(address oapp => address delegate) public delegates;
    /// @notice The nonce of the last message from `sender` to `receiver` on `dstEid`; they count from 1.
    mapping(address sender => mapping(uint32 dstEid => mapping(bytes32 receiver => uint64))) public outboundNonce;

    /// @notice The hash of a message that was verified and not delivered yet, else 0.
    mapping(
        address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bytes32)))
    ) public inboundPayloadHash;

    /// @notice Whether a message was delivered.
    mapping(address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bool))))
        public delivered;

    /// @notice A message left; `encodedPayload` is the packet a relayer takes to the other chain.
    event PacketSent(bytes encodedPayload, bytes options, address sendLibrary);
    /// @notice The relayer vouched for a message, which anyone can deliver now.
    event PacketVerified(Origin origin, address receiver, bytes32 payloadHash);
    /// @notice The receiver took a message.
    event PacketDelivered(Origin origin, address receiver);
    /// @notice `sender` named who may configure it.
    event DelegateSet(address sender, address delegate);
    /// @notice A message costs `messageFee` wei from now on.
    event MessageFeeSet(uint256 messageFee);

    /// @notice Fees are paid in the native currency only.
    error LzTokenUnsupported();
    /// @notice The value sent does not cover the fee.
    error InsufficientFee(uint256 required, uint256 supplied);
    /// @notice The receiver does not take messages of this sender: it has not set it as its peer.
    error PathNotInitializable(Origin origin, address receiver);
    /// @notice The message was delivered before, or its hash is 0.
    error PathNotVerifiable(Origin origin, address receiver);
    /// @notice No such message waits to be delivered: not verified, delivered before, or of other content.
    error PayloadHashNotFound(bytes32 expected, bytes32 actual);

    /// @param eid_ The endpoint id of this chain.
    /// @param relayer The owner: who verifies messages.
    constructor(uint32 eid_, address relayer) Ownable(relayer) {
        eid = eid_;
    }

    /// @notice Sets the price of a message. Only the owner.
    function setMessageFee(uint256 newFee) external onlyOwner {
        messageFee = newFee;
        emit MessageFeeSet(newFee);
    }

    /// @notice Pays out the fees taken so far. Only the owner.
    function withdrawFees(address payable to) external onlyOwner {
        Address.sendValue(to, address(this).balance);
    }

    /// @inheritdoc IMessagingEndpoint
    function setDelegate(address delegate) external {
        delegates[msg.sender] = delegate;
        emit DelegateSet(msg.sender, delegate);
    }

    /// @inheritdoc IMessagingEndpoint
    function quote(MessagingParams calldata params, address) external view returns (MessagingFee memory) {
        if (params.payInLzToken) revert LzTokenUnsupported();
        return MessagingFee(messageFee, 0);
    }

    /// @inheritdoc IMessagingEndpoint
    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory receipt)
    {
        if (params.payInLzToken) revert LzTokenUnsupported();
        uint256 fee = messageFee;
        if (msg.value < fee) revert InsufficientFee(fee, msg.value);
        uint64 nonce = ++outboundNonce[msg.sender][params.dstEid][params.receiver];
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes32 guid = keccak256(abi.encodePacked(nonce, eid, sender, params.dstEid, params.receiver));
        emit PacketSent(
            abi.encodePacked(
                PACKET_VERSION, nonce, eid, sender, params.dstEid, params.receiver, guid, params.message
            ),
            params.options,
            address(this)
        );
        receipt = MessagingReceipt(guid, nonce, MessagingFee(fee, 0));
        if (msg.value > fee) Address.sendValue(payable(refundAddress), msg.value - fee);
    }

    /// @notice Records the hash of a message that was sent on another chain. Only the owner.
    /// @param payloadHash keccak256(guid | message)
    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external onlyOwner {
        if (delivered[receiver][origin.srcEid][origin.sender][origin.nonce] || payloadHash == 0) {
            revert PathNotVerifiable(origin, receiver);
        }
        if (!IMessagingReceiver(receiver).allowInitializePath(origin)) revert PathNotInitializable(origin, receiver);
        inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] = payloadHash;
        emit PacketVerified(origin, receiver, payloadHash);
    }

    /// @notice Delivers a verified message. Anyone. What the receiver reverts with is passed on unchanged.
    function lzReceive(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        bytes calldata message,
        bytes calldata extraData
    ) external payable {
        bytes32 expected = inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce];
        bytes32 actual = keccak256(abi.encodePacked(guid, message));
        if (expected != actual) revert PayloadHashNotFound(expected, actual);
        delete inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce];
        delivered[receiver][origin.srcEid][origin.sender][origin.nonce] = true;
        IMessagingReceiver(receiver).lzReceive{value: msg.value}(origin, guid, message, msg.sender, extraData);
        emit PacketDelivered(origin, receiver);
    }
}
