-- Other instances of the service, whose schema an admin compares with this one. Changes of environments are events, which
-- contain neither the token nor the whole address.
CREATE TABLE :"service".service_environments (
  id            uuid           PRIMARY KEY,
  name          text           NOT NULL,
  url           text           NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  -- A backup contains only the columns above. A restored environment needs its token again.
  token         text,
  -- The last schema that both had in common: a position of this log or of the log of the environment, and the beginning
  -- of the hash of its event. Null if it is not known.
  base_log      text           CHECK (base_log IN ('own', 'environment')),
  base_position bigint,
  base_hash     text,
  -- Increased by every change of the environment, so that a comparison that began before it is discarded.
  revision      integer        NOT NULL DEFAULT 0
);
