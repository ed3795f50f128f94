// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {AttestationRegistry} from "./AttestationRegistry.sol";
import {Countries} from "./Countries.sol";
import {Restrictions} from "./Restrictions.sol";
import {IERC1404} from "./interfaces/IERC1404.sol";
import {IERC7943Fungible} from "./interfaces/IERC7943.sol";
import {
    IMessagingEndpoint,
    IMessagingReceiver,
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin
} from "./interfaces/IMessaging.sol";
import {EnforcedOptionParam, IOFT, OFTFeeDetail, OFTLimit, OFTReceipt, SendParam} from "./interfaces/IOFT.sol";
import {IRWAToken, Rules, Standing} from "./interfaces/IRWAToken.sol";
import {IVenue, VenueOrders} from "./interfaces/IVenue.sol";

/// @title RWAToken
/// @notice A tokenized asset of one organization. The rules below and the attestations of the registry decide on every
/// movement who may send, receive and hold.
/// @dev The owner is the organization's wallet. Markets ("venues") hold tokens in escrow for their depositors. The
/// token keeps the escrow accounts, so the depositor stays the beneficial owner and a venue can do only two things:
/// return tokens to the depositor, which always works, and settle to a buyer, which is a transfer with every check. The
/// omnichain part uses the IOFT ABI: tokens that leave are burned here and minted by the peer on the other chain.
contract RWAToken is ERC20, Ownable, Pausable, IERC165, IERC7943Fungible, IERC1404, IOFT, IRWAToken, IMessagingReceiver {
    using Restrictions for uint256;
    using SafeCast for uint256;

    /// @notice The maximum number of countries in `Rules.blockedCountries`.
    uint256 public constant MAX_BLOCKED_COUNTRIES = 250;
    /// @notice The maximum number of attesters in `Rules.trustedIssuers`.
    uint256 public constant MAX_TRUSTED_ISSUERS = 32;

    /// @notice The highest value of `Rules.regulation`.
    uint8 public constant MAX_REGULATION = 4;

    /// @notice The packet types that options are enforced for: an amount, and rules with or without an amount.
    uint16 private constant SEND = 1;
    uint16 private constant SEND_RULES = 3;

    /// @dev The path to and from another chain. `limit` is in shared units per window of seconds, both directions
    /// together. Used capacity is freed evenly over a window; `used` is as of `updatedAt`.
    struct Path {
        bool paused;
        uint32 window;
        uint64 limit;
        uint64 used;
        uint64 updatedAt;
    }

    /// @notice Decimals of an amount in a packet; any finer remainder stays on its chain.
    uint8 public constant sharedDecimals = 6;

    /// @notice The organization whose attesters, and whose ancestors' attesters, are trusted.
    bytes32 public immutable organizationId;
    /// @notice The registry of attestations.
    AttestationRegistry public immutable registry;
    /// @notice The messaging endpoint of this chain.
    IMessagingEndpoint public immutable endpoint;

    /// @notice Base units of this token in one shared unit.
    uint256 public immutable decimalConversionRate;

    uint8 private immutable _decimals;

    /// @notice The issuer's own account: it needs no attestation, has no lockup and is not a holder.
    address public treasury;

    /// @notice The number of accounts on this chain with a balance or escrow above 0, without the treasury.
    uint256 public holderCount;

    /// @notice Increases with every change of the rules and every packet that carries rules; 0 means no rules were ever
    /// set, and no one can receive.
    uint64 public rulesVersion;

    /// @notice The token on another chain, as bytes32; 0 if absent.
    mapping(uint32 eid => bytes32 peer) public peers;

    /// @notice Type 3 options that every packet of one type to chain `eid` has, before any options of its sender.
    mapping(uint32 eid => mapping(uint16 msgType => bytes)) public enforcedOptions;

    /// @notice Whether a packet was given up. A packet to this token was dropped and can never be delivered; the burned
    /// amount of a packet from this token was minted back.
    mapping(bytes32 guid => bool) public isGivenUp;

    /// @notice Whether the address is a market that may take deposits and settle.
    mapping(address venue => bool) public isVenue;

    /// @notice The tokens that a venue holds for an account.
    mapping(address venue => mapping(address account => uint256)) public escrowOf;

    Rules private _rules;
    mapping(address account => uint256) private _frozen;
    mapping(address account => uint256) private _escrowed;
    mapping(address venue => uint256) private _held;
    mapping(uint32 eid => Path) private _paths;

    /// @notice Emitted when rules take effect.
    event RulesSet(uint64 version, Rules rules);
    /// @notice Emitted when a packet carries rules whose version is not above the current one; its amount is still
    /// delivered.
    event RulesIgnored(uint64 version, uint64 currentVersion);
    /// @notice Emitted when the treasury changes.
    event TreasurySet(address indexed treasury);
    /// @notice Emitted when a market is allowed to take deposits and settle, or no longer allowed.
    event VenueSet(address indexed venue, bool allowed);
    /// @notice Emitted when the token on chain `eid` is set to `peer`; 0 removes it.
    event PeerSet(uint32 eid, bytes32 peer);
    /// @notice Emitted when the enforced options of packets of one type to chain `eid` change.
    event EnforcedOptionSet(uint32 indexed eid, uint16 indexed msgType, bytes options);
    /// @notice Emitted when the path to and from chain `eid` is paused or resumed.
    event PathPauseSet(uint32 indexed eid, bool paused);
    /// @notice Emitted when the path to and from chain `eid` is limited to `limit` base units per `window` seconds; a
    /// window of 0 means no limit.
    event PathLimitSet(uint32 indexed eid, uint256 limit, uint32 window);
    /// @notice Emitted when a packet from chain `srcEid` is dropped; it can never be delivered.
    event PacketDropped(bytes32 indexed guid, uint32 srcEid, uint64 nonce);
    /// @notice Emitted when the burned amount of a packet that was dropped on its destination is minted back to `to`.
    event PacketReturned(bytes32 indexed guid, address indexed to, uint256 amount);
    /// @notice Emitted when the balance of `lost`, with the tokens of its cancelled orders, moves to `replacement`.
    event Recovered(address indexed lost, address indexed replacement, uint256 amount);
    /// @notice Emitted when a venue takes tokens of `account` into escrow.
    event EscrowDeposited(address indexed venue, address indexed account, uint256 amount);
    /// @notice Emitted when a venue returns escrow to `account`.
    event EscrowReleased(address indexed venue, address indexed account, uint256 amount);
    /// @notice Emitted when a venue moves escrow of `seller` to `buyer`, the new owner.
    event EscrowSettled(address indexed venue, address indexed seller, address indexed buyer, uint256 amount);

    /// @notice Reverts when a rule rejects the movement; `code` is the lowest restriction code that fails.
    error TransferRestricted(uint8 code, address from, address to, uint256 amount);
    /// @notice Reverts when the rules are out of range, or are sent before any were set here.
    error InvalidRules();
    /// @notice Reverts when a venue is 0, is the treasury or holds its own tokens, or a new treasury is a venue or
    /// holds escrow.
    error InvalidVenue(address venue);
    /// @notice Reverts when the account is not a market allowed by the owner.
    error NotVenue(address account);
    /// @notice Reverts when the venue holds less than `amount` for the account.
    error EscrowTooSmall(address venue, address account, uint256 amount);
    /// @notice Reverts when the address holds escrow, which only that venue can move.
    error EscrowHeld(address venue);
    /// @notice Reverts when the lost wallet is 0 or equals its replacement.
    error InvalidRecovery(address lost, address replacement);
    /// @notice Reverts when the supply would reach 2^64 shared units, which a packet cannot hold.
    error SupplyAboveShared(uint256 supply);
    /// @notice Reverts when the chain has no peer.
    error NoPeer(uint32 eid);
    /// @notice Reverts when the path to and from that chain is paused by the owner.
    error PathPaused(uint32 eid);
    /// @notice The amount exceeds the `available` base units of the path's limit.
    error PathLimited(uint32 eid, uint256 available);
    /// @notice Reverts when the limit does not fit a packet, or has no window.
    error InvalidLimit(uint256 limit, uint32 window);
    /// @notice Reverts when options are not of type 3.
    error InvalidOptions(bytes options);
    /// @notice Reverts when the packet's supply was already minted back.
    error AlreadyReturned(bytes32 guid);
    /// @notice Reverts when the sender of the packet is not the peer on that chain.
    error OnlyPeer(uint32 eid, bytes32 sender);
    /// @notice Reverts when the caller is not the endpoint.
    error OnlyEndpoint(address caller);
    /// @notice Reverts when the bytes32 is 0 or not an address.
    error InvalidDestination(bytes32 to);
    /// @notice Reverts when a bridged amount carries a call.
    error ComposeUnsupported();
    /// @notice Reverts when the fee is to be paid in a token: only the native currency is accepted.
    error LzTokenUnsupported();
    /// @notice Reverts when the value sent differs from the native fee.
    error NotEnoughNative(uint256 value);
    /// @notice Reverts when a packet has fewer than 40 bytes or carries value.
    error InvalidMessage();

    /// @param name_ Name of the token.
    /// @param symbol_ Symbol of the token.
    /// @param decimals_ Decimals, at least 6.
    /// @param organizationId_ The organization whose attesters, and whose ancestors' attesters, are trusted.
    /// @param registry_ The registry of attestations.
    /// @param endpoint_ The messaging endpoint of this chain.
    /// @param owner_ The organization's wallet.
    /// @param treasury_ The issuer's own account; may be the owner.
    constructor(
        string memory name_,
        string memory symbol_,
        uint8 decimals_,
        bytes32 organizationId_,
        AttestationRegistry registry_,
        IMessagingEndpoint endpoint_,
        address owner_,
        address treasury_
    ) ERC20(name_, symbol_) Ownable(owner_) {
        if (decimals_ < sharedDecimals || decimals_ > 18) revert InvalidLocalDecimals();
        _decimals = decimals_;
        decimalConversionRate = 10 ** (decimals_ - sharedDecimals);
        organizationId = organizationId_;
        registry = registry_;
        endpoint = endpoint_;
        treasury = treasury_;
        endpoint_.setDelegate(owner_);
        emit TreasurySet(treasury_);
    }

    // ---------------------------------------------------------------------------------------------- issuer

    /// @notice Replaces all rules. Only the owner.
    function setRules(Rules memory newRules) external onlyOwner {
        _setRules(newRules, rulesVersion + 1);
    }

    /// @notice Sets the treasury. Only the owner. The former treasury becomes an ordinary holder if it holds tokens.
    function setTreasury(address newTreasury) external onlyOwner {
        address former = treasury;
        if (former == newTreasury) return;
        if (isVenue[newTreasury] || _held[newTreasury] != 0) revert InvalidVenue(newTreasury);
        if (_isHolder(newTreasury)) --holderCount;
        treasury = newTreasury;
        if (_isHolder(former)) ++holderCount;
        emit TreasurySet(newTreasury);
    }

    /// @notice Allows or disallows a market to take deposits and settle. Only the owner. Its escrow can be returned to
    /// the depositors either way.
    function setVenue(address venue, bool allowed) external onlyOwner {
        // The token could no longer tell the address's own tokens from its escrow.
        if (venue == address(0) || venue == treasury || balanceOf(venue) != _held[venue]) revert InvalidVenue(venue);
        isVenue[venue] = allowed;
        emit VenueSet(venue, allowed);
    }

    /// @notice Mints tokens to an eligible receiver. Only the owner.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Burns tokens of the caller, with the checks of a sender.
    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    /// @notice Stops every movement except the owner's enforcement and the return of escrow. Only the owner.
    function pause() external onlyOwner {
        _pause();
    }

    /// @notice Ends the pause. Only the owner.
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Moves all tokens of a lost wallet, and its frozen amount, to a new wallet of the same person, which must
    /// be eligible. Only the owner. The markets first cancel the named open orders of the lost wallet: their tokens
    /// move with the balance, and their quote is paid to the new wallet. An order that is not named stays and can be
    /// recovered later in the same way.
    /// @param orders The open orders by market; a market without orders pays out what the lost wallet can claim.
    function recover(address lost, address replacement, VenueOrders[] calldata orders) external onlyOwner {
        if (lost == replacement || lost == address(0)) revert InvalidRecovery(lost, replacement);
        _refuse(_receiver(replacement), lost, replacement, balanceOf(lost));
        // Before this call writes anything: venues return tokens to the lost wallet, and they move with its balance.
        for (uint256 i = 0; i < orders.length; ++i) {
            IVenue(orders[i].venue).recover(lost, replacement, orders[i].orderIds);
        }
        uint256 amount = balanceOf(lost);
        uint256 frozen = _frozen[lost];
        if (frozen != 0) {
            uint256 total = frozen > type(uint256).max - _frozen[replacement]
                ? type(uint256).max
                : frozen + _frozen[replacement];
            _frozen[lost] = 0;
            _frozen[replacement] = total;
            emit Frozen(lost, 0);
            emit Frozen(replacement, total);
        }
        _move(lost, replacement, amount);
        emit Recovered(lost, replacement, amount);
    }

    /// @notice Sets the frozen amount of an account, which may exceed its balance. Only the owner.
    function setFrozenTokens(address account, uint256 amount) external onlyOwner returns (bool) {
        _frozen[account] = amount;
        emit Frozen(account, amount);
        return true;
    }

    /// @notice Moves tokens, including frozen ones, to an eligible receiver. Only the owner. Works while paused and
    /// under lockup, and ignores the limits on holders.
    function forcedTransfer(address from, address to, uint256 amount) external onlyOwner returns (bool) {
        uint256 failed = _receiver(to);
        uint256 balance = balanceOf(from);
        if (amount > balance) failed |= 1 << Restrictions.INSUFFICIENT_BALANCE;
        _refuse(failed, from, to, amount);
        uint256 frozen = _frozen[from];
        uint256 unfrozen = balance > frozen ? balance - frozen : 0;
        if (amount > unfrozen) {
            frozen -= amount - unfrozen;
            _frozen[from] = frozen;
            emit Frozen(from, frozen);
        }
        _move(from, to, amount);
        emit ForcedTransfer(from, to, amount);
        return true;
    }

    // ---------------------------------------------------------------------------------------------- rules

    /// @notice Returns the current rules.
    function rules() external view returns (Rules memory) {
        return _rules;
    }

    /// @notice Returns the combined attestations of an account that this token's rules trust.
    function standingOf(address account) external view returns (Standing memory) {
        return _standing(account, _rules.orgOnly);
    }

    /// @notice Returns what an account owns beneficially: its balance and its escrow at venues. A venue itself owns
    /// nothing.
    function holdingOf(address account) public view returns (uint256) {
        return balanceOf(account) - _held[account] + _escrowed[account];
    }

    /// @notice Returns every rule that a transfer would break, as ascending codes; empty if it would pass.
    /// @dev `from` 0 checks a mint.
    function checkTransfer(address from, address to, uint256 amount) external view returns (uint8[] memory) {
        return _transferFailures(from, to, amount).toCodes();
    }

    /// @notice Returns every rule that a settlement from the escrow of `venue` would break.
    function checkSettlement(address venue, address seller, address buyer, uint256 amount)
        external
        view
        returns (uint8[] memory)
    {
        return _settlementFailures(venue, seller, buyer, amount).toCodes();
    }

    /// @inheritdoc IERC1404
    function detectTransferRestriction(address from, address to, uint256 amount) external view returns (uint8) {
        return _transferFailures(from, to, amount).first();
    }

    /// @inheritdoc IERC1404
    function messageForTransferRestriction(uint8 code) external view returns (string memory) {
        return registry.restrictionMessage(code);
    }

    /// @notice Returns whether an account may send at all, regardless of its balance.
    function canSend(address account) external view returns (bool) {
        return account != address(0) && _held[account] == 0 && !isVenue[account]
            && _general() | _sender(account) == 0;
    }

    /// @notice Returns whether an account may receive at all, regardless of the limits on amounts and holders.
    function canReceive(address account) external view returns (bool) {
        return _general() | _receiver(account) == 0;
    }

    /// @notice Returns the frozen amount of an account; it may exceed its balance.
    function getFrozenTokens(address account) external view returns (uint256) {
        return _frozen[account];
    }

    /// @notice Returns whether the rules allow a transfer; an insufficient balance is ignored.
    function canTransfer(address from, address to, uint256 amount) external view returns (bool) {
        return from != address(0)
            && _transferFailures(from, to, amount) & ~(uint256(1) << Restrictions.INSUFFICIENT_BALANCE) == 0;
    }

    /// @notice Supports ERC-20, ERC-165, ERC-1404, ERC-7943 and the OFT interface id.
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC165).interfaceId || interfaceId == type(IERC7943Fungible).interfaceId
            || interfaceId == type(IERC1404).interfaceId || interfaceId == 0x36372b07 || interfaceId == 0x02e49c2c;
    }

    /// @notice Returns the decimals of an amount, 6 to 18.
    function decimals() public view override(ERC20, IRWAToken) returns (uint8) {
        return _decimals;
    }

    /// @notice Returns the organization's wallet, which holds every authority over this token.
    function owner() public view override(Ownable, IRWAToken) returns (address) {
        return super.owner();
    }

    // ---------------------------------------------------------------------------------------------- escrow

    /// @notice Moves tokens of `account` into the calling venue's escrow, using the venue's allowance and with the
    /// checks of a sender. Only a venue.
    function depositEscrow(address account, uint256 amount) external {
        if (!isVenue[msg.sender]) revert NotVenue(msg.sender);
        _refuse(_general() | _sender(account) | _available(account, amount), account, msg.sender, amount);
        _spendAllowance(account, msg.sender, amount);
        escrowOf[msg.sender][account] += amount;
        _escrowed[account] += amount;
        _held[msg.sender] += amount;
        super._update(account, msg.sender, amount);
        emit EscrowDeposited(msg.sender, account, amount);
    }

    /// @notice Returns escrow to its account. Only the venue that holds it, and unconditionally: neither a pause nor a
    /// lapsed attestation blocks it, as the beneficial owner does not change.
    function releaseEscrow(address account, uint256 amount) external {
        _takeEscrow(account, amount);
        super._update(msg.sender, account, amount);
        emit EscrowReleased(msg.sender, account, amount);
    }

    /// @notice Moves escrow of `seller` to `buyer` with every check of a transfer between them. Only a venue.
    function settleEscrow(address seller, address buyer, uint256 amount) external {
        if (!isVenue[msg.sender]) revert NotVenue(msg.sender);
        _refuse(_settlementFailures(msg.sender, seller, buyer, amount), seller, buyer, amount);
        bool sellerHeld = _isHolder(seller);
        bool buyerHeld = _isHolder(buyer);
        _takeEscrow(seller, amount);
        super._update(msg.sender, buyer, amount);
        _recount(seller, buyer, sellerHeld, buyerHeld);
        emit EscrowSettled(msg.sender, seller, buyer, amount);
    }

    // ---------------------------------------------------------------------------------------------- other chains

    /// @notice Sets the token on another chain. Only the owner.
    function setPeer(uint32 eid, bytes32 peer) external onlyOwner {
        peers[eid] = peer;
        emit PeerSet(eid, peer);
    }

    /// @notice Sets the delegate that may configure this token on the endpoint. Only the owner.
    function setDelegate(address delegate) external onlyOwner {
        endpoint.setDelegate(delegate);
    }

    /// @notice Sets enforced options of packets. Only the owner.
    function setEnforcedOptions(EnforcedOptionParam[] calldata options) external onlyOwner {
        for (uint256 i = 0; i < options.length; ++i) {
            _checkOptions(options[i].options);
            enforcedOptions[options[i].eid][options[i].msgType] = options[i].options;
            emit EnforcedOptionSet(options[i].eid, options[i].msgType, options[i].options);
        }
    }

    /// @notice Pauses or resumes the path to and from chain `eid`. Only the owner. A packet that arrives during the
    /// pause waits at the endpoint.
    function setPathPaused(uint32 eid, bool paused_) external onlyOwner {
        _paths[eid].paused = paused_;
        emit PathPauseSet(eid, paused_);
    }

    /// @notice Limits the path to and from chain `eid`, both directions together, to `limit` base units per `window`
    /// seconds. Only the owner. Used capacity stays used. A packet above the limit waits at the endpoint; a window of 0
    /// removes the limit.
    function setPathLimit(uint32 eid, uint256 limit, uint32 window) external onlyOwner {
        uint256 shared = _toShared(limit);
        if (shared > type(uint64).max || (window == 0 && limit != 0)) revert InvalidLimit(limit, window);
        Path storage path = _paths[eid];
        _use(path, 0);
        (path.window, path.limit) = (window, uint64(shared));
        emit PathLimitSet(eid, limit, window);
    }

    /// @notice Returns the path to and from chain `eid`: whether it is paused, its limit in base units per `window` of
    /// seconds, and what is available now. Without a limit the last three are 0.
    function pathOf(uint32 eid)
        external
        view
        returns (bool paused_, uint256 limit, uint32 window, uint256 available)
    {
        Path storage path = _paths[eid];
        return (path.paused, _toLocal(path.limit), path.window, _room(path));
    }

    /// @notice Drops a packet of a peer that will never be delivered: clears a verified one, skips an unverified one.
    /// Only the owner. Reverts if it was delivered. `isGivenUp` of its guid is then permanently true.
    function dropPacket(Origin calldata origin, bytes calldata message) external onlyOwner {
        IMessagingEndpoint point = endpoint;
        (uint32 srcEid, bytes32 sender, uint64 nonce) = (origin.srcEid, origin.sender, origin.nonce);
        bytes32 guid =
            keccak256(abi.encodePacked(nonce, srcEid, sender, point.eid(), bytes32(uint256(uint160(address(this))))));
        isGivenUp[guid] = true;
        emit PacketDropped(guid, srcEid, nonce);
        if (point.inboundPayloadHash(address(this), srcEid, sender, nonce) != 0) {
            point.clear(address(this), origin, guid, message);
        } else {
            point.skip(address(this), srcEid, sender, nonce);
        }
    }

    /// @notice Mints back the burned amount of a packet, once, with the checks of a mint. Only the owner, who must
    /// first check that the packet was dropped on its destination.
    function mintBack(bytes32 guid, address to, uint256 amount) external onlyOwner {
        if (isGivenUp[guid]) revert AlreadyReturned(guid);
        isGivenUp[guid] = true;
        _mint(to, amount);
        emit PacketReturned(guid, to, amount);
    }

    /// @inheritdoc IOFT
    function quoteSend(SendParam calldata sendParam, bool payInLzToken) external view returns (MessagingFee memory) {
        return _quote(sendParam, _encode(sendParam), payInLzToken);
    }

    /// @notice Returns the fee of `sendWithRules`.
    function quoteSendWithRules(SendParam calldata sendParam, Rules memory newRules)
        external
        view
        returns (MessagingFee memory)
    {
        return _quote(sendParam, _encodeWithRules(sendParam, rulesVersion + 1, newRules), false);
    }

    /// @inheritdoc IOFT
    /// @dev The amount that arrives equals the amount that leaves; no fee is charged in tokens.
    function quoteOFT(SendParam calldata sendParam)
        external
        view
        returns (OFTLimit memory limit, OFTFeeDetail[] memory details, OFTReceipt memory receipt)
    {
        limit = OFTLimit(decimalConversionRate, _toLocal(type(uint64).max));
        details = new OFTFeeDetail[](0);
        uint256 amount = _removeDust(sendParam.amountLD);
        receipt = OFTReceipt(amount, amount);
    }

    /// @notice Burns the caller's tokens here; the peer on the other chain mints them for `sendParam.to`.
    /// @dev The checks of a sender apply and, if the receiver is another account, those of a receiver as well: a bridge
    /// is a transfer. The amount is rounded down to shared units; the rest stays with the caller.
    function send(SendParam calldata sendParam, MessagingFee calldata fee, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory, OFTReceipt memory)
    {
        return _send(sendParam, _encode(sendParam), fee, refundAddress);
    }

    /// @notice Does the same as `send`, in a packet that also sets the rules of the token on the other chain. Only the
    /// owner. To send rules alone, the amount and `to` may be 0.
    /// @dev The rules are a parameter, not a copy, because each chain has its own share of the limits on holders.
    function sendWithRules(
        SendParam calldata sendParam,
        Rules memory newRules,
        MessagingFee calldata fee,
        address refundAddress
    ) external payable onlyOwner returns (MessagingReceipt memory, OFTReceipt memory) {
        // Without rules of its own this token would end up with a version but no rules.
        if (rulesVersion == 0) revert InvalidRules();
        _checkRules(newRules);
        return _send(sendParam, _encodeWithRules(sendParam, ++rulesVersion, newRules), fee, refundAddress);
    }

    /// @notice Receives a packet of a peer: sets its rules, if any, then mints its amount to an eligible receiver. Only
    /// the endpoint.
    /// @dev Rules older than the current ones are ignored, so that a late packet cannot restore them.
    function lzReceive(Origin calldata origin, bytes32 guid, bytes calldata message, address, bytes calldata)
        external
        payable
    {
        if (msg.sender != address(endpoint)) revert OnlyEndpoint(msg.sender);
        if (!allowInitializePath(origin)) revert OnlyPeer(origin.srcEid, origin.sender);
        if (message.length < 40 || msg.value != 0) revert InvalidMessage();
        if (message.length > 40) {
            (uint64 version, Rules memory newRules) = abi.decode(message[40:], (uint64, Rules));
            if (version > rulesVersion) _setRules(newRules, version);
            else emit RulesIgnored(version, rulesVersion);
        }
        uint256 amount = _toLocal(uint64(bytes8(message[32:40])));
        _pass(origin.srcEid, amount);
        if (amount != 0) {
            address to = _toAddress(bytes32(message[:32]));
            _mint(to, amount);
            emit OFTReceived(guid, origin.srcEid, to, amount);
        }
    }

    /// @inheritdoc IMessagingReceiver
    function allowInitializePath(Origin calldata origin) public view returns (bool) {
        return origin.sender != 0 && peers[origin.srcEid] == origin.sender;
    }

    /// @notice Returns whether `peer` is the token on chain `eid`.
    function isPeer(uint32 eid, bytes32 peer) external view returns (bool) {
        return peers[eid] == peer;
    }

    /// @notice Returns whether `sender` may compose messages for this token: only the token itself, which sends none.
    function isComposeMsgSender(Origin calldata, bytes calldata, address sender) external view returns (bool) {
        return sender == address(this);
    }

    /// @notice Returns the options of a packet: the enforced ones, then those of its sender.
    function combineOptions(uint32 eid, uint16 msgType, bytes calldata extraOptions)
        public
        view
        returns (bytes memory)
    {
        bytes memory enforced = enforcedOptions[eid][msgType];
        if (enforced.length == 0) return extraOptions;
        if (extraOptions.length == 0) return enforced;
        _checkOptions(extraOptions);
        return bytes.concat(enforced, extraOptions[2:]);
    }

    /// @inheritdoc IMessagingReceiver
    function nextNonce(uint32, bytes32) external pure returns (uint64) {
        return 0;
    }

    /// @inheritdoc IOFT
    function oftVersion() external pure returns (bytes4 interfaceId, uint64 version) {
        return (0x02e49c2c, 1);
    }

    /// @notice Returns the versions of the messaging interface, as a sender and as a receiver.
    function oAppVersion() external pure returns (uint64 senderVersion, uint64 receiverVersion) {
        return (1, 2);
    }

    /// @inheritdoc IOFT
    function token() external view returns (address) {
        return address(this);
    }

    /// @inheritdoc IOFT
    function approvalRequired() external pure returns (bool) {
        return false;
    }

    // ---------------------------------------------------------------------------------------------- internal

    /// @dev Makes the new owner the delegate on the endpoint, in place of the former one. The constructor runs this
    /// before the endpoint is set.
    function _transferOwnership(address newOwner) internal override {
        super._transferOwnership(newOwner);
        if (address(endpoint) != address(0)) endpoint.setDelegate(newOwner);
    }

    /// @dev Every ERC-20 movement is checked here; enforcement and escrow bypass it intentionally.
    function _update(address from, address to, uint256 amount) internal override {
        if (to == address(0)) _refuse(_general() | _sender(from) | _available(from, amount), from, to, amount);
        else _refuse(_transferFailures(from, to, amount), from, to, amount);
        _move(from, to, amount);
    }

    /// @dev Moves tokens without checks and updates the count of holders.
    function _move(address from, address to, uint256 amount) private {
        if (_held[from] != 0) revert EscrowHeld(from);
        bool fromHeld = _isHolder(from);
        bool toHeld = _isHolder(to);
        super._update(from, to, amount);
        if (from == address(0) && _toShared(totalSupply()) > type(uint64).max) {
            revert SupplyAboveShared(totalSupply());
        }
        _recount(from, to, fromHeld, toHeld);
    }

    function _recount(address from, address to, bool fromHeld, bool toHeld) private {
        if (fromHeld && !_isHolder(from)) --holderCount;
        if (!toHeld && _isHolder(to)) ++holderCount;
    }

    function _isHolder(address account) private view returns (bool) {
        return account != address(0) && account != treasury && holdingOf(account) != 0;
    }

    function _takeEscrow(address account, uint256 amount) private {
        uint256 held = escrowOf[msg.sender][account];
        if (amount > held) revert EscrowTooSmall(msg.sender, account, amount);
        escrowOf[msg.sender][account] = held - amount;
        _escrowed[account] -= amount;
        _held[msg.sender] -= amount;
    }

    function _refuse(uint256 failed, address from, address to, uint256 amount) private pure {
        if (failed != 0) revert TransferRestricted(failed.first(), from, to, amount);
    }

    function _transferFailures(address from, address to, uint256 amount) private view returns (uint256 failed) {
        failed = _general() | _receiver(to) | _limits(from, to, amount);
        if (from != address(0)) failed |= _sender(from) | _available(from, amount);
    }

    function _settlementFailures(address venue, address seller, address buyer, uint256 amount)
        private
        view
        returns (uint256 failed)
    {
        failed = _general() | _sender(seller) | _receiver(buyer) | _limits(seller, buyer, amount);
        if (amount > escrowOf[venue][seller]) failed |= 1 << Restrictions.INSUFFICIENT_BALANCE;
        // The frozen amount counts against all tokens of the seller, in escrow or not, so that a freeze reaches open
        // orders.
        uint256 frozen = _frozen[seller];
        uint256 holding = holdingOf(seller);
        if (frozen != 0 && amount > (holding > frozen ? holding - frozen : 0)) failed |= 1 << Restrictions.FROZEN;
    }

    function _general() private view returns (uint256 failed) {
        if (paused()) failed = 1 << Restrictions.PAUSED;
        if (rulesVersion == 0) failed |= 1 << Restrictions.RULES_NOT_SET;
    }

    function _available(address from, uint256 amount) private view returns (uint256 failed) {
        uint256 balance = balanceOf(from) - _held[from];
        uint256 frozen = _frozen[from];
        if (amount > balance) failed = 1 << Restrictions.INSUFFICIENT_BALANCE;
        if (frozen != 0 && amount > (balance > frozen ? balance - frozen : 0)) failed |= 1 << Restrictions.FROZEN;
    }

    /// @dev A sender does not need the level required of receivers: a holder who may no longer buy may still exit.
    function _sender(address from) private view returns (uint256 failed) {
        if (from == treasury) return 0;
        if (block.timestamp < _rules.lockupEnd) failed = 1 << Restrictions.LOCKUP;
        Standing memory standing = _standing(from, false);
        if (!standing.found) failed |= 1 << Restrictions.SENDER_NOT_ATTESTED;
        else if (Countries.anyOf(standing.countries, _rules.blockedCountries)) {
            failed |= 1 << Restrictions.SENDER_COUNTRY_BLOCKED;
        }
    }

    function _receiver(address to) private view returns (uint256 failed) {
        if (to == address(0) || to == address(this) || isVenue[to] || _held[to] != 0) {
            return 1 << Restrictions.INVALID_RECEIVER;
        }
        if (to == treasury) return 0;
        // All trusted attestations count for the country, even if the other rules count only some of them.
        Standing memory standing = _standing(to, false);
        if (!standing.found) return 1 << Restrictions.RECEIVER_NOT_ATTESTED;
        if (Countries.anyOf(standing.countries, _rules.blockedCountries)) {
            failed = 1 << Restrictions.RECEIVER_COUNTRY_BLOCKED;
        }
        if (_rules.orgOnly) {
            standing = _standing(to, true);
            if (!standing.found) return failed | 1 << Restrictions.ORG_ONLY;
        }
        if (standing.level < _rules.minKycLevel) failed |= 1 << Restrictions.RECEIVER_KYC_LEVEL;
        if (
            _rules.requiresAccreditation
                && !(standing.accredited && standing.accreditedLevel >= _rules.minKycLevel)
        ) failed |= 1 << Restrictions.RECEIVER_ACCREDITATION;
    }

    function _limits(address from, address to, uint256 amount) private view returns (uint256 failed) {
        if (amount == 0 || from == to || to == treasury) return 0;
        uint256 holding = holdingOf(to);
        uint256 maximum = _rules.maxPerHolder;
        if (maximum != 0 && (holding > maximum || amount > maximum - holding)) {
            failed = 1 << Restrictions.MAX_PER_HOLDER;
        }
        maximum = _rules.maxHolders;
        if (maximum != 0 && holding == 0) {
            uint256 leaving = _isHolder(from) && holdingOf(from) == amount ? 1 : 0;
            if (holderCount + 1 - leaving > maximum) failed |= 1 << Restrictions.MAX_HOLDERS;
        }
    }

    function _standing(address account, bool orgOnly) private view returns (Standing memory) {
        return registry.eligibility(account, organizationId, orgOnly, _rules.trustedIssuers);
    }

    function _checkRules(Rules memory newRules) private pure {
        if (
            newRules.regulation > MAX_REGULATION || newRules.blockedCountries.length > MAX_BLOCKED_COUNTRIES
                || newRules.trustedIssuers.length > MAX_TRUSTED_ISSUERS
        ) revert InvalidRules();
        for (uint256 i = 0; i < newRules.blockedCountries.length; ++i) {
            Countries.check(newRules.blockedCountries[i]);
        }
    }

    function _setRules(Rules memory newRules, uint64 version) private {
        _checkRules(newRules);
        _rules = newRules;
        rulesVersion = version;
        emit RulesSet(version, newRules);
    }

    function _checkOptions(bytes calldata options) private pure {
        if (options.length < 2 || bytes2(options[:2]) != 0x0003) revert InvalidOptions(options);
    }

    /// @dev Counts an amount to or from chain `eid` against the path's limit; reverts if it is paused or above the
    /// limit.
    function _pass(uint32 eid, uint256 amount) private {
        Path storage path = _paths[eid];
        if (path.paused) revert PathPaused(eid);
        if (path.window == 0) return;
        uint256 room = _room(path);
        if (amount > room) revert PathLimited(eid, room);
        _use(path, _toShared(amount));
    }

    function _use(Path storage path, uint256 shared) private {
        (path.used, path.updatedAt) = (uint64(_used(path) + shared), uint64(block.timestamp));
    }

    function _used(Path storage path) private view returns (uint256) {
        if (path.window == 0) return 0;
        unchecked {
            uint256 freed = (block.timestamp - path.updatedAt) * path.limit / path.window;
            return path.used > freed ? path.used - freed : 0;
        }
    }

    function _room(Path storage path) private view returns (uint256) {
        uint256 used = _used(path);
        return path.limit > used ? (path.limit - used) * decimalConversionRate : 0;
    }

    function _toShared(uint256 amount) private view returns (uint256) {
        return amount / decimalConversionRate;
    }

    function _toLocal(uint256 shared) private view returns (uint256) {
        return shared * decimalConversionRate;
    }

    function _removeDust(uint256 amount) private view returns (uint256) {
        return _toLocal(_toShared(amount));
    }

    function _toAddress(bytes32 to) private pure returns (address) {
        if (to == 0 || uint256(to) >> 160 != 0) revert InvalidDestination(to);
        return address(uint160(uint256(to)));
    }

    function _encode(SendParam calldata sendParam) private view returns (bytes memory) {
        return abi.encodePacked(sendParam.to, _toShared(sendParam.amountLD).toUint64());
    }

    function _encodeWithRules(SendParam calldata sendParam, uint64 version, Rules memory newRules)
        private
        view
        returns (bytes memory)
    {
        return bytes.concat(_encode(sendParam), abi.encode(version, newRules));
    }

    function _params(SendParam calldata sendParam, bytes memory message)
        private
        view
        returns (MessagingParams memory)
    {
        bytes32 peer = peers[sendParam.dstEid];
        if (peer == 0) revert NoPeer(sendParam.dstEid);
        bytes memory options =
            combineOptions(sendParam.dstEid, message.length == 40 ? SEND : SEND_RULES, sendParam.extraOptions);
        return MessagingParams(sendParam.dstEid, peer, message, options, false);
    }

    function _quote(SendParam calldata sendParam, bytes memory message, bool payInLzToken)
        private
        view
        returns (MessagingFee memory)
    {
        if (payInLzToken) revert LzTokenUnsupported();
        return endpoint.quote(_params(sendParam, message), address(this));
    }

    function _send(
        SendParam calldata sendParam,
        bytes memory message,
        MessagingFee calldata fee,
        address refundAddress
    ) private returns (MessagingReceipt memory receipt, OFTReceipt memory amounts) {
        if (sendParam.composeMsg.length != 0) revert ComposeUnsupported();
        if (fee.lzTokenFee != 0) revert LzTokenUnsupported();
        if (msg.value != fee.nativeFee) revert NotEnoughNative(msg.value);
        uint256 amount = _removeDust(sendParam.amountLD);
        if (amount < sendParam.minAmountLD) revert SlippageExceeded(amount, sendParam.minAmountLD);
        _pass(sendParam.dstEid, amount);
        if (amount != 0) {
            address to = _toAddress(sendParam.to);
            if (to != msg.sender) _refuse(_receiver(to), msg.sender, to, amount);
            _burn(msg.sender, amount);
        } else if (message.length == 40) {
            revert SlippageExceeded(0, 1);
        }
        receipt = endpoint.send{value: msg.value}(_params(sendParam, message), refundAddress);
        amounts = OFTReceipt(amount, amount);
        emit OFTSent(receipt.guid, sendParam.dstEid, msg.sender, amount, amount);
    }
}
