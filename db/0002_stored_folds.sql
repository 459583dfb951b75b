-- The state of the schema at some positions of the log, so that the service need not fold the log from the first event.
-- This is a cache: deleting its rows changes no response.
CREATE TABLE :"service".service_folds (
  position    bigint         PRIMARY KEY CHECK (position > 0),
  -- Format of the content. The service ignores rows in a format that it does not know.
  format      integer        NOT NULL,
  -- Hash of the event at the position. A state is valid only in the log that contains this event.
  event_hash  text           NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  -- Hash of the columns above and of the uncompressed content.
  hash        text           NOT NULL,
  content     bytea          NOT NULL,
  made_at     timestamptz    NOT NULL DEFAULT now()
);

COMMENT ON TABLE :"service".service_folds IS 'States of the schema along the log, computed from it; may be emptied at any time.';

-- The service has already compressed the content.
ALTER TABLE :"service".service_folds ALTER COLUMN content SET STORAGE EXTERNAL;

-- Finds the first and last position of a batch, for the list of batches.
DROP INDEX :"service".service_events_batch;
CREATE INDEX service_events_batch ON :"service".service_events (batch, position);
