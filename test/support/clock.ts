/** A settable database clock: the service calls PostgreSQL's function under another name. */
import { asSuperuser } from './postgres.js';

const MAKE = `
ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO machine_clock;
CREATE SCHEMA clock;
CREATE TABLE clock.set (ahead interval NOT NULL);
INSERT INTO clock.set VALUES ('0');
GRANT USAGE ON SCHEMA clock TO public;
GRANT SELECT ON clock.set TO public;
CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT pg_catalog.machine_clock() + (SELECT ahead FROM clock.set)'`;

export interface Clock {
  set(ahead: string): Promise<void>;
  /** Set between two queries: the next statement with these words still sees the previous time. */
  setOnceAsked(words: string, ahead: string): Promise<void>;
}

const MAKE_ASKED = (words: string, ahead: string): string => `
ALTER TABLE clock.set ADD asked_by text;
CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
  DECLARE
    asking text := pg_backend_pid() || ' ' || statement_timestamp();
  BEGIN
    UPDATE clock.set SET asked_by = asking WHERE asked_by IS NULL AND current_query() LIKE '%${words}%';
    RETURN pg_catalog.machine_clock() + (SELECT CASE WHEN asked_by <> asking THEN '${ahead}' ELSE ahead END FROM clock.set);
  END $$`;

/** Call it before anyone else connects, because planned statements use the old name. */
export async function makeClock(databaseUrl: string): Promise<Clock> {
  await asSuperuser(databaseUrl, MAKE);
  return {
    set: (ahead) => asSuperuser(databaseUrl, `UPDATE clock.set SET ahead = '${ahead}'`),
    setOnceAsked: (words, ahead) => asSuperuser(databaseUrl, MAKE_ASKED(words, ahead)),
  };
}
