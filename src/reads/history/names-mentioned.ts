/** Finds remaining uses of names that a plan removes, in members that the service ignores and in database functions. */
import { runYielding } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/warning.js';
import type { Queryable } from '../../postgres/pool.js';
import { functionWarnings, functionsNaming } from '../../projector/catalog/functions-naming.js';
import type { State } from '../../schema/model/state.js';
import { renamesBetween } from '../../schema/transition/renames.js';
import { stillUsed } from '../../schema/transition/still-used.js';

export interface NamesChanged {
  before: State;
  after: State;
  /** Collections that may differ, by the names in both states. */
  touched: Iterable<string>;
}

/** Warns about each use of a name that an object loses. Runs no query if no name changes. */
export async function namesMentioned(db: Queryable, { before, after, touched }: NamesChanged): Promise<Warning[]> {
  const renames = await runYielding(renamesBetween(before, after, touched));
  const names = [renames.collections, ...renames.fields.values()].flatMap((each) => [...each.keys()]);
  const functions = await functionsNaming(db, [...new Set(names)]);
  return [...(await runYielding(stillUsed(after, renames))), ...functionWarnings(functions)];
}
