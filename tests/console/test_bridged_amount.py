"""The amount to bridge for a new market: where it comes from."""

from state.markets.bridged_amount import about, available, proposed

HELD, DECIMALS = 1_805_870 * 10**18, 18
OF = "1,805,870 NREF in your treasury on Sepolia Devnet"


def test_proposed_amount_says_of_what_it_is_a_tenth() -> None:
    proposal, of = proposed(HELD, DECIMALS), available(HELD, DECIMALS, "NREF", "Sepolia Devnet")
    assert (proposal, of) == ("180,587", OF)
    assert about("180,587", proposal, of) == f"10% of the {OF}."
    assert about("5,000", proposal, of) == f"Available: {OF}."
    assert about("", proposal, of) == f"Available: {OF}."


def test_empty_treasury_proposes_and_says_nothing() -> None:
    proposal, of = proposed(0, DECIMALS), available(0, DECIMALS, "NREF", "Sepolia Devnet")
    assert (proposal, of, about("", proposal, of)) == ("", "", "")


def test_less_than_ten_tokens_are_available_without_a_proposal() -> None:
    of = available(9 * 10**18, DECIMALS, "NREF", "Base")
    assert about("", proposed(9 * 10**18, DECIMALS), of) == "Available: 9 NREF in your treasury on Base."
