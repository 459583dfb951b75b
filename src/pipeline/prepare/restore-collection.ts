/** Restoring a table through the pipeline. */
import type { TrashEntry } from '../../projector/trash/list.js';
import type { RestoreRequest } from '../../schema/operations/restore-collection.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { type RestoreOptions, schemaBefore, stillThere } from './restore-entry.js';
import type { Prepare } from '../types.js';

type Command = CommandOf<'restore-collection'>;

/** @returns what makes the command, once it is known whether its table is there */
export async function restoringCollection(
  options: RestoreOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<Prepare<Command>> {
  const { state: past } = await schemaBefore(options, entry);
  const { position, identity, collection: name } = entry;
  return stillThere<Command>(entry, { position, identity, name, past, ...request });
}
