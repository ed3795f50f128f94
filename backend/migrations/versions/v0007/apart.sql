alter table organizations add column if not exists child_count integer default 0 not null;
drop index concurrently if exists ix_organizations_newest;
create index concurrently ix_organizations_newest on organizations (created_at, id);
