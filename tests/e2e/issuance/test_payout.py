"""An organization pays all listed recipients of a distribution after one confirmation."""

import pytest
from playwright.sync_api import expect

from tests.e2e.accounts.test_factors import accessible
from tests.e2e.conftest import Console, Signum
from tests.e2e.investors.test_custody import nref
from tests.e2e.investors.test_own_wallet import SEPOLIA, UNIT, settled
from tests.e2e.issuance.test_distributions import investors


@pytest.mark.long
def test_all_listed_recipients_are_paid_after_one_confirmation(console: Console, signum: Signum) -> None:
    asset = nref(signum)
    path = f"/orgs/{{org}}/assets/{asset}/distributions"
    recipients = [{"address": address, "amount": str(2 * UNIT)} for address in investors(signum)]
    made = signum.call("POST", path, {"name": "Paid to all", "chain_eid": SEPOLIA, "recipients": recipients})
    terms = {"chainEid": SEPOLIA, "merkleRoot": made["merkle_root"], "totalRecipients": 2}
    signum.call("POST", f"{path}/{made['id']}/activate", terms)
    settled(signum, signum.call("GET", f"{path}/{made['id']}")["request_id"])

    page = console.sign_in(path=f"distributions/{made['id']}?asset={asset}").heading("Paid to all").page
    page.get_by_role("button", name="Pay out 2 recipients").click()
    dialog = page.get_by_role("alertdialog").or_(page.get_by_role("dialog"))
    expect(dialog).to_contain_text("4 NREF")
    accessible(console)
    dialog.get_by_role("button", name="Pay out 2 recipients").click()
    listed = page.get_by_role("table", name="Recipients", exact=True)
    expect(listed.get_by_text("Claimed", exact=True)).to_have_count(2, timeout=60_000)
    expect(page.get_by_role("button", name="Pay out")).to_have_count(0)
    expect(page.get_by_text("2 of 2", exact=True)).to_be_visible()
