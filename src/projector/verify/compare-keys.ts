/** Constraints and indexes of the fold against those of the catalog: by name, as small documents. */
import { indexName, primaryKeyName, uniqueName } from '../../schema/constraint-names.js';
import { jsonEqual } from '../../schema/json.js';
import type { Json } from '../../schema/model.js';
import type { CollectionNode, State } from '../../schema/state.js';
import type { CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import { hasColumn, needsUnique } from '../ddl/column.js';
import { type ForeignKeyRelation, hasForeignKey, primaryKeyColumns, referencedColumns } from '../ddl/create-table.js';
import type { Difference } from './difference.js';

/** `shape`: what is compared. `field`: the one it is about, where it is about one. */
interface Named {
  kind: 'constraint' | 'index';
  name: string;
  field?: string;
  shape: { [member: string]: Json };
}

type KeyDifference = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

export function compareNamed(wanted: readonly Named[], there: readonly Named[]): KeyDifference[] {
  const found = new Map(there.map((each) => [each.name, each]));
  const differences: KeyDifference[] = [];
  for (const each of wanted) {
    const other = found.get(each.name);
    found.delete(each.name);
    if (!jsonEqual(each.shape, other?.shape)) differences.push(difference(each, each.shape, other?.shape ?? null));
  }
  for (const each of found.values()) differences.push(difference(each, null, each.shape));
  return differences;
}

function difference({ kind, name, field }: Named, expected: Json, found: Json): KeyDifference {
  return { ...(field === undefined ? {} : { field }), member: `${kind} ${name}`, expected, found };
}

export function constraintsWanted(node: CollectionNode, context: { state: State; schema: string }): Named[] {
  const { collection } = node.collection;
  const key = primaryKeyColumns(node);
  const wanted: Named[] = [];
  if (key.length > 0) wanted.push(constraint(primaryKeyName(collection), { kind: 'primary key', columns: key }));
  for (const field of node.fields.values()) {
    if (!hasColumn(field) || !needsUnique(field)) continue;
    wanted.push(constraint(uniqueName(collection, field.field), { kind: 'unique', columns: [field.field] }));
  }
  for (const relation of node.relations.values()) {
    if (hasForeignKey(relation)) wanted.push(foreignKey(relation, context));
  }
  return wanted;
}

function foreignKey(relation: ForeignKeyRelation, { state, schema }: { state: State; schema: string }): Named {
  const { constraint_name, on_update, on_delete } = relation.schema;
  return constraint(constraint_name, {
    kind: 'foreign key',
    columns: [relation.many_field],
    references: {
      schema,
      table: relation.one_collection,
      columns: referencedColumns(relation, state),
      onUpdate: on_update,
      onDelete: on_delete,
      match: 'simple',
    },
  });
}

type Shape = Named['shape'] & { columns: string[] };

function constraint(name: string, shape: Shape): Named {
  return { kind: 'constraint', name, ...about(shape.columns), shape };
}

const about = (columns: readonly (string | null)[]): { field?: string } => {
  const [only, ...more] = columns;
  return typeof only === 'string' && more.length === 0 ? { field: only } : {};
};

/** What is as we make it goes without saying: validated, not deferrable. */
export function toConstraintShape(found: CatalogConstraint): Named {
  const { kind, columns, references, validated, deferrable } = found;
  return constraint(found.name, {
    kind,
    columns,
    ...(references === null ? {} : { references: { ...references } }),
    ...(kind === 'check' || kind === 'exclusion' ? { definition: found.definition } : {}),
    ...(validated ? {} : { validated }),
    ...(deferrable ? { deferrable } : {}),
  });
}

const PLAIN_INDEX = { method: 'btree', unique: false, valid: true } as const;

export function indexesWanted(node: CollectionNode): Named[] {
  const { collection } = node.collection;
  return [...node.fields.values()]
    .filter((field) => hasColumn(field) && field.schema.is_indexed)
    .map(({ field }) => ({
      kind: 'index',
      name: indexName(collection, field),
      field,
      shape: { ...PLAIN_INDEX, columns: [field] },
    }));
}

/** An index that says more than its columns is given with its definition. */
export function toIndexShape(index: CatalogIndex): Named {
  const { name, method, unique, valid, columns } = index;
  const isPlain = index.predicate === null && !index.hasExpressions && index.included.length === 0;
  const shape = { method, unique, valid, columns };
  return {
    kind: 'index',
    name,
    ...about(columns),
    shape: isPlain ? shape : { ...shape, definition: index.definition },
  };
}
