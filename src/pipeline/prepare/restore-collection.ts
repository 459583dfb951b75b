/** Restores a deleted table. */
import type { TrashEntry } from '../../projector/trash/list.js';
import type { RestoreRequest } from '../../schema/operations/restore-collection.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { type RestoreOptions, schemaBefore, stillThere } from './restore-entry.js';
import type { Prepare } from '../types.js';

type Command = CommandOf<'restore-collection'>;

/** @returns the function that creates the command once the table was found */
export async function restoringCollection(
  options: RestoreOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<Prepare<Command>> {
  const { state: past } = await schemaBefore(options, entry);
  const { position, identity, collection: name } = entry;
  return stillThere<Command>(entry, { position, identity, name, past, ...request });
}
