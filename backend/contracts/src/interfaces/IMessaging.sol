// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

// The shapes below are the public ABI that omnichain applications and endpoints speak to each other. They are declared
// here so that the same token works with our LocalEndpoint and with an endpoint already deployed on a public chain.

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

/// @notice Setting 2 of a library: who must verify a message, and how deep it must lie on its source chain. A count of 0
/// leaves the library's default; 255 is none.
struct UlnConfig {
    uint64 confirmations;
    uint8 requiredDVNCount;
    uint8 optionalDVNCount;
    uint8 optionalDVNThreshold;
    address[] requiredDVNs;
    address[] optionalDVNs;
}

/// @notice Setting 1 of a sending library: who delivers, and how long a message may be.
struct ExecutorConfig {
    uint32 maxMessageSize;
    address executor;
}

/// @notice What an application asks of the endpoint of its chain.
interface IMessagingEndpoint {
    /// @notice The endpoint id of the chain this endpoint serves.
    function eid() external view returns (uint32);

    /// @notice The fee of a message, were `sender` to send it now.
    function quote(MessagingParams calldata params, address sender) external view returns (MessagingFee memory);

    /// @notice Sends a message; what exceeds the fee is returned to `refundAddress`.
    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory);

    /// @notice Names who may configure the calling application on the endpoint.
    function setDelegate(address delegate) external;

    /// @notice The hash of a message that was verified and waits, else 0.
    function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce)
        external
        view
        returns (bytes32);

    /// @notice Takes a verified message off its path without delivering it. Only the receiver and its delegate.
    function clear(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message) external;

    /// @notice Passes over a message that is not verified, which can never be verified then. Only the receiver and its
    /// delegate.
    function skip(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) external;
}

/// @notice How an application, or its delegate, chooses libraries and verifiers for each path.
interface IMessagingConfig {
    /// @notice Chooses the library that sends to chain `eid`.
    function setSendLibrary(address oapp, uint32 eid, address library_) external;

    /// @notice The library that sends to chain `eid`: the chosen one, or the default.
    function getSendLibrary(address oapp, uint32 eid) external view returns (address);

    /// @notice Whether nobody chose a library that sends to chain `eid`.
    function isDefaultSendLibrary(address oapp, uint32 eid) external view returns (bool);

    /// @notice Chooses the library that receives from chain `eid`; for `gracePeriod` blocks the former one may as well.
    function setReceiveLibrary(address oapp, uint32 eid, address library_, uint256 gracePeriod) external;

    /// @notice The library that receives from chain `eid`, and whether it is the default.
    function getReceiveLibrary(address oapp, uint32 eid) external view returns (address, bool isDefault);

    /// @notice Writes settings of a library.
    function setConfig(address oapp, address library_, SetConfigParam[] calldata params) external;

    /// @notice A setting as it holds, with the library's defaults where nothing was written.
    function getConfig(address oapp, address library_, uint32 eid, uint32 configType)
        external
        view
        returns (bytes memory);
}

/// @notice What an endpoint asks of an application.
interface IMessagingReceiver {
    /// @notice Whether a first message from this origin may be verified.
    function allowInitializePath(Origin calldata origin) external view returns (bool);

    /// @notice The next nonce the application wants, or 0 when it takes messages in any order.
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
