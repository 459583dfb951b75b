/** The beginning of a copy: its tables, and the triggers that note what is written. */
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

/** Makes the copy, empty, and the triggers that note what is written from then on. One without the other is begun again. */
export async function noteWrites(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  const copying = copyingIn(context, step);
  if (await isWhole(context, copying)) return;
  const { table } = step.prepared;
  const locks = [{ table, lock: 'SHARE ROW EXCLUSIVE' }] as const;
  // What is left of triggers of before goes first, with a lock of its own: what they need can be made again then.
  if (await hasTriggers(context, copying))
    await underStrongLocks(context, [{ table, lock: 'ACCESS EXCLUSIVE' }], waits, { under: dropTriggers(copying) });
  await ensureRoom(context);
  const before = [...dropNotes(copying), sql`DROP TABLE IF EXISTS ${copyTable(copying)}`, ...createCopy(copying)];
  await underStrongLocks(context, locks, waits, { before, under: createTriggers(copying) });
}

/** They are made in one transaction: whoever has the triggers has the rest, unless something was dropped or disabled by hand. */
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

/** IF NOT EXISTS alone would ask for the right to create schemas even where it is there. */
async function ensureRoom({ session }: StepContext): Promise<void> {
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.to_regnamespace(${literal(ROOM)})::oid`,
  );
  if (rowCount === 0) await session.query(sql`CREATE SCHEMA IF NOT EXISTS ${ROOM}`);
}
