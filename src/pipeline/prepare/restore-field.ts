/** Restores a field. Its values and its table are checked under the lock. */
import type pg from 'pg';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { TrashEntry } from '../../projector/trash/list.js';
import type { RestoreRequest } from '../../schema/operations/restore-collection.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { type CollectionNode, type Identity, type State } from '../../schema/model/state.js';
import { nullsInTheWay } from './nulls-in-the-way.js';
import { type RestoreOptions, schemaBefore, stillThere } from './restore-entry.js';
import type { Prepare } from '../types.js';

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
