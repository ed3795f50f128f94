// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {Countries} from "./Countries.sol";
import {Restrictions} from "./Restrictions.sol";
import {IRWAToken, Standing} from "./interfaces/IRWAToken.sol";
import {IVenue} from "./interfaces/IVenue.sol";

/// @notice The rules of a market, in addition to those of the token. They apply to every buyer and seller there.
struct MarketRules {
    uint8 regulation;
    uint8 minKycLevel;
    bool requiresAccreditation;
    bytes3[] blockedCountries;
    uint64 lockupEnd;
    uint32 maxHolders;
    uint256 maxPerHolder;
}

/// @notice What a market reads from the factory that created it.
interface IMarketFactory {
    /// @notice Returns the wallet that receives the protocol's share of the fees.
    function protocolWallet() external view returns (address);

    /// @notice Returns the protocol's share of each fee, in basis points of the fee.
    function protocolFeeBps() external view returns (uint16);
}

/// @title Market
/// @notice Limit orders between one token and one quote currency, in escrow. Each fill is checked against the rules of
/// the token and of the market for both sides.
/// @dev A price is in base units of the quote for one whole token (10**decimals base units of the token). A taker names
/// the resting orders to trade with; the best ones are found off chain. Rounding is against the taker: a taker that
/// buys pays the cost rounded up, one that sells gets it rounded down, so that dust never erodes a resting order. Both
/// fees are rounded down; the buyer pays its fee on top, the seller's fee is deducted from its proceeds. The quote
/// currency must be a plain ERC-20: a deposit of one that takes a fee on transfer is rejected.
contract Market is ReentrancyGuard, IVenue {
    using SafeERC20 for IERC20;
    using Restrictions for uint256;

    enum Status {
        NONE,
        OPEN,
        PARTIAL,
        FILLED,
        CANCELLED
    }

    struct Order {
        address maker;
        bool isBuy;
        Status status;
        uint256 price;
        uint256 amount;
        uint256 filled;
        /// Quote still in escrow for a buy order; 0 for a sell order, for which the token holds `amount - filled`.
        uint256 quoteEscrow;
    }

    /// @notice The maximum number of orders a taker may name in one call.
    uint256 public constant MAX_HINTS = 32;

    uint256 private constant BPS = 10_000;

    /// @notice The factory that created this market; each fill reads the protocol's share of the fees there.
    IMarketFactory public immutable factory;
    /// @notice The token that is traded.
    IRWAToken public immutable token;
    /// @notice The currency of prices, payments and fees.
    IERC20 public immutable quote;

    /// @notice The organization's wallet that receives the fees, less the protocol's share.
    address public immutable feeCollector;
    /// @notice The fee of the taker, in basis points of the cost.
    uint16 public immutable takerFeeBps;
    /// @notice The fee of the maker, in basis points of the cost.
    uint16 public immutable makerFeeBps;

    uint256 private immutable _unit;

    /// @notice While halted no order is placed or filled; cancelling still works.
    bool public halted;

    /// @notice The number of orders placed so far; order ids start at 1.
    uint256 public orderCount;

    /// @notice Quote that could not be paid to an account, which may claim it.
    mapping(address account => uint256) public claimable;

    mapping(uint256 orderId => Order) private _orders;
    MarketRules private _rules;

    /// @notice Emitted when an order is placed. Its fills, if any, follow in the same transaction, then its
    /// OrderStatus.
    event OrderPlaced(
        uint256 indexed orderId, address indexed maker, bool isBuy, uint256 price, uint256 amount
    );
    /// @notice Emitted for each fill: `amount` base units of the token at the maker's `price`; the fees are in the
    /// quote.
    event Trade(
        uint256 indexed makerOrderId,
        uint256 indexed takerOrderId,
        uint256 price,
        uint256 amount,
        uint256 takerFee,
        uint256 makerFee
    );
    /// @notice Emitted when an order changes; `status` is a Status: 1 open, 2 partial, 3 filled, 4 cancelled.
    event OrderStatus(uint256 indexed orderId, uint8 status, uint256 filled);
    /// @notice Emitted when trading is halted or resumed.
    event Halted(bool halted);
    /// @notice Emitted when the quote currency rejects a payment of `amount` to `account`, which can claim it.
    event Credited(address indexed account, uint256 amount);
    /// @notice Emitted when an account claims quote that could not be paid to it.
    event Claimed(address indexed account, uint256 amount);

    /// @notice Emitted when the quote of a lost wallet, in its cancelled orders and claimable, goes to its replacement.
    event OrdersRecovered(address indexed lost, address indexed replacement, uint256 amount);

    /// @notice Reverts when a rule of the market or, for a buyer, of the token rejects the order; `code` is a
    /// restriction code.
    error MarketRestricted(uint8 code, address account, uint256 amount);
    /// @notice Reverts when the quote has no code or is the token, the fees exceed 100%, or the collector or rules are
    /// invalid.
    error InvalidMarket();
    /// @notice Reverts when the price is 0 or the order is worth less than one base unit of the quote.
    error InvalidOrder();
    /// @notice Reverts when more than MAX_HINTS orders are named.
    error TooManyHints(uint256 hints);
    /// @notice Reverts when the caller is not the owner of the token.
    error NotOwner(address account);
    /// @notice Reverts when the caller is not the token, which acts for its owner.
    error NotToken(address account);
    /// @notice Reverts when the account is neither the maker nor, for a cancellation, the owner of the market.
    error NotMaker(address account, uint256 orderId);
    /// @notice Reverts when the order does not exist, is filled or is cancelled.
    error NotOpen(uint256 orderId);
    /// @notice Reverts when less quote than expected is received.
    error QuoteShort(uint256 expected, uint256 received);
    /// @notice Reverts when the account has nothing to claim.
    error NothingToClaim(address account);

    /// @dev Called by a factory, which checks the caller.
    constructor(
        IRWAToken token_,
        IERC20 quote_,
        address feeCollector_,
        uint16 takerFeeBps_,
        uint16 makerFeeBps_,
        MarketRules memory rules_
    ) {
        if (
            address(quote_).code.length == 0 || address(quote_) == address(token_) || feeCollector_ == address(0)
                || uint256(takerFeeBps_) + makerFeeBps_ > BPS || rules_.regulation > 4
                || rules_.blockedCountries.length > 250
        ) revert InvalidMarket();
        for (uint256 i = 0; i < rules_.blockedCountries.length; ++i) {
            Countries.check(rules_.blockedCountries[i]);
        }
        factory = IMarketFactory(msg.sender);
        token = token_;
        quote = quote_;
        feeCollector = feeCollector_;
        takerFeeBps = takerFeeBps_;
        makerFeeBps = makerFeeBps_;
        _unit = 10 ** token_.decimals();
        _rules = rules_;
    }

    // ---------------------------------------------------------------------------------------------- orders

    /// @notice Places a limit order and immediately fills it from the named resting orders that match.
    /// @dev A sell order needs a token allowance of `amount`; a buy order needs a quote allowance of `budget(...)`. The
    /// unused quote of a buy order is returned in the same call. A named order that does not match, is no longer open,
    /// or whose fill would break a rule is skipped; the rest of the amount stays as an order.
    /// @param price Base units of the quote for one whole token: the maximum to pay, or the minimum to receive.
    /// @param amount Base units of the token.
    /// @param hints Ids of resting orders to trade with, in this order; at most MAX_HINTS.
    function place(bool isBuy, uint256 price, uint256 amount, uint256[] calldata hints)
        external
        nonReentrant
        returns (uint256 orderId)
    {
        if (price == 0 || Math.mulDiv(amount, price, _unit) == 0) revert InvalidOrder();
        if (hints.length > MAX_HINTS) revert TooManyHints(hints.length);
        uint256 failed = _traderFailures(msg.sender, isBuy, amount);
        if (failed != 0) revert MarketRestricted(failed.first(), msg.sender, amount);

        orderId = ++orderCount;
        Order storage order = _orders[orderId];
        order.maker = msg.sender;
        order.isBuy = isBuy;
        order.status = Status.OPEN;
        order.price = price;
        order.amount = amount;
        emit OrderPlaced(orderId, msg.sender, isBuy, price, amount);

        if (isBuy) {
            uint8[] memory codes = token.checkTransfer(address(0), msg.sender, amount);
            if (codes.length != 0) revert MarketRestricted(codes[0], msg.sender, amount);
            order.quoteEscrow = budget(true, price, amount, hints.length);
            _pull(msg.sender, order.quoteEscrow);
        } else {
            // As for the settlement in _tryFill: the token does not re-enter.
            // slither-disable-next-line reentrancy-no-eth
            token.depositEscrow(msg.sender, amount);
        }

        for (uint256 i = 0; i < hints.length && order.filled < amount; ++i) {
            _tryFill(hints[i], orderId);
        }
        if (isBuy) _returnExcess(order);
        emit OrderStatus(orderId, uint8(order.status), order.filled);
    }

    /// @notice Cancels an open order and returns the rest to its maker. Only the maker or the owner of the market; also
    /// while halted or paused, or when the maker may no longer trade.
    function cancel(uint256 orderId) external nonReentrant {
        Order storage order = _orders[orderId];
        if (!_isOpen(order)) revert NotOpen(orderId);
        if (msg.sender != order.maker && msg.sender != owner()) revert NotMaker(msg.sender, orderId);
        _pay(order.maker, _end(orderId, order));
    }

    /// @inheritdoc IVenue
    /// @dev Only the token, in its own `recover`, which has checked that the replacement is eligible and moves the
    /// tokens on. Orders that are no longer open are skipped; an order of another maker reverts. The lost wallet's
    /// claimable quote is paid out as well.
    function recover(address lost, address replacement, uint256[] calldata orderIds) external nonReentrant {
        if (msg.sender != address(token)) revert NotToken(msg.sender);
        uint256 amount = claimable[lost];
        claimable[lost] = 0;
        for (uint256 i = 0; i < orderIds.length; ++i) {
            Order storage order = _orders[orderIds[i]];
            if (order.maker != lost) revert NotMaker(lost, orderIds[i]);
            if (!_isOpen(order)) continue;
            // As for the settlement in _tryFill: every function that reads or writes `claimable` is nonReentrant.
            // slither-disable-next-line reentrancy-no-eth
            amount += _end(orderIds[i], order);
        }
        _pay(replacement, amount);
        emit OrdersRecovered(lost, replacement, amount);
    }

    /// @notice Pays the caller's claimable quote.
    function claim() external nonReentrant {
        uint256 amount = claimable[msg.sender];
        if (amount == 0) revert NothingToClaim(msg.sender);
        claimable[msg.sender] = 0;
        quote.safeTransfer(msg.sender, amount);
        emit Claimed(msg.sender, amount);
    }

    /// @notice Halts or resumes trading. Only the owner.
    function halt(bool stop) external {
        if (msg.sender != owner()) revert NotOwner(msg.sender);
        halted = stop;
        emit Halted(stop);
    }

    // ---------------------------------------------------------------------------------------------- views

    /// @notice Returns the organization's wallet: the owner of the token.
    function owner() public view returns (address) {
        return token.owner();
    }

    /// @notice Returns the rules of the market, which never change.
    function rules() external view returns (MarketRules memory) {
        return _rules;
    }

    /// @notice Returns an order; all zero if it does not exist.
    function getOrder(uint256 orderId) external view returns (Order memory) {
        return _orders[orderId];
    }

    /// @notice Returns every rule of the market and of the token that an order would break, as ascending codes.
    function checkOrder(address account, bool isBuy, uint256 amount) external view returns (uint8[] memory) {
        uint256 failed = _traderFailures(account, isBuy, amount);
        uint8[] memory codes;
        if (isBuy) codes = token.checkTransfer(address(0), account, amount);
        // The token treats a transfer from address 0 as a mint, so a sale by address 0 is checked as a settlement.
        else if (account == address(0)) codes = token.checkSettlement(address(this), account, token.treasury(), amount);
        else codes = token.checkTransfer(account, token.treasury(), amount);
        for (uint256 i = 0; i < codes.length; ++i) {
            // A sale is checked as a transfer to the treasury; the receiver's failures do not matter here.
            if (isBuy || codes[i] < Restrictions.RECEIVER_NOT_ATTESTED && codes[i] != Restrictions.INVALID_RECEIVER) {
                failed |= uint256(1) << codes[i];
            }
        }
        return failed.toCodes();
    }

    /// @notice Returns the allowance that an order needs: of the quote to buy, of the token to sell.
    /// @dev The quote at the limit price rounded up, one more base unit for each named order (each fill is rounded
    /// separately), plus the higher of the two fees on that sum.
    function budget(bool isBuy, uint256 price, uint256 amount, uint256 hints) public view returns (uint256) {
        if (!isBuy) return amount;
        uint256 cost = Math.mulDiv(amount, price, _unit, Math.Rounding.Ceil) + hints;
        return cost + Math.mulDiv(cost, Math.max(takerFeeBps, makerFeeBps), BPS, Math.Rounding.Ceil);
    }

    // ---------------------------------------------------------------------------------------------- internal

    /// @dev The terms of one fill, calculated before any transfer.
    struct Fill {
        uint256 amount;
        uint256 price;
        uint256 cost;
        uint256 takerFee;
        uint256 makerFee;
        address buyer;
        address seller;
    }

    function _isOpen(Order storage order) private view returns (bool) {
        return order.status == Status.OPEN || order.status == Status.PARTIAL;
    }

    /// @dev Cancels an open order and returns its remaining tokens to the maker; the caller pays out its remaining
    /// quote.
    function _end(uint256 orderId, Order storage order) private returns (uint256 refund) {
        order.status = Status.CANCELLED;
        refund = order.quoteEscrow;
        order.quoteEscrow = 0;
        if (!order.isBuy) token.releaseEscrow(order.maker, order.amount - order.filled);
        emit OrderStatus(orderId, uint8(Status.CANCELLED), order.filled);
    }

    function _tryFill(uint256 makerId, uint256 takerId) private {
        Order storage maker = _orders[makerId];
        Order storage taker = _orders[takerId];
        if (!_isOpen(maker)) return;
        if (maker.isBuy == taker.isBuy || maker.maker == taker.maker) return;
        if (taker.isBuy ? maker.price > taker.price : maker.price < taker.price) return;

        // Memory is zero, and every field below is written before it is read.
        // slither-disable-next-line uninitialized-local
        Fill memory f;
        f.amount = Math.min(maker.amount - maker.filled, taker.amount - taker.filled);
        f.price = maker.price;
        f.cost = Math.mulDiv(f.amount, f.price, _unit, taker.isBuy ? Math.Rounding.Ceil : Math.Rounding.Floor);
        // A remainder too small to cost anything would be free.
        if (f.cost == 0) return;
        f.takerFee = f.cost * takerFeeBps / BPS;
        f.makerFee = f.cost * makerFeeBps / BPS;
        (f.buyer, f.seller) = taker.isBuy ? (taker.maker, maker.maker) : (maker.maker, taker.maker);
        if (!_mayTrade(maker.maker, f)) return;

        (Order storage buy, uint256 buyerFee, uint256 sellerFee) =
            taker.isBuy ? (taker, f.takerFee, f.makerFee) : (maker, f.makerFee, f.takerFee);
        buy.quoteEscrow -= f.cost + buyerFee;
        _advance(maker, f.amount);
        _advance(taker, f.amount);
        emit Trade(makerId, takerId, f.price, f.amount, f.takerFee, f.makerFee);
        emit OrderStatus(makerId, uint8(maker.status), maker.filled);

        // Every function here that writes is nonReentrant. The token, which the factory has checked, calls only its
        // registry, and only to read. So no call re-enters between this call and the writes after it.
        // slither-disable-next-line reentrancy-no-eth
        token.settleEscrow(f.seller, f.buyer, f.amount);
        _pay(f.seller, f.cost - sellerFee);
        _payFees(buyerFee + sellerFee);
        if (maker.isBuy && maker.status == Status.FILLED) _returnExcess(maker);
    }

    function _advance(Order storage order, uint256 amount) private {
        order.filled += amount;
        order.status = order.filled == order.amount ? Status.FILLED : Status.PARTIAL;
    }

    /// @dev `place` has checked the taker in the same call; the maker's standing may have changed since its order.
    function _mayTrade(address maker, Fill memory f) private view returns (bool) {
        return _standingFailures(maker) == 0 && _lockupFailures(f.seller) == 0
            && _limitFailures(f.seller, f.buyer, f.amount) == 0
            && token.checkSettlement(address(this), f.seller, f.buyer, f.amount).length == 0;
    }

    function _traderFailures(address account, bool isBuy, uint256 amount) private view returns (uint256 failed) {
        failed = _standingFailures(account);
        if (halted) failed |= 1 << Restrictions.MARKET_HALTED;
        if (isBuy) failed |= _limitFailures(address(0), account, amount);
        else failed |= _lockupFailures(account);
    }

    function _standingFailures(address account) private view returns (uint256 failed) {
        if (account == token.treasury()) return 0;
        Standing memory standing = token.standingOf(account);
        if (!standing.found) return 1 << Restrictions.MARKET_NOT_ATTESTED;
        if (standing.level < _rules.minKycLevel) failed = 1 << Restrictions.MARKET_KYC_LEVEL;
        if (
            _rules.requiresAccreditation
                && !(standing.accredited && standing.accreditedLevel >= _rules.minKycLevel)
        ) failed |= 1 << Restrictions.MARKET_ACCREDITATION;
        if (Countries.anyOf(standing.countries, _rules.blockedCountries)) {
            failed |= 1 << Restrictions.MARKET_COUNTRY_BLOCKED;
        }
    }

    function _lockupFailures(address seller) private view returns (uint256) {
        return block.timestamp < _rules.lockupEnd && seller != token.treasury() ? 1 << Restrictions.MARKET_LOCKUP : 0;
    }

    function _limitFailures(address seller, address buyer, uint256 amount) private view returns (uint256 failed) {
        if (buyer == token.treasury()) return 0;
        uint256 holding = token.holdingOf(buyer);
        uint256 maximum = _rules.maxPerHolder;
        if (maximum != 0 && (holding > maximum || amount > maximum - holding)) {
            failed = 1 << Restrictions.MARKET_MAX_PER_HOLDER;
        }
        maximum = _rules.maxHolders;
        if (maximum != 0 && holding == 0) {
            bool leaves = seller != address(0) && seller != token.treasury() && token.holdingOf(seller) == amount;
            if (token.holderCount() + 1 - (leaves ? 1 : 0) > maximum) failed |= 1 << Restrictions.MARKET_MAX_HOLDERS;
        }
    }

    /// @dev Returns the quote that a buy order holds beyond the maximum cost of its rest as a resting order.
    function _returnExcess(Order storage order) private {
        uint256 rest = order.amount - order.filled;
        uint256 needed = 0;
        if (rest != 0) {
            uint256 cost = Math.mulDiv(rest, order.price, _unit, Math.Rounding.Ceil);
            needed = cost + Math.mulDiv(cost, makerFeeBps, BPS, Math.Rounding.Ceil);
        }
        uint256 excess = order.quoteEscrow - needed;
        order.quoteEscrow = needed;
        _pay(order.maker, excess);
    }

    function _payFees(uint256 fees) private {
        uint256 share = fees * factory.protocolFeeBps() / BPS;
        _pay(factory.protocolWallet(), share);
        _pay(feeCollector, fees - share);
    }

    function _pull(address from, uint256 amount) private {
        uint256 before = quote.balanceOf(address(this));
        quote.safeTransferFrom(from, address(this), amount);
        uint256 received = quote.balanceOf(address(this)) - before;
        if (received != amount) revert QuoteShort(amount, received);
    }

    /// @dev A receiver that the quote currency rejects must not block another maker's order: the amount becomes
    /// claimable.
    function _pay(address to, uint256 amount) private {
        if (amount == 0) return;
        if (!quote.trySafeTransfer(to, amount)) {
            claimable[to] += amount;
            emit Credited(to, amount);
        }
    }
}
