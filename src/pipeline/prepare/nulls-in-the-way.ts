/** Counts rows without a value for a restored NOT NULL field. */
import { notNullNameOf } from '../../schema/model/constraint-names.js';
import type pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import { COPY, countValues } from '../../projector/ddl/trash/values.js';
import { type Sql, integer, qualified, sql, trash } from '../../projector/ddl/sql.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { type CollectionNode, primaryKeyOf, hasDefault } from '../../schema/model/state.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { keyChange } from '../../schema/transition/fitting-trash.js';

export interface Counting {
  options: { schema: string };
  command: CommandOf<'restore-field'>;
  /** The table that the field returns to. */
  now: CollectionNode;
}

/** Counting ends here. */
const ENOUGH = 1_000;

/** Counts before any change. @returns why PostgreSQL would reject it, and which member to omit */
export async function nullsInTheWay(client: pg.ClientBase, counting: Counting): Promise<Problem | undefined> {
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
