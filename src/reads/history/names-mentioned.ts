/** Where a plan's old names are still said: members that the service doesn't read, and bodies of database functions. */
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
  /** The collections that may differ, by the names of both states. */
  touched: Iterable<string>;
}

/** A warning for each mention of a name that something loses. Nothing is asked of the database where no name changes. */
export async function namesMentioned(db: Queryable, { before, after, touched }: NamesChanged): Promise<Warning[]> {
  const renames = await runYielding(renamesBetween(before, after, touched));
  const names = [renames.collections, ...renames.fields.values()].flatMap((each) => [...each.keys()]);
  const functions = await functionsNaming(db, [...new Set(names)]);
  return [...(await runYielding(stillUsed(after, renames))), ...functionWarnings(functions)];
}
