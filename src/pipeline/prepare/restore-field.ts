/** Restores a field. Its values and its table are checked under the lock. */
import type pg from 'pg';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { TrashEntry } from '../../projector/trash/list.js';
import type { RestoreRequest } from '../../schema/operations/restore-collection.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { type CollectionNode, type Identity, type State, primaryKeyOf, hasDefault } from '../../schema/model/state.js';
import { type RestoreOptions, schemaBefore, stillThere } from './restore-entry.js';
import type { Prepare } from '../types.js';
import { notNullNameOf } from '../../schema/model/constraint-names.js';
import { COPY, countValues } from '../../projector/ddl/trash/values.js';
import { type Sql, integer, qualified, sql, trash } from '../../projector/ddl/sql.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { keyChange } from '../../schema/transition/fitting-trash.js';

/* Counts rows without a value for a restored NOT NULL field. */

interface Counting {
  options: { schema: string };
  command: CommandOf<'restore-field'>;
  /** The table that the field returns to. */
  now: CollectionNode;
}

/** Counting ends here. */
const ENOUGH = 1_000;

/** Counts before any change. @returns why PostgreSQL would reject it, and which member to omit */
async function nullsInTheWay(client: pg.ClientBase, counting: Counting): Promise<Problem | undefined> {
  const { node, name, as = name, without, empty = false } = counting.command;
  const { collection } = counting.now.collection;
  const schema = node.fields.get(name)?.schema;
  if (!schema || schema.is_nullable) return undefined;
  const key = notNullNameOf({ collection, field: as, schema });
  if (without.includes(key)) return undefined;
  const nulls = await unlessGone(client, () =>
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
    ? `${count} ${nulls === 1 ? 'row has' : 'rows have'} no value for ${JSON.stringify(name)}, which comes back empty`
    : `${count} ${were} written since ${JSON.stringify(name)} was deleted, and ${have} no value for it`;
  const message = `${why}: it can't be NOT NULL. Give them one after restoring it without that, {"without": [${JSON.stringify(key)}]}.`;
  const offending = { kind: 'null', count: Math.min(nulls, ENOUGH), more: nulls > ENOUGH };
  return { code: 'DATABASE_REFUSED', message, details: { offending, without: [key] } };
}

/** If the table or its key was removed by hand, the change itself is rejected with the location. */
async function unlessGone(client: pg.ClientBase, count: () => Promise<number>): Promise<number> {
  await client.query('SAVEPOINT counting');
  try {
    const counted = await count();
    await client.query('RELEASE SAVEPOINT counting');
    return counted;
  } catch (error) {
    const state = sqlState(error);
    if (state !== SQLSTATE.undefined_table && state !== SQLSTATE.undefined_column) throw error;
    await client.query('ROLLBACK TO SAVEPOINT counting; RELEASE SAVEPOINT counting');
    return 0;
  }
}

async function countNulls(client: pg.ClientBase, { options, command, now }: Counting): Promise<number> {
  // The command is rejected for another reason.
  if (keyChange(command.node, now) !== null) return 0;
  const { collection } = now.collection;
  const kept = {
    table: qualified(options.schema, collection),
    key: primaryKeyOf(now).map(({ field }) => ({ name: field, identity: now.identities.fields.get(field) ?? '' })),
    copy: qualified(trash(command.position), COPY),
  };
  const most = integer(String(ENOUGH + 1 + (await countOf(client, kept.copy))));
  const { rows: counted } = await client.query<{ met: number; rows: number }>(countValues(kept, most));
  const [{ met, rows }] = counted as [{ met: number; rows: number }];
  return rows - met;
}

async function countEmpty(client: pg.ClientBase, { options, now }: Counting, schema: ColumnSchema): Promise<number> {
  if (hasDefault({ schema })) return 0;
  const table = qualified(options.schema, now.collection.collection);
  const rows = sql`SELECT FROM ${table} LIMIT ${integer(String(ENOUGH + 1))}`;
  return countOf(client, sql`(${rows}) AS t`);
}

async function countOf(client: pg.ClientBase, rows: Sql): Promise<number> {
  const { rows: counted } = await client.query<{ count: number }>(sql`SELECT count(*)::int AS count FROM ${rows}`);
  const [{ count }] = counted as [{ count: number }];
  return count;
}

type Command = CommandOf<'restore-field'>;

export interface RestoreFieldOptions extends RestoreOptions {
  /** The managed schema. */
  schema: string;
  /**
   * Called for rows without a value where one is needed, which PostgreSQL would reject later. Absent: they are rejected
   * at once. Null: nobody reads the rows.
   */
  onNulls?: ((problem: Problem) => void) | null;
}

/** @returns the function that creates the command once the values were found */
export async function restoringField(
  options: RestoreFieldOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<Prepare<Command>> {
  const { onNulls = refuse } = options;
  const { position, identity, collection, field } = entry;
  const { state: before } = await schemaBefore(options, entry);
  const { state: then } = await options.at(position - 1);
  const node = then.collections.get(collection) as CollectionNode;
  // One batch may have restored and deleted it again.
  const past = holds(before, node.identities.collection) ? before : then;
  const command = { position, identity, collection, name: field ?? '', past, node, ...request };
  return async (client, state) => {
    const ready = await stillThere<Command>(entry, command)(client, state);
    const now = state.collections.find((each) => each.identities.collection === node.identities.collection);
    if (now === undefined) await refuseWithoutTable(client, entry, node);
    else if (onNulls !== null) {
      const nulls = await nullsInTheWay(client, { options, command: ready, now });
      if (nulls !== undefined) onNulls(nulls);
    }
    return ready;
  };
}

function refuse(problem: Problem): never {
  throw new ProblemError(problem);
}

const holds = ({ collections }: State, identity: Identity): boolean =>
  collections.some(({ identities }) => identities.collection === identity);

/** @throws ProblemError */
async function refuseWithoutTable(client: pg.ClientBase, entry: TrashEntry, node: CollectionNode): Promise<void> {
  const [table] = await findReturning(client, [node.identities.collection]);
  const { collection, field } = entry;
  const what = `The collection ${JSON.stringify(table?.collection ?? collection)} that the field was of is`;
  const message =
    table === undefined
      ? `${what} gone for good: its values can't come back.`
      : `${what} in the trash itself: restore that first, by position ${table.position}.`;
  const problem: Problem = { code: 'IN_USE', message, collection, field: field ?? '' };
  throw new ProblemError(table === undefined ? problem : { ...problem, details: { restore_first: table.position } });
}
