/* Prepares commands that restore objects. The trash is read in the transaction of the command. */
import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import {
  type AlteredColumn,
  type TrashEntry,
  alteredColumns,
  findInTrash,
  findRestorable,
  isKept,
  keptColumns,
  keptDeletions,
  notInTrash,
} from './rows.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { type TrashNode, keyChange } from '../../schema/transition/restoring-transition.js';
import type { Prepare } from '../../pipeline/types.js';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import type { Point } from '../../log/fold.js';
import { own } from '../../postgres/own-tables.js';
import { identityOf } from './rows.js';
import type { RestoreRequest } from '../../schema/operations/trash.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  primaryKeyOf,
  hasDefault,
  tableNameOf,
  fieldNameOf,
} from '../../schema/model/state.js';
import { notNullNameOf } from '../../schema/model/constraint-names.js';
import { COPY, countValues } from '../../projector/ddl/trash.js';
import { type Sql, integer, qualified, sql, trash, tableOfNode } from '../../projector/ddl/sql.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { quoteName } from '../../kernel/text.js';

/* Find the source of a restore of a table or field: the entry in the trash, or the log if the database was created
   from its log. The past never changes, so it is folded before the lock is taken. The trash is read under the lock. */

interface RestoreOptions {
  pool: Queryable;
  /** Returns the schema after the event at a position. */
  at(position: number): Promise<Point>;
}

/** @throws ProblemError NOT_FOUND if neither the trash nor the log has an entry for the position */
export async function findEntry({ pool, at }: RestoreOptions, position: number): Promise<TrashEntry> {
  const entry = await findInTrash(pool, position);
  if (entry !== undefined) return entry;
  const [deletion] = await keptDeletions(pool, [position]);
  if (deletion === undefined) throw new ProblemError(await notInTrash(pool, position));
  const { there: _, ...kept } = deletion;
  const { state } = await at(position - 1);
  const identity = identityOf(kept, state.collections.get(kept.collection));
  return { ...kept, identity, rows: null, bytes: null };
}

/** Returns the schema before the batch that put an entry into the trash. */
async function schemaBefore({ pool, at }: RestoreOptions, { batch }: TrashEntry): Promise<Point> {
  const { rows } = await pool.query<{ first: number }>(
    `SELECT pg_catalog.min(position)::float8 AS first FROM ${own.events} WHERE batch = $1`,
    [batch],
  );
  const [{ first }] = rows as [{ first: number }];
  return at(first - 1);
}

/** Creates the command, after checking that the entry still exists. */
const stillThere =
  <C extends { empty?: boolean }>(entry: TrashEntry, command: C) =>
  async (client: pg.ClientBase): Promise<C> => {
    const { position, batch } = entry;
    const now = await findInTrash(client, position);
    const [kept] = now === undefined ? await keptDeletions(client, [position]) : [now];
    // Another log has replaced this one, so the entry at this position is a different one.
    if (kept?.batch !== batch) throw new ProblemError(await notInTrash(client, position));
    if (await isKept(client, entry)) return command;
    if (now !== undefined) throw new ProblemError(dropped(entry));
    return { ...command, empty: true };
  };

function dropped({ position, collection }: TrashEntry): Problem {
  const message = `The deleted object at position ${position} was dropped by hand. It cannot be restored, only purged.`;
  return { code: 'NOT_FOUND', message, collection };
}

/* Restores a deleted table. */

type Command = CommandOf<'restore-collection'>;

/** @returns a function that creates the command in its transaction, after checking that the entry still exists */
export async function createCollectionRestore(
  options: RestoreOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<Prepare<Command>> {
  const { state: past } = await schemaBefore(options, entry);
  const { position, identity, collection: name, kept_in } = entry;
  return stillThere<Command>(entry, { position, identity, name, kept_in: kept_in ?? undefined, past, ...request });
}

/* Restores a field. Its values and its table are checked under the lock. */

/**
 * Checks the copy of the values, which may have been altered by hand. PostgreSQL might then convert the values, and the
 * service would drop the copy.
 * @param kept the field, by its name before the deletion
 * @throws ProblemError if the copy has other columns or types than the log records
 */
async function requireUnalteredCopy(
  client: Queryable,
  kept: Pick<TrashEntry, 'position' | 'collection' | 'field'>,
  node: CollectionNode,
): Promise<void> {
  const columns = keptColumns({ kind: 'field', field: kept.field }, node);
  const altered = await alteredColumns(client, [{ ...kept, kept_in: null, columns }]);
  if (altered.length === 0) return;
  const { collection, field } = kept;
  const message =
    `Field ${quoteName(`${collection}.${field}`)} cannot be restored: in the table ${altered[0]?.table} in the trash, ` +
    `${altered.map(alterationText).join(', ')}, so someone changed or replaced it. Change it back with SQL, then restore the field.`;
  const details = { columns: altered.map(({ name }) => name) };
  throw new ProblemError({ code: 'IN_USE', message, collection, field: field ?? '', details });
}

const alterationText = ({ name, type, found }: AlteredColumn): string =>
  found === null
    ? `column ${quoteName(name)} of the type ${type} is missing`
    : `column ${quoteName(name)} has the type ${found} instead of ${type}`;

/* Counts rows without a value for a restored NOT NULL field. */

interface RowCountRequest {
  options: { schema: string };
  command: CommandOf<'restore-field'>;
  /** The current table of the field. */
  now: CollectionNode;
}

/** Maximum number of rows that are counted. */
const ENOUGH = 1_000;

/**
 * Counts the rows before anything changes. @returns why PostgreSQL would reject the restore, and which member to omit
 */
async function nullsInTheWay(client: pg.ClientBase, counting: RowCountRequest): Promise<Problem | undefined> {
  const { node, name, as = name, without, empty = false } = counting.command;
  const { collection } = counting.now.collection;
  const schema = node.fields.get(name)?.schema;
  if (!schema || schema.is_nullable) return undefined;
  const key = notNullNameOf(tableNameOf(counting.now), { field: as, schema });
  if (without.includes(key)) return undefined;
  const nulls = await countUnlessDropped(client, () =>
    empty ? countEmpty(client, counting, schema) : countNulls(client, counting),
  );
  return nulls <= 0 ? undefined : { ...nullsProblem(nulls, { name, key, empty }), collection, field: as };
}

interface Nulls {
  name: string;
  key: string;
  empty: boolean;
}

function nullsProblem(nulls: number, { name, key, empty }: Nulls): Problem {
  const [were, have] = nulls === 1 ? ['row was', 'has'] : ['rows were', 'have'];
  const count = nulls > ENOUGH ? `more than ${ENOUGH}` : String(nulls);
  const why = empty
    ? `${count} ${nulls === 1 ? 'row has' : 'rows have'} no value for ${JSON.stringify(name)}, which is restored empty`
    : `${count} ${were} written since ${JSON.stringify(name)} was deleted, and ${have} no value for it`;
  const message = `${why}, so it cannot be NOT NULL. Restore it without that constraint, {"without": [${JSON.stringify(key)}]}, and fill it afterwards.`;
  const offending = { kind: 'null', count: Math.min(nulls, ENOUGH), more: nulls > ENOUGH };
  return { code: 'DATABASE_REFUSED', message, details: { offending, without: [key] } };
}

/**
 * Returns 0 if the table or its key was removed by hand, or if policies hide rows from the service. The change itself is
 * then rejected with the location, or PostgreSQL checks the rows.
 */
async function countUnlessDropped(client: pg.ClientBase, count: () => Promise<number>): Promise<number> {
  await client.query('SAVEPOINT counting');
  try {
    const counted = await count();
    await client.query('RELEASE SAVEPOINT counting');
    return counted;
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || !UNCOUNTABLE.has(state)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT counting; RELEASE SAVEPOINT counting');
    return 0;
  }
}

const UNCOUNTABLE: ReadonlySet<string> = new Set([
  SQLSTATE.undefined_table,
  SQLSTATE.undefined_column,
  SQLSTATE.insufficient_privilege,
]);

async function countNulls(client: pg.ClientBase, { options, command, now }: RowCountRequest): Promise<number> {
  // The command will be rejected for a different reason.
  if (keyChange(command.node, now) !== null) return 0;
  const kept = {
    table: tableOfNode(now, options.schema),
    key: primaryKeyOf(now).map(({ field }) => ({ name: field, identity: now.identities.fields.get(field) ?? '' })),
    copy: qualified(trash(command.position), COPY),
  };
  const most = integer(String(ENOUGH + 1 + (await countOf(client, kept.copy))));
  const { rows: counted } = await client.query<{ met: number; rows: number }>(countValues(kept, most));
  const [{ met, rows }] = counted as [{ met: number; rows: number }];
  return rows - met;
}

async function countEmpty(
  client: pg.ClientBase,
  { options, now }: RowCountRequest,
  schema: ColumnSchema,
): Promise<number> {
  if (hasDefault({ schema })) return 0;
  const table = tableOfNode(now, options.schema);
  const rows = sql`SELECT FROM ${table} LIMIT ${integer(String(ENOUGH + 1))}`;
  return countOf(client, sql`(${rows}) AS t`);
}

async function countOf(client: pg.ClientBase, rows: Sql): Promise<number> {
  const { rows: counted } = await client.query<{ count: number }>(sql`SELECT count(*)::int AS count FROM ${rows}`);
  const [{ count }] = counted as [{ count: number }];
  return count;
}

interface RestoreFieldOptions extends RestoreOptions {
  /** The managed schema. */
  schema: string;
  /** Decides what happens to rows without a value if the column requires one. `ignore` does not read the rows. */
  nulls: 'reject' | 'report' | 'ignore';
}

/** `nulls` is present for `report`. It explains why PostgreSQL would reject the rows, and which member to omit. */
type RestoreFieldCommand = CommandOf<'restore-field'> & { nulls?: Problem };

/** @returns a function that creates the command in its transaction, after checking that the entry still exists */
export async function createFieldRestore(
  options: RestoreFieldOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<Prepare<RestoreFieldCommand>> {
  const { position, identity, collection, field } = entry;
  const { state: before } = await schemaBefore(options, entry);
  const { state: then } = await options.at(position - 1);
  const node = then.collections.get(collection) as CollectionNode;
  // The same batch may have restored the collection and deleted it again.
  const past = containsCollection(before, node.identities.collection) ? before : then;
  const command = { position, identity, collection, name: field ?? '', past, node, ...request };
  return async (client, state) => {
    const ready = await stillThere<CommandOf<'restore-field'>>(entry, command)(client);
    const now = state.collections.find((each) => each.identities.collection === node.identities.collection);
    if (now === undefined) return refuseWithoutTable(client, entry, node);
    await requireUnalteredCopy(client, entry, node);
    if (options.nulls === 'ignore') return ready;
    const nulls = await nullsInTheWay(client, { options, command: ready, now });
    if (nulls !== undefined && options.nulls === 'reject') throw new ProblemError(nulls);
    return { ...ready, ...(nulls && { nulls }) };
  };
}

const containsCollection = ({ collections }: State, identity: Identity): boolean =>
  collections.some(({ identities }) => identities.collection === identity);

/** @throws ProblemError */
async function refuseWithoutTable(client: pg.ClientBase, entry: TrashEntry, node: CollectionNode): Promise<never> {
  const [table] = await findRestorable(client, [node.identities.collection]);
  const { collection, field } = entry;
  const what = `Collection ${JSON.stringify(table?.collection ?? collection)} of the field is`;
  const message =
    table === undefined
      ? `${what} permanently deleted, so its values cannot be restored.`
      : `${what} in the trash too. Restore it first: position ${table.position}.`;
  const problem: Problem = { code: 'IN_USE', message, collection, field: field ?? '' };
  throw new ProblemError(table === undefined ? problem : { ...problem, details: { restore_first: table.position } });
}

/* Apply a diff that restores objects. The trash is read again in the transaction of the command. */

/**
 * Returns the entries that are still in the trash, which another process may have changed.
 * @throws ProblemError if kept values were altered by hand
 */
export async function selectStillInTrash(client: Queryable, kept: readonly TrashNode[]): Promise<TrashNode[]> {
  if (kept.length === 0) return [];
  const restorable = await findRestorable(
    client,
    kept.map(({ identity }) => identity),
  );
  const now = new Map(restorable.map((each) => [each.position, each]));
  for (const { kind, identity, position, node } of kept) {
    const field = fieldNameOf(node, identity);
    if (kind !== 'field' || field === undefined || now.get(position)?.identity !== identity) continue;
    await requireUnalteredCopy(client, { position, collection: node.collection.collection, field }, node);
  }
  return kept.flatMap((each) => {
    const still = now.get(each.position);
    return still?.identity === each.identity ? [{ ...each, empty: still.empty }] : [];
  });
}
