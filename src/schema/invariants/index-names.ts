/** What has an index in a table has a name of its own there, whoever named it. */
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../constraint-names.js';
import type { Field } from '../model.js';
import { type Problem, renderPath } from '../problem.js';
import { type CollectionNode, primaryKeyOf } from '../state.js';
import { quoted } from './quoted.js';

type Kind = 'index' | 'constraint';

interface Part {
  field: string;
  member: 'is_unique' | 'is_indexed';
  name: string;
  kind: Kind;
}

export function indexNameProblems(node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const taken = otherNames(node);
  return [...node.fields.values()].flatMap(partsOf).flatMap(({ field, member, name, kind }) => {
    const other = taken.get(name);
    if (other === undefined) {
      taken.set(name, kind);
      return [];
    }
    const message = `${quoted(name)} is the name of another ${other} of ${quoted(collection)}; give one of them another name, in extras`;
    const details = { taken: [{ name, kind: `${other} of the table` }] };
    return [{ code: 'ALREADY_EXISTS', message, path: renderPath(['schema', member]), collection, field, details }];
  });
}

/** Constraints that PostgreSQL keeps with an index of the same name. */
const WITH_INDEX = /^(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b/i;

/** Of what the fields don't say. */
function otherNames(node: CollectionNode): Map<string, Kind> {
  const { indexes = [], constraints = [] } = node.collection.schema?.extras ?? {};
  const indexing = constraints.filter(({ definition }) => WITH_INDEX.test(definition));
  return new Map<string, Kind>([
    ...(primaryKeyOf(node).length === 0 ? [] : [[primaryKeyNameOf(node), 'constraint'] as const]),
    ...indexes.map(({ name }) => [name, 'index'] as const),
    ...indexing.map(({ name }) => [name, 'constraint'] as const),
  ]);
}

function partsOf({ collection, field, schema }: Field): Part[] {
  if (schema === null) return [];
  const column = { collection, field, schema };
  const parts: Part[] = [];
  if (schema.is_unique && !schema.is_primary_key)
    parts.push({ field, member: 'is_unique', name: uniqueNameOf(column), kind: 'constraint' });
  if (schema.is_indexed) parts.push({ field, member: 'is_indexed', name: indexNameOf(column), kind: 'index' });
  return parts;
}
