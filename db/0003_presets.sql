-- How users have arranged the diagrams of the admin app: one row per view. Directus also calls saved views presets.
CREATE TABLE :"service".service_presets (
  user_id uuid  NOT NULL REFERENCES :"service".service_users (id) ON DELETE CASCADE,
  depth   text  NOT NULL CHECK (depth IN ('names', 'keys', 'columns')),
  -- The folder that the view is limited to. Empty: the whole schema.
  folder  text  NOT NULL,
  -- An array of {collection, x, y}.
  places  jsonb NOT NULL,
  PRIMARY KEY (user_id, depth, folder)
);
