/** Changes the database to match the log, as far as the caller and PostgreSQL allow it. */
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
  /** If false, no statement that removes something runs. */
  allowDrop: boolean;
  /** With `allowDrop`: columns that other tables inherit are dropped too. */
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
 * Runs in the caller's transaction, which must hold the log's lock.
 * @throws LockedError if other sessions hold the locks; the caller must then roll back the transaction
 */
export async function repairDrift(options: RepairOptions): Promise<RepairResult> {
  const { client, state, schema, schemas, objects } = options;
  const managed = { schema, schemas, objects };
  const made: RepairStatement[] = [];
  let drift = await findDrift(client, state, managed);
  // Renames first: other differences can only be compared when all objects have their previous names.
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

/** Statements that all run, or none of them. */
type Group = readonly RepairStatement[];

/**
 * The statements of one column form one group, because half of them would make it worse. All others form groups of
 * one.
 */
function groupsOf({ differences }: TableDrift): Group[] {
  return differences.flatMap(({ field, repair }): Group[] =>
    field === undefined ? repair.database.map((statement) => [statement]) : [repair.database],
  );
}

/** Several differences of one field share their statements. */
function distinct(groups: readonly Group[]): Group[] {
  const statements = new Set<string>();
  return groups
    .map((group) => group.filter(({ sql }) => !statements.has(sql) && statements.add(sql)))
    .filter((group) => group.length > 0);
}

interface Running extends RepairOptions {
  drift: Drift;
}

/** Failed statements are retried as long as others succeed, because they may depend on later ones. */
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

/** PostgreSQL may truncate or round values without an error if a column's type gets narrower. */
const LOSES = 'it drops an object or may lose values';

function reasonToKeep({ inherited_by }: RepairStatement, allowDrop: boolean): string {
  if (inherited_by === undefined || !allowDrop) return LOSES;
  return `${explainInherited(inherited_by)}. To drop them permanently, repeat the repair with "--purge"`;
}

/** Repairs may need any lock on the differing tables. */
const locksOf = ({ tables }: Drift): LockedTable[] =>
  tables.map(({ table, renamed_to }) => ({ table: renamed_to ?? table, lock: 'ACCESS EXCLUSIVE' }));
