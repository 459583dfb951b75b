/*
 * The locks of a change on tables that others use. They are requested together before the change does anything. If
 * they are not available, the holders are listed.
 * https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES
 */
import { type Sql, block, join, literal, objectSql, ownSchemaOid, qualified, sql } from './sql.js';
import { type ObjectName, isRoutine } from '../../schema/model/objects.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';
import type { TableLocation } from '../../schema/model/state.js';
import type { LockedTable, Statement } from './step.js';

/*
 * Lists the partitions of a table without locking them. pg_partition_tree() would wait for concurrent changes of a
 * partition.
 */

/**
 * SQL for the oids of the table and of its partitions at all levels.
 * @param table an alias for pg_class
 */
export const partsOf = (table: Sql): Sql => sql`
WITH RECURSIVE part (oid, kind) AS (
  SELECT ${table}.oid, ${table}.relkind
  UNION ALL
  SELECT r.oid, r.relkind FROM part JOIN pg_catalog.pg_inherits i ON i.inhparent = part.oid AND part.kind = 'p'
    JOIN pg_catalog.pg_class r ON r.oid = i.inhrelid)
SELECT oid FROM part`;

/* Finds tables whose rows or values a batch deletes, and which of them are empty. */

interface LosingTable {
  table: string;
  /** Its location, unless it has the same name in the default schema. */
  at?: TableLocation | undefined;
}

/** Returns each table once. An object without a table, such as a type, is listed by its name. */
export function listLosingTables(
  statements: readonly Pick<Statement, 'loses_data' | 'object' | 'at' | 'source'>[],
): LosingTable[] {
  const tables = statements
    .filter(({ loses_data: loses }) => loses)
    .map(({ object, at, source }) => ({ table: object.table ?? source.collection, at }));
  return [...new Map(tables.map((each) => [each.table, each])).values()];
}

/**
 * SQL for the names in `tables`, in one row, that are not tables without rows. A table counts as empty while its file
 * has no page: that needs no privilege to read rows, no row security policy hides anything, and nothing is counted.
 * Tables that inherit from it count as part of it. Hold the locks on the tables if the result must stay true.
 */
export function selectFilledTables(schema: string, tables: readonly LosingTable[]): Sql {
  const values = tables.map(({ table, at }) => sql`(${literal(table)}::text, ${quotedName(schema, { table, at })})`);
  return sql`SELECT coalesce(pg_catalog.array_agg(w.label), '{}') AS filled
    FROM (VALUES ${join(values, sql`, `)}) AS w (label, name) CROSS JOIN LATERAL (
      WITH RECURSIVE part (oid) AS (
        SELECT pg_catalog.to_regclass(w.name)::oid
        UNION SELECT i.inhrelid FROM part JOIN pg_catalog.pg_inherits i ON i.inhparent = part.oid)
      SELECT pg_catalog.sum(pg_catalog.pg_relation_size(c.oid)) AS bytes,
             pg_catalog.bool_and(c.relkind IN ('r', 'p') AND pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')) AS measured
        FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid) p
    WHERE NOT coalesce(p.bytes = 0::numeric AND p.measured, false)`;
}

type Mode = LockedTable['lock'];

/** A lock that a change needs. Unlike a `LockedTable`, it may be on an object, and nobody takes it in advance. */
export interface NeededLock extends Omit<LockedTable, 'lock'> {
  lock: Mode | 'ACCESS SHARE' | 'ROW EXCLUSIVE';
  /** Set for a lock on an object. `table` is then the label of the object. */
  object?: ObjectName;
}

/** A transaction timed out waiting for a lock or lost a deadlock. A retry may succeed. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  /** The locks that may not have been granted. Empty if unknown. */
  readonly locks: readonly NeededLock[];

  constructor(cause: unknown, locks: readonly NeededLock[]) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.locks = locks;
  }
}

/** Ordered by strength: each mode conflicts with everything that the modes before it conflict with. */
const STRENGTH: readonly Mode[] = ['SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'];

const WORDS: Readonly<Record<Mode, Sql>> = {
  'SHARE UPDATE EXCLUSIVE': sql`SHARE UPDATE EXCLUSIVE`,
  SHARE: sql`SHARE`,
  'SHARE ROW EXCLUSIVE': sql`SHARE ROW EXCLUSIVE`,
  'ACCESS EXCLUSIVE': sql`ACCESS EXCLUSIVE`,
};

/** Returns each table once, with its strongest lock. The order by name prevents deadlocks between two changes. */
export function findStrongestLocks(statements: readonly Pick<Statement, 'locks'>[]): LockedTable[] {
  const strongest = new Map<string, LockedTable>();
  for (const { locks } of statements) {
    for (const each of locks) {
      const existing = strongest.get(each.table);
      strongest.set(each.table, { ...(existing ?? each), lock: strongerOf(existing?.lock, each.lock) });
    }
  }
  return [...strongest.values()].sort((a, b) => compareBytes(a.table, b.table));
}

/** Compares names in the order of COLLATE "C". */
const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function strongerOf(current: Mode | undefined, lock: Mode): Mode {
  if (current === undefined || current === lock) return lock;
  const both = new Set([current, lock]);
  if (both.has('SHARE') && both.has('SHARE UPDATE EXCLUSIVE')) return 'SHARE ROW EXCLUSIVE';
  return STRENGTH.indexOf(current) > STRENGTH.indexOf(lock) ? current : lock;
}

/**
 * Takes the locks in the order of `findStrongestLocks`. Each waits up to lock_timeout. It skips replaced tables, and
 * tables that the account may alter but not lock (an owner can revoke that). The statements themselves fail on those.
 * Each table is looked up separately: planning a join for all takes longer than one lookup.
 */
export function lockTables(schema: string, locks: readonly LockedTable[]): Sql {
  const requested = join(
    locks.map((each) => sql`ARRAY[${quotedName(schema, each)}, ${literal(WORDS[each.lock])}]`),
    sql`, `,
  );
  const body = sql`DECLARE t text[]; BEGIN
    FOREACH t SLICE 1 IN ARRAY ARRAY[${requested}] LOOP
      IF EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass(t[1])::oid AND c.relkind IN ('r', 'p')
                    AND pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE'))
      THEN EXECUTE 'LOCK TABLE ' || t[1] || ' IN ' || t[2] || ' MODE'; END IF;
    END LOOP; END`;
  return sql`DO ${block(body)}`;
}

/**
 * SQL for the quoted, qualified table name as text. The table is in a managed schema or is one of the service's own.
 */
function quotedName(schema: string, { table, at }: LosingTable): Sql {
  if (!REFERABLE_SYSTEM_COLLECTIONS.has(table)) return literal(qualified(at?.schema ?? schema, at?.name ?? table));
  return sql`pg_catalog.format('%s.%I', (${ownSchemaOid})::pg_catalog.regnamespace, ${literal(table)})`;
}

const OWN_NAMES: Sql = join([...REFERABLE_SYSTEM_COLLECTIONS.keys()].map(literal), sql`, `);

/** Matches the namespace n in which the table w.name is expected: its managed schema or the service's own. */
const IS_PLACE = sql`CASE WHEN w.label IN (${OWN_NAMES}) THEN n.oid = ${ownSchemaOid} ELSE n.nspname = w.schema END`;

/** A transaction that holds a lock which a change needs, or waits for one ahead of it. */
export interface Holder {
  pid: number | null;
  /** The transaction id in PostgreSQL's numbering. It distinguishes a later transaction of the same process. */
  transaction: string;
  /** The application_name, often empty. */
  application: string;
  /** Seconds since the transaction began; null if the account may not see it. */
  age: number | null;
  /** The collection, or the label of an object. */
  table: string;
  /** Present only in stored progress, if the lock is on an object that is not a table. */
  object?: ObjectName;
  /**
   * True if the transaction is a VACUUM or ANALYZE. Autovacuum cancels itself for a session that waits longer than
   * deadlock_timeout.
   */
  maintenance: boolean;
}

/** The conflicting modes of each lock, named as in pg_locks. */
const CONFLICTS: Readonly<Record<NeededLock['lock'], readonly string[]>> = (() => {
  const strong = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];
  const shareRow = ['RowExclusiveLock', 'ShareUpdateExclusiveLock', ...strong];
  return {
    'ACCESS SHARE': ['AccessExclusiveLock'],
    'ROW EXCLUSIVE': strong,
    'SHARE UPDATE EXCLUSIVE': ['ShareUpdateExclusiveLock', ...strong],
    SHARE: shareRow.filter((mode) => mode !== 'ShareLock'),
    'SHARE ROW EXCLUSIVE': shareRow,
    'ACCESS EXCLUSIVE': ['AccessShareLock', 'RowShareLock', ...shareRow],
  };
})();

/**
 * Returns rows of `Holder`: holders before waiters, oldest first. The parameters are `conflictsOf`. Partitions count
 * as their table. The query text of sessions is not read.
 *
 * A function has no relation lock. DROP, ALTER and COMMENT lock it as an object. A transaction that has replaced it
 * holds no such lock, but its id is in the row of the function.
 */
export const HOLDERS = sql`
  WITH requested AS (
    SELECT DISTINCT w.label, w.mode, o.oid
      FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]))
           AS w (schema, name, mode, label)
      JOIN pg_catalog.pg_class c ON c.relname = w.name
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND ${IS_PLACE},
      LATERAL (${partsOf(sql`c`)}) AS o
  ), held AS (
    SELECT w.label, l.* FROM requested w
      JOIN pg_catalog.pg_locks l ON l.locktype = 'relation' AND l.relation = w.oid AND l.mode = w.mode
    UNION ALL
    SELECT r.label, l.*
      FROM ROWS FROM (pg_catalog.unnest($5::text[]), pg_catalog.unnest($6::text[])) AS r (signature, label)
      JOIN pg_catalog.pg_proc p ON p.oid = pg_catalog.to_regprocedure(r.signature)::oid
      JOIN pg_catalog.pg_locks l
        ON l.locktype = 'object' AND l.classid = 'pg_catalog.pg_proc'::regclass::oid AND l.objid = p.oid
        OR l.locktype = 'transactionid' AND l.transactionid = p.xmax AND l.granted
  )
  SELECT DISTINCT ON (l.granted, age, l.virtualtransaction)
         l.pid, l.virtualtransaction AS transaction, coalesce(a.application_name, '') AS application,
         extract(epoch FROM statement_timestamp() - a.xact_start)::float8 AS age, l.label AS table,
         EXISTS (SELECT FROM pg_catalog.pg_stat_progress_vacuum v WHERE v.pid = l.pid)
           OR EXISTS (SELECT FROM pg_catalog.pg_stat_progress_analyze v WHERE v.pid = l.pid) AS maintenance,
         l.granted
    FROM held l
    LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
   WHERE (l.locktype = 'transactionid' OR l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))
     AND l.pid IS DISTINCT FROM pg_backend_pid()
   ORDER BY l.granted DESC, age DESC NULLS LAST, l.virtualtransaction, l.label
   LIMIT 20`;

/** Returns the parameters of `HOLDERS`. */
export function conflictsOf(schema: string, locks: readonly NeededLock[]): string[][] {
  const relations = locks.filter(({ object }) => object === undefined || !isRoutine(object));
  const all = relations.flatMap(({ table, lock, at }) => CONFLICTS[lock].map((mode) => ({ table, mode, at })));
  const routines = locks.flatMap(({ table, object }) =>
    // to_regprocedure does not accept the `(*)` of an aggregate.
    object !== undefined && isRoutine(object)
      ? [{ signature: objectSql(schema, { ...object, kind: 'function' }), label: table }]
      : [],
  );
  return [
    all.map(({ at }) => at?.schema ?? schema),
    all.map(({ table, at }) => at?.name ?? table),
    all.map(({ mode }) => mode),
    all.map(({ table }) => table),
    routines.map(({ signature }) => signature),
    routines.map(({ label }) => label),
  ];
}

/** Returns the holders, or the waiters if there are no holders. */
export function readHolders(rows: readonly unknown[]): Holder[] {
  const all = rows as (Holder & { granted: boolean })[];
  const holding = all.filter(({ granted }) => granted);
  return holding.length > 0 ? holding : all;
}

/** Returns a key for a holder. It contains the transaction, because the same process may hold locks in a later one. */
export const holderKey = ({ pid, transaction }: Holder): string => `${pid} ${transaction}`;
