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
    /// @notice The organization's wallet, which holds every authority over the token.
    function owner() external view returns (address);

    /// @notice The issuer's own account.
    function treasury() external view returns (address);

    /// @notice Decimals of an amount, 6 to 18.
    function decimals() external view returns (uint8);

    /// @notice Beneficial owners on this chain, without the treasury.
    function holderCount() external view returns (uint256);

    /// @notice What an account owns beneficially: its balance and what venues hold for it.
    function holdingOf(address account) external view returns (uint256);

    /// @notice What the trusted attestations say about an account.
    function standingOf(address account) external view returns (Standing memory);

    /// @notice Every rule that a transfer would break, as ascending codes; `from` 0 asks for a mint.
    function checkTransfer(address from, address to, uint256 amount) external view returns (uint8[] memory);

    /// @notice Every rule that a settlement out of the escrow of `venue` would break, as ascending codes.
    function checkSettlement(address venue, address seller, address buyer, uint256 amount)
        external
        view
        returns (uint8[] memory);

    /// @notice Takes tokens of `account` into the calling venue's escrow, out of its allowance.
    function depositEscrow(address account, uint256 amount) external;

    /// @notice Gives escrow of the calling venue back to the account it belongs to.
    function releaseEscrow(address account, uint256 amount) external;

    /// @notice Moves escrow of `seller` at the calling venue to `buyer`.
    function settleEscrow(address seller, address buyer, uint256 amount) external;
}
