/**
 * Gates in an online change. Writes of its progress wait at a closed gate, so that a test can act at exactly that
 * point. `begin 3` and `end 3`: the third step; `checkpoint 3`: after a checkpoint within it; `prepared`, `applied` …:
 * the states; `forget`: the cleanup.
 */
import pg from 'pg';
import { until } from './until.js';

export interface Gates {
  /** Closes the gate. Call it before any write reaches it. */
  close(gate: string): Promise<void>;
  /** Resolves when a write waits at the gate. */
  reached(gate: string): Promise<void>;
  /** Opens the gate. */
  open(gate: string): Promise<void>;
  /** Connects again after the server restarted or was replaced. Closed gates stay closed. */
  reconnect(databaseUrl?: string): Promise<void>;
  end(): Promise<void>;
}

/** A waiting write holds an advisory lock with two keys, which the service never uses. */
const LOCK = 4711;

const MAKE = `
CREATE SCHEMA gates;
CREATE TABLE gates.closed (gate text PRIMARY KEY);
CREATE FUNCTION gates.pass(name text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM gates.closed WHERE gate = name) THEN
    PERFORM pg_advisory_xact_lock_shared(${LOCK}, hashtext(name));
  END IF;
  WHILE EXISTS (SELECT FROM gates.closed WHERE gate = name) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
CREATE FUNCTION gates.step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM gates.pass('forget');
    RETURN OLD;
  END IF;
  IF OLD.started_at IS NULL AND NEW.started_at IS NOT NULL THEN PERFORM gates.pass('begin ' || NEW.number); END IF;
  IF NEW.milliseconds IS NOT NULL THEN PERFORM gates.pass('end ' || NEW.number);
  ELSIF OLD.checkpoint IS NOT NULL AND NEW.checkpoint IS DISTINCT FROM OLD.checkpoint THEN PERFORM gates.pass('checkpoint ' || NEW.number); END IF;
  RETURN NEW; END $$;
CREATE FUNCTION gates.state() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.state <> OLD.state THEN PERFORM gates.pass(NEW.state); END IF;
  RETURN NEW; END $$;
CREATE TRIGGER gate BEFORE UPDATE OR DELETE ON service.service_preparations FOR EACH ROW EXECUTE FUNCTION gates.step();
CREATE TRIGGER gate BEFORE UPDATE ON service.service_changes FOR EACH ROW EXECUTE FUNCTION gates.state();`;

const REMOVE = `
DROP TRIGGER gate ON service.service_preparations;
DROP TRIGGER gate ON service.service_changes;
DROP SCHEMA gates CASCADE`;

const WAITING = `
SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND classid = ${LOCK}
   AND objid::bigint = hashtext($1)::bigint & 4294967295
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Creates gates in the database of a service, whose tables must exist. */
export async function makeGates(databaseUrl: string): Promise<Gates> {
  const connect = async (connectionString: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString });
    // The server may restart.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  let db = await connect(databaseUrl);
  await db.query(MAKE);
  return {
    async close(gate) {
      await db.query('INSERT INTO gates.closed VALUES ($1)', [gate]);
    },
    // The time that a busy machine needs for a failover and a restart.
    reached: (gate) => until(`the gate ${gate}`, async () => (await db.query(WAITING, [gate])).rowCount !== 0, 60_000),
    async open(gate) {
      await db.query('DELETE FROM gates.closed WHERE gate = $1', [gate]);
    },
    async reconnect(url = databaseUrl) {
      db = await connect(url);
    },
    async end() {
      await db.query(REMOVE);
      await db.end();
    },
  };
}
