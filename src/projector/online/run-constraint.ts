/** NOT NULL, checks and foreign keys: added NOT VALID under a short lock, then validated without blocking others. */
import { ident, literal, qualified, type Sql, sql } from '../ddl/sql.js';
import type { LockedTable } from '../ddl/statement.js';
import { preparedName } from './names.js';
import type { Prepared } from './preparables.js';
import type { EngineStep, NotNullBy } from './steps.js';
import { type LockWaits, underStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';

/** Adds the constraint for new rows without checking existing ones. */
export async function addConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  if ((await findConstraint(context, step)) !== null) return;
  const { schema, id } = context;
  const { prepared, notNullBy } = step;
  const definition = notValid(prepared, notNullBy);
  if (definition === null) return;
  const table = qualified(schema, prepared.table);
  const name = ident(preparedName(id, prepared.key));
  await underStrongLocks(context, locksOf(prepared), waits, {
    under: [sql`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition} NOT VALID`],
  });
}

/** Reads the whole table under a lock that blocks only other DDL and VACUUM. */
export async function validateConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  // Someone may have dropped it by hand since.
  await addConstraint(context, step, waits);
  if ((await findConstraint(context, step)) === true) return;
  const { session, schema, id } = context;
  const { table, key } = step.prepared;
  await session.query(sql`ALTER TABLE ${qualified(schema, table)} VALIDATE CONSTRAINT ${ident(preparedName(id, key))}`);
}

function notValid({ what }: Prepared, notNullBy: NotNullBy): Sql | null {
  if (what.kind === 'constraint') return what.definition;
  if (what.kind !== 'not null') return null;
  const column = ident(what.column);
  // A composite value with a null attribute fails IS NOT NULL, but a NOT NULL column may hold it. PostgreSQL proves
  // NOT NULL from either form.
  return notNullBy === 'constraint' ? sql`NOT NULL ${column}` : sql`CHECK (${column} IS DISTINCT FROM NULL)`;
}

function locksOf({ table, what }: Prepared): LockedTable[] {
  if (what.kind !== 'constraint' || what.references === null) return [{ table, lock: 'ACCESS EXCLUSIVE' }];
  const tables = [...new Set([table, what.references])].sort();
  return tables.map((each) => ({ table: each, lock: 'SHARE ROW EXCLUSIVE' }));
}

async function findConstraint({ session, schema, id }: StepContext, { prepared }: EngineStep): Promise<boolean | null> {
  const found = sql`
    SELECT convalidated AS valid FROM pg_catalog.pg_constraint
    WHERE conrelid = pg_catalog.to_regclass(${literal(qualified(schema, prepared.table))})::oid
      AND conname = ${literal(preparedName(id, prepared.key))}`;
  const { rows } = await session.query<{ valid: boolean }>(found);
  return rows[0]?.valid ?? null;
}
