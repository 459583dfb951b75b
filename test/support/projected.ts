/** Runs planned statements on a real server like the pipeline, without a log. */
import { expect } from 'chai';
import { defaultServiceSchema } from '../../src/postgres/own-tables.js';
import type pg from 'pg';
import { readDatabase } from '../../src/postgres/server.js';
import { createPool } from '../../src/postgres/pool.js';
import { migrate } from '../../src/postgres/migrate.js';
import { runScript, sendBatch } from '../../src/postgres/exchange.js';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { metadataStatements } from '../../src/projector/metadata/rows.js';
import type { Statement } from '../../src/projector/ddl/step.js';
import { verify } from '../../src/projector/verify/index.js';
import type { SchemaEvent } from '../../src/schema/model/events.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { transition } from '../../src/schema/transition/transition.js';
import { createDatabase } from './postgres.js';
import { runToEnd } from '../../src/kernel/resumable.js';

export interface Projected {
  client: pg.PoolClient;
  pool: pg.Pool;
  schema: string;
  state(): State;
  /** Runs the batch in its own transaction: tables and metadata rows. A rejected one leaves nothing. */
  project(events: readonly SchemaEvent[]): Promise<Statement[]>;
  /** Projects the events from the present state to `target`. */
  become(target: State): Promise<Statement[]>;
  /** Fold, metadata rows and catalog agree. */
  expectVerified(): Promise<void>;
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A new database with the service's tables and no collection. */
export async function startProjected(schema = 'public'): Promise<Projected> {
  const database = await createDatabase(schema === 'public' ? 'migrated' : 'empty');
  const pool = createPool({
    connectionString: database.connectionString,
    schema,
    serviceSchema: defaultServiceSchema(schema),
    max: 4,
    logger: silent,
  });
  await migrate({
    pool,
    schema,
    serviceSchema: defaultServiceSchema(schema),
    database: await readDatabase(pool),
    logger: silent,
  });
  const client = await pool.connect();
  let state = initialState();

  const project = async (events: readonly SchemaEvent[]): Promise<Statement[]> => {
    const { statements, after } = runToEnd(planBatch(state, events, schema));
    await client.query('BEGIN');
    try {
      await runScript(
        client,
        statements.map((statement) => statement.sql),
      );
      const touched = new Set([...state.collections.keys(), ...after.collections.keys()]);
      await sendBatch(client, [...metadataStatements(state, after, touched)]);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
    state = after;
    return statements;
  };

  return {
    client,
    pool,
    schema,
    state: () => state,
    project,
    become: (target) =>
      project(
        runToEnd(transition(state, target, new Set([...state.collections.keys(), ...target.collections.keys()]))),
      ),
    async expectVerified() {
      const { differences } = await verify(client, state, schema);
      expect(differences, JSON.stringify(differences)).to.deep.equal([]);
    },
    async rows(text, values) {
      return (await client.query<Record<string, unknown>>(text, values)).rows;
    },
    async stop() {
      client.release();
      await pool.end();
      await database.drop();
    },
  };
}
