/** Decides how a constraint given as text can be prepared, from the parsed text. */
import { type ParsedKey, parseConstraint } from '../../schema/sql-text/definitions.js';
import { columnList } from './names.js';
import type { Preparable } from './statement.js';
import { type Sql, sql } from './sql.js';

/**
 * `references`: the table that a foreign key references. Returns undefined if the constraint cannot be prepared, such
 * as EXCLUDE.
 */
export function preparableConstraint(name: string, definition: Sql, references?: string): Preparable | undefined {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string' || parsed.skipsRows) return undefined;
  const { kind, key } = parsed;
  if (kind === 'check' || kind === 'foreign key')
    return { kind: 'constraint', name, references: references ?? null, definition };
  if (key === undefined || key.more) return undefined;
  return { kind: 'key', name, type: kind === 'unique' ? 'UNIQUE' : 'PRIMARY KEY', ...keyText(key) };
}

/** The index definition, and the remaining clauses of the constraint. */
function keyText({ columns, included, ...key }: ParsedKey): { definition: Sql; after: Sql } {
  const including = included.length === 0 ? sql`` : sql` INCLUDE ${columnList(included)}`;
  const nulls = key.nullsNotDistinct ? sql` NULLS NOT DISTINCT` : sql``;
  const waits = key.initiallyDeferred ? sql` DEFERRABLE INITIALLY DEFERRED` : sql` DEFERRABLE`;
  return { definition: sql`${columnList(columns)}${including}${nulls}`, after: key.deferrable ? waits : sql`` };
}
