// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

import {IMarketFactory, Market, MarketRules} from "./Market.sol";
import {IERC7943Fungible} from "./interfaces/IERC7943.sol";
import {IRWAToken} from "./interfaces/IRWAToken.sol";

/// @title MarketFactory
/// @notice Creates markets for the owners of tokens, and stores the protocol's terms.
contract MarketFactory is IMarketFactory, IERC165, Ownable {
    /// @notice The quote currency of a market that names none.
    address public defaultQuote;

    /// @notice The wallet that receives the protocol's share of the fees.
    address public protocolWallet;

    /// @notice The protocol's share of each fee, in basis points.
    uint16 public protocolFeeBps = 1_000;

    /// @notice Whether this factory created the market.
    mapping(address market => bool) public isMarket;

    /// @notice The number of markets this factory has created.
    uint256 public marketCount;

    /// @notice Emitted when a market is created for the owner of the token.
    event MarketCreated(
        address indexed market,
        address indexed token,
        address indexed quote,
        address owner,
        address feeCollector,
        uint16 takerFeeBps,
        uint16 makerFeeBps
    );
    /// @notice Emitted when the default quote currency changes.
    event DefaultQuoteSet(address defaultQuote);
    /// @notice Emitted when the protocol's wallet or its share of each fee changes.
    event ProtocolSet(address protocolWallet, uint16 protocolFeeBps);

    /// @notice Reverts when the account is not the owner of the token.
    error NotTokenOwner(address account, address token);
    /// @notice Reverts when the address is not a permissioned token (ERC-7943).
    error NotRWAToken(address token);
    /// @notice Reverts when the wallet is 0 or the share exceeds 100%.
    error InvalidProtocol();

    /// @param owner_ The operator.
    /// @param protocolWallet_ Receives the protocol's share of the fees.
    /// @param defaultQuote_ The quote currency of a market that names none; may be 0.
    constructor(address owner_, address protocolWallet_, address defaultQuote_) Ownable(owner_) {
        if (protocolWallet_ == address(0)) revert InvalidProtocol();
        protocolWallet = protocolWallet_;
        defaultQuote = defaultQuote_;
        emit ProtocolSet(protocolWallet_, protocolFeeBps);
        emit DefaultQuoteSet(defaultQuote_);
    }

    /// @notice Creates a market. Only the owner of the token, who then enables it on the token with `setVenue`.
    /// @param quote The quote currency; 0 for the default.
    /// @param feeCollector The organization's wallet that receives the fees, less the protocol's share.
    function createMarket(
        address token,
        address quote,
        address feeCollector,
        uint16 takerBps,
        uint16 makerBps,
        MarketRules calldata rules
    ) external returns (address market) {
        if (token.code.length == 0 || !IERC165(token).supportsInterface(type(IERC7943Fungible).interfaceId)) {
            revert NotRWAToken(token);
        }
        if (IRWAToken(token).owner() != msg.sender) revert NotTokenOwner(msg.sender, token);
        if (quote == address(0)) quote = defaultQuote;
        market = address(new Market(IRWAToken(token), IERC20(quote), feeCollector, takerBps, makerBps, rules));
        isMarket[market] = true;
        ++marketCount;
        emit MarketCreated(market, token, quote, msg.sender, feeCollector, takerBps, makerBps);
    }

    /// @notice Sets the default quote currency of future markets. Only the owner.
    function setDefaultQuote(address quote) external onlyOwner {
        defaultQuote = quote;
        emit DefaultQuoteSet(quote);
    }

    /// @notice Sets the protocol's wallet and its share of each fee, for future fills in all markets. Only the owner.
    /// @dev The share is taken out of the fees and never exceeds them, so it does not change what traders pay.
    function setProtocol(address wallet, uint16 feeBps) external onlyOwner {
        if (wallet == address(0) || feeBps > 10_000) revert InvalidProtocol();
        protocolWallet = wallet;
        protocolFeeBps = feeBps;
        emit ProtocolSet(wallet, feeBps);
    }

    /// @notice Returns the name that identifies this kind of contract.
    function interfaceName() external pure returns (string memory) {
        return "signum.MarketFactory.v1";
    }

    /// @notice Supports ERC-165 and the combined id of `createMarket`, `isMarket` and `interfaceName`.
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC165).interfaceId
            || interfaceId == this.createMarket.selector ^ this.isMarket.selector ^ this.interfaceName.selector;
    }
}
