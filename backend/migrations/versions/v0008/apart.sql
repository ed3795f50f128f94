drop index concurrently if exists ix_organizations_approvals;
create index concurrently ix_organizations_approvals on organizations (id) where approvals <> '{}';
drop index concurrently if exists ix_webhook_endpoints_receivers;
create index concurrently ix_webhook_endpoints_receivers on webhook_endpoints (organization_id) where include_descendants;
