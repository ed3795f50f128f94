"""Data of the demo: a fictional group, its people, its investors."""

from backend.users.schemas import Role

GROUP = {
    "name": "Northwind Capital Group",
    "org_type": "Holding company",
    "jurisdiction": "LUX",
    "email": "office@northwind.example",
    "website": "https://northwind.example",
    "description": "Real assets and private credit for institutional and accredited investors.",
}

REQUIREMENTS = {"kyc_required": True, "min_kyc_level": 1, "blocked_countries": ["PRK", "IRN"], "seats": 250}
"""Requirements of the group for the people it invites."""

TREE: dict[str, dict[str, list[str]]] = {
    "Real Assets": {
        "Northwind Real Estate": [
            "Harbor Logistics Properties",
            "Nordic Residential",
            "Sunbelt Multifamily",
            "Student Housing Partners",
        ],
        "Northwind Infrastructure": ["Baltic Offshore Wind", "Iberia Toll Roads", "Alpine Hydro Storage"],
        "Farmland and Timber": ["Pampas Grain Land", "Kainuu Forests"],
    },
    "Private Credit": {
        "Northwind Direct Lending": ["Mid-Market Loans Europe", "Infrastructure Debt Europe", "Venture Debt Fund II"],
        "Trade Finance": ["Receivables Rotterdam", "Commodity Finance Geneva"],
        "Real Estate Debt": ["Bridge Loans Iberia", "Construction Finance Nordics"],
    },
    "Investor Services": {
        "Transfer Agency": ["Registry Luxembourg", "Registry Delaware"],
        "Placement Agents": ["Placement Europe", "Placement Gulf", "Placement Asia"],
    },
    "Sandbox and Demo": {"Product Lab": ["Pilot Issuance One"]},
}
"""Below the group: divisions, companies, vehicles."""

FOUNDER = ("Henning Dahl", "henning.dahl@northwind.example")
"""Founded the group, appointed its people, and left: whom a founder appointed before a second person was required can
approve for each other."""
PEOPLE = [
    ("Elin Halvorsen", "elin.halvorsen@northwind.example", Role.ADMIN),
    ("Priya Shah", "priya.shah@northwind.example", Role.COMPLIANCE_OFFICER),
    ("Lena Kovač", "lena.kovac@northwind.example", Role.MEMBER),
    ("Marc Dubois", "marc.dubois@northwind.example", Role.VIEWER),
    ("James Okafor", "james.okafor@okafor.example", Role.CLIENT),
]
"""The group's own people, one of each role."""

LOCALS = [
    ("Tomás Becker", "tomas.becker@northwind.example", Role.ADMIN, "Northwind Real Estate"),
    ("Ingrid Solberg", "ingrid.solberg@northwind.example", Role.ADMIN, "Private Credit"),
    ("Sofia Marchetti", "sofia.marchetti@northwind.example", Role.COMPLIANCE_OFFICER, "Northwind Direct Lending"),
    ("Daniel Nyström", "daniel.nystrom@northwind.example", Role.VIEWER, "Transfer Agency"),
]
"""People whose role applies to a lower level."""

Investor = tuple[str, str, str, str, int, bool]
"""Kind, name, email, country, level, whether accredited."""

INVESTORS: list[Investor] = [
    ("company", "Alder Family Office", "desk@alder.example", "CHE", 2, True),
    ("company", "Brightwater LP", "operations@brightwater.example", "GBR", 3, True),
    ("company", "Kestrel Pension Trust", "treasury@kestrel.example", "NLD", 3, True),
]
"""Verified investors with a custody wallet here, attested and trading."""

LATER: list[Investor] = [
    ("company", "Meridian Endowment", "investments@meridian.example", "DEU", 2, True),
    ("person", "Solveig Aas", "solveig.aas@aas.example", "NOR", 1, False),
    ("company", "Delacroix Patrimoine", "gestion@delacroix.example", "FRA", 2, True),
    ("company", "Ilves Insurance Mutual", "treasury@ilves.example", "FIN", 3, True),
    ("person", "Tamsin Rowe", "tamsin.rowe@rowe.example", "GBR", 1, False),
    ("company", "Brandt and Sons Holding", "office@brandt.example", "DNK", 2, True),
]
"""Investors who came during the year."""

APPLICANTS = [
    ("person", "Marta Lindqvist", "marta.lindqvist@lindqvist.example", "SWE"),
    ("company", "Harbor Point Advisors", "kyc@harborpoint.example", "SGP"),
    ("company", "Castellane Partners", "office@castellane.example", "FRA"),
    ("person", "Henrik Vance", "henrik.vance@vance.example", "GBR"),
    ("company", "Oresund Family Office", "desk@oresund.example", "DNK"),
    ("person", "Noor van Dijk", "noor.vandijk@vandijk.example", "NLD"),
    ("person", "James Okafor", "james.okafor@okafor.example", "GBR"),
]
"""Applicants that await review, with a custody wallet here: enough for a few guided tours. The first has no review yet,
the others have documents. The last one is verified."""
SPARE = ("Custody of a new investor", "Custody of a new investor, second")
"""Wallets without a party, for parties that a person registers."""

PRIVATE = "James Okafor"
"""The investor who signs in: a person among the applicants, verified at level 1, with a custody wallet here."""

COMPANY = [("company_register", "register-extract.pdf"), ("proof_of_address", "electricity-bill.pdf")]
PERSON = [("passport", "passport.pdf"), ("proof_of_address", "electricity-bill.pdf")]
DOCUMENTS = [
    *((investor[1], proves, file) for investor in INVESTORS for proves, file in COMPANY),
    *(
        (one[1], proves, file)
        for one in APPLICANTS[1:-1]
        for proves, file in (COMPANY if one[0] == "company" else PERSON)
    ),
    (PRIVATE, "passport", "passport.pdf"),
    ("Viktor Hale", "id_card", "id-card.pdf"),
]
"""Owner, what it proves, and the file's name."""

REJECTED: tuple[str, str, str, str, str] = (
    "person",
    "Viktor Hale",
    "v.hale@mailbox.example",
    "CYM",
    "Documents do not match the applicant.",
)

INVITED = {
    "pending": [("d.moreau@kestrel.example", Role.CLIENT), ("ops@harborpoint.example", Role.CLIENT)],
    "revoked": [("former.broker@placement.example", Role.VIEWER)],
    "expired": [("h.tanaka@sakura-trust.example", Role.CLIENT)],
}

SEPOLIA, HYPEREVM, BASE = 40161, 40362, 40245

ASSETS = [
    {
        "name": "Northwind Real Estate Income Fund I",
        "symbol": "NREF",
        "chain_eid": SEPOLIA,
        "decimals": 18,
        "nominal_value": "100",
        "initial_supply": str(2_500_000 * 10**18),
        "regulation_type": "reg_a_plus",
        "required_kyc_level": 1,
        "max_holders": 500,
        "description": "Quarterly income from logistics and residential property in Northern Europe.",
        "compliance_rules": {"blocked_countries": ["PRK", "IRN"], "max_tokens_per_holder": str(400_000 * 10**18)},
    },
    {
        "name": "Northwind Infrastructure Bond 2031",
        "symbol": "NIB31",
        "chain_eid": BASE,
        "decimals": 18,
        "nominal_value": "1",
        "initial_supply": str(800_000 * 10**18),
        "regulation_type": "reg_s",
        "required_kyc_level": 2,
        "max_holders": 200,
        "description": "Senior secured notes of the Baltic Offshore Wind project, offered outside the United States.",
        "compliance_rules": {"blocked_countries": ["USA", "PRK", "IRN"]},
    },
    {
        "name": "Harbor Logistics Preferred Units",
        "symbol": "NHLT",
        "chain_eid": HYPEREVM,
        "decimals": 18,
        "nominal_value": "10",
        "initial_supply": str(120_000 * 10**18),
        "regulation_type": "reg_d",
        "required_kyc_level": 2,
        "max_holders": 2_000,
        "org_only": True,
        "description": "Preferred equity of Harbor Logistics Properties.",
        "compliance_rules": {"requires_accreditation": True},
    },
]
"""The third gets a lock-up of twelve months when it is created."""

DISTRIBUTION, DISTRIBUTED = "Income in units, third quarter 2026", 18_000
"""In whole units of the first asset."""
CLAIMED = ("Alder Family Office", "Kestrel Pension Trust")

ORDERED = ("Kestrel Pension Trust", "Alder Family Office", 120, "Court order 14/2026, settlement of an estate.")
"""The forced transfer that awaits approval: from, to, whole units of the first asset, reason."""

ENDPOINT = {
    "url": "https://ledger.northwind.example/hooks/signum",
    "description": "Fund accounting",
    "event_types": ["transfer.confirmed", "attestation.revoked", "distribution.activated"],
}


ORDERS = [
    [("sell", 10_240, 1_200, "Treasury")],
    [
        ("buy", 10_240, 700, "Alder Family Office custody"),
        ("buy", 10_240, 500, "Brightwater LP custody"),
    ],
    [("sell", 10_310, 2_000, "Treasury")],
    [
        ("buy", 10_310, 650, "Kestrel Pension Trust custody"),
        ("sell", 10_380, 900, "Treasury"),
        ("sell", 10_450, 1_500, "Treasury"),
        ("sell", 10_560, 2_400, "Treasury"),
        ("sell", 10_990, 300, "Treasury"),
        ("buy", 10_190, 400, "Alder Family Office custody"),
        ("buy", 10_120, 850, "Brightwater LP custody"),
        ("buy", 10_050, 1_300, "Kestrel Pension Trust custody"),
        ("buy", 9_980, 2_100, "Alder Family Office custody"),
    ],
]
"""Side, price in test dollar cents per token, whole tokens, wallet. Those of one list are placed together: none of them
fills another one."""
TRANSFERS = [
    ("Treasury", 1_200, "Alder Family Office custody"),
    ("Treasury", 850, "Brightwater LP custody"),
    ("Kestrel Pension Trust custody", 45, "Alder Family Office custody"),
    ("Treasury", 240, "James Okafor custody"),
]
"""Sender, whole tokens of the first asset, receiver."""
CANCELLED = 8
"""The order that is cancelled, by its place among all of them."""


def country_of(name: str) -> str:
    """Return the country of an investor or applicant."""
    known = [(one[1], one[3]) for one in (*INVESTORS, *LATER)] + [(one[1], one[3]) for one in (*APPLICANTS, REJECTED)]
    return dict(known)[name]


def documents_of(name: str) -> list[tuple[str, str]]:
    """Return what the documents of a party prove, and their names."""
    own = [(proves, file) for whose, proves, file in DOCUMENTS if whose == name]
    kind = next((one[0] for one in LATER if one[1] == name), "")
    return own or (COMPANY if kind == "company" else PERSON if kind else [])
