/** Makes the database as the log says, as far as that is allowed and PostgreSQL lets it. */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import type { State } from '../../schema/model/state.js';
import type { LockedTable } from '../ddl/statement.js';
import { LockedError } from '../ddl/table-locks.js';
import { findDrift } from './find.js';
import type { Drift, RepairStatement, TableDrift } from './model.js';

export interface RepairOptions {
  client: pg.ClientBase;
  state: State;
  schema: string;
  /** Without it, nothing that removes something is run. */
  allowDrop: boolean;
}

export interface Repaired {
  /** In the order they ran. */
  made: RepairStatement[];
  /** What was not run, and why. */
  left: (RepairStatement & { reason: string })[];
  /** What is still there. */
  drift: Drift;
}

/**
 * In the caller's transaction, which must hold the log's lock.
 * @throws LockedError when other sessions hold the locks: what was done so far is to be rolled back with the transaction
 */
export async function repairDrift(options: RepairOptions): Promise<Repaired> {
  const { client, state, schema } = options;
  const made: RepairStatement[] = [];
  let drift = await findDrift(client, state, schema);
  // Names first: what else differs can be told only when everything is called what it was called.
  const renames = distinct(drift.tables.flatMap(renamesOf));
  if (renames.length > 0) {
    await runAll({ ...options, drift }, renames, made);
    drift = await findDrift(client, state, schema);
  }
  const left = await runAll({ ...options, drift }, distinct(drift.tables.flatMap(statementsOf)), made);
  if (made.length > 0) drift = await findDrift(client, state, schema);
  return { made, left, drift };
}

function renamesOf({ renamed_to: table, differences }: TableDrift): RepairStatement[] {
  return differences
    .filter(({ renamed_to: column }) => table !== undefined || column !== undefined)
    .flatMap(({ repair }) => repair.database);
}

const statementsOf = ({ differences }: TableDrift): RepairStatement[] =>
  differences.flatMap(({ repair }) => repair.database);

/** Several differences of one field share their statements. */
function distinct(statements: readonly RepairStatement[]): RepairStatement[] {
  return [...new Map(statements.map((statement) => [statement.sql, statement])).values()];
}

interface Running extends RepairOptions {
  /** What the statements come from. */
  drift: Drift;
}

/** What failed is tried again as long as others succeed: it may need what comes after it. */
async function runAll(
  options: Running,
  statements: readonly RepairStatement[],
  made: RepairStatement[],
): Promise<Repaired['left']> {
  let left = await runEach(options, statements, made);
  for (let before = statements.length; left.length > 0 && left.length < before;) {
    before = left.length;
    left = await runEach(options, left, made);
  }
  return left;
}

async function runEach(
  { client, allowDrop, drift }: Running,
  statements: readonly RepairStatement[],
  made: RepairStatement[],
): Promise<Repaired['left']> {
  const left: Repaired['left'] = [];
  for (const { sql, summary, drops } of statements) {
    const reason = drops && !allowDrop ? 'it drops something' : await run(client, sql, drift);
    if (reason === null) made.push({ sql, summary, drops });
    else left.push({ sql, summary, drops, reason });
  }
  return left;
}

/** Each by itself: one that fails takes no other along. */
async function run(client: pg.ClientBase, text: string, drift: Drift): Promise<string | null> {
  await client.query('SAVEPOINT repair');
  try {
    await client.query(text);
    await client.query('RELEASE SAVEPOINT repair');
    return null;
  } catch (error) {
    if (isLocked(error)) throw new LockedError(error, locksOf(drift));
    await client.query('ROLLBACK TO SAVEPOINT repair; RELEASE SAVEPOINT repair');
    return error instanceof Error ? error.message : String(error);
  }
}

/** Repairs may need any lock on the tables that differ. */
const locksOf = ({ tables }: Drift): LockedTable[] =>
  tables.map(({ table, renamed_to }) => ({ table: renamed_to ?? table, lock: 'ACCESS EXCLUSIVE' }));
