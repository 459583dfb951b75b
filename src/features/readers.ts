/** Lists the readers of operations. Each one reads the database in the transaction of its command. */
import type { Readers } from '../pipeline/types.js';
import { findMentioningFunctions } from '../projector/catalog/table-facts.js';
import { readAdoption } from './adopt/read.js';
import { readAcceptance } from './drift/accept.js';
import { readPurge } from './trash/purger.js';
import { selectStillInTrash } from './trash/restore.js';

export const READERS: Readers = {
  'adopt-tables': async (client, { request }, { state, schema, schemas, objects }) => ({
    request,
    found: await readAdoption({ client, schema, schemas, state, objects }, request),
  }),
  'accept-drift': async (client, { request }, { state, schema, schemas, objects }) => ({
    request,
    found: await readAcceptance({ client, schema, schemas, state, objects }, request),
  }),
  'purge-trash': readPurge,
  'apply-diff': async (client, command) => ({ ...command, kept: await selectStillInTrash(client, command.kept ?? []) }),
  'rename-collection': async (client, command) => ({
    ...command,
    functions: await findMentioningFunctions(client, [command.collection]),
  }),
  'rename-field': async (client, command) => ({
    ...command,
    functions: await findMentioningFunctions(client, [command.field]),
  }),
  'update-policy': (_client, command, { policy }) => Promise.resolve({ ...command, current: policy }),
};
