"""A field for an account: chosen by name from those that the organization knows, or pasted as an address."""

from typing import Any, Literal

import reflex as rx

from components.ui.form import error_of, field
from components.ui.value import Local
from state.core.holder_picker import HolderPicker


class AccountField(Local):
    """A combobox whose value is an address. Items as `state.core.holder_picker` returns them."""

    library = "$/public/react/account_field.jsx"
    tag = "AccountField"

    name: rx.Var[str]
    items: rx.Var[list[dict[str, Any]]]
    found_for: rx.Var[str | None]
    active: rx.Var[str]
    resolved: rx.Var[dict[str, dict[str, Any]]]
    placeholder: rx.Var[str]
    free: rx.Var[bool]
    invalid: rx.Var[bool]
    required: rx.Var[bool]
    focused: rx.Var[bool]
    described_by: rx.Var[str]

    on_search: rx.EventHandler[rx.event.passthrough_event_spec(str)]
    on_resolve: rx.EventHandler[rx.event.passthrough_event_spec(str)]
    on_pick: rx.EventHandler[rx.event.passthrough_event_spec(str)]


def account_field(
    label: Any,
    name: str,
    *,
    id: str,
    errors: rx.Var[dict[str, str]],
    asset_id: rx.Var[str] | str = "",
    chain_eid: rx.Var[str] | str = "",
    on_pick: Any = None,
    hint: Any = None,
    optional: bool = False,
    free: bool = False,
    focused: bool = False,
    offers: Literal["", "parties", "unassigned"] = "",
) -> rx.Component:
    """Draw the field. With the asset and its chain it shows balances and who may hold it. An address that is not known
    has to be confirmed, unless `free`: there, new addresses are usual. `on_pick(address)` gets every change.
    The list `offers` every account, only those of parties, or only own wallets that belong to no party."""
    error = error_of(errors, name)
    assert error is not None
    picked = {"on_pick": on_pick} if on_pick is not None else {}
    control = AccountField.create(
        id=id,
        name=name,
        items=HolderPicker.items,
        found_for=HolderPicker.found_for,
        active=HolderPicker.field,
        placeholder="Name or 0x…",
        free=free,
        focused=focused,
        invalid=error != "",
        required=not optional,
        described_by=rx.cond(error != "", f"{id}-error", ""),
        resolved=HolderPicker.resolved,
        on_resolve=HolderPicker.resolve(asset_id, chain_eid),
        on_search=HolderPicker.search(id, asset_id, chain_eid, offers),
        **picked,
    )
    return field(label, control, for_id=id, hint=hint, error=error, optional=optional)
