/** Changes a type or sequence in use to its new definition. */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { alterDomain } from './domain.js';
import { alterSequence, everyOption } from './sequence.js';
import { type Sql, literal, sql } from './sql.js';

/** The statements end with a semicolon. Someone may already have changed the object by hand. */
export function changeNeed(need: Need, name: Sql, old: Need | undefined): Sql[] {
  switch (need.kind) {
    case 'enum':
      return old?.kind === 'enum' ? newLabels(old.labels, need.labels, name) : [];
    case 'domain':
      return old?.kind === 'domain' ? alterDomain(old, need, name) : [];
    case 'sequence':
      return old?.kind === 'sequence' ? newOptions(everyOption(old), everyOption(need), name) : [];
    default:
      return [];
  }
}

const newOptions = (old: Sql, now: Sql, name: Sql): Sql[] =>
  old === now ? [] : [alterSequence(sql`${literal(name)}::regclass`, now)];

/** PostgreSQL cannot remove or reorder enum labels. In that case only the comparison remains. */
function newLabels(old: readonly string[], now: readonly string[], name: Sql): Sql[] {
  const known = new Set(old);
  const kept = now.filter((label) => known.has(label));
  if (!jsonEqual(kept, [...old])) return [];
  return now.flatMap((label, index) => {
    if (known.has(label)) return [];
    return [sql`ALTER TYPE ${name} ADD VALUE IF NOT EXISTS ${literal(label)}${placeOf(now[index - 1], old[0])};`];
  });
}

function placeOf(before: string | undefined, first: string | undefined): Sql {
  if (before !== undefined) return sql` AFTER ${literal(before)}`;
  return first === undefined ? sql`` : sql` BEFORE ${literal(first)}`;
}
