/** Invariants of the service and its database. */
import pg from 'pg';
import { createDatabase } from '../../test/support/postgres.js';
import type { Fault } from './judge.js';
import type { Session } from './session.js';
import type { SnapshotDoc } from './world.js';

/** Memory limit in bytes. Bodies in progress use at most 64 MiB, and the parsed values a few hundred MiB. */
const MEMORY_LIMIT = 1_500 * 1024 ** 2;

type Question = (session: Session) => Promise<string | null>;

const shorten = (value: unknown): string => JSON.stringify(value).slice(0, 3_000);

const isHealthy: Question = async ({ ask }) => {
  const { status, text } = await ask('GET', '/server/health');
  return status === 200 ? null : `health: ${status} ${text.slice(0, 1_000)}`;
};

const chainIsWhole: Question = async ({ ask, context: { world } }) => {
  const { json } = await ask<{ data: { ok: boolean; checked: number } }>('GET', '/history/verify');
  return json.data.ok && json.data.checked >= world.head
    ? null
    : `the chain: ${shorten(json.data)}, the head is ${world.head}`;
};

/** The fold of the log, the metadata rows and the catalog agree. */
const threeAgree: Question = async ({ ask }) => {
  const { json } = await ask<{ data?: { ok: boolean } }>('GET', '/projections/verify');
  return json.data?.ok === true ? null : `fold, rows and catalog: ${shorten(json)}`;
};

const hasNoDrift: Question = async ({ ask }) => {
  const { json } = await ask<{ ok?: boolean; tables: unknown }>('GET', '/schema/drift');
  return json.ok === true ? null : `drift: ${shorten(json.tables ?? json)}`;
};

interface Empty {
  diff?: Record<string, unknown[]>;
}

const snapshotIsTaken: Question = async ({ ask }) => {
  const { json: snapshot } = await ask<SnapshotDoc>('GET', '/schema/snapshot');
  const { json, text } = await ask<Empty>('POST', '/schema/diff', snapshot);
  const parts = Object.values(json?.diff ?? { none: [1] });
  return parts.every((part) => part.length === 0) ? null : `its own snapshot as a diff: ${text.slice(0, 2_000)}`;
};

/** The SQL script of the schema creates the same tables elsewhere, or at least runs. */
const scriptRuns: Question = async ({ ask }) => {
  const { text } = await ask('GET', '/history/snapshot?export=sql');
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.connectionString });
  try {
    await client.connect();
    await client.query(text);
    return null;
  } catch (error) {
    return `the SQL export fails: ${(error as Error).message}`;
  } finally {
    await client.end();
    await database.drop();
  }
};

const memoryIsBounded: Question = ({ target }) => {
  const bytes = target.memory() ?? 0;
  return Promise.resolve(bytes <= MEMORY_LIMIT ? null : `${Math.round(bytes / 1024 ** 2)} MiB are resident`);
};

const QUESTIONS: Record<string, Question> = {
  isHealthy,
  chainIsWhole,
  threeAgree,
  hasNoDrift,
  snapshotIsTaken,
  scriptRuns,
  memoryIsBounded,
};

/** All violated invariants. */
export async function checkAll(session: Session): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [rule, question] of Object.entries(QUESTIONS)) {
    const message = await question(session);
    if (message !== null) faults.push({ rule, message });
  }
  return faults;
}
