// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice Countries as ISO 3166-1 alpha-3 in bytes3.
library Countries {
    /// @notice Reverts when the country is not three upper case ASCII letters.
    error InvalidCountry(bytes3 country);

    /// @dev A country in another form ("usa") would never match a block list, so it is rejected on input.
    function check(bytes3 country) internal pure {
        for (uint256 i = 0; i < 3; ++i) {
            if (country[i] < "A" || country[i] > "Z") revert InvalidCountry(country);
        }
    }

    /// @dev Returns whether any of `countries` is in `blocked`.
    function anyOf(bytes3[] memory countries, bytes3[] storage blocked) internal view returns (bool) {
        if (countries.length == 0) return false;
        uint256 length = blocked.length;
        for (uint256 i = 0; i < length; ++i) {
            bytes3 country = blocked[i];
            for (uint256 j = 0; j < countries.length; ++j) {
                if (countries[j] == country) return true;
            }
        }
        return false;
    }
}
