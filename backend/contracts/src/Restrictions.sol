// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice Why a transfer or an order is rejected: one table for contracts, services and people.
/// @dev `restrictions.json` beside the sources is the same table with a resolution for each code; a test compares the
/// two. The order is the priority: if several rules fail, the revert names the lowest code.
library Restrictions {
    uint8 internal constant NONE = 0;
    uint8 internal constant PAUSED = 1;
    uint8 internal constant RULES_NOT_SET = 2;
    uint8 internal constant INVALID_RECEIVER = 3;
    uint8 internal constant INSUFFICIENT_BALANCE = 4;
    uint8 internal constant FROZEN = 5;
    uint8 internal constant LOCKUP = 6;
    uint8 internal constant SENDER_NOT_ATTESTED = 7;
    uint8 internal constant SENDER_COUNTRY_BLOCKED = 8;
    uint8 internal constant RECEIVER_NOT_ATTESTED = 9;
    uint8 internal constant ORG_ONLY = 10;
    uint8 internal constant RECEIVER_KYC_LEVEL = 11;
    uint8 internal constant RECEIVER_ACCREDITATION = 12;
    uint8 internal constant RECEIVER_COUNTRY_BLOCKED = 13;
    uint8 internal constant MAX_HOLDERS = 14;
    uint8 internal constant MAX_PER_HOLDER = 15;
    uint8 internal constant MARKET_HALTED = 32;
    uint8 internal constant MARKET_NOT_ATTESTED = 33;
    uint8 internal constant MARKET_KYC_LEVEL = 34;
    uint8 internal constant MARKET_ACCREDITATION = 35;
    uint8 internal constant MARKET_COUNTRY_BLOCKED = 36;
    uint8 internal constant MARKET_LOCKUP = 37;
    uint8 internal constant MARKET_MAX_HOLDERS = 38;
    uint8 internal constant MARKET_MAX_PER_HOLDER = 39;

    /// @dev Returns the message of a code, empty if unknown.
    function message(uint8 code) internal pure returns (string memory) {
        if (code == NONE) return "No restriction";
        if (code == PAUSED) return "The token is paused";
        if (code == RULES_NOT_SET) return "The token has no compliance rules yet";
        if (code == INVALID_RECEIVER) return "The receiver cannot hold the token";
        if (code == INSUFFICIENT_BALANCE) return "The balance is smaller than the amount";
        if (code == FROZEN) return "The amount includes frozen tokens";
        if (code == LOCKUP) return "The lockup has not ended";
        if (code == SENDER_NOT_ATTESTED) return "The sender has no valid attestation";
        if (code == SENDER_COUNTRY_BLOCKED) return "The sender's country is blocked";
        if (code == RECEIVER_NOT_ATTESTED) return "The receiver has no valid attestation";
        if (code == ORG_ONLY) return "The receiver is not attested by the asset's own organization";
        if (code == RECEIVER_KYC_LEVEL) return "The receiver's KYC level is too low";
        if (code == RECEIVER_ACCREDITATION) return "The receiver is not accredited at the required KYC level";
        if (code == RECEIVER_COUNTRY_BLOCKED) return "The receiver's country is blocked";
        if (code == MAX_HOLDERS) return "The maximum number of holders is reached";
        if (code == MAX_PER_HOLDER) return "The receiver would hold more than the maximum";
        if (code == MARKET_HALTED) return "The market is halted";
        if (code == MARKET_NOT_ATTESTED) return "The trader has no valid attestation";
        if (code == MARKET_KYC_LEVEL) return "The trader's KYC level is too low for the market";
        if (code == MARKET_ACCREDITATION) return "The trader is not accredited at the KYC level of the market";
        if (code == MARKET_COUNTRY_BLOCKED) return "The trader's country is blocked in the market";
        if (code == MARKET_LOCKUP) return "The lockup of the market has not ended";
        if (code == MARKET_MAX_HOLDERS) return "The market's maximum number of holders is reached";
        if (code == MARKET_MAX_PER_HOLDER) return "The buyer would hold more than the market allows";
        return "";
    }

    /// @dev Returns the codes of the set bits, ascending.
    function toCodes(uint256 failed) internal pure returns (uint8[] memory codes) {
        uint256 n = 0;
        for (uint256 rest = failed; rest != 0; rest &= rest - 1) ++n;
        codes = new uint8[](n);
        n = 0;
        for (uint256 code = 1; n < codes.length; ++code) {
            if (failed & (1 << code) != 0) codes[n++] = uint8(code);
        }
    }

    /// @dev Returns the lowest code whose bit is set, or NONE.
    function first(uint256 failed) internal pure returns (uint8 code) {
        if (failed == 0) return NONE;
        while (failed & (1 << code) == 0) ++code;
    }
}
