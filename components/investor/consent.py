"""What the investor agreed to, in plain words, and the dialog with which they leave."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card
from components.ui.dialog import confirm
from components.ui.icon import icon
from components.ui.note import failure, skeleton
from state.investor.consent import InvestorConsent, LeaveOrganization

SEEN = (
    "Your name, your email and the wallets that you have linked",
    "Your documents, your country, and your verification",
    "What your wallets hold, and your orders, trades and claims",
    "What you do here, when, and from which internet address",
)
UNSEEN = "It does not see your password, your second factors, or the other organizations that you are in."


def consent_card() -> rx.Component:
    """Draw who may see what, since when, and the button to leave."""
    state = InvestorConsent
    again = button("Try again", "rotate-cw", on_click=state.load)
    broken = failure("What you agreed to did not load", state.problem, again)
    shown = rx.cond(state.loading, skeleton(2), _consent())
    leave = button("Leave " + state.organization, "log-out", on_click=LeaveOrganization.show(True))
    return card(
        "What you agreed to",
        rx.cond(state.problem != "", broken, shown),
        foot=rx.cond(state.loading | (state.problem != ""), rx.fragment(), leave),
        class_name="consent",
    )


def _consent() -> rx.Component:
    state = InvestorConsent
    agreed = rx.fragment("You agreed on ", state.since, ". Since then, ", rx.el.b(state.organization), " may see:")
    added = rx.fragment(
        rx.el.b(state.organization), " added you on ", state.since,
        ". It did not have to ask, because you already belonged to its group. It may see:",
    )  # fmt: skip
    above = rx.el.p(
        "The same is visible to ", rx.el.b(state.above.join(", ")), ", to which ", state.organization, " belongs.",
    )  # fmt: skip
    return rx.el.div(
        rx.el.p(rx.cond(state.has_agreed, agreed, added)),
        rx.el.ul(*[rx.el.li(icon("check", 15), rx.el.span(words)) for words in SEEN], class_name="seen"),
        rx.cond(state.above.length() > 0, above, rx.fragment()),
        rx.el.p(UNSEEN, class_name="muted"),
        rx.el.details(
            rx.el.summary("What everyone can see"),
            rx.el.p(
                "Tokens are kept on public blockchains. Anyone can read what a wallet address holds and trades there, "
                "and its verification level, country and accreditation. Your name is not there.",
                class_name="muted",
            ),
            class_name="more",
        ),
        class_name="card-body",
    )


def leave_dialog() -> rx.Component:
    """Ask before the investor leaves."""
    name = InvestorConsent.organization
    return confirm(
        "Leave " + name,
        "Your access ends immediately, on all your devices.",
        rx.el.ul(
            rx.el.li("Your tokens stay in your wallet. If ", name, " keeps the wallet, it keeps them for you."),
            rx.el.li("Open orders stay open. Cancel them first if you do not want them to be filled."),
            rx.el.li(name, " keeps its records of you, as the law requires of it."),
            rx.el.li("You can come back only if ", name, " invites you again."),
            class_name="facts",
        ),
        word="Leave",
        form=LeaveOrganization,
    )
