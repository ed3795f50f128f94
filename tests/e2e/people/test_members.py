"""Members: found, added by wallet, given another role, removed; invitations are revoked."""

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


def test_member_is_added_changed_and_removed(console: Console, signum: Signum) -> None:
    office = signum.call("POST", "/orgs", {"name": "Members Office"})["id"]
    page = console.sign_in().goto("members", office).heading("Members").page
    page.get_by_role("button", name="Add by wallet").click()
    dialog = page.get_by_role("dialog", name="Add by wallet")
    dialog.get_by_label("Wallet address").fill("0x1234")
    dialog.get_by_role("button", name="Add member").click()
    expect(dialog.get_by_label("Wallet address")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Wallet address").fill(WALLET)
    dialog.get_by_label("Name").fill("Nora Wallet")
    dialog.get_by_role("button", name="Add member").click()
    expect(dialog).to_be_hidden()
    row = page.get_by_role("row").filter(has_text="Nora Wallet")
    expect(row).to_contain_text("Client")
    expect(row).to_contain_text("Granted by")

    row.get_by_role("button", name="Change role of Nora Wallet").click()
    console.choose(page.get_by_role("dialog", name="Role of Nora Wallet").get_by_label("Viewer"))
    page.get_by_role("button", name="Change role", exact=True).last.click()
    expect(row).to_contain_text("Viewer")
    page.get_by_role("group", name="Role").get_by_role("button", name="Client").click()
    expect(page.get_by_text("No members match these filters")).to_be_visible()
    page.get_by_role("group", name="Role").get_by_role("button", name="All").click()
    page.get_by_label("Find a member").fill("nora")
    expect(page.get_by_role("row")).to_have_count(2)

    row.get_by_role("button", name="Remove Nora Wallet").click()
    page.get_by_role("dialog", name="Remove Nora Wallet").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status").filter(has_text="Nora Wallet is removed")).to_be_visible()


def test_wallets_are_offered_on_request_and_those_of_members_are_marked(console: Console) -> None:
    page = console.sign_in(path="members").heading("Members").page
    page.get_by_role("button", name="Add by wallet").click()
    dialog = page.get_by_role("dialog", name="Add by wallet")
    field = dialog.get_by_label("Wallet address")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-expanded", "false")
    field.click()
    listed = dialog.get_by_role("option").filter(has_text="James Okafor")
    expect(listed).to_contain_text("Already a member")
    expect(listed).to_be_disabled()


def test_last_admin_cannot_be_removed(console: Console, signum: Signum) -> None:
    office = signum.call("POST", "/orgs", {"name": "One Admin"})["id"]
    page = console.sign_in().goto("members", office).heading("Members").page
    own = page.get_by_role("row").filter(has_text="You are the only admin")
    expect(own.get_by_text("You", exact=True)).to_be_visible()
    expect(own).to_contain_text("You are the only admin. Make another person an admin first.")
    expect(own.get_by_role("button", name="Remove", exact=False)).to_have_count(0)
    expect(own.get_by_role("button", name="Change role", exact=False)).to_have_count(0)
    expect(page.get_by_text("1 member", exact=True)).to_be_visible()


def test_invitation_is_revoked_and_repeated(console: Console, signum: Signum) -> None:
    office = signum.call("POST", "/orgs", {"name": "Invitations Office"})["id"]
    signum.call("POST", f"/orgs/{office}/invitations", {"email": "guest@mail.example"})
    page = console.sign_in().goto("members?tab=invitations", office).page
    row = page.get_by_role("row").filter(has_text="guest@mail.example")
    expect(row).to_contain_text("Pending")
    expect(row).to_contain_text("Not sent")  # no mail server is set
    row.get_by_role("button", name="Revoke the invitation of guest@mail.example").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("Revoked")
    row.get_by_role("button", name="Invite again guest@mail.example").click()
    page.get_by_role("dialog", name="Invite again").get_by_role("button", name="Invite again").click()
    expect(row).to_have_count(2)
    expect(row.first).to_contain_text("Pending")


def test_viewer_sees_members_without_edit_buttons(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "members").heading("Members").page
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_role("button", name="Add by wallet")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)


def test_person_added_by_another_organization_accepts_the_membership(console: Console, signum: Signum) -> None:
    office = signum.call("POST", "/orgs", {"name": "Asking Office"})["id"]
    viewer = signum.person("viewer")
    user = signum.call("GET", "/auth/me", role="viewer")["user"]["id"]
    signum.call("POST", f"/orgs/{office}/members", {"user_id": user, "role": "member", "display_name": "New hand"})
    page = console.sign_in(viewer, "overview").page
    line = page.get_by_role("region", name="Pending memberships")
    expect(line).to_contain_text("Asking Office invites you as Member")
    line.get_by_role("button", name="Accept Asking Office").click()
    expect(page.get_by_role("status").filter(has_text="You are a member of Asking Office")).to_be_visible()
    expect(line).to_have_count(0)
    members = signum.call("GET", f"/orgs/{office}/members", status="active")["members"]
    assert viewer.email in [member["user"]["email"] for member in members]
