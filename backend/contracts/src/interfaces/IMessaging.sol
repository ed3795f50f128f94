// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

// These types are the public ABI between omnichain applications and endpoints. They are declared here so that the same
// token works with our LocalEndpoint and with an endpoint already deployed on a public chain.

struct MessagingParams {
    uint32 dstEid;
    bytes32 receiver;
    bytes message;
    bytes options;
    bool payInLzToken;
}

struct MessagingFee {
    uint256 nativeFee;
    uint256 lzTokenFee;
}

struct MessagingReceipt {
    bytes32 guid;
    uint64 nonce;
    MessagingFee fee;
}

struct Origin {
    uint32 srcEid;
    bytes32 sender;
    uint64 nonce;
}

/// @notice One setting of a message library for the path to or from chain `eid`.
struct SetConfigParam {
    uint32 eid;
    uint32 configType;
    bytes config;
}

/// @notice Setting 2 of a library: the DVNs that must verify a message, and the confirmations it needs on its source
/// chain. A count of 0 keeps the library's default; 255 means none.
struct UlnConfig {
    uint64 confirmations;
    uint8 requiredDVNCount;
    uint8 optionalDVNCount;
    uint8 optionalDVNThreshold;
    address[] requiredDVNs;
    address[] optionalDVNs;
}

/// @notice Setting 1 of a send library: the executor that delivers, and the maximum size of a message.
struct ExecutorConfig {
    uint32 maxMessageSize;
    address executor;
}

/// @notice The functions of the endpoint that an application calls.
interface IMessagingEndpoint {
    /// @notice Returns the endpoint id of the chain.
    function eid() external view returns (uint32);

    /// @notice Returns the current fee of a message from `sender`.
    function quote(MessagingParams calldata params, address sender) external view returns (MessagingFee memory);

    /// @notice Sends a message and returns any excess over the fee to `refundAddress`.
    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory);

    /// @notice Sets the delegate that may configure the calling application on the endpoint.
    function setDelegate(address delegate) external;

    /// @notice Returns the hash of a message that is verified and awaits delivery, else 0.
    function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce)
        external
        view
        returns (bytes32);

    /// @notice Takes a verified message off its path without delivering it. Only the receiver and its delegate.
    function clear(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message) external;

    /// @notice Skips an unverified message, which then can never be verified. Only the receiver and its delegate.
    function skip(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) external;
}

/// @notice Lets an application, or its delegate, choose libraries and verifiers for each path.
interface IMessagingConfig {
    /// @notice Sets the library that sends to chain `eid`.
    function setSendLibrary(address oapp, uint32 eid, address library_) external;

    /// @notice Returns the library that sends to chain `eid`: the chosen one, or the default.
    function getSendLibrary(address oapp, uint32 eid) external view returns (address);

    /// @notice Returns whether the default library sends to chain `eid`.
    function isDefaultSendLibrary(address oapp, uint32 eid) external view returns (bool);

    /// @notice Sets the library that receives from chain `eid`; the former one stays valid for `gracePeriod` blocks.
    function setReceiveLibrary(address oapp, uint32 eid, address library_, uint256 gracePeriod) external;

    /// @notice Returns the library that receives from chain `eid`, and whether it is the default.
    function getReceiveLibrary(address oapp, uint32 eid) external view returns (address, bool isDefault);

    /// @notice Sets settings of a library.
    function setConfig(address oapp, address library_, SetConfigParam[] calldata params) external;

    /// @notice Returns an effective setting, with the library's defaults for missing values.
    function getConfig(address oapp, address library_, uint32 eid, uint32 configType)
        external
        view
        returns (bytes memory);
}

/// @notice The functions of an application that the endpoint calls.
interface IMessagingReceiver {
    /// @notice Returns whether a first message from this origin may be verified.
    function allowInitializePath(Origin calldata origin) external view returns (bool);

    /// @notice Returns the next nonce the application expects, or 0 if it accepts messages in any order.
    function nextNonce(uint32 srcEid, bytes32 sender) external view returns (uint64);

    /// @notice Delivers a verified message.
    function lzReceive(
        Origin calldata origin,
        bytes32 guid,
        bytes calldata message,
        address executor,
        bytes calldata extraData
    ) external payable;
}
