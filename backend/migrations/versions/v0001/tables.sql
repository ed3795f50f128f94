CREATE TABLE audit_log (
  organization_id UUID NOT NULL,
  seq BIGINT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  actor UUID,
  credential VARCHAR NOT NULL,
  action VARCHAR NOT NULL,
  subject_type VARCHAR NOT NULL,
  subject_id VARCHAR NOT NULL,
  before JSONB,
  after JSONB,
  request_id VARCHAR,
  address VARCHAR,
  previous_hash VARCHAR NOT NULL,
  hash VARCHAR NOT NULL,
  CONSTRAINT pk_audit_log PRIMARY KEY (organization_id, seq)
);

CREATE INDEX ix_audit_log_subject ON audit_log (organization_id, subject_id, seq);

CREATE INDEX ix_audit_log_action ON audit_log (organization_id, action, seq);

CREATE INDEX ix_audit_log_at ON audit_log (organization_id, at);

CREATE INDEX ix_audit_log_actor ON audit_log (organization_id, actor, seq);

CREATE TABLE audit_heads (
  organization_id UUID NOT NULL,
  seq BIGINT NOT NULL,
  hash VARCHAR NOT NULL,
  CONSTRAINT pk_audit_heads PRIMARY KEY (organization_id)
);

CREATE TABLE signing_keys (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  kid VARCHAR NOT NULL,
  sealed VARCHAR NOT NULL,
  retired_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_signing_keys PRIMARY KEY (id),
  CONSTRAINT uq_signing_keys_kid UNIQUE (kid)
);

CREATE TABLE idempotency_keys (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  principal VARCHAR NOT NULL,
  method VARCHAR NOT NULL,
  path VARCHAR NOT NULL,
  key VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  status INTEGER,
  headers JSONB NOT NULL,
  body VARCHAR,
  CONSTRAINT pk_idempotency_keys PRIMARY KEY (id),
  CONSTRAINT uq_idempotency_keys_principal_method_path_key UNIQUE (principal, method, path, key)
);

CREATE INDEX ix_idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE chains (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_type VARCHAR NOT NULL,
  chain_key VARCHAR NOT NULL,
  chain_name VARCHAR NOT NULL,
  display_name VARCHAR NOT NULL,
  xchain_eid BIGINT NOT NULL,
  vm_type VARCHAR(32) NOT NULL,
  native_chain_id BIGINT,
  native_currency_symbol VARCHAR NOT NULL,
  chain_layer VARCHAR NOT NULL,
  environment VARCHAR(32) NOT NULL,
  status VARCHAR(32) NOT NULL,
  priority INTEGER NOT NULL,
  is_signum_deployed BOOLEAN NOT NULL,
  rpc_url VARCHAR,
  explorer_url VARCHAR,
  height BIGINT,
  safe_height BIGINT,
  final_height BIGINT,
  lag BIGINT,
  checked_at TIMESTAMP WITH TIME ZONE,
  last_error VARCHAR,
  missing VARCHAR,
  CONSTRAINT pk_chains PRIMARY KEY (id),
  CONSTRAINT uq_chains_chain_key UNIQUE (chain_key),
  CONSTRAINT uq_chains_xchain_eid UNIQUE (xchain_eid),
  CONSTRAINT ck_chains_vmtype CHECK (vm_type IN ('evm', 'solana')),
  CONSTRAINT ck_chains_environment CHECK (environment IN ('mainnet', 'testnet', 'devnet')),
  CONSTRAINT ck_chains_chainstatus CHECK (status IN ('active', 'degraded', 'down'))
);

CREATE TABLE chain_contracts (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_eid BIGINT NOT NULL,
  name VARCHAR NOT NULL,
  address VARCHAR NOT NULL,
  tx_hash VARCHAR,
  block_number BIGINT,
  CONSTRAINT pk_chain_contracts PRIMARY KEY (id),
  CONSTRAINT uq_chain_contracts_chain_eid_name UNIQUE (chain_eid, name)
);

CREATE TABLE signers (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_eid BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  next_nonce BIGINT NOT NULL,
  CONSTRAINT pk_signers PRIMARY KEY (id),
  CONSTRAINT uq_signers_chain_eid_address UNIQUE (chain_eid, address)
);

CREATE TABLE cursors (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_eid BIGINT NOT NULL,
  stream VARCHAR NOT NULL,
  block_number BIGINT NOT NULL,
  block_hash VARCHAR NOT NULL,
  revision BIGINT NOT NULL,
  asked BIGINT NOT NULL,
  served BIGINT NOT NULL,
  CONSTRAINT pk_cursors PRIMARY KEY (id),
  CONSTRAINT uq_cursors_chain_eid_stream UNIQUE (chain_eid, stream)
);

CREATE TABLE followed_contracts (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_eid BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  read_to BIGINT,
  CONSTRAINT pk_followed_contracts PRIMARY KEY (id),
  CONSTRAINT uq_followed_contracts_chain_eid_address UNIQUE (chain_eid, address)
);

CREATE TABLE chain_alarms (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  chain_eid BIGINT NOT NULL,
  kind VARCHAR(32) NOT NULL,
  subject VARCHAR NOT NULL,
  detail VARCHAR NOT NULL,
  CONSTRAINT pk_chain_alarms PRIMARY KEY (id),
  CONSTRAINT uq_chain_alarms_chain_eid_kind_subject UNIQUE (chain_eid, kind, subject),
  CONSTRAINT ck_chain_alarms_alarmkind CHECK (kind IN ('deep_reorg', 'difference', 'executed_twice', 'unreadable'))
);

CREATE TABLE executor_leases (
  id VARCHAR NOT NULL,
  epoch INTEGER NOT NULL,
  progress BIGINT NOT NULL,
  joined_at TIMESTAMP WITH TIME ZONE NOT NULL,
  renewed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_executor_leases PRIMARY KEY (id)
);

CREATE INDEX ix_executor_leases_renewed_at ON executor_leases (renewed_at);

CREATE TABLE organizations (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  name VARCHAR NOT NULL,
  status VARCHAR(32) NOT NULL,
  parent_id UUID,
  origin_id UUID,
  email VARCHAR,
  org_type VARCHAR,
  description VARCHAR,
  website VARCHAR,
  jurisdiction VARCHAR,
  logo_url VARCHAR,
  banner_url VARCHAR,
  network VARCHAR(32) NOT NULL,
  member_requirements JSONB NOT NULL,
  approvals TEXT[] NOT NULL,
  approver_wait_hours INTEGER NOT NULL,
  require_second_factor BOOLEAN NOT NULL,
  require_if_match BOOLEAN NOT NULL,
  allowed_ip_ranges TEXT[] NOT NULL,
  CONSTRAINT pk_organizations PRIMARY KEY (id),
  CONSTRAINT ck_organizations_organizationstatus CHECK (status IN ('active', 'suspended', 'archived')),
  CONSTRAINT fk_organizations_parent_id FOREIGN KEY(parent_id) REFERENCES organizations (id),
  CONSTRAINT ck_organizations_network CHECK (network IN ('testnet', 'mainnet'))
);

CREATE INDEX ix_organizations_children ON organizations (parent_id, lower(name), id);

CREATE TABLE reconciliations (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  compared JSONB NOT NULL,
  differences JSONB NOT NULL,
  repaired JSONB NOT NULL,
  unreachable JSONB NOT NULL,
  CONSTRAINT pk_reconciliations PRIMARY KEY (id)
);

CREATE TABLE users (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  email VARCHAR,
  display_name VARCHAR,
  password_hash VARCHAR,
  is_placeholder BOOLEAN NOT NULL,
  last_login_at TIMESTAMP WITH TIME ZONE,
  origin_id UUID,
  CONSTRAINT pk_users PRIMARY KEY (id),
  CONSTRAINT uq_users_email UNIQUE (email)
);

CREATE TABLE assets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  name VARCHAR NOT NULL,
  symbol VARCHAR NOT NULL,
  description VARCHAR,
  decimals INTEGER NOT NULL,
  nominal_value VARCHAR,
  initial_supply NUMERIC(78, 0) NOT NULL,
  status VARCHAR(32) NOT NULL,
  regulation_type VARCHAR(32) NOT NULL,
  compliance_rules JSONB NOT NULL,
  max_holders BIGINT NOT NULL,
  required_kyc_level INTEGER NOT NULL,
  org_only BOOLEAN NOT NULL,
  cap_shares JSONB NOT NULL,
  request_id UUID,
  failure VARCHAR,
  CONSTRAINT pk_assets PRIMARY KEY (id),
  CONSTRAINT fk_assets_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_assets_assetstatus CHECK (status IN ('draft', 'deploying', 'active', 'updating', 'failed', 'archived')),
  CONSTRAINT ck_assets_regulationtype CHECK (regulation_type IN ('reg_d', 'reg_s', 'reg_a_plus', 'reg_cf', 'none'))
);

CREATE INDEX ix_assets_by_updated_at ON assets (organization_id, updated_at, id);

CREATE INDEX ix_assets_organization_id ON assets (organization_id);

CREATE INDEX ix_assets_by_created_at ON assets (organization_id, created_at, id);

CREATE INDEX ix_assets_by_name ON assets (organization_id, lower(name), id);

CREATE UNIQUE INDEX uq_assets_symbol ON assets (organization_id, symbol) WHERE status <> 'archived';

CREATE TABLE one_time_secrets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  purpose VARCHAR NOT NULL,
  secret_hash VARCHAR NOT NULL,
  user_id UUID,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  used_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_one_time_secrets PRIMARY KEY (id),
  CONSTRAINT uq_one_time_secrets_secret_hash UNIQUE (secret_hash),
  CONSTRAINT fk_one_time_secrets_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_one_time_secrets_user_id ON one_time_secrets (user_id);

CREATE TABLE oauth_clients (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  name VARCHAR NOT NULL,
  kind VARCHAR(32) NOT NULL,
  redirect_uris TEXT[] NOT NULL,
  backchannel_logout_uri VARCHAR,
  scopes TEXT[] NOT NULL,
  secret_hash VARCHAR,
  created_by UUID,
  maker_key_id UUID,
  maker_grant_id UUID,
  revoked_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_oauth_clients PRIMARY KEY (id),
  CONSTRAINT fk_oauth_clients_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_oauth_clients_clientkind CHECK (kind IN ('confidential', 'public')),
  CONSTRAINT fk_oauth_clients_created_by FOREIGN KEY(created_by) REFERENCES users (id)
);

CREATE INDEX ix_oauth_clients_organization_id ON oauth_clients (organization_id);

CREATE INDEX ix_oauth_clients_by_updated_at ON oauth_clients (organization_id, updated_at, id);

CREATE INDEX ix_oauth_clients_by_created_at ON oauth_clients (organization_id, created_at, id);

CREATE TABLE transactions (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID,
  request_id UUID,
  key VARCHAR NOT NULL,
  chain_eid BIGINT NOT NULL,
  signer VARCHAR NOT NULL,
  nonce BIGINT NOT NULL,
  to_address VARCHAR,
  data VARCHAR NOT NULL,
  value NUMERIC(78, 0) NOT NULL,
  gas BIGINT NOT NULL,
  max_fee NUMERIC(78, 0) NOT NULL,
  tip NUMERIC(78, 0) NOT NULL,
  raw VARCHAR NOT NULL,
  tx_hash VARCHAR NOT NULL,
  earlier JSONB NOT NULL,
  sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
  status VARCHAR(32) NOT NULL,
  block_number BIGINT,
  block_hash VARCHAR,
  receipt JSONB,
  problem JSONB,
  label VARCHAR NOT NULL,
  finality VARCHAR(32),
  taken_since TIMESTAMP WITH TIME ZONE,
  taken_sightings INTEGER NOT NULL,
  reopened_at TIMESTAMP WITH TIME ZONE,
  reopened_receipt JSONB,
  is_check_due BOOLEAN NOT NULL,
  CONSTRAINT pk_transactions PRIMARY KEY (id),
  CONSTRAINT uq_transactions_key UNIQUE (key),
  CONSTRAINT uq_transactions_chain_eid_signer_nonce UNIQUE (chain_eid, signer, nonce),
  CONSTRAINT fk_transactions_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_transactions_transactionstatus CHECK (status IN ('pending', 'submitting', 'confirmed', 'failed')),
  CONSTRAINT ck_transactions_finality CHECK (finality IN ('included', 'safe', 'final'))
);

CREATE INDEX ix_transactions_request_id ON transactions (request_id);

CREATE INDEX ix_transactions_unmined ON transactions (chain_eid) WHERE status = 'failed' and block_number is null;

CREATE INDEX ix_transactions_tx_hash ON transactions (tx_hash);

CREATE INDEX ix_transactions_block ON transactions (chain_eid, block_number);

CREATE INDEX ix_transactions_due ON transactions (chain_eid) WHERE is_check_due;

CREATE INDEX ix_transactions_unsettled ON transactions (chain_eid) WHERE finality in ('included', 'safe');

CREATE INDEX ix_transactions_open ON transactions (chain_eid) WHERE status in ('pending', 'submitting');

CREATE INDEX ix_transactions_organization_id ON transactions (organization_id);

CREATE INDEX ix_transactions_superseded ON transactions (split_part(key, '#failed', 1)) WHERE key like '%#failed%';

CREATE TABLE chain_events (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  arguments JSONB NOT NULL,
  tx_hash VARCHAR NOT NULL,
  log_index INTEGER NOT NULL,
  block_number BIGINT NOT NULL,
  CONSTRAINT pk_chain_events PRIMARY KEY (id),
  CONSTRAINT uq_chain_events_chain_eid_tx_hash_log_index UNIQUE (chain_eid, tx_hash, log_index),
  CONSTRAINT fk_chain_events_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id)
);

CREATE INDEX ix_chain_events_subject ON chain_events (chain_eid, address, subject, block_number, log_index);

CREATE INDEX ix_chain_events_block ON chain_events (chain_eid, block_number);

CREATE INDEX ix_chain_events_organization_id ON chain_events (organization_id);

CREATE TABLE organization_chains (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  chain_id UUID NOT NULL,
  CONSTRAINT pk_organization_chains PRIMARY KEY (id),
  CONSTRAINT uq_organization_chains_organization_id_chain_id UNIQUE (organization_id, chain_id),
  CONSTRAINT fk_organization_chains_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_organization_chains_chain_id FOREIGN KEY(chain_id) REFERENCES chains (id)
);

CREATE INDEX ix_organization_chains_chain_id ON organization_chains (chain_id);

CREATE INDEX ix_organization_chains_organization_id ON organization_chains (organization_id);

CREATE TABLE organization_days (
  organization_id UUID NOT NULL,
  day DATE NOT NULL,
  holders INTEGER NOT NULL,
  CONSTRAINT pk_organization_days PRIMARY KEY (organization_id, day),
  CONSTRAINT fk_organization_days_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id)
);

CREATE TABLE any_holder_changes (
  organization_id UUID NOT NULL,
  address VARCHAR NOT NULL,
  day DATE NOT NULL,
  change SMALLINT NOT NULL,
  CONSTRAINT pk_any_holder_changes PRIMARY KEY (organization_id, address, day),
  CONSTRAINT fk_any_holder_changes_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id)
);

CREATE INDEX ix_any_holder_changes_day ON any_holder_changes (organization_id, day) INCLUDE (change);

CREATE TABLE form_drafts (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  user_id UUID NOT NULL,
  kind VARCHAR(32) NOT NULL,
  content VARCHAR NOT NULL,
  CONSTRAINT pk_form_drafts PRIMARY KEY (id),
  CONSTRAINT uq_form_drafts_organization_id_user_id_kind UNIQUE (organization_id, user_id, kind),
  CONSTRAINT fk_form_drafts_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_form_drafts_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT ck_form_drafts_draftkind CHECK (kind IN ('market', 'asset', 'distribution'))
);

CREATE INDEX ix_form_drafts_organization_id ON form_drafts (organization_id);

CREATE INDEX ix_form_drafts_user_id ON form_drafts (user_id);

CREATE TABLE factors (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  kind VARCHAR(32) NOT NULL,
  name VARCHAR NOT NULL,
  sealed VARCHAR,
  last_step BIGINT,
  credential_id VARCHAR,
  public_key VARCHAR,
  sign_count BIGINT NOT NULL,
  transports TEXT[] NOT NULL,
  confirmed_at TIMESTAMP WITH TIME ZONE,
  last_used_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_factors PRIMARY KEY (id),
  CONSTRAINT uq_factors_user_id_credential_id UNIQUE (user_id, credential_id),
  CONSTRAINT fk_factors_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT ck_factors_factorkind CHECK (kind IN ('totp', 'passkey'))
);

CREATE INDEX ix_factors_user_id ON factors (user_id);

CREATE TABLE recovery_codes (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  code_hash VARCHAR NOT NULL,
  used_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_recovery_codes PRIMARY KEY (id),
  CONSTRAINT uq_recovery_codes_user_id_code_hash UNIQUE (user_id, code_hash),
  CONSTRAINT fk_recovery_codes_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE TABLE outbox (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  kind VARCHAR(32) NOT NULL,
  share_id UUID NOT NULL,
  person_id UUID NOT NULL,
  topic VARCHAR,
  is_last BOOLEAN NOT NULL,
  recipient VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  body TEXT NOT NULL,
  opens VARCHAR,
  is_private BOOLEAN NOT NULL,
  status VARCHAR(32) NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at TIMESTAMP WITH TIME ZONE,
  sent_at TIMESTAMP WITH TIME ZONE,
  failure VARCHAR,
  CONSTRAINT pk_outbox PRIMARY KEY (id),
  CONSTRAINT fk_outbox_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_outbox_mailkind CHECK (kind IN ('account', 'alarm', 'notice')),
  CONSTRAINT ck_outbox_mailstatus CHECK (status IN ('kept', 'queued', 'sent', 'failed'))
);

CREATE INDEX ix_outbox_by_created_at ON outbox (organization_id, created_at, id);

CREATE INDEX ix_outbox_topics ON outbox (recipient, topic, created_at) WHERE topic is not null;

CREATE INDEX ix_outbox_links ON outbox (opens) WHERE body <> '';

CREATE INDEX ix_outbox_organization_id ON outbox (organization_id);

CREATE INDEX ix_outbox_days ON outbox (share_id, created_at) WHERE topic is not null;

CREATE INDEX ix_outbox_age ON outbox USING brin (created_at);

CREATE INDEX ix_outbox_turns ON outbox (kind, share_id, person_id, next_attempt_at) WHERE status = 'queued';

CREATE TABLE market_announcements (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  key VARCHAR NOT NULL,
  CONSTRAINT pk_market_announcements PRIMARY KEY (id),
  CONSTRAINT uq_market_announcements_key UNIQUE (key),
  CONSTRAINT fk_market_announcements_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id)
);

CREATE INDEX ix_market_announcements_age ON market_announcements (created_at);

CREATE INDEX ix_market_announcements_organization_id ON market_announcements (organization_id);

CREATE TABLE parties (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  kind VARCHAR(32) NOT NULL,
  name VARCHAR NOT NULL,
  email VARCHAR,
  country VARCHAR NOT NULL,
  wallet_address VARCHAR,
  status VARCHAR(32) NOT NULL,
  kyc_level INTEGER NOT NULL,
  accredited BOOLEAN NOT NULL,
  reviewed_by UUID,
  reviewed_at TIMESTAMP WITH TIME ZONE,
  reason VARCHAR,
  CONSTRAINT pk_parties PRIMARY KEY (id),
  CONSTRAINT uq_parties_organization_id_wallet_address UNIQUE (organization_id, wallet_address),
  CONSTRAINT fk_parties_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_parties_partykind CHECK (kind IN ('person', 'company')),
  CONSTRAINT ck_parties_partystatus CHECK (status IN ('created', 'verifying', 'verified', 'rejected')),
  CONSTRAINT fk_parties_reviewed_by FOREIGN KEY(reviewed_by) REFERENCES users (id)
);

CREATE INDEX ix_parties_by_created_at ON parties (organization_id, created_at, id);

CREATE INDEX ix_parties_email ON parties (email);

CREATE INDEX ix_parties_organization_id ON parties (organization_id);

CREATE INDEX ix_parties_by_name ON parties (organization_id, lower(name), id);

CREATE INDEX ix_parties_by_updated_at ON parties (organization_id, updated_at, id);

CREATE TABLE party_files (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  sha256 VARCHAR(64) NOT NULL,
  media_type VARCHAR NOT NULL,
  size INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  CONSTRAINT pk_party_files PRIMARY KEY (id),
  CONSTRAINT uq_party_files_organization_id_sha256 UNIQUE (organization_id, sha256),
  CONSTRAINT fk_party_files_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id)
);

CREATE INDEX ix_party_files_organization_id ON party_files (organization_id);

CREATE INDEX ix_party_files_bytes ON party_files (organization_id) INCLUDE (size);

CREATE TABLE preferences (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  time_zone VARCHAR NOT NULL,
  digest VARCHAR(32) NOT NULL,
  digest_on DATE,
  hidden TEXT[] NOT NULL,
  seen JSONB NOT NULL,
  CONSTRAINT pk_preferences PRIMARY KEY (id),
  CONSTRAINT uq_preferences_user_id UNIQUE (user_id),
  CONSTRAINT fk_preferences_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT ck_preferences_digest CHECK (digest IN ('off', 'daily'))
);

CREATE TABLE requests (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  kind VARCHAR NOT NULL,
  title VARCHAR NOT NULL,
  status VARCHAR(32) NOT NULL,
  subject_type VARCHAR NOT NULL,
  subject_id UUID NOT NULL,
  scope VARCHAR NOT NULL,
  arguments JSONB NOT NULL,
  problem JSONB,
  can_retry BOOLEAN NOT NULL,
  attempt INTEGER NOT NULL,
  created_by UUID,
  awaits_finality BOOLEAN NOT NULL,
  origin JSONB NOT NULL,
  CONSTRAINT pk_requests PRIMARY KEY (id),
  CONSTRAINT fk_requests_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_requests_requeststatus CHECK (status IN ('awaiting_approval', 'accepted', 'running', 'denied', 'succeeded', 'failed')),
  CONSTRAINT fk_requests_created_by FOREIGN KEY(created_by) REFERENCES users (id)
);

CREATE INDEX ix_requests_status ON requests (status);

CREATE INDEX ix_requests_subject_id ON requests (subject_id);

CREATE INDEX ix_requests_awaiting ON requests (id) WHERE awaits_finality;

CREATE INDEX ix_requests_by_created_at ON requests (organization_id, created_at, id);

CREATE INDEX ix_requests_organization_id ON requests (organization_id);

CREATE INDEX ix_requests_by_updated_at ON requests (organization_id, updated_at, id);

CREATE TABLE saved_views (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  user_id UUID NOT NULL,
  page VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  query VARCHAR NOT NULL,
  CONSTRAINT pk_saved_views PRIMARY KEY (id),
  CONSTRAINT uq_saved_views_organization_id_user_id_page_name UNIQUE (organization_id, user_id, page, name),
  CONSTRAINT fk_saved_views_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_saved_views_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_saved_views_by_created_at_of_user_id ON saved_views (user_id, created_at, id);

CREATE INDEX ix_saved_views_organization_id ON saved_views (organization_id);

CREATE TABLE user_wallets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  address VARCHAR NOT NULL,
  chain_eid BIGINT,
  CONSTRAINT pk_user_wallets PRIMARY KEY (id),
  CONSTRAINT uq_user_wallets_address UNIQUE (address),
  CONSTRAINT fk_user_wallets_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_user_wallets_user_id ON user_wallets (user_id);

CREATE TABLE wallets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  label VARCHAR NOT NULL,
  address VARCHAR NOT NULL,
  kind VARCHAR(32) NOT NULL,
  provider VARCHAR,
  key_ref VARCHAR,
  is_default BOOLEAN NOT NULL,
  CONSTRAINT pk_wallets PRIMARY KEY (id),
  CONSTRAINT uq_wallets_organization_id_address UNIQUE (organization_id, address),
  CONSTRAINT fk_wallets_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_wallets_walletkind CHECK (kind IN ('server', 'linked'))
);

CREATE UNIQUE INDEX uq_wallets_default ON wallets (organization_id) WHERE is_default;

CREATE UNIQUE INDEX uq_wallets_server_address ON wallets (address) WHERE kind = 'server';

CREATE INDEX ix_wallets_by_created_at ON wallets (organization_id, created_at, id);

CREATE INDEX ix_wallets_address ON wallets (address);

CREATE INDEX ix_wallets_by_label ON wallets (organization_id, lower(label), id);

CREATE INDEX ix_wallets_by_updated_at ON wallets (organization_id, updated_at, id);

CREATE INDEX ix_wallets_organization_id ON wallets (organization_id);

CREATE TABLE api_keys (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  name VARCHAR NOT NULL,
  scopes TEXT[] NOT NULL,
  network VARCHAR,
  key_hash VARCHAR NOT NULL,
  prefix VARCHAR NOT NULL,
  last_four VARCHAR NOT NULL,
  created_by UUID,
  parent_id UUID,
  client_id UUID,
  grant_id UUID,
  allowed_ip_ranges TEXT[] NOT NULL,
  last_used_at TIMESTAMP WITH TIME ZONE,
  expires_at TIMESTAMP WITH TIME ZONE,
  revoked_at TIMESTAMP WITH TIME ZONE,
  keeps_requests BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_api_keys PRIMARY KEY (id),
  CONSTRAINT fk_api_keys_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT uq_api_keys_key_hash UNIQUE (key_hash),
  CONSTRAINT fk_api_keys_created_by FOREIGN KEY(created_by) REFERENCES users (id),
  CONSTRAINT fk_api_keys_parent_id FOREIGN KEY(parent_id) REFERENCES api_keys (id),
  CONSTRAINT fk_api_keys_client_id FOREIGN KEY(client_id) REFERENCES oauth_clients (id)
);

CREATE INDEX ix_api_keys_organization_id ON api_keys (organization_id);

CREATE INDEX ix_api_keys_client_id ON api_keys (client_id);

CREATE INDEX ix_api_keys_grant_id ON api_keys (grant_id);

CREATE INDEX ix_api_keys_parent_id ON api_keys (parent_id);

CREATE INDEX ix_api_keys_by_updated_at ON api_keys (organization_id, updated_at, id);

CREATE INDEX ix_api_keys_by_created_at ON api_keys (organization_id, created_at, id);

CREATE TABLE asset_deployments (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  token_address VARCHAR,
  status VARCHAR(32) NOT NULL,
  tx_hash VARCHAR,
  block_number BIGINT,
  supply NUMERIC(78, 0) NOT NULL,
  applied_rules JSONB NOT NULL,
  paused BOOLEAN NOT NULL,
  venues TEXT[] NOT NULL,
  paths JSONB NOT NULL,
  CONSTRAINT pk_asset_deployments PRIMARY KEY (id),
  CONSTRAINT uq_asset_deployments_asset_id_chain_eid UNIQUE (asset_id, chain_eid),
  CONSTRAINT fk_asset_deployments_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_asset_deployments_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_asset_deployments_deploymentstatus CHECK (status IN ('deploying', 'active', 'failed'))
);

CREATE INDEX ix_asset_deployments_asset_id ON asset_deployments (asset_id);

CREATE INDEX ix_asset_deployments_token_address ON asset_deployments (token_address);

CREATE INDEX ix_asset_deployments_organization_id ON asset_deployments (organization_id);

CREATE TABLE asset_rule_sets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  version BIGINT NOT NULL,
  rules JSONB NOT NULL,
  tx_hash VARCHAR NOT NULL,
  log_index INTEGER NOT NULL,
  block_number BIGINT NOT NULL,
  CONSTRAINT pk_asset_rule_sets PRIMARY KEY (id),
  CONSTRAINT uq_asset_rule_sets_chain_eid_tx_hash_log_index UNIQUE (chain_eid, tx_hash, log_index),
  CONSTRAINT fk_asset_rule_sets_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_asset_rule_sets_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id)
);

CREATE INDEX ix_asset_rule_sets_asset_id ON asset_rule_sets (asset_id);

CREATE INDEX ix_asset_rule_sets_by_created_at_of_asset_id ON asset_rule_sets (asset_id, created_at, id);

CREATE INDEX ix_asset_rule_sets_organization_id ON asset_rule_sets (organization_id);

CREATE TABLE attestations (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  party_id UUID NOT NULL,
  wallet_address VARCHAR NOT NULL,
  chain_eid BIGINT NOT NULL,
  schema_name VARCHAR NOT NULL,
  kyc_level INTEGER NOT NULL,
  accredited BOOLEAN NOT NULL,
  country VARCHAR NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE,
  uid VARCHAR,
  status VARCHAR(32) NOT NULL,
  tx_hash VARCHAR,
  request_id UUID,
  revocation_reason VARCHAR,
  attested_at TIMESTAMP WITH TIME ZONE,
  revoked_at TIMESTAMP WITH TIME ZONE,
  failure VARCHAR,
  CONSTRAINT pk_attestations PRIMARY KEY (id),
  CONSTRAINT fk_attestations_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_attestations_party_id FOREIGN KEY(party_id) REFERENCES parties (id),
  CONSTRAINT ck_attestations_attestationstatus CHECK (status IN ('pending', 'active', 'revoked', 'expired', 'failed'))
);

CREATE INDEX ix_attestations_by_updated_at ON attestations (organization_id, updated_at, id);

CREATE INDEX ix_attestations_uid ON attestations (uid);

CREATE INDEX ix_attestations_organization_id ON attestations (organization_id);

CREATE INDEX ix_attestations_party_id ON attestations (party_id);

CREATE INDEX ix_attestations_by_created_at ON attestations (organization_id, created_at, id);

CREATE INDEX ix_attestations_wallet_address ON attestations (wallet_address);

CREATE TABLE sessions (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  organization_id UUID,
  kind VARCHAR NOT NULL,
  client_id UUID,
  client_name VARCHAR,
  opened_in UUID,
  scope VARCHAR,
  token_hash VARCHAR NOT NULL,
  user_agent VARCHAR,
  address VARCHAR,
  signed_in_at TIMESTAMP WITH TIME ZONE NOT NULL,
  factor_at TIMESTAMP WITH TIME ZONE,
  proven_at TIMESTAMP WITH TIME ZONE,
  last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
  idle_seconds INTEGER,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  revoked_at TIMESTAMP WITH TIME ZONE,
  keeps_requests BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_sessions PRIMARY KEY (id),
  CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT fk_sessions_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_sessions_client_id FOREIGN KEY(client_id) REFERENCES oauth_clients (id),
  CONSTRAINT uq_sessions_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_sessions_opened_in ON sessions (opened_in);

CREATE INDEX ix_sessions_by_created_at_of_user_id ON sessions (user_id, created_at, id);

CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE INDEX ix_sessions_client_id ON sessions (client_id);

CREATE TABLE oauth_consents (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  user_id UUID NOT NULL,
  client_id UUID NOT NULL,
  scopes TEXT[] NOT NULL,
  CONSTRAINT pk_oauth_consents PRIMARY KEY (id),
  CONSTRAINT uq_oauth_consents_user_id_client_id UNIQUE (user_id, client_id),
  CONSTRAINT fk_oauth_consents_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT fk_oauth_consents_client_id FOREIGN KEY(client_id) REFERENCES oauth_clients (id)
);

CREATE TABLE bridges (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  source_chain_eid BIGINT NOT NULL,
  destination_chain_eid BIGINT NOT NULL,
  status VARCHAR(32) NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  to_address VARCHAR,
  guid VARCHAR,
  source_tx_hash VARCHAR,
  destination_tx_hash VARCHAR,
  arrived_at TIMESTAMP WITH TIME ZONE,
  failure VARCHAR,
  attempts INTEGER NOT NULL,
  request_id UUID,
  return_request_id UUID,
  returned_at TIMESTAMP WITH TIME ZONE,
  return_tx_hash VARCHAR,
  checked_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_bridges PRIMARY KEY (id),
  CONSTRAINT uq_bridges_organization_id_created_at UNIQUE (organization_id, created_at),
  CONSTRAINT fk_bridges_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_bridges_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_bridges_bridgestatus CHECK (status IN ('pending', 'submitting', 'confirmed', 'failed')),
  CONSTRAINT uq_bridges_guid UNIQUE (guid)
);

CREATE INDEX ix_bridges_by_updated_at ON bridges (organization_id, updated_at, id);

CREATE INDEX ix_bridges_organization_id ON bridges (organization_id);

CREATE INDEX ix_bridges_asset_id ON bridges (asset_id);

CREATE INDEX ix_bridges_by_created_at ON bridges (organization_id, created_at, id);

CREATE TABLE token_transfers (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  from_address VARCHAR NOT NULL,
  to_address VARCHAR NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  tx_hash VARCHAR NOT NULL,
  log_index INTEGER NOT NULL,
  block_number BIGINT NOT NULL,
  CONSTRAINT pk_token_transfers PRIMARY KEY (id),
  CONSTRAINT uq_token_transfers_chain_eid_tx_hash_log_index UNIQUE (chain_eid, tx_hash, log_index),
  CONSTRAINT fk_token_transfers_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_token_transfers_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id)
);

CREATE INDEX ix_token_transfers_organization_id ON token_transfers (organization_id);

CREATE INDEX ix_token_transfers_from_address ON token_transfers (from_address);

CREATE INDEX ix_token_transfers_time ON token_transfers (asset_id, created_at);

CREATE INDEX ix_token_transfers_to_address ON token_transfers (to_address);

CREATE TABLE asset_days (
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  day DATE NOT NULL,
  mints INTEGER NOT NULL,
  burns INTEGER NOT NULL,
  transfers INTEGER NOT NULL,
  minted NUMERIC(78, 0) NOT NULL,
  burnt NUMERIC(78, 0) NOT NULL,
  holders INTEGER NOT NULL,
  CONSTRAINT pk_asset_days PRIMARY KEY (asset_id, day),
  CONSTRAINT fk_asset_days_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_asset_days_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id)
);

CREATE INDEX ix_asset_days_organization_id ON asset_days (organization_id);

CREATE TABLE holder_changes (
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  address VARCHAR NOT NULL,
  day DATE NOT NULL,
  change SMALLINT NOT NULL,
  CONSTRAINT pk_holder_changes PRIMARY KEY (asset_id, address, day),
  CONSTRAINT fk_holder_changes_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_holder_changes_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id)
);

CREATE INDEX ix_holder_changes_address ON holder_changes (organization_id, address);

CREATE INDEX ix_holder_changes_day ON holder_changes (asset_id, day) INCLUDE (change);

CREATE TABLE daily_limits (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  action VARCHAR(32) NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  CONSTRAINT pk_daily_limits PRIMARY KEY (id),
  CONSTRAINT uq_daily_limits_asset_id_action UNIQUE (asset_id, action),
  CONSTRAINT fk_daily_limits_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_daily_limits_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_daily_limits_limitedaction CHECK (action IN ('mint', 'transfer', 'burn', 'forced_transfer'))
);

CREATE INDEX ix_daily_limits_organization_id ON daily_limits (organization_id);

CREATE TABLE daily_uses (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  action VARCHAR(32) NOT NULL,
  request_id UUID NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  used_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_daily_uses PRIMARY KEY (id),
  CONSTRAINT fk_daily_uses_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_daily_uses_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_daily_uses_limitedaction CHECK (action IN ('mint', 'transfer', 'burn', 'forced_transfer')),
  CONSTRAINT uq_daily_uses_request_id UNIQUE (request_id),
  CONSTRAINT fk_daily_uses_request_id FOREIGN KEY(request_id) REFERENCES requests (id)
);

CREATE INDEX ix_daily_uses_organization_id ON daily_uses (organization_id);

CREATE INDEX ix_daily_uses_window ON daily_uses (asset_id, action, used_at);

CREATE TABLE distributions (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  name VARCHAR NOT NULL,
  chain_eid BIGINT NOT NULL,
  status VARCHAR(32) NOT NULL,
  merkle_root VARCHAR,
  total_recipients BIGINT,
  total_amount NUMERIC(78, 0) NOT NULL,
  claimed_recipients BIGINT NOT NULL,
  claimed_amount NUMERIC(78, 0) NOT NULL,
  has_recipients BOOLEAN NOT NULL,
  excluded_recipients BIGINT NOT NULL,
  held_recipients BIGINT NOT NULL,
  currency_address VARCHAR,
  currency_symbol VARCHAR,
  currency_decimals INTEGER,
  held_of UUID,
  distributor_address VARCHAR,
  block_number BIGINT,
  activated_at TIMESTAMP WITH TIME ZONE,
  ended_block BIGINT,
  request_id UUID,
  failure VARCHAR,
  CONSTRAINT pk_distributions PRIMARY KEY (id),
  CONSTRAINT fk_distributions_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_distributions_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_distributions_distributionstatus CHECK (status IN ('draft', 'activating', 'active', 'completed', 'cancelled')),
  CONSTRAINT fk_distributions_held_of FOREIGN KEY(held_of) REFERENCES distributions (id) ON DELETE SET NULL
);

CREATE INDEX ix_distributions_organization_id ON distributions (organization_id);

CREATE INDEX ix_distributions_by_updated_at ON distributions (organization_id, updated_at, id);

CREATE INDEX ix_distributions_by_created_at ON distributions (organization_id, created_at, id);

CREATE INDEX ix_distributions_asset_id ON distributions (asset_id);

CREATE INDEX ix_distributions_held_of ON distributions (held_of);

CREATE INDEX ix_distributions_recipients ON distributions (organization_id) INCLUDE (total_recipients, held_recipients) WHERE has_recipients;

CREATE INDEX ix_distributions_distributor_address ON distributions (distributor_address);

CREATE TABLE issuers (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  name VARCHAR NOT NULL,
  max_kyc_level INTEGER NOT NULL,
  can_revoke_others BOOLEAN NOT NULL,
  wallet_id UUID NOT NULL,
  request_id UUID,
  CONSTRAINT pk_issuers PRIMARY KEY (id),
  CONSTRAINT uq_issuers_organization_id UNIQUE (organization_id),
  CONSTRAINT fk_issuers_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_issuers_wallet_id FOREIGN KEY(wallet_id) REFERENCES wallets (id)
);

CREATE INDEX ix_issuers_organization_id ON issuers (organization_id);

CREATE TABLE party_file_parts (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  file_id UUID NOT NULL,
  number INTEGER NOT NULL,
  sealed BYTEA NOT NULL,
  CONSTRAINT pk_party_file_parts PRIMARY KEY (id),
  CONSTRAINT uq_party_file_parts_file_id_number UNIQUE (file_id, number),
  CONSTRAINT fk_party_file_parts_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_party_file_parts_file_id FOREIGN KEY(file_id) REFERENCES party_files (id)
);

CREATE INDEX ix_party_file_parts_organization_id ON party_file_parts (organization_id);

CREATE TABLE party_documents (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  party_id UUID NOT NULL,
  file_id UUID NOT NULL,
  kind VARCHAR(32) NOT NULL,
  name VARCHAR NOT NULL,
  uploaded_by UUID,
  is_from_investor BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_party_documents PRIMARY KEY (id),
  CONSTRAINT uq_party_documents_party_id_file_id UNIQUE (party_id, file_id),
  CONSTRAINT fk_party_documents_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_party_documents_party_id FOREIGN KEY(party_id) REFERENCES parties (id),
  CONSTRAINT fk_party_documents_file_id FOREIGN KEY(file_id) REFERENCES party_files (id),
  CONSTRAINT ck_party_documents_documentkind CHECK (kind IN ('passport', 'id_card', 'proof_of_address', 'company_register', 'source_of_funds', 'other')),
  CONSTRAINT fk_party_documents_uploaded_by FOREIGN KEY(uploaded_by) REFERENCES users (id)
);

CREATE INDEX ix_party_documents_by_created_at_of_party_id ON party_documents (party_id, created_at, id);

CREATE INDEX ix_party_documents_organization_id ON party_documents (organization_id);

CREATE TABLE request_steps (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  request_id UUID NOT NULL,
  position INTEGER NOT NULL,
  name VARCHAR NOT NULL,
  title VARCHAR NOT NULL,
  status VARCHAR(32) NOT NULL,
  started_at TIMESTAMP WITH TIME ZONE,
  finished_at TIMESTAMP WITH TIME ZONE,
  chain_eid BIGINT,
  tx_hash VARCHAR,
  detail VARCHAR,
  CONSTRAINT pk_request_steps PRIMARY KEY (id),
  CONSTRAINT uq_request_steps_request_id_name UNIQUE (request_id, name),
  CONSTRAINT fk_request_steps_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_request_steps_request_id FOREIGN KEY(request_id) REFERENCES requests (id),
  CONSTRAINT ck_request_steps_stepstatus CHECK (status IN ('waiting', 'running', 'succeeded', 'failed'))
);

CREATE INDEX ix_request_steps_organization_id ON request_steps (organization_id);

CREATE INDEX ix_request_steps_request_id ON request_steps (request_id);

CREATE TABLE transfers (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  from_wallet_id UUID,
  from_address VARCHAR NOT NULL,
  to_address VARCHAR NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  status VARCHAR(32) NOT NULL,
  tx_hash VARCHAR,
  failure VARCHAR,
  request_id UUID,
  CONSTRAINT pk_transfers PRIMARY KEY (id),
  CONSTRAINT fk_transfers_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_transfers_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT fk_transfers_from_wallet_id FOREIGN KEY(from_wallet_id) REFERENCES wallets (id) ON DELETE SET NULL,
  CONSTRAINT ck_transfers_transferstatus CHECK (status IN ('pending', 'submitting', 'confirmed', 'failed'))
);

CREATE INDEX ix_transfers_asset_id ON transfers (asset_id);

CREATE INDEX ix_transfers_from_wallet_id ON transfers (from_wallet_id);

CREATE INDEX ix_transfers_by_updated_at ON transfers (organization_id, updated_at, id);

CREATE INDEX ix_transfers_organization_id ON transfers (organization_id);

CREATE INDEX ix_transfers_by_created_at ON transfers (organization_id, created_at, id);

CREATE TABLE refresh_tokens (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  session_id UUID NOT NULL,
  token_hash VARCHAR NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  used_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_refresh_tokens PRIMARY KEY (id),
  CONSTRAINT fk_refresh_tokens_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
  CONSTRAINT uq_refresh_tokens_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_refresh_tokens_session_id ON refresh_tokens (session_id);

CREATE TABLE oauth_codes (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  code_hash VARCHAR NOT NULL,
  client_id UUID NOT NULL,
  user_id UUID NOT NULL,
  session_id UUID NOT NULL,
  grant_id UUID,
  redirect_uri VARCHAR NOT NULL,
  scope VARCHAR NOT NULL,
  nonce VARCHAR,
  code_challenge VARCHAR NOT NULL,
  signed_in_at TIMESTAMP WITH TIME ZONE NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_oauth_codes PRIMARY KEY (id),
  CONSTRAINT uq_oauth_codes_code_hash UNIQUE (code_hash),
  CONSTRAINT fk_oauth_codes_client_id FOREIGN KEY(client_id) REFERENCES oauth_clients (id),
  CONSTRAINT fk_oauth_codes_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT fk_oauth_codes_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
  CONSTRAINT fk_oauth_codes_grant_id FOREIGN KEY(grant_id) REFERENCES sessions (id)
);

CREATE INDEX ix_oauth_codes_expires_at ON oauth_codes (expires_at);

CREATE TABLE distribution_recipients (
  organization_id UUID NOT NULL,
  distribution_id UUID NOT NULL,
  index BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  node BIGINT NOT NULL,
  CONSTRAINT pk_distribution_recipients PRIMARY KEY (distribution_id, index),
  CONSTRAINT uq_distribution_recipients_distribution_id_address UNIQUE (distribution_id, address),
  CONSTRAINT fk_distribution_recipients_distribution_id FOREIGN KEY(distribution_id) REFERENCES distributions (id) ON DELETE CASCADE
);

CREATE TABLE distribution_held_recipients (
  organization_id UUID NOT NULL,
  distribution_id UUID NOT NULL,
  index BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  reasons VARCHAR NOT NULL,
  released_by UUID,
  CONSTRAINT pk_distribution_held_recipients PRIMARY KEY (distribution_id, index),
  CONSTRAINT fk_distribution_held_recipients_distribution_id FOREIGN KEY(distribution_id) REFERENCES distributions (id) ON DELETE CASCADE,
  CONSTRAINT fk_distribution_held_recipients_released_by FOREIGN KEY(released_by) REFERENCES distributions (id) ON DELETE SET NULL
);

CREATE INDEX ix_distribution_held_recipients_released_by ON distribution_held_recipients (released_by);

CREATE TABLE distribution_tree_parts (
  organization_id UUID NOT NULL,
  distribution_id UUID NOT NULL,
  part INTEGER NOT NULL,
  nodes BYTEA NOT NULL,
  CONSTRAINT pk_distribution_tree_parts PRIMARY KEY (distribution_id, part),
  CONSTRAINT fk_distribution_tree_parts_distribution_id FOREIGN KEY(distribution_id) REFERENCES distributions (id) ON DELETE CASCADE
);

CREATE TABLE distribution_claims (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  distribution_id UUID NOT NULL,
  index BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  tx_hash VARCHAR NOT NULL,
  log_index INTEGER NOT NULL,
  block_number BIGINT NOT NULL,
  CONSTRAINT pk_distribution_claims PRIMARY KEY (id),
  CONSTRAINT uq_distribution_claims_distribution_id_index UNIQUE (distribution_id, index),
  CONSTRAINT fk_distribution_claims_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_distribution_claims_distribution_id FOREIGN KEY(distribution_id) REFERENCES distributions (id)
);

CREATE INDEX ix_distribution_claims_block_number ON distribution_claims (block_number);

CREATE INDEX ix_distribution_claims_organization_id ON distribution_claims (organization_id);

CREATE TABLE invitations (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  email VARCHAR NOT NULL,
  role VARCHAR(32) NOT NULL,
  status VARCHAR(32) NOT NULL,
  token_hash VARCHAR NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  invited_by UUID,
  agreed_by UUID,
  maker_key_id UUID,
  maker_grant_id UUID,
  CONSTRAINT pk_invitations PRIMARY KEY (id),
  CONSTRAINT fk_invitations_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_invitations_role CHECK (role IN ('admin', 'compliance_officer', 'member', 'viewer', 'client')),
  CONSTRAINT ck_invitations_invitationstatus CHECK (status IN ('pending', 'accepted', 'expired', 'revoked')),
  CONSTRAINT uq_invitations_token_hash UNIQUE (token_hash),
  CONSTRAINT fk_invitations_invited_by FOREIGN KEY(invited_by) REFERENCES users (id),
  CONSTRAINT fk_invitations_agreed_by FOREIGN KEY(agreed_by) REFERENCES users (id),
  CONSTRAINT fk_invitations_maker_key_id FOREIGN KEY(maker_key_id) REFERENCES api_keys (id)
);

CREATE INDEX ix_invitations_organization_id ON invitations (organization_id);

CREATE INDEX ix_invitations_by_updated_at ON invitations (organization_id, updated_at, id);

CREATE INDEX ix_invitations_by_created_at ON invitations (organization_id, created_at, id);

CREATE UNIQUE INDEX uq_invitations_pending ON invitations (organization_id, email) WHERE status = 'pending';

CREATE TABLE issuer_wallets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  issuer_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  address VARCHAR NOT NULL,
  status VARCHAR(32) NOT NULL,
  tx_hash VARCHAR,
  CONSTRAINT pk_issuer_wallets PRIMARY KEY (id),
  CONSTRAINT uq_issuer_wallets_issuer_id_chain_eid UNIQUE (issuer_id, chain_eid),
  CONSTRAINT fk_issuer_wallets_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_issuer_wallets_issuer_id FOREIGN KEY(issuer_id) REFERENCES issuers (id),
  CONSTRAINT ck_issuer_wallets_issuerstatus CHECK (status IN ('pending', 'registered', 'failed'))
);

CREATE INDEX ix_issuer_wallets_organization_id ON issuer_wallets (organization_id);

CREATE TABLE markets (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  asset_id UUID NOT NULL,
  chain_eid BIGINT NOT NULL,
  status VARCHAR(32) NOT NULL,
  request_id UUID,
  bridge_id UUID,
  market_address VARCHAR,
  block_number BIGINT,
  rwa_token_address VARCHAR,
  market_factory_address VARCHAR NOT NULL,
  quote_token_address VARCHAR,
  quote_symbol VARCHAR,
  quote_decimals INTEGER,
  regulation_type VARCHAR(32) NOT NULL,
  min_kyc_level INTEGER NOT NULL,
  requires_accreditation BOOLEAN NOT NULL,
  blocked_countries TEXT[] NOT NULL,
  lockup_end_time BIGINT NOT NULL,
  max_holders BIGINT NOT NULL,
  max_tokens_per_holder NUMERIC(78, 0) NOT NULL,
  taker_fee_bps INTEGER NOT NULL,
  maker_fee_bps INTEGER NOT NULL,
  failure VARCHAR,
  is_halted BOOLEAN NOT NULL,
  halt_reason VARCHAR,
  volume NUMERIC(78, 0) NOT NULL,
  last_price NUMERIC(78, 0),
  last_trade_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_markets PRIMARY KEY (id),
  CONSTRAINT fk_markets_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_markets_asset_id FOREIGN KEY(asset_id) REFERENCES assets (id),
  CONSTRAINT ck_markets_marketstatus CHECK (status IN ('pending_bridge', 'deploying', 'active', 'halted', 'failed')),
  CONSTRAINT fk_markets_bridge_id FOREIGN KEY(bridge_id) REFERENCES bridges (id),
  CONSTRAINT ck_markets_regulationtype CHECK (regulation_type IN ('reg_d', 'reg_s', 'reg_a_plus', 'reg_cf', 'none'))
);

CREATE INDEX ix_markets_by_updated_at ON markets (organization_id, updated_at, id);

CREATE INDEX ix_markets_by_created_at ON markets (organization_id, created_at, id);

CREATE UNIQUE INDEX uq_markets_live ON markets (asset_id, chain_eid) WHERE status <> 'failed';

CREATE INDEX ix_markets_organization_id ON markets (organization_id);

CREATE INDEX ix_markets_market_address ON markets (market_address);

CREATE INDEX ix_markets_asset_id ON markets (asset_id);

CREATE TABLE approvals (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  request_id UUID NOT NULL,
  status VARCHAR(32) NOT NULL,
  call JSONB NOT NULL,
  asked_by UUID,
  asked_with UUID,
  asked_grant UUID,
  asked_application VARCHAR,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  decided_by UUID,
  decided_at TIMESTAMP WITH TIME ZONE,
  reason VARCHAR,
  plan JSONB,
  plan_at_request JSONB,
  planned_at TIMESTAMP WITH TIME ZONE,
  executes JSONB,
  cause VARCHAR,
  CONSTRAINT pk_approvals PRIMARY KEY (id),
  CONSTRAINT fk_approvals_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT uq_approvals_request_id UNIQUE (request_id),
  CONSTRAINT fk_approvals_request_id FOREIGN KEY(request_id) REFERENCES requests (id),
  CONSTRAINT ck_approvals_approvalstatus CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  CONSTRAINT fk_approvals_asked_by FOREIGN KEY(asked_by) REFERENCES users (id),
  CONSTRAINT fk_approvals_asked_with FOREIGN KEY(asked_with) REFERENCES api_keys (id),
  CONSTRAINT fk_approvals_decided_by FOREIGN KEY(decided_by) REFERENCES users (id)
);

CREATE INDEX ix_approvals_status ON approvals (status);

CREATE INDEX ix_approvals_by_created_at ON approvals (organization_id, created_at, id);

CREATE INDEX ix_approvals_by_updated_at ON approvals (organization_id, updated_at, id);

CREATE INDEX ix_approvals_organization_id ON approvals (organization_id);

CREATE TABLE members (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  user_id UUID NOT NULL,
  role VARCHAR(32) NOT NULL,
  status VARCHAR(32) NOT NULL,
  email VARCHAR,
  display_name VARCHAR,
  wallet_address VARCHAR,
  chain_eid BIGINT,
  asked_user_id UUID,
  added_by UUID,
  appointed_by UUID,
  agreed_by UUID,
  placed_by UUID[] DEFAULT '{}' NOT NULL,
  maker_key_id UUID,
  maker_grant_id UUID,
  appointed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
  CONSTRAINT pk_members PRIMARY KEY (id),
  CONSTRAINT uq_members_organization_id_user_id UNIQUE (organization_id, user_id),
  CONSTRAINT fk_members_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_members_user_id FOREIGN KEY(user_id) REFERENCES users (id),
  CONSTRAINT ck_members_role CHECK (role IN ('admin', 'compliance_officer', 'member', 'viewer', 'client')),
  CONSTRAINT ck_members_memberstatus CHECK (status IN ('pending', 'active', 'inactive')),
  CONSTRAINT fk_members_added_by FOREIGN KEY(added_by) REFERENCES users (id),
  CONSTRAINT fk_members_appointed_by FOREIGN KEY(appointed_by) REFERENCES users (id),
  CONSTRAINT fk_members_agreed_by FOREIGN KEY(agreed_by) REFERENCES users (id),
  CONSTRAINT fk_members_maker_key_id FOREIGN KEY(maker_key_id) REFERENCES api_keys (id)
);

CREATE INDEX ix_members_by_created_at ON members (organization_id, created_at, id);

CREATE UNIQUE INDEX uq_members_pending_user ON members (asked_user_id, organization_id) WHERE status = 'pending';

CREATE INDEX ix_members_organization_id ON members (organization_id);

CREATE UNIQUE INDEX uq_members_pending_wallet ON members (wallet_address, organization_id) WHERE status = 'pending';

CREATE INDEX ix_members_by_updated_at ON members (organization_id, updated_at, id);

CREATE INDEX ix_members_user_id ON members (user_id);

CREATE TABLE webhook_endpoints (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  url VARCHAR NOT NULL,
  event_types TEXT[] NOT NULL,
  description VARCHAR,
  include_descendants BOOLEAN NOT NULL,
  status VARCHAR(32) NOT NULL,
  disabled_reason VARCHAR,
  disabled_at TIMESTAMP WITH TIME ZONE,
  disabled_by UUID,
  secret VARCHAR NOT NULL,
  old_secrets JSONB NOT NULL,
  parent_id UUID,
  client_id UUID,
  grant_id UUID,
  made_by UUID,
  last_success_at TIMESTAMP WITH TIME ZONE,
  last_failure_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_webhook_endpoints PRIMARY KEY (id),
  CONSTRAINT fk_webhook_endpoints_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT ck_webhook_endpoints_endpointstatus CHECK (status IN ('enabled', 'disabled')),
  CONSTRAINT fk_webhook_endpoints_disabled_by FOREIGN KEY(disabled_by) REFERENCES users (id),
  CONSTRAINT fk_webhook_endpoints_parent_id FOREIGN KEY(parent_id) REFERENCES api_keys (id),
  CONSTRAINT fk_webhook_endpoints_client_id FOREIGN KEY(client_id) REFERENCES oauth_clients (id),
  CONSTRAINT fk_webhook_endpoints_made_by FOREIGN KEY(made_by) REFERENCES users (id)
);

CREATE INDEX ix_webhook_endpoints_organization_id ON webhook_endpoints (organization_id);

CREATE INDEX ix_webhook_endpoints_parent_id ON webhook_endpoints (parent_id);

CREATE INDEX ix_webhook_endpoints_by_created_at ON webhook_endpoints (organization_id, created_at, id);

CREATE INDEX ix_webhook_endpoints_client_id ON webhook_endpoints (client_id);

CREATE INDEX ix_webhook_endpoints_by_updated_at ON webhook_endpoints (organization_id, updated_at, id);

CREATE TABLE approval_comments (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  approval_id UUID NOT NULL,
  user_id UUID NOT NULL,
  text VARCHAR NOT NULL,
  CONSTRAINT pk_approval_comments PRIMARY KEY (id),
  CONSTRAINT fk_approval_comments_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_approval_comments_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (id),
  CONSTRAINT fk_approval_comments_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_approval_comments_organization_id ON approval_comments (organization_id);

CREATE INDEX ix_approval_comments_approval_id ON approval_comments (approval_id);

CREATE TABLE market_days (
  organization_id UUID NOT NULL,
  market_id UUID NOT NULL,
  day DATE NOT NULL,
  trades INTEGER NOT NULL,
  open NUMERIC(78, 0) NOT NULL,
  high NUMERIC(78, 0) NOT NULL,
  low NUMERIC(78, 0) NOT NULL,
  close NUMERIC(78, 0) NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  value NUMERIC(78, 0) NOT NULL,
  last_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_market_days PRIMARY KEY (market_id, day),
  CONSTRAINT fk_market_days_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_market_days_market_id FOREIGN KEY(market_id) REFERENCES markets (id)
);

CREATE INDEX ix_market_days_organization_id ON market_days (organization_id);

CREATE TABLE orders (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  market_id UUID NOT NULL,
  request_id UUID,
  chain_order_id BIGINT,
  side VARCHAR(32) NOT NULL,
  status VARCHAR(32) NOT NULL,
  price NUMERIC(78, 0) NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  filled NUMERIC(78, 0) NOT NULL,
  maker_address VARCHAR NOT NULL,
  tx_hash VARCHAR,
  block_number BIGINT,
  failure VARCHAR,
  blocked_reason VARCHAR,
  CONSTRAINT pk_orders PRIMARY KEY (id),
  CONSTRAINT uq_orders_market_id_chain_order_id UNIQUE (market_id, chain_order_id),
  CONSTRAINT fk_orders_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_orders_market_id FOREIGN KEY(market_id) REFERENCES markets (id),
  CONSTRAINT uq_orders_request_id UNIQUE (request_id),
  CONSTRAINT ck_orders_orderside CHECK (side IN ('buy', 'sell')),
  CONSTRAINT ck_orders_orderstatus CHECK (status IN ('pending', 'open', 'partial', 'filled', 'cancelled', 'failed'))
);

CREATE INDEX ix_orders_by_created_at_of_market_id ON orders (market_id, created_at, id);

CREATE INDEX ix_orders_by_updated_at_of_market_id ON orders (market_id, updated_at, id);

CREATE INDEX ix_orders_organization_id ON orders (organization_id);

CREATE INDEX ix_orders_maker_address ON orders (maker_address);

CREATE INDEX ix_orders_open ON orders (market_id) WHERE status in ('open', 'partial');

CREATE INDEX ix_orders_market_id ON orders (market_id);

CREATE TABLE trades (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  market_id UUID NOT NULL,
  maker_chain_id BIGINT NOT NULL,
  taker_chain_id BIGINT NOT NULL,
  price NUMERIC(78, 0) NOT NULL,
  amount NUMERIC(78, 0) NOT NULL,
  taker_fee NUMERIC(78, 0) NOT NULL,
  maker_fee NUMERIC(78, 0) NOT NULL,
  tx_hash VARCHAR NOT NULL,
  log_index INTEGER NOT NULL,
  block_number BIGINT NOT NULL,
  CONSTRAINT pk_trades PRIMARY KEY (id),
  CONSTRAINT uq_trades_market_id_tx_hash_log_index UNIQUE (market_id, tx_hash, log_index),
  CONSTRAINT fk_trades_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_trades_market_id FOREIGN KEY(market_id) REFERENCES markets (id)
);

CREATE INDEX ix_trades_maker ON trades (market_id, maker_chain_id);

CREATE INDEX ix_trades_taker ON trades (market_id, taker_chain_id);

CREATE INDEX ix_trades_time ON trades (market_id, created_at);

CREATE INDEX ix_trades_place ON trades (market_id, block_number, log_index);

CREATE INDEX ix_trades_organization_id ON trades (organization_id);

CREATE TABLE webhook_deliveries (
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  organization_id UUID NOT NULL,
  endpoint_id UUID NOT NULL,
  event_id UUID NOT NULL,
  event_type VARCHAR NOT NULL,
  payload VARCHAR NOT NULL,
  status VARCHAR(32) NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  round_began_at TIMESTAMP WITH TIME ZONE NOT NULL,
  response_status INTEGER,
  response_body VARCHAR,
  failure VARCHAR,
  attempted_at TIMESTAMP WITH TIME ZONE,
  next_attempt_at TIMESTAMP WITH TIME ZONE,
  attempts JSONB NOT NULL,
  CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
  CONSTRAINT fk_webhook_deliveries_organization_id FOREIGN KEY(organization_id) REFERENCES organizations (id),
  CONSTRAINT fk_webhook_deliveries_endpoint_id FOREIGN KEY(endpoint_id) REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  CONSTRAINT ck_webhook_deliveries_deliverystatus CHECK (status IN ('pending', 'succeeded', 'failed'))
);

CREATE INDEX ix_webhook_deliveries_age ON webhook_deliveries (created_at);

CREATE INDEX ix_webhook_deliveries_by_created_at_of_endpoint_id ON webhook_deliveries (endpoint_id, created_at, id);

CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';

CREATE INDEX ix_webhook_deliveries_organization_id ON webhook_deliveries (organization_id);
