// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {MessagingConfig} from "../src/MessagingConfig.sol";
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
} from "../src/interfaces/IMessaging.sol";

/// @title EndpointStandIn
/// @notice Replaces LayerZero's EndpointV2 of public chains in tests: the price of a message depends on the gas its
/// options buy, an independent verifier verifies messages, and they are taken off a path as in EndpointV2.
/// @dev Follows the public interface; we may not distribute the genuine endpoint.
contract EndpointStandIn is IMessagingEndpoint, IMessagingConfig {
    /// @inheritdoc IMessagingEndpoint
    uint32 public immutable eid;
    /// @notice The account that verifies messages.
    address public immutable verifier;

    /// @notice The nonce up to which the messages of a path are taken or verified.
    mapping(address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => uint64))) public lazyInboundNonce;
    /// @notice The hash of a message that awaits delivery, else 0.
    mapping(
        address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bytes32)))
    ) public inboundPayloadHash;
    /// @notice The nonce of the last message of a path.
    mapping(address sender => mapping(uint32 dstEid => mapping(bytes32 receiver => uint64))) public outboundNonce;

    /// @notice The account that may act for an application.
    mapping(address oapp => address) public delegates;

    mapping(address oapp => mapping(uint32 eid => address)) private _sendLibraries;
    mapping(address oapp => mapping(uint32 eid => address)) private _receiveLibraries;
    mapping(
        address oapp => mapping(address library_ => mapping(uint32 eid => mapping(uint32 configType => bytes)))
    ) private _configs;

    /// @notice Emitted as by EndpointV2.
    event InboundNonceSkipped(uint32 srcEid, bytes32 sender, address receiver, uint64 nonce);
    /// @notice Emitted as by EndpointV2.
    event PacketSent(bytes encodedPayload, bytes options, address sendLibrary);
    /// @notice Emitted as by EndpointV2.
    event PacketVerified(Origin origin, address receiver, bytes32 payloadHash);
    /// @notice Emitted as by EndpointV2.
    event PacketDelivered(Origin origin, address receiver);

    /// @notice Reverts as EndpointV2 does.
    error LZ_InsufficientFee(
        uint256 requiredNative, uint256 suppliedNative, uint256 requiredLzToken, uint256 suppliedLzToken
    );
    /// @notice Reverts as EndpointV2 does.
    error LZ_Unauthorized();
    /// @notice Reverts as EndpointV2 does.
    error LZ_SameValue();
    /// @notice Reverts as the libraries do.
    error LZ_ULN_Unsorted();
    /// @notice Reverts as EndpointV2 does.
    error LZ_InvalidNonce(uint64 nonce);
    /// @notice Reverts as EndpointV2 does.
    error LZ_PathNotInitializable();
    /// @notice Reverts as EndpointV2 does.
    error LZ_PathNotVerifiable();
    /// @notice Reverts as EndpointV2 does.
    error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual);
    /// @notice Reverts as SendUln302 does: an executor accepts no message without options.
    error LZ_ULN_InvalidWorkerOptions(uint256 cursor);

    modifier onlyFor(address oapp) {
        if (msg.sender != oapp && msg.sender != delegates[oapp]) revert LZ_Unauthorized();
        _;
    }

    /// @param eid_ The endpoint id of this chain.
    constructor(uint32 eid_) {
        eid = eid_;
        verifier = msg.sender;
    }

    /// @inheritdoc IMessagingEndpoint
    function setDelegate(address delegate) external {
        delegates[msg.sender] = delegate;
    }

    /// @inheritdoc IMessagingEndpoint
    function quote(MessagingParams calldata params, address) external pure returns (MessagingFee memory) {
        return MessagingFee(_fee(params.options), 0);
    }

    /// @inheritdoc IMessagingEndpoint
    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory receipt)
    {
        uint256 fee = _fee(params.options);
        if (msg.value < fee) revert LZ_InsufficientFee(fee, msg.value, 0, 0);
        uint64 nonce = ++outboundNonce[msg.sender][params.dstEid][params.receiver];
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes32 guid = keccak256(abi.encodePacked(nonce, eid, sender, params.dstEid, params.receiver));
        emit PacketSent(
            abi.encodePacked(uint8(1), nonce, eid, sender, params.dstEid, params.receiver, guid, params.message),
            params.options,
            address(this)
        );
        (bool ok,) = refundAddress.call{value: msg.value - fee}("");
        require(ok);
        return MessagingReceipt(guid, nonce, MessagingFee(fee, 0));
    }

    /// @notice Verifies a message. Only the verifier.
    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external {
        require(msg.sender == verifier);
        uint64 lazy = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (lazy == 0 && !IMessagingReceiver(receiver).allowInitializePath(origin)) revert LZ_PathNotInitializable();
        if (origin.nonce <= lazy && inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] == 0) {
            revert LZ_PathNotVerifiable();
        }
        inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] = payloadHash;
        emit PacketVerified(origin, receiver, payloadHash);
    }

    /// @notice Delivers a verified message. Anyone.
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
        if (nonce != inboundNonce(receiver, srcEid, sender) + 1) revert LZ_InvalidNonce(nonce);
        lazyInboundNonce[receiver][srcEid][sender] = nonce;
        emit InboundNonceSkipped(srcEid, sender, receiver, nonce);
    }

    /// @notice Returns the nonce up to which every message of a path is taken or verified.
    function inboundNonce(address receiver, uint32 srcEid, bytes32 sender) public view returns (uint64 nonce) {
        nonce = lazyInboundNonce[receiver][srcEid][sender];
        while (inboundPayloadHash[receiver][srcEid][sender][nonce + 1] != 0) ++nonce;
    }

    /// @inheritdoc IMessagingConfig
    function setSendLibrary(address oapp, uint32 chain, address library_) external onlyFor(oapp) {
        if (_sendLibraries[oapp][chain] == library_) revert LZ_SameValue();
        _sendLibraries[oapp][chain] = library_;
    }

    /// @inheritdoc IMessagingConfig
    function setReceiveLibrary(address oapp, uint32 chain, address library_, uint256) external onlyFor(oapp) {
        if (_receiveLibraries[oapp][chain] == library_) revert LZ_SameValue();
        _receiveLibraries[oapp][chain] = library_;
    }

    /// @inheritdoc IMessagingConfig
    function setConfig(address oapp, address library_, SetConfigParam[] calldata params) external onlyFor(oapp) {
        for (uint256 i = 0; i < params.length; ++i) {
            if (params[i].configType == MessagingConfig.ULN) {
                UlnConfig memory config = abi.decode(params[i].config, (UlnConfig));
                _checkSorted(config.requiredDVNs);
                _checkSorted(config.optionalDVNs);
            }
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
    function getReceiveLibrary(address oapp, uint32 chain) external view returns (address, bool isDefault) {
        address chosen = _receiveLibraries[oapp][chain];
        isDefault = chosen == address(0);
        return (isDefault ? verifier : chosen, isDefault);
    }

    /// @inheritdoc IMessagingConfig
    /// @dev By default one verifier verifies messages after 15 confirmations, as in LayerZero's defaults.
    function getConfig(address oapp, address library_, uint32 chain, uint32 configType)
        external
        view
        returns (bytes memory)
    {
        address[] memory verifiers = new address[](1);
        verifiers[0] = verifier;
        bytes memory defaults = configType == MessagingConfig.EXECUTOR
            ? abi.encode(ExecutorConfig(10_000, verifier))
            : abi.encode(UlnConfig(15, 1, 0, 0, verifiers, new address[](0)));
        return MessagingConfig.resolved(configType, _configs[oapp][library_][chain][configType], defaults);
    }

    function _take(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message) private {
        mapping(uint64 => bytes32) storage waiting = inboundPayloadHash[receiver][origin.srcEid][origin.sender];
        uint64 lazy = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (origin.nonce > lazy) {
            for (uint64 i = lazy + 1; i <= origin.nonce; ++i) {
                if (waiting[i] == 0) revert LZ_InvalidNonce(i);
            }
            lazyInboundNonce[receiver][origin.srcEid][origin.sender] = origin.nonce;
        }
        bytes32 actual = keccak256(abi.encodePacked(guid, message));
        if (waiting[origin.nonce] != actual) revert LZ_PayloadHashNotFound(waiting[origin.nonce], actual);
        delete waiting[origin.nonce];
    }

    function _checkSorted(address[] memory list) private pure {
        for (uint256 i = 1; i < list.length; ++i) {
            if (list[i] <= list[i - 1]) revert LZ_ULN_Unsorted();
        }
    }

    /// @dev Charges one gwei per unit of gas that options of type 3 buy for `lzReceive`.
    function _fee(bytes calldata options) private pure returns (uint256) {
        if (options.length != 22 || bytes6(options[:6]) != 0x000301001101) revert LZ_ULN_InvalidWorkerOptions(0);
        return uint256(uint128(bytes16(options[6:22]))) * 1 gwei;
    }
}
