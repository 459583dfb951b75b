/** Objects that depend on a field and are not deleted implicitly. The client must delete them first. */
import { keyDefinition, expressionColumns } from '../sql-text/columns.js';
import type { ColumnSchema, Field } from '../model/model.js';
import type { Problem } from '../../kernel/problem.js';
import { quoted } from '../../kernel/quoted.js';
import { type CollectionNode, type State, relationsTo, extrasOf } from '../model/state.js';

/** Why the field is needed, and by which fields. */
type Need = [message: string, by: string[]];

/** IN_USE, with the dependent fields in `details.needed_by`. Empty if the field can be deleted. */
export function neededBy(state: State, node: CollectionNode, { collection, field, schema }: Field): Problem[] {
  const needs = [
    ...(schema?.is_primary_key === true ? [asKey(state, collection, field)] : []),
    ...inKey(node, field),
    ...inExpressions(node, collection, field),
    ...asPointer(node, collection, field),
  ];
  return needs.map(([message, by]) => ({ code: 'IN_USE', message, collection, field, details: { needed_by: by } }));
}

function asKey(state: State, collection: string, field: string): Need {
  const users = relationsTo(state, collection).map((each) => `${each.many_collection}.${each.many_field}`);
  const also = users.length > 0 ? `, and relations point at it (${users.join(', ')})` : '';
  const message = `${quoted(field)} is the primary key of ${quoted(collection)}${also}; delete the collection, or make another field the key first`;
  return [message, users];
}

/** PostgreSQL drops a key with a column that its index includes. */
function inKey(node: CollectionNode, field: string): Need[] {
  const key = extrasOf(node).primary_key;
  const carried = key?.definition === undefined ? [] : keyDefinition(key.definition).including;
  if (key === undefined || !carried.includes(field)) return [];
  return [[`the primary key ${quoted(key.name)} includes ${quoted(field)}; it can't be changed here`, key.columns]];
}

/** Fields of the collection whose expression uses the field. */
function inExpressions(node: CollectionNode, collection: string, field: string): Need[] {
  const readers = [...node.fields.values()]
    .filter((other) => other.field !== field && other.schema !== null && readsFrom(other.schema, field))
    .map((other) => other.field);
  if (readers.length === 0) return [];
  const [are, them] = readers.length === 1 ? ['is', 'that'] : ['are', 'them'];
  const message = `${readers.map(quoted).join(', ')} ${are} computed from ${quoted(field)}; delete or change ${them} first`;
  return [[message, readers.map((reader) => `${collection}.${reader}`)]];
}

const readsFrom = ({ generation_expression: text }: ColumnSchema, field: string): boolean =>
  text !== null && expressionColumns(text).has(field);

/** Many-to-any relations that store their collection's name in the field. */
function asPointer({ relations }: CollectionNode, collection: string, field: string): Need[] {
  return [...relations.values()]
    .filter((relation) => relation.one_collection_field === field)
    .map(({ many_field }) => {
      const user = `${collection}.${many_field}`;
      const message = `the many-to-any relation ${user} keeps its collection's name in ${quoted(field)}; delete ${user} first`;
      return [message, [user]];
    });
}
