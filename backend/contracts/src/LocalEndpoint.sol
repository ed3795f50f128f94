// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

import {MessagingConfig} from "./MessagingConfig.sol";
import {
    ExecutorConfig,
    IMessagingConfig,
    IMessagingEndpoint,
    IMessagingReceiver,
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin,
    SetConfigParam,
    UlnConfig
} from "./interfaces/IMessaging.sol";

/// @title LocalEndpoint
/// @notice The messaging endpoint of a local chain: the ABI, events and packet layout of the endpoints on public
/// chains, with one trusted relayer (the owner) instead of a network of verifiers.
/// @dev A packet is `version u8 = 1 | nonce u64 | srcEid u32 | sender b32 | dstEid u32 | receiver b32 | guid b32 |
/// message`. The relayer verifies the hash of `guid | message`; anyone can then deliver. A delivery that the receiver
/// rejects changes nothing: the message stays verified and can be delivered again.
contract LocalEndpoint is IMessagingEndpoint, IMessagingConfig, Ownable {
    /// @notice The first byte of every packet.
    uint8 public constant PACKET_VERSION = 1;

    /// @inheritdoc IMessagingEndpoint
    uint32 public immutable eid;

    /// @notice The flat price of a message, in wei.
    uint256 public messageFee;

    /// @notice The account that may configure an application and take messages off its paths on its behalf.
    mapping(address oapp => address delegate) public delegates;
    /// @notice The nonce of the last message from `sender` to `receiver` on `dstEid`; nonces start at 1.
    mapping(address sender => mapping(uint32 dstEid => mapping(bytes32 receiver => uint64))) public outboundNonce;

    /// @notice The hash of a message that is verified and not yet delivered, else 0.
    mapping(
        address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bytes32)))
    ) public inboundPayloadHash;

    /// @notice Whether a message is off its path: delivered, cleared or skipped.
    mapping(address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bool))))
        public delivered;

    mapping(address oapp => mapping(uint32 eid => address)) private _sendLibraries;
    mapping(address oapp => mapping(uint32 eid => address)) private _receiveLibraries;
    mapping(
        address oapp => mapping(address library_ => mapping(uint32 eid => mapping(uint32 configType => bytes)))
    ) private _configs;

    /// @notice Emitted when a message is sent; the relayer carries the packet `encodedPayload` to the other chain.
    event PacketSent(bytes encodedPayload, bytes options, address sendLibrary);
    /// @notice Emitted when the relayer verifies a message, which anyone can then deliver.
    event PacketVerified(Origin origin, address receiver, bytes32 payloadHash);
    /// @notice Emitted when a message is delivered or cleared.
    event PacketDelivered(Origin origin, address receiver);
    /// @notice Emitted when an unverified message is skipped.
    event InboundNonceSkipped(uint32 srcEid, bytes32 sender, address receiver, uint64 nonce);
    /// @notice Emitted when an application sets its send library for a chain.
    event SendLibrarySet(address sender, uint32 eid, address newLib);
    /// @notice Emitted when an application sets its receive library for a chain.
    event ReceiveLibrarySet(address receiver, uint32 eid, address newLib);
    /// @notice Emitted when `sender` sets its delegate.
    event DelegateSet(address sender, address delegate);
    /// @notice Emitted when the price of a message changes to `messageFee` wei.
    event MessageFeeSet(uint256 messageFee);

    /// @notice Reverts when the fee is to be paid in a token: only the native currency is accepted.
    error LzTokenUnsupported();
    /// @notice Reverts when the caller is neither the application nor its delegate.
    error Unauthorized(address caller, address oapp);
    /// @notice Reverts when the message cannot be skipped because it is verified or already off its path.
    error InvalidNonce(uint64 nonce);
    /// @notice Reverts when the value sent does not cover the fee.
    error InsufficientFee(uint256 required, uint256 supplied);
    /// @notice Reverts when the receiver does not accept the sender, which is not its peer.
    error PathNotInitializable(Origin origin, address receiver);
    /// @notice Reverts when the message was already delivered, or its hash is 0.
    error PathNotVerifiable(Origin origin, address receiver);
    /// @notice Reverts when no such message awaits delivery: unverified, already delivered, or different content.
    error PayloadHashNotFound(bytes32 expected, bytes32 actual);

    modifier onlyFor(address oapp) {
        if (msg.sender != oapp && msg.sender != delegates[oapp]) revert Unauthorized(msg.sender, oapp);
        _;
    }

    /// @param eid_ The endpoint id of this chain.
    /// @param relayer The owner, which verifies messages.
    constructor(uint32 eid_, address relayer) Ownable(relayer) {
        eid = eid_;
    }

    /// @notice Sets the price of a message. Only the owner.
    function setMessageFee(uint256 newFee) external onlyOwner {
        messageFee = newFee;
        emit MessageFeeSet(newFee);
    }

    /// @notice Pays out the collected fees. Only the owner.
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

    /// @notice Verifies the hash of a message from another chain. Only the owner.
    /// @param payloadHash keccak256(guid | message)
    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external onlyOwner {
        if (delivered[receiver][origin.srcEid][origin.sender][origin.nonce] || payloadHash == 0) {
            revert PathNotVerifiable(origin, receiver);
        }
        if (!IMessagingReceiver(receiver).allowInitializePath(origin)) revert PathNotInitializable(origin, receiver);
        inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] = payloadHash;
        emit PacketVerified(origin, receiver, payloadHash);
    }

    /// @notice Delivers a verified message. Anyone. Errors of the receiver are passed on unchanged.
    function lzReceive(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        bytes calldata message,
        bytes calldata extraData
    ) external payable {
        _take(receiver, origin, guid, message);
        IMessagingReceiver(receiver).lzReceive{value: msg.value}(origin, guid, message, msg.sender, extraData);
        emit PacketDelivered(origin, receiver);
    }
    /// @inheritdoc IMessagingEndpoint
    function clear(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message)
        external
        onlyFor(receiver)
    {
        _take(receiver, origin, guid, message);
        emit PacketDelivered(origin, receiver);
    }

    /// @inheritdoc IMessagingEndpoint
    function skip(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) external onlyFor(receiver) {
        if (delivered[receiver][srcEid][sender][nonce] || inboundPayloadHash[receiver][srcEid][sender][nonce] != 0) {
            revert InvalidNonce(nonce);
        }
        delivered[receiver][srcEid][sender][nonce] = true;
        emit InboundNonceSkipped(srcEid, sender, receiver, nonce);
    }

    /// @inheritdoc IMessagingConfig
    function setSendLibrary(address oapp, uint32 chain, address library_) external onlyFor(oapp) {
        _sendLibraries[oapp][chain] = library_;
        emit SendLibrarySet(oapp, chain, library_);
    }

    /// @inheritdoc IMessagingConfig
    function setReceiveLibrary(address oapp, uint32 chain, address library_, uint256) external onlyFor(oapp) {
        _receiveLibraries[oapp][chain] = library_;
        emit ReceiveLibrarySet(oapp, chain, library_);
    }

    /// @inheritdoc IMessagingConfig
    function setConfig(address oapp, address library_, SetConfigParam[] calldata params) external onlyFor(oapp) {
        for (uint256 i = 0; i < params.length; ++i) {
            _configs[oapp][library_][params[i].eid][params[i].configType] = params[i].config;
        }
    }

    /// @inheritdoc IMessagingConfig
    function getSendLibrary(address oapp, uint32 chain) external view returns (address) {
        address chosen = _sendLibraries[oapp][chain];
        return chosen == address(0) ? address(this) : chosen;
    }

    /// @inheritdoc IMessagingConfig
    function isDefaultSendLibrary(address oapp, uint32 chain) external view returns (bool) {
        return _sendLibraries[oapp][chain] == address(0);
    }

    /// @inheritdoc IMessagingConfig
    /// @dev The default is the relayer, which verifies. The library of each direction stores the settings of that
    /// direction.
    function getReceiveLibrary(address oapp, uint32 chain) external view returns (address, bool isDefault) {
        address chosen = _receiveLibraries[oapp][chain];
        isDefault = chosen == address(0);
        return (isDefault ? owner() : chosen, isDefault);
    }

    /// @inheritdoc IMessagingConfig
    /// @dev By default the relayer verifies and delivers.
    function getConfig(address oapp, address library_, uint32 chain, uint32 configType)
        external
        view
        returns (bytes memory)
    {
        address[] memory verifiers = new address[](1);
        verifiers[0] = owner();
        bytes memory defaults = configType == MessagingConfig.EXECUTOR
            ? abi.encode(ExecutorConfig(10_000, owner()))
            : abi.encode(UlnConfig(1, 1, 0, 0, verifiers, new address[](0)));
        return MessagingConfig.resolved(configType, _configs[oapp][library_][chain][configType], defaults);
    }

    /// @dev Checks a verified message and takes it off its path.
    function _take(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message) private {
        bytes32 expected = inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce];
        bytes32 actual = keccak256(abi.encodePacked(guid, message));
        if (expected != actual) revert PayloadHashNotFound(expected, actual);
        delete inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce];
        delivered[receiver][origin.srcEid][origin.sender][origin.nonce] = true;
    }
}
