/** Invalid columns, whatever the table contains. */
import type { ColumnSchema } from '../model/model.js';

export type Fault = [member: keyof ColumnSchema, message: string];

/** PostgreSQL cannot compare values of these types. */
export const INCOMPARABLE = new Map([
  ['json', 'json values can not be compared, so they are neither unique nor indexed; data_type "jsonb" can'],
]);

/** PostgreSQL does not store its values. */
const VIRTUAL =
  'a virtual generated column is computed when it is read, so it is neither unique nor indexed; a stored one (extras.virtual left out) can be';

/** Returns at most one fault: the first invalid member among key, uniqueness and index. */
export function columnFaults(schema: ColumnSchema): Fault[] {
  const message = INCOMPARABLE.get(schema.data_type) ?? (schema.extras?.virtual === true ? VIRTUAL : undefined);
  if (message === undefined) return [];
  const members = (['is_primary_key', 'is_unique', 'is_indexed'] as const).filter((member) => schema[member]);
  return members.slice(0, 1).map((member) => [member, message]);
}
