/** Field changes that are never possible. */
import type { Draft } from '../transition/draft.js';
import { secondKey } from '../invariants/collection.js';
import { isObject, type Json } from '../../kernel/json.js';
import type { Field } from '../model/model.js';
import type { KeyTarget } from '../snapshot/documents.js';
import { type Path, type Problem, invalid, renderPath } from '../../kernel/problem.js';
import { type CollectionNode, primaryKeyOf, extrasOf } from '../model/state.js';
import { collectionName } from '../model/system-collections.js';

/** Changes for which PostgreSQL must drop the column with its data. No update implies that. */
export function inPlaceFault(existing: Field, now: Field): [member: string, becomes: string] | null {
  if (existing.schema === null)
    return now.schema === null ? null : ['data_type', "is an alias and can't become a column"];
  if (now.schema === null) return ['data_type', "is a column and can't become an alias"];
  if (existing.schema.generation_expression !== null || now.schema.generation_expression === null) return null;
  return ['generation_expression', "holds values of its own and can't become a generated column"];
}

/** `foreign_key_table` and `foreign_key_column` show the relation, and only a relation changes them. */
export function referenceProblems(target: KeyTarget | null, schema: Json | undefined, at: Path): Problem[] {
  if (!isObject(schema)) return [];
  const derived = { foreign_key_table: target?.table ?? null, foreign_key_column: target?.column ?? null };
  return Object.entries(derived).flatMap(([member, now]) => {
    if (schema[member] === undefined || collectionName(schema[member], (name) => name === now) === now) return [];
    const message = `${member} must be ${JSON.stringify(now)}, or left out: it follows from the field's relation`;
    return [invalid([...at, 'schema', member], message)];
  });
}

type Change = { field: string; at: Path };

/** The primary key can move to another column of the same batch. It cannot be removed or duplicated. */
export function keyProblems(node: CollectionNode, draft: Draft, changes: readonly Change[]): Problem[] {
  const { collection } = node.collection;
  const [had] = primaryKeyOf(node);
  const keys = primaryKeyOf(draft.get(collection) ?? node);
  const path = (field: string): { path?: string } => {
    const change = changes.find((each) => each.field === field);
    return change === undefined ? {} : { path: renderPath([...change.at, 'schema', 'is_primary_key']) };
  };
  if (had !== undefined && keys.length === 0) {
    const message = `${JSON.stringify(had.field)} is the primary key of ${JSON.stringify(collection)}; make another field the primary key in the same request`;
    return [{ code: 'IN_USE', message, ...path(had.field), collection, field: had.field }];
  }
  if (keys.length < 2 || extrasOf(node).primary_key !== undefined) return [];
  const [first] = had !== undefined && keys.some(({ field }) => field === had.field) ? [had] : keys;
  const others = keys.filter(({ field }) => field !== first?.field);
  return others.map(({ field }) => ({ ...secondKey(collection, first?.field ?? '', field), ...path(field) }));
}
