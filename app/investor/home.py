"""The investor's home, the choice between organizations, and the account."""

import reflex as rx

from app.investor.shell import HOME, investor_page
from app.users.account import account
from components.investor.consent import consent_card, leave_dialog
from components.investor.home import claims_card, eligibility_card, holdings_card, orders_card, progress_note
from components.investor.signing import signing_sheet
from components.investor.trades import trades_card
from components.ui.button import button, link_button
from components.ui.card import card
from components.ui.note import empty, failure, page_skeleton
from state.investor.claims import WaitingClaims
from state.investor.consent import InvestorConsent
from state.investor.home import InvestorHome
from state.investor.place import InvestorPlace, Place
from state.investor.signing import Signing
from state.users.factors import FactorsState
from state.users.linked_wallets import LinkedWallets
from state.users.sessions import SessionsState


@investor_page(
    route=HOME,
    title="Your investments",
    on_load=[Signing.load, WaitingClaims.clear, InvestorHome.load, WaitingClaims.watch],
)
def home() -> rx.Component:
    """Draw holdings, eligibility, claims, open orders and statements."""
    again = button("Try again", "rotate-cw", on_click=InvestorHome.load)
    factor = empty(
        "shield",
        "Set up a second factor first",
        InvestorHome.problem,
        link_button("Set up second factor", "/i/" + InvestorPlace.here.id + "/account", "shield", kind="primary"),
    )
    broken = rx.cond(
        InvestorHome.needs_factor, factor, failure("Your investments did not load", InvestorHome.problem, again)
    )
    body = rx.fragment(
        progress_note(),
        claims_card(),
        holdings_card(),
        eligibility_card(),
        orders_card(),
        trades_card(),
    )
    return rx.fragment(
        rx.el.h1("Your investments"),
        rx.cond(InvestorHome.problem != "", broken, rx.cond(InvestorHome.loading, page_skeleton(), body)),
        signing_sheet(),
    )


@investor_page(
    route=f"{HOME}/account",
    title="Account",
    on_load=[FactorsState.load, LinkedWallets.load, SessionsState.load, InvestorConsent.load],
)
def investor_account() -> rx.Component:
    """Draw second factors, linked wallets, sessions, and what the investor agreed to."""
    return rx.fragment(account(), consent_card(), leave_dialog())


@investor_page(route="/i", title="Your organizations", on_load=[InvestorPlace.choose])
def choice() -> rx.Component:
    """Draw the organizations of which the user is an investor."""

    def one(place: rx.Var[Place]) -> rx.Component:
        return rx.el.li(
            rx.el.a(place.organization_name, href=place.href, class_name="link"), class_name="item", key=place.id
        )

    none = empty("building-2", "No organization yet", "You are not an investor of any organization.")
    rows = rx.el.ul(rx.foreach(InvestorPlace.places, one), class_name="list")
    return rx.fragment(
        rx.el.h1("Your organizations"), card("Investor of", rx.cond(InvestorPlace.places.length() > 0, rows, none))
    )
