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
/// @notice A tokenized asset of one organization. Who may send, receive and hold is decided on every movement by the rules
/// below and by the attestations of the registry.
/// @dev The owner is the organization's wallet. Markets ("venues") hold tokens in escrow for their depositors; the token
/// keeps the account of it, so that the depositor stays the beneficial owner and a venue can do two things only: give
/// back to the depositor, which always works, and settle to a buyer, which is a transfer with every check.
/// The omnichain part speaks the IOFT ABI: what leaves is burnt here and minted by the peer on the other chain.
contract RWAToken is ERC20, Ownable, Pausable, IERC165, IERC7943Fungible, IERC1404, IOFT, IRWAToken, IMessagingReceiver {
    using Restrictions for uint256;
    using SafeCast for uint256;

    /// @notice How many countries `Rules.blockedCountries` may list.
    uint256 public constant MAX_BLOCKED_COUNTRIES = 250;
    /// @notice How many attesters `Rules.trustedIssuers` may list.
    uint256 public constant MAX_TRUSTED_ISSUERS = 32;

    /// @notice The highest value of `Rules.regulation`.
    uint8 public constant MAX_REGULATION = 4;

    /// @notice The kinds of packets that options are enforced for: an amount, and rules with or without an amount.
    uint16 private constant SEND = 1;
    uint16 private constant SEND_RULES = 3;

    /// @dev The path to and from another chain. `limit` are shared units in a window of seconds, in both directions
    /// together. What is used of it frees itself evenly over a window; `used` is as of `updatedAt`.
    struct Path {
        bool paused;
        uint32 window;
        uint64 limit;
        uint64 used;
        uint64 updatedAt;
    }

    /// @notice Decimals of an amount in a packet; what is finer stays on the chain it is on.
    uint8 public constant sharedDecimals = 6;

    /// @notice The organization whose attesters, and whose ancestors' attesters, are trusted.
    bytes32 public immutable organizationId;
    /// @notice Where attestations are read.
    AttestationRegistry public immutable registry;
    /// @notice The messaging endpoint of this chain.
    IMessagingEndpoint public immutable endpoint;

    /// @notice Base units of this token in one shared unit.
    uint256 public immutable decimalConversionRate;

    uint8 private immutable _decimals;

    /// @notice The issuer's own account: it needs no attestation, is under no lockup and is no holder.
    address public treasury;

    /// @notice Beneficial owners on this chain: those who hold, or have in escrow, more than nothing; not the treasury.
    uint256 public holderCount;

    /// @notice Rises with every change of the rules and every packet that carries them; 0 means none were ever set, and
    /// then nobody can receive.
    uint64 public rulesVersion;

    /// @notice The token on the other chains, as bytes32; 0 is none.
    mapping(uint32 eid => bytes32 peer) public peers;

    /// @notice Options of type 3 that every packet of a kind to chain `eid` has, whatever its sender adds.
    mapping(uint32 eid => mapping(uint16 msgType => bytes)) public enforcedOptions;

    /// @notice Whether a packet was given up. One sent to this token was dropped and can never be delivered; of one that
    /// this token sent the burnt amount was minted back.
    mapping(bytes32 guid => bool) public isGivenUp;

    /// @notice Whether the address is a market that may take deposits and settle.
    mapping(address venue => bool) public isVenue;

    /// @notice What a venue holds for an account.
    mapping(address venue => mapping(address account => uint256)) public escrowOf;

    Rules private _rules;
    mapping(address account => uint256) private _frozen;
    mapping(address account => uint256) private _escrowed;
    mapping(address venue => uint256) private _held;
    mapping(uint32 eid => Path) private _paths;

    /// @notice These rules are in force now.
    event RulesSet(uint64 version, Rules rules);
    /// @notice A packet carried rules of a version no higher than the one in force; its amount was delivered all the
    /// same.
    event RulesIgnored(uint64 version, uint64 currentVersion);
    /// @notice The treasury is this account now.
    event TreasurySet(address indexed treasury);
    /// @notice A market may take deposits and settle from now on, or may no more.
    event VenueSet(address indexed venue, bool allowed);
    /// @notice The token on chain `eid` is `peer`; 0 means there is none.
    event PeerSet(uint32 eid, bytes32 peer);
    /// @notice Packets of a kind to chain `eid` have these options from now on.
    event EnforcedOptionSet(uint32 indexed eid, uint16 indexed msgType, bytes options);
    /// @notice Nothing goes to chain `eid`, or is taken from there, or it is again.
    event PathPauseSet(uint32 indexed eid, bool paused);
    /// @notice At most `limit` base units pass between this chain and chain `eid` in `window` seconds; a window of 0 is no
    /// limit.
    event PathLimitSet(uint32 indexed eid, uint256 limit, uint32 window);
    /// @notice A packet of chain `srcEid` was taken off its path; it can never be delivered.
    event PacketDropped(bytes32 indexed guid, uint32 srcEid, uint64 nonce);
    /// @notice What a packet had burnt was minted back to `to`, as the packet was dropped on its destination.
    event PacketReturned(bytes32 indexed guid, address indexed to, uint256 amount);
    /// @notice All that `lost` held, and the tokens of those of its orders that were ended, was moved to `replacement`.
    event Recovered(address indexed lost, address indexed replacement, uint256 amount);
    /// @notice A venue took tokens of `account` into escrow.
    event EscrowDeposited(address indexed venue, address indexed account, uint256 amount);
    /// @notice A venue gave escrow back to `account`.
    event EscrowReleased(address indexed venue, address indexed account, uint256 amount);
    /// @notice A venue moved escrow of `seller` to `buyer`, who owns it now.
    event EscrowSettled(address indexed venue, address indexed seller, address indexed buyer, uint256 amount);

    /// @notice A rule refuses the movement; the code is of the table Restrictions, the lowest of those that fail.
    error TransferRestricted(uint8 code, address from, address to, uint256 amount);
    /// @notice The rules are out of range, or rules were to be sent before any were set here.
    error InvalidRules();
    /// @notice The address is 0, is the treasury, holds tokens of its own, or is a venue where none may be.
    error InvalidVenue(address venue);
    /// @notice Only a market allowed by the owner may do this.
    error NotVenue(address account);
    /// @notice The venue holds less than `amount` for the account.
    error EscrowTooSmall(address venue, address account, uint256 amount);
    /// @notice What a venue holds is moved by the venue only.
    error EscrowHeld(address venue);
    /// @notice The lost wallet is 0 or its own replacement.
    error InvalidRecovery(address lost, address replacement);
    /// @notice The supply would no longer fit a packet: 2^64 shared units.
    error SupplyAboveShared(uint256 supply);
    /// @notice No token is known on that chain.
    error NoPeer(uint32 eid);
    /// @notice Nothing goes to that chain, or is taken from there, until the owner ends the pause.
    error PathPaused(uint32 eid);
    /// @notice The limit of the path leaves room for `available` base units now.
    error PathLimited(uint32 eid, uint256 available);
    /// @notice The limit does not fit a packet, or has no window.
    error InvalidLimit(uint256 limit, uint32 window);
    /// @notice Options are of type 3.
    error InvalidOptions(bytes options);
    /// @notice The packet's supply was minted back before.
    error AlreadyReturned(bytes32 guid);
    /// @notice The packet was not sent by the token known on that chain.
    error OnlyPeer(uint32 eid, bytes32 sender);
    /// @notice Packets are delivered by the endpoint only.
    error OnlyEndpoint(address caller);
    /// @notice The bytes32 is 0 or no address.
    error InvalidDestination(bytes32 to);
    /// @notice A bridged amount cannot carry a call.
    error ComposeUnsupported();
    /// @notice Fees are paid in the native currency only.
    error LzTokenUnsupported();
    /// @notice The value sent is not the native fee.
    error NotEnoughNative(uint256 value);
    /// @notice A packet is at least 40 bytes and carries no value.
    error InvalidMessage();

    /// @param name_ Name of the token.
    /// @param symbol_ Symbol of the token.
    /// @param decimals_ Decimals, at least 6.
    /// @param organizationId_ The organization whose attesters, and whose ancestors' attesters, count.
    /// @param registry_ Where attestations are read.
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

    /// @notice Names the treasury. Only the owner. The former treasury becomes a holder like others if it holds anything.
    function setTreasury(address newTreasury) external onlyOwner {
        address former = treasury;
        if (former == newTreasury) return;
        if (isVenue[newTreasury] || _held[newTreasury] != 0) revert InvalidVenue(newTreasury);
        if (_isHolder(newTreasury)) --holderCount;
        treasury = newTreasury;
        if (_isHolder(former)) ++holderCount;
        emit TreasurySet(newTreasury);
    }

    /// @notice Allows a market to take deposits and settle, or ends it. Only the owner. What it holds can be given back
    /// to the depositors either way.
    function setVenue(address venue, bool allowed) external onlyOwner {
        // An address that holds tokens of its own could no longer be told from the escrow it keeps.
        if (venue == address(0) || venue == treasury || balanceOf(venue) != _held[venue]) revert InvalidVenue(venue);
        isVenue[venue] = allowed;
        emit VenueSet(venue, allowed);
    }

    /// @notice Issues tokens to an eligible receiver. Only the owner.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Destroys tokens of the caller, under the checks of a sender.
    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    /// @notice Stops every movement but the owner's enforcement and the return of escrow. Only the owner.
    function pause() external onlyOwner {
        _pause();
    }

    /// @notice Ends the pause. Only the owner.
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Moves all tokens of a lost wallet, and its frozen amount, to a new wallet of the same person, which must be
    /// eligible. Only the owner. The named open orders of the lost wallet are cancelled first, by their markets: the
    /// tokens in them move along, and the quote in them is paid to the new wallet. An order that is not named stays, and
    /// can be recovered later in the same way.
    /// @param orders The open orders by market; a market without orders gives out what it keeps for the lost wallet to
    /// claim.
    function recover(address lost, address replacement, VenueOrders[] calldata orders) external onlyOwner {
        if (lost == replacement || lost == address(0)) revert InvalidRecovery(lost, replacement);
        _refuse(_receiver(replacement), lost, replacement, balanceOf(lost));
        // Before anything of this call is written: what a venue gives back lies in the lost wallet then, and moves with it.
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

    /// @notice Sets the frozen amount of an account, which may be more than it holds. Only the owner.
    function setFrozenTokens(address account, uint256 amount) external onlyOwner returns (bool) {
        _frozen[account] = amount;
        emit Frozen(account, amount);
        return true;
    }

    /// @notice Takes tokens, frozen ones too, and gives them to an eligible receiver. Only the owner. Works while paused
    /// and under lockup, and is not held to the limits on holders.
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

    /// @notice The rules as they were last set.
    function rules() external view returns (Rules memory) {
        return _rules;
    }

    /// @notice What the trusted attestations say about an account, by the rules of this token on whom to trust.
    function standingOf(address account) external view returns (Standing memory) {
        return _standing(account, _rules.orgOnly);
    }

    /// @notice What an account owns beneficially: its balance and what venues hold for it. A venue itself owns nothing.
    function holdingOf(address account) public view returns (uint256) {
        return balanceOf(account) - _held[account] + _escrowed[account];
    }

    /// @notice Every rule that a transfer would break, as codes in ascending order; empty if it would pass.
    /// @dev `from` 0 asks for a mint.
    function checkTransfer(address from, address to, uint256 amount) external view returns (uint8[] memory) {
        return _transferFailures(from, to, amount).toCodes();
    }

    /// @notice Every rule that a settlement out of the escrow of `venue` would break.
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

    /// @notice Whether an account may send at all, whatever its balance.
    function canSend(address account) external view returns (bool) {
        return account != address(0) && _held[account] == 0 && !isVenue[account]
            && _general() | _sender(account) == 0;
    }

    /// @notice Whether an account may receive at all, whatever the limits on amounts and holders.
    function canReceive(address account) external view returns (bool) {
        return _general() | _receiver(account) == 0;
    }

    /// @notice The frozen amount of an account; it may be more than it holds.
    function getFrozenTokens(address account) external view returns (uint256) {
        return _frozen[account];
    }

    /// @notice Whether the rules let a transfer pass; a balance that is too small is not looked at.
    function canTransfer(address from, address to, uint256 amount) external view returns (bool) {
        return from != address(0)
            && _transferFailures(from, to, amount) & ~(uint256(1) << Restrictions.INSUFFICIENT_BALANCE) == 0;
    }

    /// @notice ERC-20, ERC-165, ERC-1404, ERC-7943 and the OFT interface id.
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC165).interfaceId || interfaceId == type(IERC7943Fungible).interfaceId
            || interfaceId == type(IERC1404).interfaceId || interfaceId == 0x36372b07 || interfaceId == 0x02e49c2c;
    }

    /// @notice Decimals of an amount, 6 to 18.
    function decimals() public view override(ERC20, IRWAToken) returns (uint8) {
        return _decimals;
    }

    /// @notice The organization's wallet, which holds every authority over this token.
    function owner() public view override(Ownable, IRWAToken) returns (address) {
        return super.owner();
    }

    // ---------------------------------------------------------------------------------------------- escrow

    /// @notice Takes tokens of `account` into the calling venue's escrow, out of the allowance it gave to the venue and
    /// under the checks of a sender. Only a venue.
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

    /// @notice Gives escrow back to the account it belongs to. Only the venue that holds it, and unconditionally: neither
    /// pause nor a lapsed attestation locks it, as the beneficial owner does not change.
    function releaseEscrow(address account, uint256 amount) external {
        _takeEscrow(account, amount);
        super._update(msg.sender, account, amount);
        emit EscrowReleased(msg.sender, account, amount);
    }

    /// @notice Moves escrow of `seller` to `buyer` under every check of a transfer between them. Only a venue.
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

    /// @notice Names the token on another chain. Only the owner.
    function setPeer(uint32 eid, bytes32 peer) external onlyOwner {
        peers[eid] = peer;
        emit PeerSet(eid, peer);
    }

    /// @notice Names who may configure this token on the endpoint. Only the owner.
    function setDelegate(address delegate) external onlyOwner {
        endpoint.setDelegate(delegate);
    }

    /// @notice Enforces options of packets. Only the owner.
    function setEnforcedOptions(EnforcedOptionParam[] calldata options) external onlyOwner {
        for (uint256 i = 0; i < options.length; ++i) {
            _checkOptions(options[i].options);
            enforcedOptions[options[i].eid][options[i].msgType] = options[i].options;
            emit EnforcedOptionSet(options[i].eid, options[i].msgType, options[i].options);
        }
    }

    /// @notice Stops what goes to chain `eid` and what comes from there, or lets it go on. Only the owner. A packet that
    /// arrives meanwhile waits at the endpoint.
    function setPathPaused(uint32 eid, bool paused_) external onlyOwner {
        _paths[eid].paused = paused_;
        emit PathPauseSet(eid, paused_);
    }

    /// @notice Limits what goes to chain `eid` and comes from there, together, in any `window` seconds. Only the owner. What
    /// is used up stays so. A packet above the limit waits at the endpoint; a window of 0 ends the limit.
    function setPathLimit(uint32 eid, uint256 limit, uint32 window) external onlyOwner {
        uint256 shared = _toShared(limit);
        if (shared > type(uint64).max || (window == 0 && limit != 0)) revert InvalidLimit(limit, window);
        Path storage path = _paths[eid];
        _use(path, 0);
        (path.window, path.limit) = (window, uint64(shared));
        emit PathLimitSet(eid, limit, window);
    }

    /// @notice The path to and from chain `eid`: whether it is paused, its limit in base units a `window` of seconds, and
    /// how much of it is left now. Without a limit all three are 0.
    function pathOf(uint32 eid)
        external
        view
        returns (bool paused_, uint256 limit, uint32 window, uint256 available)
    {
        Path storage path = _paths[eid];
        return (path.paused, _toLocal(path.limit), path.window, _room(path));
    }

    /// @notice Drops a packet of a peer that will never be delivered: clears it where it is verified, skips it where it is
    /// not. Only the owner. Reverts where it was delivered. `isGivenUp` of its guid is true from then on.
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

    /// @notice Mints back what a packet had burnt, once, under the checks of a mint. Only the owner, who has seen that the
    /// packet was dropped on its destination.
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

    /// @notice The fee of `sendWithRules`.
    function quoteSendWithRules(SendParam calldata sendParam, Rules memory newRules)
        external
        view
        returns (MessagingFee memory)
    {
        return _quote(sendParam, _encodeWithRules(sendParam, rulesVersion + 1, newRules), false);
    }

    /// @inheritdoc IOFT
    /// @dev The amount that arrives equals the amount that leaves; there is no fee in tokens.
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

    /// @notice Burns the caller's tokens here, to be minted for `sendParam.to` by the peer on the other chain.
    /// @dev The checks of a sender apply, and if the receiver is somebody else, those of a receiver as well: a bridge is
    /// a transfer. The amount is rounded down to shared units; the rest stays with the caller.
    function send(SendParam calldata sendParam, MessagingFee calldata fee, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory, OFTReceipt memory)
    {
        return _send(sendParam, _encode(sendParam), fee, refundAddress);
    }

    /// @notice As `send`, in a packet that also sets the rules of the token on the other chain. Only the owner. The amount
    /// and `to` may be 0, for the rules alone.
    /// @dev Rules are given rather than copied, as each chain has its own share of the limits on holders.
    function sendWithRules(
        SendParam calldata sendParam,
        Rules memory newRules,
        MessagingFee calldata fee,
        address refundAddress
    ) external payable onlyOwner returns (MessagingReceipt memory, OFTReceipt memory) {
        // Without rules of its own this token would come out of this with a version but no rules.
        if (rulesVersion == 0) revert InvalidRules();
        _checkRules(newRules);
        return _send(sendParam, _encodeWithRules(sendParam, ++rulesVersion, newRules), fee, refundAddress);
    }

    /// @notice Takes a packet of a peer: sets the rules it may carry, then mints what it carries to an eligible receiver.
    /// Only the endpoint.
    /// @dev Rules older than those in force are ignored, so that a packet delivered late cannot bring them back.
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

    /// @notice Whether `peer` is the token on chain `eid`.
    function isPeer(uint32 eid, bytes32 peer) external view returns (bool) {
        return peers[eid] == peer;
    }

    /// @notice Whether `sender` may compose messages in this token's name: only itself, and it sends none.
    function isComposeMsgSender(Origin calldata, bytes calldata, address sender) external view returns (bool) {
        return sender == address(this);
    }

    /// @notice The options of a packet: the enforced ones, and after them those of its sender.
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

    /// @notice The versions of the messaging interface spoken as a sender and as a receiver.
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

    // ---------------------------------------------------------------------------------------------- inside

    /// @dev Whoever owns the token configures it on the endpoint, and nobody who did before. While the token is created
    /// the endpoint is not known yet.
    function _transferOwnership(address newOwner) internal override {
        super._transferOwnership(newOwner);
        if (address(endpoint) != address(0)) endpoint.setDelegate(newOwner);
    }

    /// @dev Every movement of ERC-20 comes through here and is checked; enforcement and escrow go around it on purpose.
    function _update(address from, address to, uint256 amount) internal override {
        if (to == address(0)) _refuse(_general() | _sender(from) | _available(from, amount), from, to, amount);
        else _refuse(_transferFailures(from, to, amount), from, to, amount);
        _move(from, to, amount);
    }

    /// @dev A movement without checks, with the count of holders kept.
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
        // What is frozen counts against all that the seller owns, wherever it lies, so that freezing reaches open orders.
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

    /// @dev A sender need not reach the level asked of receivers: who may no longer buy may still leave.
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
        // Everyone's word is heard on the country, whichever attestations the other rules count.
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

    /// @dev Lets an amount go to chain `eid` or come from there, or reverts.
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
