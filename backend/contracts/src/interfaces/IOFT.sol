// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {MessagingFee, MessagingReceipt} from "./IMessaging.sol";

struct SendParam {
    uint32 dstEid;
    bytes32 to;
    uint256 amountLD;
    uint256 minAmountLD;
    bytes extraOptions;
    bytes composeMsg;
    bytes oftCmd;
}

struct OFTLimit {
    uint256 minAmountLD;
    uint256 maxAmountLD;
}

struct OFTReceipt {
    uint256 amountSentLD;
    uint256 amountReceivedLD;
}

struct OFTFeeDetail {
    int256 feeAmountLD;
    string description;
}

/// @notice Options that every message of one type to chain `eid` has, before any options of its sender.
struct EnforcedOptionParam {
    uint32 eid;
    uint16 msgType;
    bytes options;
}

/// @notice The omnichain fungible token ABI. "LD" are base units of this chain's token, "SD" the shared units of a
/// packet.
interface IOFT {
    /// @notice Reverts when packets and amounts cannot represent the decimals.
    error InvalidLocalDecimals();
    /// @notice Reverts when, after rounding to shared units, less would arrive than the minimum.
    error SlippageExceeded(uint256 amountLD, uint256 minAmountLD);

    /// @notice Emitted when `amountSentLD` leaves `fromAddress` for chain `dstEid`.
    event OFTSent(
        bytes32 indexed guid,
        uint32 dstEid,
        address indexed fromAddress,
        uint256 amountSentLD,
        uint256 amountReceivedLD
    );

    /// @notice Emitted when `amountReceivedLD` arrives for `toAddress` from chain `srcEid`.
    event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD);

    /// @notice Returns the interface id and the version of its messages.
    function oftVersion() external view returns (bytes4 interfaceId, uint64 version);

    /// @notice Returns the bridged token: this contract itself.
    function token() external view returns (address);

    /// @notice Returns whether sending needs an allowance: no, as the token burns its own supply.
    function approvalRequired() external view returns (bool);

    /// @notice Returns the decimals of an amount in a packet.
    function sharedDecimals() external view returns (uint8);

    /// @notice Returns the limits of one packet, and how much of `amountLD` would leave and arrive.
    function quoteOFT(SendParam calldata sendParam)
        external
        view
        returns (OFTLimit memory, OFTFeeDetail[] memory oftFeeDetails, OFTReceipt memory);

    /// @notice Returns the fee of `send`.
    function quoteSend(SendParam calldata sendParam, bool payInLzToken) external view returns (MessagingFee memory);

    /// @notice Sends tokens to another chain.
    function send(SendParam calldata sendParam, MessagingFee calldata fee, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory, OFTReceipt memory);
}
