/** Compares a collection in two states, without relation ids, which belong to the log. */
import { jsonEqual } from '../../kernel/json.js';
import type { CollectionNode } from '../model/state.js';
import { relationBody } from '../transition/context.js';

/** Ignores the order of fields and relations, and identities. */
export function isSameNode(a: CollectionNode, b: CollectionNode): boolean {
  if (a === b) return true;
  if (a.fields.size !== b.fields.size || a.relations.size !== b.relations.size) return false;
  if (!jsonEqual(a.collection, b.collection)) return false;
  for (const [name, field] of a.fields) if (!jsonEqual(field, b.fields.get(name))) return false;
  for (const [name, relation] of a.relations) {
    const other = b.relations.get(name);
    if (other === undefined || !jsonEqual(relationBody(relation), relationBody(other))) return false;
  }
  return true;
}
