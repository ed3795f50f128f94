"""Every row of a tenant carries its organization, so that the tables can be distributed by it."""

from backend.models import UserRow

CHAINS = {"chain_alarms", "chain_contracts", "chains", "cursors", "followed_contracts", "reconciliations", "signers"}
"""Of the installation: its chains, and the nonces of the wallets on them."""
PROCESSES = {"data_keys", "executor_leases", "signing_keys", "wallet_keys"}
PEOPLE = {
    "factors", "idempotency_keys", "oauth_codes", "oauth_consents", "one_time_secrets", "preferences", "recovery_codes",
    "refresh_tokens", "user_wallets", "users",
}  # fmt: skip
"""Of a person, who can have roles in several organizations."""


def test_tables_without_an_organization_are_those_of_the_installation_and_of_people() -> None:
    without = {table.name for table in UserRow.metadata.tables.values() if "organization_id" not in table.columns}
    assert without == CHAINS | PROCESSES | PEOPLE | {"organizations"}
