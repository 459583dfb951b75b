/** Whether two states show the same of a collection. Relations are compared without their ids, which are the log's. */
import { jsonEqual } from '../../kernel/json.js';
import type { CollectionNode } from '../model/state.js';
import { relationBody } from '../transition/context.js';

/** Fields and relations may stand in any order; identities aren't looked at. */
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
