/** Changes the database to match the log, as far as the request and PostgreSQL allow it. */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import type { State } from '../../schema/model/state.js';
import type { LockedTable } from '../../projector/ddl/step.js';
import { LockedError } from '../../projector/ddl/table-locks.js';
import { findDrift } from './find.js';
import type { Drift, RepairStatement, TableDrift } from './model.js';
import { toShownRepair } from './repair-plan.js';
import { explainInherited } from '../../projector/catalog/deletion-facts.js';

export interface RepairOptions {
  client: pg.ClientBase;
  state: State;
  schema: string;
  schemas?: readonly string[] | undefined;
  /** True if the instance manages objects other than tables. */
  objects?: boolean | undefined;
  /** True to run statements that remove something. */
  allowDrop: boolean;
  /** True to drop columns that other tables inherit. Only effective with `allowDrop`. */
  purge?: boolean;
}

export interface RepairResult {
  /** Listed in execution order. */
  made: RepairStatement[];
  /** The statements that did not run, with reasons. */
  left: (RepairStatement & { reason: string })[];
  drift: Drift;
}

/**
 * Must run in a transaction of the caller that holds the log's lock.
 * @throws LockedError if other sessions hold the locks. The caller must then roll back the transaction
 */
export async function repairDrift(options: RepairOptions): Promise<RepairResult> {
  const { client, state, schema, schemas, objects } = options;
  const managed = { schema, schemas, objects };
  const made: RepairStatement[] = [];
  let drift = await findDrift(client, state, managed);
  // Renames come first. Other differences can only be compared when all objects have their previous names.
  const renames = distinct(drift.tables.flatMap(renamesOf));
  if (renames.length > 0) {
    await runAll({ ...options, drift }, renames, made);
    drift = await findDrift(client, state, managed);
  }
  const beside = (drift.objects ?? []).map(({ repair }) => repair.database);
  const groups = [...distinct(drift.tables.flatMap(groupsOf)), ...beside];
  const left = await runAll({ ...options, drift }, groups, made);
  if (made.length > 0) drift = await findDrift(client, state, managed);
  return { made, left, drift };
}

function renamesOf({ renamed_to: table, differences }: TableDrift): Group[] {
  return differences
    .filter(({ renamed_to: column }) => table !== undefined || column !== undefined)
    .flatMap(({ repair }) => repair.database.map((statement) => [statement]));
}

/** Statements that run together or not at all. */
type Group = readonly RepairStatement[];

/**
 * Groups the statements. Those of one column form one group, because running only some of them would leave the column
 * in a worse state. All other statements form groups of one.
 */
function groupsOf({ differences }: TableDrift): Group[] {
  return differences.flatMap(({ field, repair }): Group[] =>
    field === undefined ? repair.database.map((statement) => [statement]) : [repair.database],
  );
}

/** Removes repeated groups, because several differences of one field share their statements. */
function distinct(groups: readonly Group[]): Group[] {
  const statements = new Set<string>();
  return groups
    .map((group) => group.filter(({ sql }) => !statements.has(sql) && statements.add(sql)))
    .filter((group) => group.length > 0);
}

interface Running extends RepairOptions {
  drift: Drift;
}

/**
 * Runs the groups. Failed ones are retried as long as others succeed, because a statement may depend on a later one.
 */
async function runAll(
  options: Running,
  groups: readonly Group[],
  made: RepairStatement[],
): Promise<RepairResult['left']> {
  let failed: { group: Group; left: RepairResult['left'] }[] = [];
  for (let rest = groups, before = Infinity; rest.length > 0 && rest.length < before;) {
    before = rest.length;
    failed = [];
    for (const group of rest) {
      const left = await run(options, group, made);
      if (left.length > 0) failed.push({ group: left, left });
    }
    rest = failed.map(({ group }) => group);
  }
  return failed.flatMap(({ left }) => left);
}

async function run(
  { client, allowDrop, purge = false, drift }: Running,
  group: Group,
  made: RepairStatement[],
): Promise<RepairResult['left']> {
  const kept = group.filter(
    ({ drops, inherited_by }) => drops && !(allowDrop && (purge || inherited_by === undefined)),
  );
  const done: RepairStatement[] = [];
  const left = kept.map((statement) => ({ ...toShownRepair(statement), reason: reasonToKeep(statement, allowDrop) }));
  await client.query('SAVEPOINT repair');
  for (const statement of group.filter((each) => !kept.includes(each))) {
    try {
      await client.query(statement.sql);
      done.push(toShownRepair(statement));
    } catch (error) {
      if (isLocked(error)) throw new LockedError(error, locksOf(drift));
      await client.query('ROLLBACK TO SAVEPOINT repair; RELEASE SAVEPOINT repair');
      const reason = error instanceof Error ? error.message : String(error);
      return group.map((each) => ({ ...toShownRepair(each), reason }));
    }
  }
  await client.query('RELEASE SAVEPOINT repair');
  made.push(...done);
  return left;
}

/**
 * The reason for skipping a statement. If a column's type becomes narrower, PostgreSQL may truncate or round values
 * without an error.
 */
const LOSES = 'it drops an object or may lose values';

function reasonToKeep({ inherited_by }: RepairStatement, allowDrop: boolean): string {
  if (inherited_by === undefined || !allowDrop) return LOSES;
  return `${explainInherited(inherited_by)}. To drop them permanently, repeat the repair with "--purge"`;
}

/** Returns the tables to lock. A repair may need any lock on the tables that differ. */
const locksOf = ({ tables }: Drift): LockedTable[] =>
  tables.map(({ table, renamed_to }) => ({ table: renamed_to ?? table, lock: 'ACCESS EXCLUSIVE' }));
