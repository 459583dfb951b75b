/** Protects tables of running preparations from changes of their columns or names by others. */
import { isAdopted } from '../../schema/model/events.js';
import type { Held } from '../../projector/change-requests/rows.js';
import { indexTargets } from '../../projector/indexes/targets.js';
import { type Problem, MAX_PROBLEMS } from '../../kernel/problem.js';
import type { RevisedBatch } from '../types.js';

/** Returns one problem for each table that prevents a batch now. */
export function heldProblems(
  batch: Pick<RevisedBatch, 'events' | 'statements' | 'change'>,
  held: readonly Held[],
): Problem[] {
  const others = held.filter(({ id }) => id !== batch.change);
  if (others.length === 0) return [];
  const tables = tablesChanged(batch);
  return others
    .flatMap(({ id, collections }) => collections.filter((name) => tables.has(name)).map((name) => inUse(name, id)))
    .slice(0, MAX_PROBLEMS);
}

/** Tables of the batch that existed before. Changes beside a table, and references to it, are allowed. */
function tablesChanged({ events, statements }: Pick<RevisedBatch, 'events' | 'statements'>): Set<string> {
  const tables = new Set<string>();
  for (const { locks, object, source } of statements) {
    if (locks.length === 0) continue;
    tables.add(source.collection);
    if (object.table !== null) tables.add(object.table);
  }
  // Events without statement: the table was already changed by hand, or an index is built or dropped after the commit.
  for (const event of events) {
    if (event.collection !== null && isAdopted(event)) tables.add(event.collection);
    for (const { collection } of indexTargets(event)) tables.add(collection);
  }
  return tables;
}

/** Returns why a request cannot have its tables while others hold them. */
export const heldFrom = (held: readonly Held[], { id, collections }: Held): Problem[] =>
  held
    .filter((other) => other.id !== id)
    .flatMap((other) =>
      other.collections.filter((name) => collections.includes(name)).map((name) => inUse(name, other.id)),
    )
    .slice(0, MAX_PROBLEMS);

function inUse(collection: string, change: string): Problem {
  return {
    code: 'IN_USE',
    message: `The change request ${change} is preparing a change of ${JSON.stringify(collection)}: wait for it, or withdraw it (POST /changes/${change}/withdraw).`,
    collection,
    details: { change },
  };
}
