-- The service's own tables, in a schema of their own that nothing searches: :"service" stands for its name, as in psql.
-- Read from outside through the views service_v_*; the tables may change with a release.

-- The event log. Everything else about the managed schema is computed from it.
CREATE TABLE :"service".service_events (
  position      bigint      PRIMARY KEY CHECK (position > 0),
  id            uuid        NOT NULL UNIQUE,
  batch         uuid        NOT NULL,
  type          text        NOT NULL,
  version       integer     NOT NULL CHECK (version > 0),
  collection    text,
  field         text,
  data          jsonb       NOT NULL CHECK (pg_catalog.jsonb_typeof(data) = 'object'),
  actor         jsonb       NOT NULL CHECK (pg_catalog.jsonb_typeof(actor) = 'object'),
  command       text        NOT NULL,
  reason        text,
  request_id    text,
  ip            text,
  user_agent    text,
  occurred_at   timestamptz(3) NOT NULL,
  previous_hash text        NOT NULL CHECK (previous_hash ~ '^[0-9a-f]{64}$'),
  hash          text        NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
  -- What else is known of the request.
  context       jsonb       CHECK (pg_catalog.jsonb_typeof(context) = 'object'),
  -- What it is about other than a collection: its kind and its id.
  subject       jsonb       CHECK (subject IS NULL
    OR (pg_catalog.jsonb_typeof(subject -> 'kind'::text) = 'string' AND pg_catalog.jsonb_typeof(subject -> 'id'::text) = 'string') IS TRUE)
);

COMMENT ON TABLE :"service".service_events IS 'Append-only, hash-chained log of every change of the managed schema.';

CREATE INDEX service_events_batch ON :"service".service_events (batch);
CREATE INDEX service_events_collection ON :"service".service_events (collection, position);
CREATE INDEX service_events_subject ON :"service".service_events ((subject ->> 'kind'::text), (subject ->> 'id'::text), position)
  WHERE subject IS NOT NULL;
-- What had another name, for everything that follows a name through the log.
CREATE INDEX service_events_renames ON :"service".service_events (position)
  WHERE type IN ('collection.renamed', 'field.renamed');
-- Where lives of collections and fields begin and end, and where fields are renamed.
CREATE INDEX service_events_lives ON :"service".service_events (collection, position)
  WHERE type IN ('collection.created', 'collection.adopted', 'collection.deleted', 'field.created', 'field.deleted', 'field.renamed');
-- What the trash holds unless it was restored or purged.
CREATE INDEX service_events_kept ON :"service".service_events (collection, position)
  WHERE type IN ('collection.deleted', 'field.deleted') AND data ? 'kept_until'::text;
CREATE INDEX service_events_occurred_at ON :"service".service_events (occurred_at, position);

-- What is accepted stays as it is. ALWAYS: in a session that replays replication too. A statement is refused even when
-- it would touch no row, so that a mistake is noticed where it is made.
CREATE FUNCTION :"service".service_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.';
END
$$;

CREATE TRIGGER service_events_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON :"service".service_events
  FOR EACH STATEMENT EXECUTE FUNCTION :"service".service_refuse_change();
ALTER TABLE :"service".service_events ENABLE ALWAYS TRIGGER service_events_append_only;

-- The metadata rows: the managed schema in normal form, written in the transaction of the events they come from.
CREATE TABLE :"service".service_collections (
  collection text  PRIMARY KEY,
  meta       jsonb NOT NULL CHECK (pg_catalog.jsonb_typeof(meta) = 'object'),
  schema     jsonb CHECK (pg_catalog.jsonb_typeof(schema) = 'object')
);

CREATE TABLE :"service".service_fields (
  collection text  NOT NULL,
  field      text  NOT NULL,
  type       text  NOT NULL,
  meta       jsonb NOT NULL CHECK (pg_catalog.jsonb_typeof(meta) = 'object'),
  schema     jsonb CHECK (pg_catalog.jsonb_typeof(schema) = 'object'),
  PRIMARY KEY (collection, field)
);

CREATE TABLE :"service".service_relations (
  id                      bigint NOT NULL UNIQUE,
  many_collection         text   NOT NULL,
  many_field              text   NOT NULL,
  one_collection          text,
  one_field               text,
  one_collection_field    text,
  one_allowed_collections jsonb  CHECK (pg_catalog.jsonb_typeof(one_allowed_collections) = 'array'),
  junction_field          text,
  sort_field              text,
  one_deselect_action     text   NOT NULL,
  schema                  jsonb  CHECK (pg_catalog.jsonb_typeof(schema) = 'object'),
  PRIMARY KEY (many_collection, many_field)
);

CREATE INDEX service_relations_one_collection ON :"service".service_relations (one_collection);

-- The trash: what deletions left, by the position of their event. A table is in a shared schema, which is named like this
-- one with _trash_s and the number in its event. Everything else is in a schema of its own, with _trash_ and the position.
CREATE TABLE :"service".service_trash (
  position   bigint         PRIMARY KEY,
  kind       text           NOT NULL CHECK (kind IN ('collection', 'field')),
  -- The names that it had.
  collection text           NOT NULL,
  field      text           CHECK ((field IS NULL) = (kind = 'collection')),
  identity   text           NOT NULL,
  batch      uuid           NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  -- From then on it may be purged.
  kept_until timestamptz(3) NOT NULL,
  -- When it came: the rows as PostgreSQL's statistics have them, null where there are none; and the bytes.
  rows       bigint,
  bytes      bigint
);

CREATE INDEX service_trash_kept_until ON :"service".service_trash (kept_until, position);
CREATE INDEX service_trash_identity ON :"service".service_trash (identity);

-- How far each projection has come, and what stopped it.
CREATE TABLE :"service".service_projections (
  name       text        PRIMARY KEY,
  kind       text        NOT NULL,
  position   bigint      NOT NULL DEFAULT 0,
  -- Of the event at the position: a checkpoint belongs to one log.
  hash       text,
  status     text        NOT NULL DEFAULT 'running',
  last_error jsonb,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- A log that was found to be shorter than, or other than, what was seen of it. As long as a row is not acknowledged,
-- no process changes anything.
CREATE TABLE :"service".service_divergences (
  id             bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- The newest place of the log that was seen, and that is not in it any more; the hash where it was known.
  seen_position  bigint         NOT NULL,
  seen_hash      text,
  -- The end of the log that was found instead.
  found_position bigint         NOT NULL,
  found_hash     text           NOT NULL,
  -- Position of the newest event in both, as far as whoever noticed it remembers; what comes after it may be lost.
  fork_position  bigint,
  noticed_at     timestamptz(3) NOT NULL DEFAULT now(),
  -- Position of the event that names it.
  acknowledged   bigint
);

-- Many processes may notice the same, one of them only when another one has acknowledged it.
CREATE UNIQUE INDEX service_divergences_once
  ON :"service".service_divergences (seen_position, coalesce(seen_hash, ''), found_position, found_hash);

-- The keys that checkpoints of the log are and were signed with: Ed25519, the public half for good.
CREATE TABLE :"service".service_keys (
  id            bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  public_key    bytea          NOT NULL UNIQUE CHECK (pg_catalog.octet_length(public_key) = 32),
  -- PKCS #8, of the one key that is kept here; null: it is in a file, or was replaced.
  private_key   bytea,
  kept          text           NOT NULL CHECK (kept IN ('file', 'database')),
  -- The end of the log when it came.
  from_position bigint         NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX service_keys_one_private ON :"service".service_keys ((true)) WHERE private_key IS NOT NULL;

-- Checkpoints that go somewhere: signed once, so that whichever process delivers one delivers the same bytes.
CREATE TABLE :"service".service_checkpoints (
  id           bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- Where to, without credentials.
  target       text           NOT NULL,
  -- Which log, and what it says of it.
  origin       text           NOT NULL,
  position     bigint         NOT NULL,
  hash         text           NOT NULL,
  note         text           NOT NULL,
  signed_at    timestamptz(3) NOT NULL DEFAULT now(),
  -- Since when a process is delivering it.
  claimed_at   timestamptz(3),
  published_at timestamptz(3),
  -- The place holds another checkpoint of this position: it is not tried again.
  refused_at   timestamptz(3),
  last_error   text,
  UNIQUE (target, origin, position)
);

CREATE INDEX service_checkpoints_waiting ON :"service".service_checkpoints (target, id)
  WHERE published_at IS NULL AND refused_at IS NULL;

-- What change requests ask for, and why they failed: canonical JSON, each once by its hash, which their events carry. One
-- that had to be erased leaves its hash.
CREATE TABLE :"service".service_documents (
  hash       text           PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
  content    text,
  kept_at    timestamptz(3) NOT NULL DEFAULT now(),
  erased_at  timestamptz(3),
  CHECK ((content IS NULL) = (erased_at IS NOT NULL))
);

-- Change requests, folded from their events, in whose transaction they are written.
CREATE TABLE :"service".service_changes (
  id              uuid   PRIMARY KEY,
  state           text   NOT NULL,
  -- What it changes.
  collections     text[] NOT NULL,
  -- Whose tables nothing else may change now.
  held            text[] NOT NULL,
  opened_position bigint NOT NULL,
  request         jsonb  NOT NULL CHECK (pg_catalog.jsonb_typeof(request) = 'object'),
  -- What keeps it from going on now, where it has no steps; for people, and in no event.
  progress        jsonb
);

CREATE INDEX service_changes_opened ON :"service".service_changes (opened_position);
CREATE INDEX service_changes_state ON :"service".service_changes (state, opened_position);
CREATE INDEX service_changes_held ON :"service".service_changes (opened_position) WHERE held OPERATOR(pg_catalog.<>) '{}';

-- What is prepared for them outside their transaction, and how far that is. Rows are here as long as something of it may
-- be in the database.
CREATE TABLE :"service".service_preparations (
  request      uuid    NOT NULL,
  number       integer NOT NULL,
  -- What is to be done, as it was planned.
  step         jsonb   NOT NULL CHECK (pg_catalog.jsonb_typeof(step) = 'object'),
  -- How far the step is, in its own words; for whoever goes on with it.
  checkpoint   jsonb,
  -- The same for people.
  progress     jsonb,
  started_at   timestamptz(3),
  -- What it has taken; null: it is not done.
  milliseconds double precision,
  -- How often what it had made was not there, or not enough, when it was to be used.
  lost         integer NOT NULL DEFAULT 0,
  PRIMARY KEY (request, number)
);

-- Accounts.
CREATE TABLE :"service".service_users (
  id            uuid        PRIMARY KEY,
  email         text        NOT NULL,
  name          text        NOT NULL,
  password_hash text,
  -- The user who set the password, where that is another user; null: the user, or whoever runs the service.
  password_set_by uuid,
  role          text        NOT NULL CHECK (role IN ('admin', 'auditor', 'author', 'reader')),
  status        text        NOT NULL DEFAULT 'active',
  -- The network of the last login that succeeded: from there the account stays usable while others try it.
  login_network text,
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX service_users_email ON :"service".service_users (pg_catalog.lower(email));

CREATE TABLE :"service".service_tokens (
  id         uuid        PRIMARY KEY,
  user_id    uuid        NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  name       text        NOT NULL,
  token_hash bytea       NOT NULL UNIQUE,
  -- The user who issued the token, where that is another user; null: the user, or whoever runs the service.
  issued_by  uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);

CREATE INDEX service_tokens_user ON :"service".service_tokens (user_id);

CREATE TABLE :"service".service_sessions (
  id           uuid        PRIMARY KEY,
  user_id      uuid        NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  refresh_hash bytea       NOT NULL UNIQUE,
  -- Of the part that all refresh tokens of the session share: who has it had one of them.
  family_hash  bytea       NOT NULL,
  -- When the token was last replaced: for a moment the one before is still answered. Null: it never was.
  rotated_at   timestamptz,
  -- Where it was begun, and by what: so that its owner knows it again.
  network      text,
  user_agent   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);

CREATE INDEX service_sessions_user ON :"service".service_sessions (user_id);
CREATE INDEX service_sessions_expires_at ON :"service".service_sessions (expires_at);

CREATE TABLE :"service".service_settings (
  key   text  PRIMARY KEY,
  value jsonb NOT NULL
);

-- Moves with every change of an account, so that a process can keep accounts in memory and know when to read them again.
-- By no fixed step: after a failover that lost changes of accounts, others must not lead to the same number again.
CREATE TABLE :"service".service_auth_epoch (
  one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
  epoch   bigint  NOT NULL
);

INSERT INTO :"service".service_auth_epoch (epoch) VALUES (1);

-- Its path: nothing that others have made is called in the place of PostgreSQL's own.
CREATE FUNCTION :"service".service_next_auth_epoch() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE pg_catalog.format('UPDATE %I.service_auth_epoch SET epoch = epoch + 1 + (random() * 1000000)::bigint', TG_TABLE_SCHEMA);
  RETURN NULL;
END
$$;

CREATE TRIGGER service_users_epoch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON :"service".service_users
  FOR EACH STATEMENT EXECUTE FUNCTION :"service".service_next_auth_epoch();
CREATE TRIGGER service_tokens_epoch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON :"service".service_tokens
  FOR EACH STATEMENT EXECUTE FUNCTION :"service".service_next_auth_epoch();
CREATE TRIGGER service_sessions_epoch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON :"service".service_sessions
  FOR EACH STATEMENT EXECUTE FUNCTION :"service".service_next_auth_epoch();

-- First answers, kept for a day. The body is json, not jsonb: the same answer again keeps the order of its members.
CREATE TABLE :"service".service_idempotency (
  actor        text        NOT NULL,
  key          text        NOT NULL,
  request_hash text        NOT NULL,
  status       integer     NOT NULL,
  headers      jsonb       NOT NULL,
  body         json,
  -- The end of the log that the answer is about: an answer belongs to one log.
  position     bigint      NOT NULL,
  event_hash   text        NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (actor, key)
);

CREATE INDEX service_idempotency_created_at ON :"service".service_idempotency (created_at);

-- For people with a SQL prompt: the documents as the API shows them.
CREATE VIEW :"service".service_v_collections AS
SELECT c.collection,
       pg_catalog.jsonb_build_object('collection', c.collection) || c.meta AS meta,
       pg_catalog.jsonb_build_object('name', c.collection) || c.schema AS schema
  FROM :"service".service_collections c;

CREATE VIEW :"service".service_v_fields AS
SELECT f.collection,
       f.field,
       f.type,
       pg_catalog.jsonb_build_object('collection', f.collection, 'field', f.field) || f.meta AS meta,
       f.schema || pg_catalog.jsonb_build_object(
         'name', f.field,
         'table', f.collection,
         'is_generated', f.schema ->> 'generation_expression'::text IS NOT NULL,
         'foreign_key_table', r.one_collection,
         'foreign_key_column', k.field
       ) AS schema
  FROM :"service".service_fields f
  LEFT JOIN :"service".service_relations r
    ON r.many_collection = f.collection AND r.many_field = f.field AND r.schema IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT p.field
      FROM :"service".service_fields p
     WHERE p.collection = r.one_collection AND (p.schema ->> 'is_primary_key'::text)::boolean
     ORDER BY p.field
     LIMIT 1
  ) k ON true;

CREATE VIEW :"service".service_v_relations AS
SELECT r.id, r.many_collection, r.many_field, r.one_collection, r.one_field, r.one_collection_field,
       r.one_allowed_collections, r.junction_field, r.sort_field, r.one_deselect_action, r.schema
  FROM :"service".service_relations r;

CREATE VIEW :"service".service_v_changes AS
SELECT c.id, c.state, c.collections, c.request ->> 'operation'::text AS operation, c.request -> 'author'::text ->> 'name'::text AS author,
       c.request ->> 'reason'::text AS reason, c.opened_position, (c.request ->> 'opened_at'::text)::timestamptz AS opened_at
  FROM :"service".service_changes c;

-- Who changed what, when and why, one row an event.
CREATE VIEW :"service".service_v_history AS
SELECT e.position, e.occurred_at, e.type, e.collection, e.field, e.subject, e.actor ->> 'name'::text AS actor, e.command, e.reason, e.batch
  FROM :"service".service_events e;
