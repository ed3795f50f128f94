// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice The compliance rules of a token.
struct Rules {
    /// 0 none, 1 reg_d, 2 reg_s, 3 reg_a_plus, 4 reg_cf. A statement of fact: what it implies is spelled out in the
    /// other fields by whoever sets the rules.
    uint8 regulation;
    /// A receiver needs an attestation of at least this level.
    uint8 minKycLevel;
    /// A receiver needs one attestation that is of `minKycLevel` and accredited at the same time.
    bool requiresAccreditation;
    /// A receiver needs an attestation by an attester of the token's own organization.
    bool orgOnly;
    /// ISO 3166-1 alpha-3, upper case; one valid attestation that names one of them blocks.
    bytes3[] blockedCountries;
    /// Unix time before which only the treasury may send; 0 is no lockup.
    uint64 lockupEnd;
    /// Beneficial owners on this chain; 0 is no limit.
    uint32 maxHolders;
    /// Base units that one beneficial owner may hold on this chain; 0 is no limit.
    uint256 maxPerHolder;
    /// Attesters trusted beside those of the organization and its ancestors.
    address[] trustedIssuers;
}

/// @notice What the valid attestations that a token trusts say together about an account.
struct Standing {
    /// There is at least one.
    bool found;
    /// The highest level of any.
    uint8 level;
    /// One of them says accredited.
    bool accredited;
    /// The highest level among those that say accredited.
    uint8 accreditedLevel;
    /// The country of each.
    bytes3[] countries;
}

/// @notice What a market needs of a token.
interface IRWAToken {
    function owner() external view returns (address);

    function treasury() external view returns (address);

    function decimals() external view returns (uint8);

    function holderCount() external view returns (uint256);

    function holdingOf(address account) external view returns (uint256);

    function standingOf(address account) external view returns (Standing memory);

    function checkTransfer(address from, address to, uint256 amount) external view returns (uint8[] memory);

    function checkSettlement(address venue, address seller, address buyer, uint256 amount)
        external
        view
        returns (uint8[] memory);

    function depositEscrow(address account, uint256 amount) external;

    function releaseEscrow(address account, uint256 amount) external;

    function settleEscrow(address seller, address buyer, uint256 amount) external;
}
