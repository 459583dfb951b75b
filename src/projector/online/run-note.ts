/** Starts a copy: creates its tables, and the triggers that record writes. */
import { integer, join, literal, sql } from '../ddl/sql.js';
import {
  type Copying,
  ROOM,
  copyTable,
  createCopy,
  createTriggers,
  dropNotes,
  dropTriggers,
  lostTable,
  notedTable,
  triggerNames,
} from './copy.js';
import { copyingIn } from './run-copy.js';
import type { EngineStep } from './steps.js';
import { type LockWaits, underStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';

/** Creates the empty copy and the triggers that record all later writes. If either is missing, it starts over. */
export async function noteWrites(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  const copying = copyingIn(context, step);
  if (await isWhole(context, copying)) return;
  const { table } = step.prepared;
  const locks = [{ table, lock: 'SHARE ROW EXCLUSIVE' }] as const;
  // Old triggers are dropped first, under a separate lock, so that the objects they use can be recreated.
  if (await hasTriggers(context, copying))
    await underStrongLocks(context, [{ table, lock: 'ACCESS EXCLUSIVE' }], waits, { under: dropTriggers(copying) });
  await ensureRoom(context);
  const before = [...dropNotes(copying), sql`DROP TABLE IF EXISTS ${copyTable(copying)}`, ...createCopy(copying)];
  await underStrongLocks(context, locks, waits, { before, under: createTriggers(copying) });
}

/**
 * All are created in one transaction. If the triggers exist, so does the rest, unless someone dropped or disabled
 * something by hand.
 */
async function isWhole({ session }: StepContext, copying: Copying): Promise<boolean> {
  const names = triggerNames(copying);
  const tables = [copyTable, notedTable, lostTable].map(
    (of) => sql`pg_catalog.to_regclass(${literal(of(copying))}) IS NOT NULL`,
  );
  const { rows } = await session.query<{ whole: boolean }>(sql`
    SELECT ${join(tables, sql` AND `)} AND (
      SELECT count(*) = ${integer(String(names.length))} FROM pg_catalog.pg_trigger
       WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgenabled = 'A' AND tgname IN (${join(names.map(literal), sql`, `)})
    ) AS whole`);
  return rows[0]?.whole === true;
}

async function hasTriggers({ session }: StepContext, copying: Copying): Promise<boolean> {
  const names = join(triggerNames(copying).map(literal), sql`, `);
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgname IN (${names})`,
  );
  return rowCount !== 0;
}

/** IF NOT EXISTS alone would require the CREATE privilege even if the schema exists. */
async function ensureRoom({ session }: StepContext): Promise<void> {
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.to_regnamespace(${literal(ROOM)})::oid`,
  );
  if (rowCount === 0) await session.query(sql`CREATE SCHEMA IF NOT EXISTS ${ROOM}`);
}
