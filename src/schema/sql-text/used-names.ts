/* Finds the relations and functions that a parsed query names. */
import { type Node, list, nodesIn, stringOf } from './expression.js';
import { relationOfNode } from './rule.js';

export interface UsedName {
  /** Undefined if the query names no schema. */
  schema: string | undefined;
  name: string;
}

export const qualifiedName = ({ schemaname, relname }: Node): UsedName => ({
  schema: typeof schemaname === 'string' ? schemaname : undefined,
  name: String(relname),
});

/**
 * Returns the relations that a query reads or writes. Includes names defined in WITH, because such a query may read a
 * table of the same name.
 */
export function relationsIn(query: Node): UsedName[] {
  const relations = new Map<string, UsedName>();
  for (const [kind, node] of nodesIn(query)) {
    const named = relationOfNode(kind, node);
    if (named === undefined) continue;
    const relation = qualifiedName(named);
    relations.set(`${relation.schema ?? ''}\0${relation.name}`, relation);
  }
  return [...relations.values()];
}

export function callsIn(query: Node): UsedName[] {
  const calls = new Map<string, UsedName>();
  for (const [kind, node] of nodesIn(query)) {
    if (kind !== 'FuncCall') continue;
    const [name = '', schema] = list(node['funcname']).map(stringOf).reverse();
    if (schema !== 'pg_catalog') calls.set(`${schema ?? ''}\0${name}`, { schema, name });
  }
  return [...calls.values()];
}
