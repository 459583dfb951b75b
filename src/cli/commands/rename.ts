import type { z } from 'zod';
import type { renamedCollection, renamedField } from '../../http/openapi/answers/schema.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { describeWarning } from '../planned-changes.js';
import { locationText } from '../../schema/model/location.js';
import { parseObjectName } from '../input.js';
import { requestText, changeHeaders } from '../connections/service.js';

/** `articles posts` renames a collection, `posts.title headline` a field. */
export async function rename(invocation: Invocation): Promise<ExitCode> {
  const { positionals, terminal, values } = invocation;
  const [from = '', to = ''] = positionals;
  const headers = changeHeaders(invocation);
  const location = parseObjectName(from);
  const { collection, field } = location;
  const sent = { body: { to }, headers };
  const answer = await (field === undefined
    ? requestText(invocation, 'renameCollection', { params: { id: collection }, ...sent })
    : requestText(invocation, 'renameField', { params: { collection, field }, ...sent }));
  if (isSet(values, 'json')) {
    terminal.print(answer.trimEnd());
    return 0;
  }
  const { warnings = [] } = JSON.parse(answer) as z.output<typeof renamedCollection | typeof renamedField>;
  const now = location.field === undefined ? { collection: to } : { ...location, field: to };
  terminal.print(`${locationText(location)} is now ${locationText(now)}.`);
  for (const warning of warnings) terminal.note(`! ${describeWarning(warning)}`);
  return 0;
}
