/** The clock of one database, to be set: what the service asks for is PostgreSQL's own function, under another name. */
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
  /** @param ahead of the machine's: `1 hour`, `-2 days` */
  set(ahead: string): Promise<void>;
}

/** Before anybody else is connected: statements that were planned know the old name. */
export async function makeClock(databaseUrl: string): Promise<Clock> {
  await asSuperuser(databaseUrl, MAKE);
  return { set: (ahead) => asSuperuser(databaseUrl, `UPDATE clock.set SET ahead = '${ahead}'`) };
}
