"""Workflow of accepted test funds. When its request has succeeded, the wallet can trade with them."""

from backend.assets.transaction_step import write
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import quote_token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import Conflict
from backend.core.units import grouped
from backend.requests.runs import Run
from backend.requests.workflows import workflow
from backend.test_funds.schemas import DECIMALS, SYMBOL, UNIT
from backend.test_funds.service import KIND
from backend.wallets.models import WalletRow


@workflow(KIND)
async def pay(run: Run) -> None:
    """Mint the amount to the wallet with the operator's key, once, and read the payment back."""
    eid, to, amount = run.arguments["chain_eid"], run.arguments["to_address"], int(run.arguments["amount"])
    async with run.step("funds_minted") as step:
        label = await _label(run)
        at = (await contracts_of(eid)).quote_token
        if at is None:
            raise Conflict("The chain has no test currency.")
        call = quote_token.mint(at, to, amount)
        outcome = await write(run, step, call, "mint", eid=eid, signer=await operator(), label="test funds")
    async with run.step("funds_confirmed") as step:
        _read_back(outcome, at, to, amount)
        step.detail = f"{grouped(amount, DECIMALS)} {SYMBOL} in block {outcome.block_number}."
    paid = {"label": label, **{name: run.arguments[name] for name in ("chain_eid", "to_address", "amount")}, **UNIT}
    run.publish("wallet.test_funds_paid", ("wallet", run.subject_id), paid | {"tx_hash": outcome.tx_hash})


async def _label(run: Run) -> str:
    """Return the wallet's label; 409 if the wallet was deleted since the request."""
    async with run.transaction() as session:
        wallet = await session.get(WalletRow, run.subject_id)
    if wallet is None:
        raise Conflict("The wallet was deleted. No test funds were paid.")
    return wallet.label


def _read_back(outcome: Outcome, at: str, to: str, amount: int) -> None:
    """Check that the receipt contains this payment by the test currency."""
    wanted = (at, ZERO_ADDRESS, to, amount)
    if not any((e["_address"], e["from"], e["to"], e["value"]) == wanted for e in outcome.events("Transfer")):
        raise Conflict(f"The transaction {outcome.tx_hash} was mined, but it paid something else.")
