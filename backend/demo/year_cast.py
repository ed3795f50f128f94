"""What happened in the demo's year, by the number of days before its present."""

from backend.demo.trading import Order

FOUNDED, BEGUN, OPENED = 340, 338, 238
"""The group, its wallets and its registration as an issuer, the market."""
ISSUED = {"NREF": 331, "NIB31": 215, "NHLT": 165}
FIRST_SUPPLY, FIRST_CAP = 1_000_000, 250_000
"""Whole units of the first asset at its issue, and of one holder before the rule was raised."""
CLOSINGS = {252: 500_000, 155: 500_000, 66: 500_000}
"""Further units of the first asset, up to its present supply."""
RAISED = 172
"""The rule: one holder's maximum."""

SUBSCRIPTIONS: list[tuple[int, str, int]] = [
    (325, "Alder Family Office", 120_000),
    (305, "Meridian Endowment", 96_000),
    (285, "Solveig Aas", 1_800),
    (262, "Kestrel Pension Trust", 150_000),
    (250, "James Okafor", 180),
    (241, "Brightwater LP", 80_000),
    (206, "Delacroix Patrimoine", 60_000),
    (180, "Ilves Insurance Mutual", 110_000),
    (150, "Tamsin Rowe", 900),
    (122, "Brandt and Sons Holding", 42_000),
]
"""Each investor's first units of the first asset, in whole units."""

TRADES: list[tuple[int, str, int, str, list[tuple[str, int]]]] = [
    (235, "11:15", 10_010, "Treasury", [("Alder Family Office", 400), ("Meridian Endowment", 300)]),
    (215, "09:05", 10_025, "Treasury", [("Kestrel Pension Trust", 600), ("James Okafor", 12)]),
    (206, "10:20", 10_020, "Alder Family Office", [("Brightwater LP", 250)]),
    (180, "10:20", 10_060, "Treasury", [("James Okafor", 8), ("Kestrel Pension Trust", 450)]),
    (165, "09:05", 10_055, "Meridian Endowment", [("Ilves Insurance Mutual", 320)]),
    (150, "10:20", 10_080, "Treasury", [("Ilves Insurance Mutual", 700)]),
    (136, "16:20", 10_095, "Treasury", [("Tamsin Rowe", 40)]),
    (122, "10:20", 10_090, "Kestrel Pension Trust", [("Delacroix Patrimoine", 380)]),
    (110, "10:45", 10_120, "Treasury", [("Brandt and Sons Holding", 600)]),
    (95, "13:30", 10_135, "Treasury", [("James Okafor", 9), ("Ilves Insurance Mutual", 250)]),
    (66, "09:30", 10_160, "Treasury", [("Kestrel Pension Trust", 420)]),
    (57, "09:50", 10_175, "Brightwater LP", [("Brandt and Sons Holding", 220)]),
    (35, "11:15", 10_190, "Treasury", [("James Okafor", 11)]),
    (8, "14:40", 10_225, "Brandt and Sons Holding", [("Kestrel Pension Trust", 260)]),
]
"""Days ago, hour, price in test dollar cents, seller, buyers with whole units. Most are beside another event, at its
hour: both happen together, which takes less time than one after the other."""

PAID: list[tuple[int, tuple[str, ...]]] = [
    (310_000, ("Alder Family Office", "Meridian Endowment", "Kestrel Pension Trust", "James Okafor")),
    (
        420_000,
        ("Alder Family Office", "Kestrel Pension Trust", "James Okafor", "Brightwater LP", "Delacroix Patrimoine"),
    ),
    (510_000, ("Alder Family Office", "Ilves Insurance Mutual", "James Okafor", "Brandt and Sons Holding")),
]
"""Test dollars of each quarterly income, and who claimed them."""

OFFSHORE, LEFT = 212, 110
"""When two investors were attested for the second asset, and when one of these attestations was revoked."""
LOST = 95
LOST_BY, LOST_REASON = "Solveig Aas", "The investor lost the device with the key; identity checked again by video call."
FAILED, BRIDGED = 57, 20_000
"""The bridge that failed and was retried: whole units of the second asset."""
INVITED = 8
"""When the investor was invited whose invitation has expired."""


def session(price: int, seller: str, buyers: list[tuple[str, int]]) -> list[Order]:
    """Return the orders of a trade: what is sold, then those who buy it."""
    sells: Order = ("sell", price, sum(amount for _, amount in buyers), wallet_of(seller))
    return [sells, *(("buy", price, amount, wallet_of(name)) for name, amount in buyers)]


def wallet_of(name: str) -> str:
    """Return the label of someone's wallet."""
    return name if name == "Treasury" else f"{name} custody"
