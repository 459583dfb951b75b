-- The tables of the service, in a schema that is not in any search path. :"service" stands for the name of the schema,
-- as in psql. Other programs should read only the views service_v_*, because a release may change the tables.

-- The event log. The service computes everything else about the managed schema from it.
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
  -- The hash of an event covers this hash of the salt and of the actor's name, the reason, ip and user_agent, instead of
  -- the values. They can therefore be erased together with the salt.
  commitment    text        NOT NULL CHECK (commitment ~ '^[0-9a-f]{64}$'),
  salt          text        CHECK (salt ~ '^[0-9a-f]{32}$'),
  -- Other properties of the request.
  context       jsonb       CHECK (pg_catalog.jsonb_typeof(context) = 'object'),
  -- The kind and id of an object that is not a collection, for example a change request or a user.
  subject       jsonb       CHECK (subject IS NULL
    OR (pg_catalog.jsonb_typeof(subject -> 'kind'::text) = 'string' AND pg_catalog.jsonb_typeof(subject -> 'id'::text) = 'string') IS TRUE)
);

COMMENT ON TABLE :"service".service_events IS 'Append-only, hash-chained log of every change of the managed schema.';

CREATE INDEX service_events_batch ON :"service".service_events (batch);
CREATE INDEX service_events_collection ON :"service".service_events (collection, position);
CREATE INDEX service_events_subject ON :"service".service_events ((subject ->> 'kind'::text), (subject ->> 'id'::text), position)
  WHERE subject IS NOT NULL;
-- Finds earlier names, for queries that follow an object through the log.
CREATE INDEX service_events_renames ON :"service".service_events (position)
  WHERE type IN ('collection.renamed', 'field.renamed');
-- Finds where collections and fields were created, deleted and renamed.
CREATE INDEX service_events_lives ON :"service".service_events (collection, position)
  WHERE type IN ('collection.created', 'collection.adopted', 'collection.deleted', 'field.created', 'field.deleted', 'field.renamed');
-- Finds the deletions whose data moved to the trash. It may have been restored or purged since then.
CREATE INDEX service_events_kept ON :"service".service_events (collection, position)
  WHERE type IN ('collection.deleted', 'field.deleted') AND data ? 'kept_until'::text;
CREATE INDEX service_events_occurred_at ON :"service".service_events (occurred_at, position);

-- Rejects every change of existing events. ENABLE ALWAYS because other triggers do not fire in sessions that apply
-- replicated changes. The trigger fires per statement, so that a statement that matches no row fails too. An erasure
-- sets service.erasure, and the next trigger then checks the rows.
CREATE FUNCTION :"service".service_refuse_change() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND pg_catalog.current_setting('service.erasure', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'table "%" is append-only: % is not allowed', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.';
END
$$;

CREATE TRIGGER service_events_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON :"service".service_events
  FOR EACH STATEMENT EXECUTE FUNCTION :"service".service_refuse_change();
ALTER TABLE :"service".service_events ENABLE ALWAYS TRIGGER service_events_append_only;

-- An erasure removes all personal data of an event together with its salt, and must not change anything else.
CREATE FUNCTION :"service".service_only_erase() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_catalog.current_setting('service.erasure', true) = 'on' THEN
    OLD.actor := pg_catalog.jsonb_build_object('id', OLD.actor -> 'id', 'name', NULL);
    OLD.reason := NULL;
    OLD.ip := NULL;
    OLD.user_agent := NULL;
    OLD.salt := NULL;
    IF NEW IS DISTINCT FROM OLD THEN
      RAISE EXCEPTION 'table "%" is append-only: an UPDATE that does more than erase personal data is not allowed', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.';
    END IF;
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER service_events_only_erase
  BEFORE UPDATE ON :"service".service_events
  FOR EACH ROW EXECUTE FUNCTION :"service".service_only_erase();
ALTER TABLE :"service".service_events ENABLE ALWAYS TRIGGER service_events_only_erase;

-- The metadata rows: the managed schema in normal form. The transaction that appends events also writes their rows.
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

-- Views, functions, triggers and other objects. definition is the text of the events; printed is what the server prints for it.
CREATE TABLE :"service".service_objects (
  kind       text  NOT NULL,
  id         text  NOT NULL,
  definition text  NOT NULL,
  comment    text,
  indexes    jsonb CHECK (pg_catalog.jsonb_typeof(indexes) = 'array'),
  -- The sessions in which a trigger fires: origin, disabled, replica or always.
  enabled    text,
  printed    text,
  PRIMARY KEY (kind, id)
);

-- The trash: the data that deletions kept, by the position of the deleting event. A table moves to a schema that it
-- shares with others. The name of that schema is the name of this one, then _trash_s, then the number in the event.
-- Everything else moves to its own schema, whose name ends with _trash_ and the position.
CREATE TABLE :"service".service_trash (
  position   bigint         PRIMARY KEY,
  kind       text           NOT NULL CHECK (kind IN ('collection', 'field')),
  -- Names before the deletion.
  collection text           NOT NULL,
  field      text           CHECK ((field IS NULL) = (kind = 'collection')),
  identity   text           NOT NULL,
  batch      uuid           NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  -- The purger may delete the data after this time.
  kept_until timestamptz(3) NOT NULL,
  -- Size at the time of the deletion. The rows are an estimate from PostgreSQL's statistics; null if there are none.
  rows       bigint,
  bytes      bigint
);

CREATE INDEX service_trash_kept_until ON :"service".service_trash (kept_until, position);
CREATE INDEX service_trash_identity ON :"service".service_trash (identity);

-- The last applied position of each projection, and the error that stopped it.
CREATE TABLE :"service".service_projections (
  name       text        PRIMARY KEY,
  kind       text        NOT NULL,
  position   bigint      NOT NULL DEFAULT 0,
  -- Hash of the event at the position. A position is valid only in the log that contains this event.
  hash       text,
  status     text        NOT NULL DEFAULT 'running',
  last_error jsonb,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Forks: the log is shorter than before, or contains different events. No process changes anything until every row is
-- acknowledged.
CREATE TABLE :"service".service_divergences (
  id             bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- The newest event that a process read before and that the log no longer contains; the hash if it is known.
  seen_position  bigint         NOT NULL,
  seen_hash      text,
  -- The head of the log when the fork was detected.
  found_position bigint         NOT NULL,
  found_hash     text           NOT NULL,
  -- Position of the newest event that both logs are known to contain. Events after it may be lost.
  fork_position  bigint,
  noticed_at     timestamptz(3) NOT NULL DEFAULT now(),
  -- Position of the event that acknowledges it.
  acknowledged   bigint
);

-- Several processes may detect the same fork, some of them only after it is acknowledged.
CREATE UNIQUE INDEX service_divergences_once
  ON :"service".service_divergences (seen_position, coalesce(seen_hash, ''), found_position, found_hash);

-- The Ed25519 keys that sign or signed checkpoints. Public keys are never deleted.
CREATE TABLE :"service".service_keys (
  id            bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  public_key    bytea          NOT NULL UNIQUE CHECK (pg_catalog.octet_length(public_key) = 32),
  -- PKCS #8. Null if the private key is in a file or was replaced; at most one row has one.
  private_key   bytea,
  kept          text           NOT NULL CHECK (kept IN ('file', 'database')),
  -- The head of the log when the key was added.
  from_position bigint         NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX service_keys_one_private ON :"service".service_keys ((true)) WHERE private_key IS NOT NULL;

-- Checkpoints to publish. Each is signed once, so that every process delivers the same bytes.
CREATE TABLE :"service".service_checkpoints (
  id           bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- The URL without credentials.
  target       text           NOT NULL,
  -- The origin line of the signed note, which names the log.
  origin       text           NOT NULL,
  position     bigint         NOT NULL,
  hash         text           NOT NULL,
  note         text           NOT NULL,
  signed_at    timestamptz(3) NOT NULL DEFAULT now(),
  -- When a process started to deliver it.
  claimed_at   timestamptz(3),
  published_at timestamptz(3),
  -- The target has a different checkpoint for this position. The service does not retry.
  refused_at   timestamptz(3),
  last_error   text,
  UNIQUE (target, origin, position)
);

CREATE INDEX service_checkpoints_waiting ON :"service".service_checkpoints (target, id)
  WHERE published_at IS NULL AND refused_at IS NULL;

-- Documents of change requests: the proposed change, and the errors of failed ones, as canonical JSON. Events refer to
-- them by hash. An erased document leaves its hash.
CREATE TABLE :"service".service_documents (
  hash       text           PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
  content    text,
  kept_at    timestamptz(3) NOT NULL DEFAULT now(),
  erased_at  timestamptz(3),
  CHECK ((content IS NULL) = (erased_at IS NOT NULL))
);

-- The change requests, folded from their events. The transaction that appends the events also writes these rows.
CREATE TABLE :"service".service_changes (
  id              uuid   PRIMARY KEY,
  state           text   NOT NULL,
  -- The collections that it changes.
  collections     text[] NOT NULL,
  -- The collections that only this change request may change now.
  held            text[] NOT NULL,
  opened_position bigint NOT NULL,
  request         jsonb  NOT NULL CHECK (pg_catalog.jsonb_typeof(request) = 'object'),
  -- What it waits for if it has no steps, as text for users. No event contains this.
  progress        jsonb
);

CREATE INDEX service_changes_opened ON :"service".service_changes (opened_position);
CREATE INDEX service_changes_state ON :"service".service_changes (state, opened_position);
CREATE INDEX service_changes_document ON :"service".service_changes ((request ->> 'document'::text));
CREATE INDEX service_changes_held ON :"service".service_changes (opened_position) WHERE held OPERATOR(pg_catalog.<>) '{}';

-- The steps that prepare online changes outside their transaction, and their progress. A row exists as long as the
-- database may contain objects that its step created.
CREATE TABLE :"service".service_preparations (
  request      uuid    NOT NULL,
  number       integer NOT NULL,
  -- The step as planned.
  step         jsonb   NOT NULL CHECK (pg_catalog.jsonb_typeof(step) = 'object'),
  -- Where the process that continues the step must start. The format depends on the kind of step.
  checkpoint   jsonb,
  -- Progress for users.
  progress     jsonb,
  started_at   timestamptz(3),
  -- How long the step took; null if it is not finished.
  milliseconds double precision,
  -- The number of times that the results of the step were missing or incomplete when the change was about to use them.
  lost         integer NOT NULL DEFAULT 0,
  PRIMARY KEY (request, number)
);

-- The accounts: users, API tokens and sessions.
CREATE TABLE :"service".service_users (
  id            uuid        PRIMARY KEY,
  email         text        NOT NULL,
  name          text        NOT NULL,
  password_hash text,
  -- The other user who set the password; null if the user did so, or an operator on the command line.
  password_set_by uuid,
  role          text        NOT NULL CHECK (role IN ('admin', 'auditor', 'author', 'reader')),
  status        text        NOT NULL DEFAULT 'active',
  -- The network of the last successful login. Failed attempts from other networks do not block logins from this one.
  login_network text,
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX service_users_email ON :"service".service_users (pg_catalog.lower(email));
CREATE INDEX service_users_admins ON :"service".service_users (id)
  WHERE role OPERATOR(pg_catalog.=) 'admin' AND status OPERATOR(pg_catalog.=) 'active';

-- Deleted users, so that an erasure can still find them by their e-mail address. The erasure removes the row.
CREATE TABLE :"service".service_former_users (
  id         uuid        PRIMARY KEY,
  -- SHA-256 of the id, a colon and the e-mail address in lower case.
  email_hash text        NOT NULL CHECK (email_hash ~ '^[0-9a-f]{64}$'),
  deleted_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE :"service".service_tokens (
  id         uuid        PRIMARY KEY,
  user_id    uuid        NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  name       text        NOT NULL,
  token_hash bytea       NOT NULL UNIQUE,
  -- The other user who issued the token; null if the user did so, or an operator on the command line.
  issued_by  uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  -- Limits of the token: actions, collections, networks, and the role of the user when it was created; null if there
  -- are none.
  scope      jsonb,
  -- The trust rule under which a pipeline exchanged its ID token; null for other tokens. Expired rows are deleted.
  rule       text
);

CREATE INDEX service_tokens_user ON :"service".service_tokens (user_id);
CREATE INDEX service_tokens_rule ON :"service".service_tokens (expires_at) WHERE rule IS NOT NULL;

-- ID tokens that were exchanged, until they are too old to be accepted. Each can be exchanged once.
CREATE TABLE :"service".service_exchanged_id_tokens (
  -- SHA-256 of the signed part.
  hash       bytea       PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

CREATE INDEX service_exchanged_id_tokens_expires_at ON :"service".service_exchanged_id_tokens (expires_at);

-- Identities at an OpenID provider that sign in as a user.
CREATE TABLE :"service".service_identities (
  id         uuid        PRIMARY KEY,
  user_id    uuid        NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  issuer     text        NOT NULL,
  subject    text        NOT NULL,
  -- The other user who had set the password with which the identity was linked; null if there is none.
  issued_by  uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (issuer, subject)
);

CREATE INDEX service_identities_user ON :"service".service_identities (user_id);

CREATE TABLE :"service".service_sessions (
  id           uuid        PRIMARY KEY,
  user_id      uuid        NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  -- The identity that signed in, and the provider's own session; null for a password.
  identity     uuid        REFERENCES :"service".service_identities (id) ON DELETE CASCADE,
  provider_session text,
  refresh_hash bytea       NOT NULL UNIQUE,
  -- Hash of the part that all refresh tokens of a session share. It recognizes a token that was already replaced.
  family_hash  bytea       NOT NULL,
  -- When the token was last replaced; null if never. The previous token stays valid for a few seconds.
  rotated_at   timestamptz,
  -- Network and program of the login, so that the user recognizes the session.
  network      text,
  user_agent   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);

CREATE INDEX service_sessions_identity ON :"service".service_sessions (identity) WHERE identity IS NOT NULL;
CREATE INDEX service_sessions_user ON :"service".service_sessions (user_id);
CREATE INDEX service_sessions_expires_at ON :"service".service_sessions (expires_at);

-- Webhooks. Their changes are events, which contain neither the secret nor the whole address.
CREATE TABLE :"service".service_webhooks (
  id               uuid           PRIMARY KEY,
  name             text           NOT NULL,
  url              text           NOT NULL,
  format           text           NOT NULL CHECK (format IN ('cloudevents', 'slack', 'teams')),
  -- Patterns: an event must match one of the types and, unless null, one of the collections.
  types            text[]         NOT NULL,
  collections      text[],
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  -- A backup contains only the columns above. The defaults below therefore disable a restored webhook.
  enabled          boolean        NOT NULL DEFAULT false,
  disabled_because text           DEFAULT 'restored',
  secret           text,
  -- The secret before the last rotation, which also signs until the time.
  old_secret       text,
  old_secret_until timestamptz(3),
  -- The database in which the webhook was enabled. A copy of the database delivers nothing.
  database         text,
  -- The last position that was delivered or that the filter does not match. Null until the webhook is first enabled.
  position         bigint,
  -- Increased by every change of the webhook. The process that delivers then starts again from this row.
  revision         integer        NOT NULL DEFAULT 0,
  -- The process that delivers, until the time.
  owner            uuid,
  leased_until     timestamptz,
  -- Failed attempts in a row.
  failures         integer        NOT NULL DEFAULT 0,
  failing_since    timestamptz(3),
  next_attempt_at  timestamptz(3),
  last_error       text
);

-- The newest attempts of each webhook.
CREATE TABLE :"service".service_webhook_deliveries (
  id           bigint         PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  webhook      uuid           NOT NULL REFERENCES :"service".service_webhooks (id) ON DELETE CASCADE,
  message      uuid           NOT NULL,
  type         text           NOT NULL,
  -- Null for a test.
  position     bigint,
  attempted_at timestamptz(3) NOT NULL,
  milliseconds integer        NOT NULL,
  -- Null without a response.
  status       integer,
  -- Null for a delivery that succeeded.
  error        text
);

CREATE INDEX service_webhook_deliveries_webhook ON :"service".service_webhook_deliveries (webhook, id);

CREATE TABLE :"service".service_settings (
  key   text  PRIMARY KEY,
  value jsonb NOT NULL
);

-- Every change of an account changes this number. Processes cache accounts in memory until it changes. The increments
-- are random: after a failover that lost changes, later changes must not produce the same number again.
CREATE TABLE :"service".service_auth_epoch (
  one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
  epoch   bigint  NOT NULL
);

INSERT INTO :"service".service_auth_epoch (epoch) VALUES (1);

-- The search path keeps it from calling functions of other schemas in place of PostgreSQL's own.
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

-- Responses of requests with an Idempotency-Key, kept for a day. The body is json because jsonb would reorder members.
CREATE TABLE :"service".service_idempotency (
  actor        text        NOT NULL,
  key          text        NOT NULL,
  request_hash text        NOT NULL,
  status       integer     NOT NULL,
  headers      jsonb       NOT NULL,
  body         json,
  -- The head of the log after the request. A response is valid only in the log that contains this event.
  position     bigint      NOT NULL,
  event_hash   text        NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (actor, key)
);

CREATE INDEX service_idempotency_created_at ON :"service".service_idempotency (created_at);

-- Views for users of SQL: the documents as the API returns them.
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

-- One row per event: who changed what, when and why.
CREATE VIEW :"service".service_v_history AS
SELECT e.position, e.occurred_at, e.type, e.collection, e.field, e.subject, e.actor ->> 'name'::text AS actor, e.command, e.reason, e.batch
  FROM :"service".service_events e;
