"""The guided tours: what to do in each step, where, and which entries of the audit log complete it."""

from state.tour.steps import CARD, DIALOG, FOOT, SIDE, WIZARD, Fact, Finds, Learns, Point, TourStep, Verifies

APPLICANT = (
    Point("Accredited investor", needs=Fact.ACCREDITED, about=Fact.APPLICANT, unless=Fact.LACKS),
    Point("Verify", FOOT, about=Fact.APPLICANT, unless=Fact.LACKS),
    Point("{applicant}", unless=Fact.LACKS),
    Point("Attestations", SIDE, Fact.APPLICANT, unless=Fact.LACKS),
    Point("Accredited investor", needs=Fact.LACKS, about=Fact.PARTY),
    Point("Verify", FOOT, needs=Fact.LACKS, about=Fact.PARTY),
    Point("Change decision", FOOT, needs=Fact.LACKS, about=Fact.PARTY),
    Point("{party}", needs=Fact.LACKS),
    Point("Register party", unless=Fact.APPLICANT),
    Point("Parties", SIDE),
)
WAITING = ("parties?id={party_id}", "attestations?id={applicant_id}", "parties")
REVIEW = (
    "Open {applicant}, {reading}, and verify the identity.{needs}",
    "Open {applicant}, and verify the identity.{needs}",
    "No party with a wallet waits now. Choose Register party, pick a wallet that is offered, then verify the party."
    "{needs}",
)
VERIFY_AGAIN = (
    "{party} lacks {lacks}, which {fund} requires. Open {party}, choose Change decision, and verify with it.",
)
ATTEST = (
    Point("Issue attestation", DIALOG),
    Point("Attest on another chain", FOOT, about=Fact.PARTY),
    Point("Attest again", FOOT, about=Fact.PARTY),
    Point("Attest", FOOT, about=Fact.PARTY),
    Point("{party}"),
    Point("Parties", SIDE),
)
ISSUER = (
    TourStep(
        "Issue a fund",
        "A fund's token enforces its own rules on the chain. A framework fills them in.",
        (
            "Enter a name and a symbol, and choose a chain and a supply such as 1,000. Then choose a framework: Reg D "
            "wants accredited investors, who may not sell for a year. Create it.",
        ),
        ("assets/new",),
        (
            Point("Resume draft"),
            Point("Reg D", filled=True),
            Point("Create asset"),
            Point("New asset"),
            Point("Assets", SIDE),
        ),
        ("asset.deployed",),
        learns=Learns.FUND,
    ),
    TourStep(
        "Verify an investor",
        "Rules need facts about people. This decision is one: it stays with your name and its date.",
        REVIEW,
        WAITING,
        APPLICANT,
        ("party.verified",),
        then=VERIFY_AGAIN,
        learns=Learns.PARTY,
        finds=Finds.APPLICANT,
    ),
    TourStep(
        "Attest on two chains",
        "An attestation puts the decision on a chain, without the documents. Every contract there can read it.",
        (
            "Attest {party} on {fund_chain}, then on {other}: the market opens there.",
            "Attest {party} on one chain, then on another one.",
            "Attest a verified party on one chain, then on another one.",
        ),
        ("parties?id={party_id}", "parties?status=verified"),
        ATTEST,
        ("attestation.active", "attestation.created"),
        chains=2,
        then=("Now attest on {next}.", "Now attest on another chain."),
        learns=Learns.CHAINS,
    ),
    TourStep(
        "Mint tokens",
        "The same rules decide about new tokens: only who may hold them can receive them.",
        (
            "On the tab Controls of {fund}, choose Mint: 50 {fund} for {party}, on {fund_chain}. Enter a reason.",
            "Open your fund, choose the tab Controls, and mint to the treasury or to the investor.",
        ),
        ("assets/{fund_id}?tab=controls", "assets"),
        (Point("Fix", DIALOG), Point("Mint tokens", DIALOG), Point("Mint"), Point("Controls"), Point("Show me", CARD)),
        ("control.confirmed",),
    ),
    TourStep(
        "Open a market elsewhere",
        "A market on a chain where the fund is not yet brings the fund, its rules and the bridge with it.",
        (
            "Choose {other}, keep the amount to bridge, and continue to the review. Confirm the new limits if there "
            "are any, deploy, and watch the bridge.",
            "Choose a chain without the fund, keep the amount to bridge, confirm new limits, and deploy.",
        ),
        ("markets?begun={begun}", "markets/new?asset={fund_id}", "markets/new"),
        (
            Point("{other}", WIZARD),
            Point("Continue", WIZARD),
            Point("Review", WIZARD),
            Point("Attest", WIZARD),
            Point("Change the limits", WIZARD),
            Point("Set the limits", WIZARD),
            Point("Deploy market"),
            Point("Markets", SIDE, unless=Fact.BEGUN),
        ),
        ("market.active",),
        begun=("market", "The market is being deployed."),
        then=("Watch its steps: the bridge brings the fund, and then the market opens by itself.",),
        learns=Learns.MARKET,
    ),
    TourStep(
        "Let an investor buy",
        "Signum holds the key of the investor's wallet, so you can order for them. The market checks each order "
        "against its rules and the token's.",
        (
            "Place an order: sell 10 {fund} from the treasury at 100. Then place another one: {party} buys 10 at 100.",
            "Open a market. Sell from the treasury and buy from an investor's wallet, at the same price.",
        ),
        ("markets/{market_id}", "markets"),
        (
            Point("Fix", DIALOG),
            Point("Place buy order", DIALOG, needs=Fact.BEGUN),
            Point("Place sell order", DIALOG),
            Point("Sell", DIALOG),
            Point("Place order"),
            Point("{fund}"),
            Point("Markets", SIDE),
        ),
        ("trade.executed",),
        begun=("order.requested", "The first order is placed: see the tab Trading."),
        then=(
            "Now place the other one, at the same price: {party} buys what the treasury sells.",
            "Now place the other one, at the same price, from another wallet.",
        ),
    ),
    TourStep(
        "Change a rule",
        "Before you save, you see who would no longer be eligible, and which orders would be affected.",
        (
            "The trade is under Trading of the market. Now block {country}, the country of {party}, on the tab "
            "Compliance of {fund}. Review: {party} could no longer receive {fund}. Save the rules.",
            "Block the country of a holder, or raise the KYC level. Review who is affected, and save.",
        ),
        ("assets/{fund_id}?tab=compliance", "assets"),
        (
            Point("Save rules", DIALOG),
            Point("Review and save"),
            Point("Country to block", DIALOG),
            Point("Add a country"),
            Point("Compliance"),
            Point("Show me", CARD),
        ),
        ("asset.updated",),
        was="updating",
    ),
    TourStep(
        "Take the evidence",
        "An auditor gets rules, holders, attestations and changes in one archive. Verify checks the hash of each file.",
        (
            "Choose Evidence on the page of {fund}, create a pack, and verify it.",
            "Open your fund, choose Evidence, create a pack, and verify it.",
        ),
        ("assets/{fund_id}", "assets"),
        (
            Point("Verify", needs=Fact.BEGUN),
            Point("Create evidence pack"),
            Point("Evidence"),
            Point("Show me", CARD),
        ),
        begun=("asset.evidence_exported", "The pack is made: read it."),
        then=("Then press Verify: it compares each file with its hash, and the figures with the chains.",),
        verifies=Verifies.PACK,
    ),
)
OFFICER = (
    TourStep(
        "Review an applicant",
        "Your day begins with the people who wait. The case shows their documents next to the decision.",
        REVIEW,
        WAITING,
        APPLICANT,
        ("party.verified", "party.rejected"),
        learns=Learns.PARTY,
        finds=Finds.APPLICANT,
    ),
    TourStep(
        "Attest the investor",
        "An attestation puts your decision on a chain, without the documents, until it expires.",
        (
            "Attest {party} on {fund_chain}, where {fund} is. Choose the chain first.",
            "Attest {party} on a chain.",
            "Attest a verified party on a chain.",
        ),
        ("parties?id={party_id}", "parties?status=verified"),
        ATTEST,
        ("attestation.active",),
        finds=Finds.FUND,
    ),
    TourStep(
        "Revoke one",
        "A revocation takes effect in the next block. The dialog says first which holdings it stops.",
        (
            "Show me opens the attestation of {holder}, a holder of {asset}. Choose Revoke there, read what it stops, "
            "and confirm.",
            "Open an attestation of a holder, choose Revoke, read what it stops, and confirm.",
        ),
        ("attestations?show=active&id={attestation_id}", "attestations?show=active"),
        (
            Point("Revoke", DIALOG),
            Point("Revoke", FOOT, about=Fact.HOLDER),
            Point("Show me", CARD),
        ),
        ("attestation.revoked",),
        finds=Finds.HOLDER,
    ),
    TourStep(
        "Force a transfer",
        "After a court order, tokens move without the holder's consent. This organization requires a second person "
        "for it.",
        (
            "On the tab Controls of {asset}, choose Force transfer: 10 {asset} from {holder} to {receiver}, with a "
            "reason. Type {asset} to confirm. The request then waits.",
            "Open an asset, choose the tab Controls, and force a transfer to an eligible holder.",
        ),
        ("assets/{asset_id}?tab=controls", "assets"),
        (
            Point("Fix", DIALOG),
            Point("Request approval", DIALOG),
            Point("Force transfer"),
            Point("Controls"),
            Point("Show me", CARD),
        ),
        ("control.requested",),
        learns=Learns.APPROVAL,
    ),
    TourStep(
        "Let a second person decide",
        "No one approves their own request. The second person sees what it does now, and what has changed since.",
        (
            "This is your request. Sign out, sign in as {colleague} with one click, and approve it under Approvals.",
            "Open “{approval}”, read what it does, and approve it. Only another person than the one who requested it "
            "can do that.",
            "Open Approvals, and approve the transfer. Only another person than the one who requested it can do that.",
        ),
        ("approvals?view={view}&id={approval_id}", "approvals?id={approval_id}", "approvals"),
        (
            Point("Approve", FOOT, about=Fact.APPROVAL),
            Point("Sign out", "body", Fact.COLLEAGUE),
            Point("Account:", "body", Fact.COLLEAGUE),
            Point("{approval}"),
            Point("Approvals", SIDE),
        ),
        ("approval.approved", "approval.denied", "approval.withdrawn", "control.confirmed"),
        finds=Finds.COLLEAGUE,
    ),
    TourStep(
        "Check the audit log",
        "Each entry has the hash of the one before it: a changed or missing one breaks the chain.",
        ("Open the audit log, and press Verify: it computes every hash again.",),
        ("audit",),
        (Point("Verify"), Point("Audit log", SIDE)),
        verifies=Verifies.LOG,
    ),
)
TOURS = {"issuer": ISSUER, "officer": OFFICER}
ROLES = {"admin": "issuer", "compliance_officer": "officer"}
"""Which tour is for which role."""
TAKE_PART = {"issuer": ("admin",), "officer": ("compliance_officer", "admin")}
"""The roles that see a tour's card in the browser in which it was begun: of the officer's, also the second person's."""
