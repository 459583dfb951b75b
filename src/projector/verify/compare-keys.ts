/** Compares constraints and indexes with the catalog, by name, as small documents. */
import { hasColumn, extrasOf, type CollectionNode, type State } from '../../schema/model/state.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import type { CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import { needsUnique } from '../ddl/column.js';
import { type ForeignKeyRelation, hasForeignKey, primaryKeyColumns, referencedColumns } from '../ddl/create-table.js';
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import type { Difference } from './difference.js';

/** `shape`: the compared document. `field`: the field that it concerns, if any. */
interface Named {
  kind: 'constraint' | 'index';
  name: string;
  field?: string;
  shape: { [member: string]: Json };
}

type KeyDifference = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

/** Missing objects have `found: null`, extra ones `expected: null`. */
export function compareNamed(expected: readonly Named[], there: readonly Named[]): KeyDifference[] {
  const found = new Map(there.map((each) => [each.name, each]));
  const differences: KeyDifference[] = [];
  for (const each of expected) {
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

/**
 * Constraints of fields and relations. Constraints stored as PostgreSQL definitions replace those with the same name.
 */
export function expectedConstraints(node: CollectionNode, context: { state: State; schema: string }): Named[] {
  const expected = [...ownConstraints(node)];
  for (const relation of node.relations.values()) {
    if (hasForeignKey(relation)) expected.push(foreignKey(relation, context));
  }
  // Constraints stored as PostgreSQL definitions are compared by their definition.
  const defined = definedConstraints(node);
  const inWords = [...defined].map(([name, definition]): Named => ({
    kind: 'constraint',
    name,
    shape: { definition },
  }));
  return [...expected.filter(({ name }) => !defined.has(name)), ...inWords];
}

/** The primary key and the unique constraints of columns. */
function* ownConstraints(node: CollectionNode): Generator<Named> {
  const key = extrasOf(node).primary_key?.columns ?? primaryKeyColumns(node);
  if (key.length > 0) yield constraint(primaryKeyNameOf(node), { kind: 'primary key', columns: key });
  for (const field of node.fields.values()) {
    if (!hasColumn(field) || !needsUnique(field)) continue;
    yield constraint(uniqueNameOf(field), { kind: 'unique', columns: [field.field] });
  }
}

/** Maps names to definitions, for constraints stored as definitions. */
export function definedConstraints({ collection }: CollectionNode): Map<string, string> {
  const { constraints = [], primary_key: key } = extrasOf({ collection });
  const defined = new Map(constraints.map(({ name, definition }) => [name, definition]));
  if (key?.definition !== undefined) defined.set(key.name, key.definition);
  return defined;
}

/** Unmanaged constraints and indexes of the table, as `kind name`. */
export function unmanagedParts({ collection }: CollectionNode): ReadonlySet<string> {
  return new Set(extrasOf({ collection }).unmanaged?.map(({ kind, name }) => `${kind} ${name}`));
}

function foreignKey(relation: ForeignKeyRelation, { state, schema }: { state: State; schema: string }): Named {
  const { constraint_name, on_update, on_delete, deferrable } = relation.schema;
  return constraint(constraint_name, {
    kind: 'foreign key',
    columns: [relation.many_field],
    references: {
      schema: isSystemCollection(relation.one_collection) ? null : schema,
      table: relation.one_collection,
      columns: referencedColumns(relation, state),
      onUpdate: on_update,
      onDelete: on_delete,
      match: 'simple',
    },
    ...(deferrable === undefined ? {} : { deferrable }),
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

/** Leaves out the defaults: validated, not deferrable. */
export function toConstraintShape(found: CatalogConstraint, defined: ReadonlyMap<string, string>): Named {
  const { kind, columns, references, validated, deferrable, initiallyDeferred } = found;
  if (defined.has(found.name)) return { kind: 'constraint', name: found.name, shape: { definition: found.definition } };
  return constraint(found.name, {
    kind,
    columns,
    ...(references === null ? {} : { references: { ...references } }),
    ...(kind === 'check' || kind === 'exclusion' ? { definition: found.definition } : {}),
    ...(validated ? {} : { validated }),
    ...(deferrable ? { deferrable: initiallyDeferred ? 'INITIALLY DEFERRED' : 'INITIALLY IMMEDIATE' } : {}),
  });
}

const PLAIN_INDEX = { method: 'btree', unique: false, valid: true } as const;

/** Excludes the indexes of constraints. Those of fields come first. */
export function expectedIndexes(node: CollectionNode): Named[] {
  const plain = [...node.fields.values()].filter(hasColumn).filter((field) => field.schema.is_indexed);
  const kept = extrasOf(node).indexes ?? [];
  return [
    ...plain.map((field): Named => {
      const { field: name } = field;
      return { kind: 'index', name: indexNameOf(field), field: name, shape: { ...PLAIN_INDEX, columns: [name] } };
    }),
    ...kept.map(({ name, unique, definition }): Named => {
      return { kind: 'index', name, shape: { unique: unique === true, valid: true, definition } };
    }),
  ];
}

/** An index that is stored as a definition, or has more than its column, is shown with its definition. */
export function toIndexShape(index: CatalogIndex, node: CollectionNode): Named {
  const { name, method, unique, valid, columns, tail, plain } = index;
  const isKept = extrasOf(node).indexes?.some((each) => each.name === name) === true;
  if (isKept) return { kind: 'index', name, shape: { unique, valid, definition: tail } };
  const shape = { method, unique, valid, columns };
  return { kind: 'index', name, ...about(columns), shape: plain ? shape : { ...shape, definition: tail } };
}
