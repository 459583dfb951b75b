-- The state of the schema at some positions of the log, so that neither a start nor a look back folds it from the
-- beginning. A cache: deleting all of it changes no answer.
CREATE TABLE :"service".service_folds (
  position    bigint         PRIMARY KEY CHECK (position > 0),
  -- Of the content; folds in another format are not used.
  format      integer        NOT NULL,
  -- The event at the position: a fold belongs to one log.
  event_hash  text           NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  -- Of everything above and of the content before it was compressed.
  hash        text           NOT NULL,
  content     bytea          NOT NULL,
  made_at     timestamptz    NOT NULL DEFAULT now()
);

COMMENT ON TABLE :"service".service_folds IS 'States of the schema along the log, computed from it; may be emptied at any time.';

-- It is compressed already.
ALTER TABLE :"service".service_folds ALTER COLUMN content SET STORAGE EXTERNAL;

-- A batch's first and last position, for the list of accepted commands.
DROP INDEX :"service".service_events_batch;
CREATE INDEX service_events_batch ON :"service".service_events (batch, position);
