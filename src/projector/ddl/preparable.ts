/** How a constraint that is given as text can be prepared: what is read of it says which way. */
import { type ParsedKey, parseConstraint } from '../../schema/sql-text/definitions.js';
import { columnList } from './names.js';
import type { Preparable } from './statement.js';
import { type Sql, sql } from './sql.js';

/** `references`: the table that a foreign key points at. Undefined: there is no way, as for EXCLUDE. */
export function preparableConstraint(name: string, definition: Sql, references?: string): Preparable | undefined {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string' || parsed.skipsRows) return undefined;
  const { kind, key } = parsed;
  if (kind === 'check' || kind === 'foreign key')
    return { kind: 'constraint', name, references: references ?? null, definition };
  if (key === undefined || key.more) return undefined;
  return { kind: 'key', name, type: kind === 'unique' ? 'UNIQUE' : 'PRIMARY KEY', ...keyText(key) };
}

/** The index, and what is said of the constraint beside it. */
function keyText({ columns, included, ...key }: ParsedKey): { definition: Sql; after: Sql } {
  const including = included.length === 0 ? sql`` : sql` INCLUDE ${columnList(included)}`;
  const nulls = key.nullsNotDistinct ? sql` NULLS NOT DISTINCT` : sql``;
  const waits = key.initiallyDeferred ? sql` DEFERRABLE INITIALLY DEFERRED` : sql` DEFERRABLE`;
  return { definition: sql`${columnList(columns)}${including}${nulls}`, after: key.deferrable ? waits : sql`` };
}
