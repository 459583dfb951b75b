/** What is being prepared is changed by nothing else meanwhile: neither its rows' shape nor its name. */
import { isAdopted } from '../../schema/model/events.js';
import type { Held } from '../../projector/change-requests/rows.js';
import { indexTargets } from '../../projector/indexes/targets.js';
import { type Problem, MAX_PROBLEMS } from '../../kernel/problem.js';
import type { RevisedBatch } from '../types.js';

/** Why a batch can't be carried out now: one problem for each table. */
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

/** Of the tables that were there before. What stands beside the table, and what only points to it, is free. */
function tablesChanged({ events, statements }: Pick<RevisedBatch, 'events' | 'statements'>): Set<string> {
  const tables = new Set<string>();
  for (const { locks, object, source } of statements) {
    if (locks.length === 0) continue;
    tables.add(source.collection);
    if (object.table !== null) tables.add(object.table);
  }
  // No statement: the table was changed by hand already, or its index is built and dropped after the commit.
  for (const event of events) {
    if (event.collection !== null && isAdopted(event)) tables.add(event.collection);
    for (const { collection } of indexTargets(event)) tables.add(collection);
  }
  return tables;
}

/** Why the tables can't be had for a request, where others have them. */
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
