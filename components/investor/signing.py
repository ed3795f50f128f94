"""The sheet "What you will sign", and the button that sends it with the browser's wallet."""

import reflex as rx

from components.ui.box import row
from components.ui.dialog import dialog
from components.ui.value import Local, short_hash
from state.investor.signing import ChainView, Signing, TransactionView


class SendWithWallet(Local):
    """A button that sends transactions with the browser's wallet, one after the other. `on_done`: all are included;
    `on_look`: afterwards, a few times, because the tables follow the chain."""

    library = "$/public/react/wallet_send.jsx"
    tag = "SendWithWallet"

    chain: rx.Var[ChainView]
    account: rx.Var[str]
    transactions: rx.Var[list[TransactionView]]
    label: rx.Var[str]

    on_done: rx.EventHandler[rx.event.no_args_event_spec]
    on_look: rx.EventHandler[rx.event.no_args_event_spec]


def signing_sheet() -> rx.Component:
    """Draw the sheet. Closing it keeps what was entered."""
    signed = Signing.transactions
    send = SendWithWallet.create(
        chain=Signing.chain,
        account=Signing.account,
        transactions=signed,
        label="Sign with your wallet",
        on_done=Signing.done,
        on_look=Signing.look,
    )
    several = "Your wallet asks you " + signed.length().to_string() + " times, in this order."
    count = rx.cond(signed.length() > 1, several, "Your wallet asks you once.")
    return dialog(
        "What you will sign",
        count,
        rx.el.ol(rx.foreach(signed, _transaction), class_name="signed"),
        rx.el.details(
            rx.el.summary("Details"),
            rx.el.dl(
                rx.el.div(rx.el.dt("Chain"), rx.el.dd(Signing.chain.name)),
                rx.el.div(rx.el.dt("Your wallet"), rx.el.dd(short_hash(Signing.account))),
                rx.foreach(
                    signed,
                    lambda one: rx.el.div(rx.el.dt(one.title), rx.el.dd(short_hash(one.contract, label="contract"))),
                ),
            ),
            class_name="more",
        ),
        rx.el.p("Your wallet shows the network fee before you confirm.", class_name="muted small"),
        row(send),
        is_open=Signing.is_open,
        on_open_change=Signing.show,
        width="480px",
    )


def _transaction(one: rx.Var[TransactionView]) -> rx.Component:
    lines = rx.foreach(one.lines, lambda line: rx.el.p(line, class_name="muted"))
    return rx.el.li(rx.el.b(one.title), lines, key=one.data)
