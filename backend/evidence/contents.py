"""What a pack says, as tables of words: the page and the PDF show the same ones."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from backend.assets.schemas import Holder, RuleSet
from backend.attestations.schemas import AttestationDetail
from backend.audit.schemas import AuditEntry
from backend.compliance.countries import country_name
from backend.core.fields import timestamp
from backend.evidence import words
from backend.evidence.pack import Pack, Unreadable
from backend.evidence.schemas import (
    CellKind,
    ChainState,
    EvidenceBlock,
    EvidenceCell,
    EvidenceColumn,
    EvidenceContents,
    EvidenceSection,
)

Cells = list[EvidenceCell]
ACTORS = {"system": "Signum", "operator": "The operator"}
"""Names of actors that are not people, by credential."""
MOST = 10_000
"""Letters of a cell: more than any record of Signum has."""


def contents(pack: Pack, most: int) -> EvidenceContents:
    """Return what a pack says, with at most `most` records of each section."""
    manifest = pack.manifest
    decimals, name, symbol = _asset_terms(pack)
    names = chain_names(pack)
    return EvidenceContents(
        asset_id=manifest.asset_id,
        name=manifest.asset_name or name,
        symbol=manifest.asset_symbol or symbol,
        decimals=decimals,
        organization=manifest.organization_name,
        made_at=manifest.made_at,
        made_by=manifest.made_by_name,
        sha256=pack.sha256,
        size=pack.size,
        blocks=[
            EvidenceBlock(
                chain_eid=one.chain_eid,
                chain_name=names[one.chain_eid],
                token_address=one.token_address,
                block=one.block,
            )
            for one in manifest.blocks
        ],
        files=pack.described(),
        omitted=[_named_omission(one, names) for one in manifest.omitted],
        sections=[one.made(most) for one in _sections(pack, decimals, names)],
    )


def chain_names(pack: Pack) -> dict[int, str]:
    """Return the names of the pack's chains."""
    found = {one.chain_eid: f"Chain {one.chain_eid}" for one in pack.manifest.blocks}
    try:
        found |= {place.chain_eid: place.chain_name for place in pack.asset().deployments if place.chain_name}
        found |= {state.chain_eid: state.chain_name for state in pack.chains()}
    except Unreadable:
        pass
    return found


def _asset_terms(pack: Pack) -> tuple[int, str, str]:
    try:
        asset = pack.asset()
    except Unreadable:
        return 18, "", ""
    return min(max(asset.decimals, 0), 36), asset.name, asset.symbol


def _named_omission(one: Any, names: dict[int, str]) -> Any:
    """Return an omission whose reason names the chain instead of its endpoint ID."""
    found = re.fullmatch(r"holders-(\d+)\.csv", one.path)
    if found is None:
        return one
    name = names.get(int(found[1]), f"chain {found[1]}")
    return one.model_copy(update={"reason": f"Holders on {name}: {one.reason}"})


class _Section:
    """A section to be made: `read` returns its records, `cells` the cells of one."""

    def __init__(
        self,
        name: str,
        title: str,
        about: str,
        columns: Sequence[EvidenceColumn],
        read: Callable[[], Sequence[Any]],
        cells: Callable[[Any], Cells],
    ) -> None:
        self.name, self.title, self.about, self.columns = name, title, about, list(columns)
        self.read, self.cells = read, cells

    def made(self, most: int) -> EvidenceSection:
        """Return the section, or why its file cannot be read."""
        given = {"name": self.name, "title": self.title, "about": self.about, "columns": self.columns}
        try:
            records = self.read()
            rows = [self.cells(record) for record in records[:most]]
        except Unreadable as error:
            return EvidenceSection(**given, rows=[], count=0, problem=str(error))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            words = "The file does not have the values that a pack has."
            return EvidenceSection(**given, rows=[], count=0, problem=words)
        return EvidenceSection(**given, rows=rows, count=len(records))


def _people(pack: Pack) -> dict[str, str]:
    """Return the names that the pack has for accounts, by lower-case address. A name that several accounts have is
    followed by the address."""
    found = dict[str, tuple[str, str]]()
    try:
        for block in pack.manifest.blocks:
            for holder in pack.holders(block.chain_eid, block.block):
                if name := holder.name or holder.party_name:
                    found[holder.address.lower()] = (name, holder.address)
        for one in pack.attestations():
            if one.party:
                found[one.wallet_address.lower()] = (one.party.name, one.wallet_address)
    except (Unreadable, ValueError, TypeError, KeyError, AttributeError):
        pass  # the section of the file says what is wrong with it
    having = Counter(name for name, _ in found.values())
    return {low: name if having[name] == 1 else f"{name} ({address})" for low, (name, address) in found.items()}


def _sections(pack: Pack, decimals: int, names: dict[int, str]) -> Iterable[_Section]:
    people = _people(pack)
    yield _Section(
        "asset", "Asset", "The asset's record.", _columns(("Field", 30), ("Value", 70)), lambda: _asset(pack), list
    )
    yield _Section(
        "chains",
        "Chains",
        "Each token at its block, as read from its chain.",
        _columns(
            ("Chain", 16), ("Block", 12, True), ("Block time", 20), ("Supply", 18, True), ("Rules version", 11, True),
            ("Token", 22),
        ),
        pack.chains,
        _chain,
    )  # fmt: skip
    yield _rules(pack, decimals, names)
    yield _Section(
        "rules-history",
        "Rules history",
        "Every set of rules that the tokens took, newest first. Versions are counted for the asset as a whole: a chain "
        "may skip some.",
        _columns(
            ("Time", 16), ("Chain", 14), ("Version", 8, True), ("Changes", 30), ("Changed by", 16), ("Block", 10, True),
            ("Transaction", 20),
        ),
        pack.history,
        lambda one: _history(one, decimals, names),
    )  # fmt: skip
    for block in pack.manifest.blocks:
        yield _Section(
            f"holders-{block.chain_eid}",
            f"Holders on {names[block.chain_eid]}",
            f"Who held the asset at block {block.block:,}, with what markets hold for them and what is frozen. "
            "Largest first.",
            _columns(
                ("Holder", 24), ("Balance", 18, True), ("In orders", 14, True), ("Frozen", 14, True), ("Address", 20)
            ),
            lambda block=block: sorted(  # type: ignore[misc]
                pack.holders(block.chain_eid, block.block), key=lambda one: int(one.balance), reverse=True
            ),
            _holder,
        )
    yield _Section(
        "attestations",
        "Attestations",
        "Attestations of accounts that received the asset, with their state in the registry.",
        _columns(
            ("Party", 22), ("Chain", 14), ("Level", 7, True), ("Accredited", 9), ("Country", 14), ("Status", 10),
            ("Expires", 15), ("Registry", 14), ("Transaction", 18),
        ),
        pack.attestations,
        lambda one: _attestation(one, names, people),
    )  # fmt: skip
    yield _Section(
        "audit",
        "Audit entries",
        "Changes of the asset and who made them, newest first. Each entry's hash contains the hash of the one before.",
        _columns(("Entry", 7, True), ("Time", 15), ("Who", 18), ("Action", 20), ("Change", 32), ("Hash", 18)),
        pack.audit,
        lambda one: _audit(one, decimals, names, people),
    )


def _columns(*given: tuple[Any, ...]) -> list[EvidenceColumn]:
    return [EvidenceColumn(title=title, width=width, is_number=bool(more)) for title, width, *more in given]


def _text(value: Any) -> EvidenceCell:
    text = str(value)
    return EvidenceCell(text=text if len(text) <= MOST else f"{text[:MOST]}…")


def _amount(units: str | int | None) -> EvidenceCell:
    return _text("") if units is None else EvidenceCell(text=str(int(units)), kind=CellKind.AMOUNT)


def _time(at: datetime | None) -> EvidenceCell:
    return _text("") if at is None else EvidenceCell(text=timestamp(at), kind=CellKind.TIME)


def _hash(text: str | None) -> EvidenceCell:
    return EvidenceCell(text=(text or "")[:66], kind=CellKind.HASH)


def _asset(pack: Pack) -> list[Cells]:
    asset = pack.asset()
    places = ", ".join(f"{one.chain_name or one.chain_eid} ({one.status})" for one in asset.deployments)
    pairs = [
        ("Name", _text(asset.name)),
        ("Symbol", _text(asset.symbol)),
        ("Description", _text(asset.description or "none")),
        ("Status", _text(asset.status)),
        ("Supply on all chains", _amount(asset.total_supply)),
        ("Nominal value per token", _text(asset.nominal_value or "none")),
        ("Framework", _text(words.framework(asset.regulation_type))),
        ("Chains", _text(places or "none")),
        ("Created", _time(asset.created_at)),
        ("Last changed", _time(asset.updated_at)),
    ]
    return [[_text(name), value] for name, value in pairs]


def _chain(state: ChainState) -> Cells:
    return [
        _text(state.chain_name),
        _text(f"{state.block:,}"),
        _time(state.block_time),
        _amount(state.supply),
        _text(state.rules_version or ""),
        _hash(state.token_address),
    ]


def _rules(pack: Pack, decimals: int, names: dict[int, str]) -> _Section:
    """Return the section of the rules: a row per rule, with the requested value and the one of each token."""
    places = [one.chain_eid for one in pack.manifest.blocks]
    columns = _columns(("Rule", 24), ("Requested", 24), *((f"On {names[eid]}", 24) for eid in places))

    def read() -> list[Cells]:
        stated = pack.rules()
        by_chain = {one["chain_eid"]: one["in_force"] or {} for one in stated["chains"]}
        asked = stated["asked_for"]
        asked = {**asked, **asked["compliance_rules"], "min_kyc_level": asked["required_kyc_level"]}
        kinds = [asked, *(by_chain.get(eid, {}) for eid in places)]
        return [
            [_text(title), *(_text(words.rule(name, one[name], decimals) if name in one else "") for one in kinds)]
            for name, title in words.RULES.items()
        ]

    about = "What the organization requested, and what each token enforced at its block."
    return _Section("rules", "Rules", about, columns, read, list)


def _history(one: RuleSet, decimals: int, names: dict[int, str]) -> Cells:
    changes = "; ".join(
        f"{words.named(change.field)}: {words.rule(change.field, change.before, decimals)} → "
        f"{words.rule(change.field, change.after, decimals)}"
        for change in one.changes
    )
    return [
        _time(one.at),
        _text(one.chain_name or names.get(one.chain_eid, "")),
        _text(one.version),
        _text(changes or "First rules"),
        _text(one.changed_by_name or "not known"),
        _text(f"{one.block_number:,}"),
        _hash(one.tx_hash),
    ]


def _holder(one: Holder) -> Cells:
    name = one.name or one.party_name or "Not known"
    return [
        _text(f"{name} (treasury)" if one.is_treasury and "treasury" not in name.lower() else name),
        _amount(one.balance),
        _amount(one.escrowed),
        _amount(one.frozen),
        _hash(one.address),
    ]


def _attestation(one: AttestationDetail, names: dict[int, str], people: dict[str, str]) -> Cells:
    proof = one.proof
    registry = "not read" if proof is None else "agrees" if proof.agrees else "differs"
    return [
        _text(people.get(one.wallet_address.lower()) or (one.party.name if one.party else "Not known")),
        _text(names.get(one.chain_eid, f"Chain {one.chain_eid}")),
        _text(one.kyc_level),
        _text("yes" if one.accredited else "no"),
        _text(country_name(one.country)),
        _text(one.status),
        _time(one.expires_at),
        _text(registry),
        _hash(one.tx_hash),
    ]


def _audit(one: AuditEntry, decimals: int, names: dict[int, str], people: dict[str, str]) -> Cells:
    changes = words.changes(one.before, one.after, decimals, names, people)
    if one.withheld:
        changes = "Hidden for the person who made the pack"
    return [
        _text(f"{one.seq:,}"),
        _time(one.at),
        _text(one.actor_name or ACTORS.get(one.credential, "Not known")),
        _text(words.action(one.action, (one.after or {}).get("control"))),
        _text(changes),
        _hash(one.hash),
    ]
