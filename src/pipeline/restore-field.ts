/** Restoring a field through the pipeline: that its values are there, and its table, is looked into under the lock. */
import type pg from 'pg';
import { type Problem, ProblemError } from '../kernel/problem.js';
import { COPY, countValues } from '../projector/ddl/kept/values.js';
import { integer, qualified, trash } from '../projector/ddl/sql.js';
import { type TrashEntry, findIdentities } from '../projector/trash/list.js';
import type { RestoreRequest } from '../schema/operations/restore-collection.js';
import type { CommandOf } from '../schema/operations/index.js';
import { type CollectionNode, type Identity, type State, primaryKeyOf } from '../schema/model/state.js';
import { keyChange } from '../schema/transition/fitting.js';
import { notNullName } from '../schema/transition/not-null-name.js';
import { type RestoreOptions, schemaBefore, stillThere } from './restore-collection.js';
import type { Prepare } from './types.js';

type Command = CommandOf<'restore-field'>;

export interface RestoringField {
  command: Command;
  prepare: Prepare<Command>;
}

export async function restoringField(
  options: RestoreOptions & { schema: string },
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<RestoringField> {
  const { position, identity, collection, field } = entry;
  const { state: before } = await schemaBefore(options, entry);
  const { state: then } = await options.at(position - 1);
  const node = then.collections.get(collection) as CollectionNode;
  // It may have come back, and gone again, in one batch.
  const past = holds(before, node.identities.collection) ? before : then;
  const command = { position, identity, collection, name: field ?? '', past, node, ...request };
  const prepare: Prepare<Command> = async (client, state) => {
    await stillThere(entry, command)(client, state);
    const now = state.collections.find((each) => each.identities.collection === node.identities.collection);
    if (now === undefined) await refuseWithoutTable(client, entry, node);
    else await refuseNulls(client, { options, command, now });
    return command;
  };
  return { command, prepare };
}

const holds = ({ collections }: State, identity: Identity): boolean =>
  collections.some(({ identities }) => identities.collection === identity);

/** @throws ProblemError */
async function refuseWithoutTable(client: pg.ClientBase, entry: TrashEntry, node: CollectionNode): Promise<void> {
  const [table] = await findIdentities(client, [node.identities.collection]);
  const { collection, field } = entry;
  const what = `The collection ${JSON.stringify(table?.collection ?? collection)} that the field was of is`;
  const message =
    table === undefined
      ? `${what} gone for good: its values can't come back.`
      : `${what} in the trash itself: restore that first, by position ${table.position}.`;
  const problem: Problem = { code: 'IN_USE', message, collection, field: field ?? '' };
  throw new ProblemError(table === undefined ? problem : { ...problem, details: { restore_first: table.position } });
}

interface Counting {
  options: { schema: string };
  command: Command;
  now: CollectionNode;
}

/** Counting ends there. */
const ENOUGH = 1_000;

/** Rows that were written meanwhile have no value: NOT NULL is refused before anything is done, with their number. */
async function refuseNulls(client: pg.ClientBase, counting: Counting): Promise<void> {
  const { node, name, as, without } = counting.command;
  const { collection } = counting.now.collection;
  const schema = node.fields.get(name)?.schema;
  if (!schema || schema.is_nullable || keyChange(node, counting.now) !== null) return;
  const key = notNullName({ collection, field: as ?? name, schema });
  const nulls = without.includes(key) ? 0 : await countNulls(client, counting);
  if (nulls <= 0) return;
  throw new ProblemError({ ...nullsProblem(nulls, name, key), collection, field: as ?? name });
}

function nullsProblem(nulls: number, name: string, key: string): Problem {
  const [were, have] = nulls === 1 ? ['row was', 'has'] : ['rows were', 'have'];
  const count = nulls > ENOUGH ? `more than ${ENOUGH}` : String(nulls);
  const message = `${count} ${were} written since ${JSON.stringify(name)} was deleted, and ${have} no value for it: it can't be NOT NULL. Give them one after restoring it without that, {"without": [${JSON.stringify(key)}]}.`;
  const offending = { kind: 'null', count: Math.min(nulls, ENOUGH), more: nulls > ENOUGH };
  return { code: 'DATABASE_REFUSED', message, details: { offending, without: [key] } };
}

async function countNulls(client: pg.ClientBase, { options, command, now }: Counting): Promise<number> {
  const { collection } = now.collection;
  const kept = {
    table: qualified(options.schema, collection),
    key: primaryKeyOf(now).map(({ field }) => ({ name: field, identity: now.identities.fields.get(field) ?? '' })),
    copy: qualified(trash(command.position), COPY),
  };
  const most = integer(String(ENOUGH + (await keptRows(client, kept.copy))));
  const { rows } = await client.query<{ met: number; rows: number }>(countValues(kept, most));
  return rows[0] === undefined ? 0 : rows[0].rows - rows[0].met;
}

async function keptRows(client: pg.ClientBase, copy: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${copy}`);
  return rows[0]?.count ?? 0;
}
