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
