// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice Orders at one venue.
struct VenueOrders {
    address venue;
    uint256[] orderIds;
}

/// @notice The functions of a venue that a token calls.
interface IVenue {
    /// @notice Cancels orders of a lost wallet: their tokens return to it, their quote goes to its replacement.
    function recover(address lost, address replacement, uint256[] calldata orderIds) external;
}
