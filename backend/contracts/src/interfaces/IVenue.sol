// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice Orders at one venue.
struct VenueOrders {
    address venue;
    uint256[] orderIds;
}

/// @notice What a token asks of a venue.
interface IVenue {
    /// @notice Ends orders of a lost wallet: their tokens come back to it, their quote goes to its replacement.
    function recover(address lost, address replacement, uint256[] calldata orderIds) external;
}
