/** Compares a collection of the fold with a table of the catalog. */
import { hasColumn, memberKey, type CollectionNode, type State, extrasOf } from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable, CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import type { CatalogObjects } from '../catalog/objects.js';
import type { SpelledColumn } from './column-spellings.js';
import { compareColumn } from './compare-column.js';
import type { Difference } from './difference.js';
import { type Json, jsonEqual } from '../../kernel/json.js';
import type { Need } from '../../schema/model/extras.js';
import { needLabel } from '../../schema/model/needs.js';
import { needsOf, sequenceOptions } from '../adopt/needs.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import { needsUnique } from '../ddl/column.js';
import { type ForeignKeyRelation, hasForeignKey, primaryKeyColumns, referencedColumns } from '../ddl/create-table.js';
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';

/* Compares constraints and indexes with the catalog, by name, as small documents. */

/** `shape`: the compared document. `field`: the field that it concerns, if any. */
interface Named {
  kind: 'constraint' | 'index';
  name: string;
  field?: string;
  shape: { [member: string]: Json };
}

type KeyDifference = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

/** Missing objects have `found: null`, extra ones `expected: null`. */
function compareNamed(expected: readonly Named[], there: readonly Named[]): KeyDifference[] {
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
function expectedConstraints(node: CollectionNode, context: { state: State; schema: string }): Named[] {
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
function definedConstraints({ collection }: CollectionNode): Map<string, string> {
  const { constraints = [], primary_key: key } = extrasOf({ collection });
  const defined = new Map(constraints.map(({ name, definition }) => [name, definition]));
  if (key?.definition !== undefined) defined.set(key.name, key.definition);
  return defined;
}

/** Unmanaged constraints and indexes of the table, as `kind name`. */
function unmanagedParts({ collection }: CollectionNode): ReadonlySet<string> {
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
function toConstraintShape(found: CatalogConstraint, defined: ReadonlyMap<string, string>): Named {
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
function expectedIndexes(node: CollectionNode): Named[] {
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
function toIndexShape(index: CatalogIndex, node: CollectionNode): Named {
  const { name, method, unique, valid, columns, tail, plain } = index;
  const isKept = extrasOf(node).indexes?.some((each) => each.name === name) === true;
  if (isKept) return { kind: 'index', name, shape: { unique, valid, definition: tail } };
  const shape = { method, unique, valid, columns };
  return { kind: 'index', name, ...about(columns), shape: plain ? shape : { ...shape, definition: tail } };
}

/* Compares partitioning and the objects that tables use with the catalog. */

type Member = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

interface Context {
  state: State;
  schema: string;
  objects: CatalogObjects;
}

/** Returns the differing members. Shared objects are compared for each table. */
function compareExtras(node: CollectionNode, table: CatalogTable, context: Context): Member[] {
  const extras = extrasOf(node);
  const parent = table.partitionOf && { table: table.partitionOf.table, bound: table.partitionOf.bound };
  const members: Member[] = [
    { member: 'partition_by', expected: extras.partition_by ?? null, found: table.partitionKey },
    { member: 'partition_of', expected: extras.partition_of ?? null, found: parent },
  ].filter(({ expected, found }) => !jsonEqual(expected, found));
  const { objects } = context;
  const found = needsOf({ ...context, objects, table, together: new Map(), notes: [] });
  const needs = (extras.needs ?? []).flatMap((need) => compareNeed(need, found, objects));
  return [...members, ...needs, ...compareSequences(node, table, objects)];
}

/** @param found the objects that the table uses; extra ones are reported through their columns */
function compareNeed(need: Need, found: readonly Need[], objects: CatalogObjects): Member[] {
  const other = found.find((each) => needLabel(each) === needLabel(need)) ?? unused(need, objects);
  if (jsonEqual(need, other)) return [];
  return [{ member: needLabel(need), expected: { ...need }, found: other === undefined ? null : { ...other } }];
}

/** Objects that the table no longer uses are looked up separately. For a type, only its existence is checked. */
function unused(need: Need, { extensions, sequences, collations, typeNames }: CatalogObjects): Need | undefined {
  if (need.kind === 'extension') return extensions.has(need.name) ? need : undefined;
  if (need.kind === 'collation') {
    const collation = collations.get(need.name);
    return collation && { kind: 'collation', name: need.name, ...collation };
  }
  if (need.kind !== 'sequence') return typeNames.has(need.name) ? need : undefined;
  const sequence = sequences.get(need.name);
  return sequence && { kind: 'sequence', name: need.name, ...sequenceOptions(sequence, 'bigint') };
}

/** Compares identity sequences. Their names are compared only if the log records them. */
function compareSequences(node: CollectionNode, table: CatalogTable, { sequences }: CatalogObjects): Member[] {
  return table.columns.flatMap((column): Member[] => {
    const field = node.fields.get(column.name);
    const { identity, sequence: owned } = column;
    const sequence = identity !== null && owned !== null ? sequences.get(owned.name) : undefined;
    if (sequence === undefined || !hasColumn(field)) return [];
    const expected = field.schema.extras?.sequence ?? {};
    const options = sequenceOptions(sequence, column.type);
    const found: Json = { ...(expected.name === undefined ? {} : { name: sequence.name }), ...options };
    return jsonEqual(expected, found)
      ? []
      : [{ field: column.name, member: 'identity sequence', expected: { ...expected }, found }];
  });
}

/** The context of a comparison. */
export interface Comparison {
  state: State;
  /** The managed schema. */
  schema: string;
  /** Checks whether the index of a field is still to be built. */
  isPending: (collection: string, field: string) => boolean;
  /** Keyed by memberKey: PostgreSQL's spelling of stored columns. */
  spelled: ReadonlyMap<string, SpelledColumn>;
  /** The objects that tables use. */
  objects: CatalogObjects;
}

/**
 * Returns the differences from the catalog; metadata rows are compared elsewhere. Ignores unmanaged objects and
 * indexes that are still to be built.
 */
export function compareTable(node: CollectionNode, table: CatalogTable, context: Comparison): Difference[] {
  const { collection, schema } = node.collection;
  const here = { where: 'catalog', collection } as const;
  const differences: Difference[] = [];
  const comment = schema?.comment ?? null;
  if (comment !== table.comment) {
    differences.push({ ...here, member: 'schema.comment', expected: comment, found: table.comment });
  }
  differences.push(...compareColumns(node, table, context));
  const expected = { constraints: expectedConstraints(node, context), indexes: expectedIndexes(node) };
  const unmanaged = new Set(unmanagedParts(node));
  // Objects in the log are compared, even if an unmanaged object had the same name before.
  for (const { kind, name } of [...expected.constraints, ...expected.indexes]) unmanaged.delete(`${kind} ${name}`);
  const defined = definedConstraints(node);
  const constraints = table.constraints
    .filter(({ name }) => !unmanaged.has(`constraint ${name}`))
    .map((constraint) => toConstraintShape(constraint, defined));
  const keys = compareNamed(expected.constraints, constraints);
  const free = table.indexes
    .filter(({ name, constraint }) => constraint === null && !unmanaged.has(`index ${name}`))
    .map((index) => toIndexShape(index, node));
  const indexes = compareNamed(expected.indexes, free).filter(
    ({ field, found }) => !(field !== undefined && !isBuilt(found) && context.isPending(collection, field)),
  );
  for (const each of [...keys, ...indexes, ...compareExtras(node, table, context)]) {
    differences.push({ ...here, ...each });
  }
  return differences;
}

/** False if it does not exist or is being built. */
const isBuilt = (found: Json): boolean => found !== null && (found as { valid?: boolean }).valid !== false;

function compareColumns(node: CollectionNode, table: CatalogTable, context: Comparison): Difference[] {
  const { collection } = node.collection;
  const unmanaged = unmanagedParts(node);
  const columns = new Map<string, CatalogColumn>(table.columns.map((column) => [column.name, column]));
  const differences: Difference[] = [];
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    const here = { where: 'catalog', collection, field: field.field } as const;
    const column = columns.get(field.field);
    columns.delete(field.field);
    if (column === undefined) differences.push({ ...here, member: 'column', expected: 'a column', found: null });
    else {
      const isUnmanaged = (kind: 'default' | 'generated') => unmanaged.has(`${kind} ${field.field}`);
      const how = { spelled: context.spelled.get(memberKey(collection, field.field)), isUnmanaged };
      differences.push(...compareColumn(field, column, how).map((each) => ({ ...here, ...each })));
    }
  }
  for (const { name, type } of columns.values()) {
    differences.push({ where: 'catalog', collection, field: name, member: 'column', expected: null, found: type });
  }
  return differences;
}
