import { isUuid } from '../../kernel/uuid.js';
import type { Changes } from '../../reads/changes.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { refused } from '../errors.js';
import type { Call } from '../route.js';

/** In lower case, as PostgreSQL prints UUIDs. The value may be invalid. */
const changeIdOf = ({ params }: Call<unknown>): string => (params['id'] ?? '').toLowerCase();

/** NOT_FOUND, for the caller to throw. */
export const noSuchChange = (id: string) => refused('NOT_FOUND', `There is no change request ${JSON.stringify(id)}.`);

/** @throws Refused NOT_FOUND */
export async function findChange(changes: Pick<Changes, 'find'>, call: Call<unknown>): Promise<ChangeRequest> {
  const id = changeIdOf(call);
  const found = isUuid(id) ? await changes.find(id) : undefined;
  if (found === undefined) throw noSuchChange(id);
  return found;
}

/**
 * Authors may only access their own requests.
 * @throws Refused NOT_FOUND, FORBIDDEN
 */
export async function findOwnChange(changes: Pick<Changes, 'find'>, call: Call<unknown>): Promise<ChangeRequest> {
  const found = await findChange(changes, call);
  if (call.caller.role !== 'author' || found.author.id === call.caller.id) return found;
  throw refused('FORBIDDEN', `The change request ${found.id} is not yours: authors do this with their own.`);
}
