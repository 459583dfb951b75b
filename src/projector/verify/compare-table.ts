/* Compares a collection of the fold with a table of the catalog. */
import {
  hasColumn,
  memberKey,
  type CollectionNode,
  type State,
  extrasOf,
  type ColumnField,
  tableNameOf,
} from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable, CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import type { CatalogObjects } from '../catalog/objects.js';
import type { SpelledColumn } from './equivalent-definitions.js';
import type { Difference } from './difference.js';
import { type Json, jsonEqual } from '../../kernel/json.js';
import { type Need, isIdentity } from '../../schema/model/extras.js';
import { needKey, needLabel, schemaOfNeed } from '../../schema/model/order.js';
import { needsOf, sequenceOptions } from '../inspect/needs.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import { needsUnique } from '../ddl/column.js';
import { type ForeignKeyRelation, hasForeignKey, primaryKeyColumns, referencedColumns } from '../ddl/create-table.js';
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { columnType, defaultFromCatalog } from '../../schema/normal-form/index.js';

/* Compares a field of the fold with a column of the catalog. */

type Member = Pick<Difference, 'member' | 'expected' | 'found'>;

interface ColumnContext {
  /** PostgreSQL's spelling of the stored definition. Undefined if it was not determined. */
  spelled: SpelledColumn | undefined;
  /** True if the default or generation expression is unmanaged. */
  isUnmanaged: (kind: 'default' | 'generated') => boolean;
}

/** Returns each differing member once. Indexes and constraints are compared with the table. */
function compareColumn(field: ColumnField, column: CatalogColumn, { spelled, isUnmanaged }: ColumnContext): Member[] {
  const { schema } = field;
  const members: [string, Json, Json][] = [
    ['schema.data_type', columnType(schema), typeOf(column, columnType(schema), spelled)],
    ['schema.is_nullable', schema.is_nullable, column.nullable],
    ...(isUnmanaged('default') ? [] : [defaultMember(field, column, spelled)]),
    ['schema.has_auto_increment', expectedIdentity(schema), actualIdentity(column)],
    ...(isUnmanaged('generated') ? [] : [generationMember(field, column, spelled)]),
    ['schema.comment', schema.comment, column.comment],
    ['not null name', ...notNullNames(schema, column)],
    ['collation', ...collations(schema, column, spelled)],
  ];
  return members
    .filter(([, expected, actual]) => !jsonEqual(expected, actual))
    .map(([member, expected, inCatalog]) => ({ member, expected, found: inCatalog }));
}

/** True if only the SQL differs, so that PostgreSQL may spell both alike. */
export function mayDifferInSpelling(field: ColumnField, column: CatalogColumn): boolean {
  const { generation_expression: generated, extras } = field.schema;
  const type = columnType(field.schema);
  const pairs: [string | null | undefined, string | null | undefined][] = [
    [type, typeOf(column, type, undefined)],
    [extras?.default, column.default],
    [generated, column.generated?.expression],
  ];
  const isOther = pairs.some(([ours, there]) => ours != null && there != null && ours !== there);
  // PostgreSQL stores no default for the NULL of a type that is not a domain.
  if (column.default === null && /\bnull\b/i.test(extras?.default ?? '')) return true;
  return isOther || (extras?.collation !== undefined && extras.collation !== column.collation);
}

/**
 * Returns the column's type. format_type qualifies a type outside the search path. For a type of an extension the
 * schema is irrelevant.
 */
function typeOf({ type, builtIn }: CatalogColumn, expected: string, spelled: SpelledColumn | undefined): string {
  if (spelled?.type === type) return expected;
  return !builtIn && type.endsWith(`.${expected}`) ? expected : type;
}

/** Compares a default. One that is stored as SQL is compared as SQL. */
function defaultMember(
  field: ColumnField,
  column: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [string, Json, Json] {
  const { default_value: value, extras } = field.schema;
  if (extras?.default === undefined) return ['schema.default_value', value, defaultOf(field, column)];
  if (spelled !== undefined && column.default === spelled.default) return ['schema.default_value', null, null];
  return ['schema.default_value', { sql: extras.default }, column.default === null ? null : { sql: column.default }];
}

/**
 * Returns the default of the catalog. Without a normal form, it is reported in PostgreSQL's spelling, marked as SQL.
 */
function defaultOf({ type, schema }: ColumnField, column: CatalogColumn): Json {
  if (column.default === null) return null;
  const value = defaultFromCatalog(type, schema, column.default);
  return value === undefined ? { sql: column.default } : value;
}

/**
 * Returns both names of a NOT NULL constraint. They are compared only if the log records the name, the server has such
 * names, and the name is not that of the parent. Earlier releases recorded the names of parents, which may have changed
 * since.
 */
function notNullNames({ extras }: ColumnSchema, { notNull }: CatalogColumn): [Json, Json] {
  const expected = extras?.not_null_name ?? null;
  const isCompared = expected !== null && notNull !== null && notNull.name !== notNull.parentName;
  return isCompared ? [expected, notNull.name] : [null, null];
}

function collations(
  { extras }: ColumnSchema,
  { collation }: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [Json, Json] {
  const expected = extras?.collation ?? null;
  return spelled !== undefined && spelled.collation === collation ? [null, null] : [expected, collation];
}

function expectedIdentity(schema: ColumnSchema): Json {
  return isIdentity(schema) && schema.extras?.identity === 'always' ? 'always' : isIdentity(schema);
}

/** Returns `always` for GENERATED ALWAYS AS IDENTITY. Otherwise returns whether the column is an identity column. */
function actualIdentity({ identity }: CatalogColumn): Json {
  return identity === 'always' ? 'always' : identity !== null;
}

/** Returns both expressions. Equal expressions are displayed alike, in any of PostgreSQL's spellings. */
function generationMember(
  { schema }: ColumnField,
  { generated }: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [string, Json, Json] {
  const member = 'schema.generation_expression';
  const ours = schema.generation_expression;
  if (generated === null) return [member, ours, null];
  const kind = schema.extras?.virtual === true ? 'virtual' : 'stored';
  const same =
    (generated.expression === spelled?.generated || generated.expression === ours) && generated.kind === kind;
  return [member, ours, same ? ours : `${generated.expression} ${generated.kind.toUpperCase()}`];
}

/* Compares constraints and indexes with the catalog, by name, as small documents. */

/** A constraint or index. `shape` is the compared document, and `field` is the field that it concerns, if any. */
interface Named {
  kind: 'constraint' | 'index';
  name: string;
  field?: string;
  shape: { [member: string]: Json };
}

type KeyDifference = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

/** Returns the differences. Missing objects have `found: null`, extra ones `expected: null`. */
function compareNamed(expected: readonly Named[], there: readonly Named[]): KeyDifference[] {
  const actualByName = new Map(there.map((each) => [each.name, each]));
  const differences: KeyDifference[] = [];
  for (const each of expected) {
    const other = actualByName.get(each.name);
    actualByName.delete(each.name);
    if (!jsonEqual(each.shape, other?.shape)) differences.push(difference(each, each.shape, other?.shape ?? null));
  }
  for (const each of actualByName.values()) differences.push(difference(each, null, each.shape));
  return differences;
}

function difference({ kind, name, field }: Named, expected: Json, actual: Json): KeyDifference {
  return { ...(field === undefined ? {} : { field }), member: `${kind} ${name}`, expected, found: actual };
}

/**
 * Returns the constraints of fields and relations. Constraints stored as PostgreSQL definitions replace those with the
 * same name.
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

/** Yields the primary key and the unique constraints of columns. */
function* ownConstraints(node: CollectionNode): Generator<Named> {
  const key = extrasOf(node).primary_key?.columns ?? primaryKeyColumns(node);
  if (key.length > 0) yield constraint(primaryKeyNameOf(node), { kind: 'primary key', columns: key });
  for (const field of node.fields.values()) {
    if (!hasColumn(field) || !needsUnique(field)) continue;
    yield constraint(uniqueNameOf(tableNameOf(node), field), { kind: 'unique', columns: [field.field] });
  }
}

/** Maps names to definitions, for constraints stored as definitions. */
function definedConstraints({ collection }: CollectionNode): Map<string, string> {
  const { constraints = [], primary_key: key } = extrasOf({ collection });
  const defined = new Map(constraints.map(({ name, definition }) => [name, definition]));
  if (key?.definition !== undefined) defined.set(key.name, key.definition);
  return defined;
}

/** Returns the unmanaged constraints and indexes of the table, as `kind name`. */
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
  return { kind: 'constraint', name, ...locationOfColumns(shape.columns), shape };
}

const locationOfColumns = (columns: readonly (string | null)[]): { field?: string } => {
  const [only, ...more] = columns;
  return typeof only === 'string' && more.length === 0 ? { field: only } : {};
};

/** Converts a constraint. The defaults (validated, not deferrable) are left out. */
function toConstraintShape(catalogConstraint: CatalogConstraint, defined: ReadonlyMap<string, string>): Named {
  const { kind, columns, references, validated, deferrable, initiallyDeferred } = catalogConstraint;
  if (defined.has(catalogConstraint.name))
    return { kind: 'constraint', name: catalogConstraint.name, shape: { definition: catalogConstraint.definition } };
  return constraint(catalogConstraint.name, {
    kind,
    columns,
    ...(references === null ? {} : { references: { ...references } }),
    ...(kind === 'check' || kind === 'exclusion' ? { definition: catalogConstraint.definition } : {}),
    ...(validated ? {} : { validated }),
    ...(deferrable ? { deferrable: initiallyDeferred ? 'INITIALLY DEFERRED' : 'INITIALLY IMMEDIATE' } : {}),
  });
}

const PLAIN_INDEX = { method: 'btree', unique: false, valid: true } as const;

/** Returns the indexes that serve no constraint. Those of fields come first. */
function expectedIndexes(node: CollectionNode): Named[] {
  const plain = [...node.fields.values()].filter(hasColumn).filter((field) => field.schema.is_indexed);
  const kept = extrasOf(node).indexes ?? [];
  return [
    ...plain.map((field): Named => {
      const { field: name } = field;
      return {
        kind: 'index',
        name: indexNameOf(tableNameOf(node), field),
        field: name,
        shape: { ...PLAIN_INDEX, columns: [name] },
      };
    }),
    ...kept.map(({ name, unique, definition }): Named => {
      return { kind: 'index', name, shape: { unique: unique === true, valid: true, definition } };
    }),
  ];
}

/**
 * Converts an index. The definition is included if the log stores the index as one, or if the index has options besides
 * its columns.
 */
function toIndexShape(index: CatalogIndex, node: CollectionNode): Named {
  const { name, method, unique, valid, columns, tail, plain } = index;
  const isKept = extrasOf(node).indexes?.some((each) => each.name === name) === true;
  if (isKept) return { kind: 'index', name, shape: { unique, valid, definition: tail } };
  const shape = { method, unique, valid, columns };
  return { kind: 'index', name, ...locationOfColumns(columns), shape: plain ? shape : { ...shape, definition: tail } };
}

/* Compares partitioning and the objects that tables use with the catalog. */

type TableMember = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

interface Context {
  state: State;
  schema: string;
  objects: CatalogObjects;
}

/** Returns the differing members. Shared objects are compared for each table. */
function compareExtras(node: CollectionNode, table: CatalogTable, context: Context): TableMember[] {
  const extras = extrasOf(node);
  const parent = table.partitionOf && { table: table.partitionOf.table, bound: table.partitionOf.bound };
  const members: TableMember[] = [
    { member: 'partition_by', expected: extras.partition_by ?? null, found: table.partitionKey },
    { member: 'partition_of', expected: extras.partition_of ?? null, found: parent },
  ].filter(({ expected, found }) => !jsonEqual(expected, found));
  const { objects } = context;
  const actualNeeds = needsOf({ ...context, objects, table, together: new Map(), notes: [] });
  const needs = (extras.needs ?? []).flatMap((need) => compareNeed(need, actualNeeds, objects));
  return [...members, ...needs, ...compareSequences(node, table, objects)];
}

/**
 * Compares one need. @param actualNeeds the objects that the table uses; extra ones are reported through their columns
 */
function compareNeed(need: Need, actualNeeds: readonly Need[], objects: CatalogObjects): TableMember[] {
  const other = actualNeeds.find((each) => needLabel(each) === needLabel(need)) ?? findUnusedNeed(need, objects);
  if (jsonEqual(need, other)) return [];
  return [{ member: needLabel(need), expected: { ...need }, found: other === undefined ? null : { ...other } }];
}

/** Looks up an object that the table no longer uses. For a type, only its existence is checked. */
function findUnusedNeed(
  need: Need,
  { extensions, sequences, collations, typeNames }: CatalogObjects,
): Need | undefined {
  if (need.kind === 'extension') return extensions.has(need.name) ? need : undefined;
  const key = needKey(need);
  const schema = schemaOfNeed(need);
  const at = schema === undefined ? {} : { schema };
  if (need.kind === 'collation') {
    const collation = collations.get(key);
    return collation && { kind: 'collation', ...at, name: need.name, ...collation };
  }
  if (need.kind !== 'sequence') return typeNames.has(key) ? need : undefined;
  const sequence = sequences.get(key);
  return sequence && { kind: 'sequence', ...at, name: need.name, ...sequenceOptions(sequence, 'bigint') };
}

/** Compares identity sequences. Their names are compared only if the log records them. */
function compareSequences(node: CollectionNode, table: CatalogTable, { sequences }: CatalogObjects): TableMember[] {
  return table.columns.flatMap((column): TableMember[] => {
    const field = node.fields.get(column.name);
    const { identity, sequence: owned } = column;
    const sequence = identity !== null && owned !== null ? sequences.get(owned.key ?? owned.name) : undefined;
    if (sequence === undefined || !hasColumn(field)) return [];
    const expected = field.schema.extras?.sequence ?? {};
    const options = sequenceOptions(sequence, column.type);
    const actual: Json = { ...(expected.name === undefined ? {} : { name: sequence.name }), ...options };
    return jsonEqual(expected, actual)
      ? []
      : [{ field: column.name, member: 'identity sequence', expected: { ...expected }, found: actual }];
  });
}

/** The data that all comparisons of a verification share. */
interface Comparison {
  state: State;
  /** The managed schema. */
  schema: string;
  /** True if the index of a field is still to be built. */
  isPending: (collection: string, field: string) => boolean;
  /** PostgreSQL's spelling of stored columns, keyed by memberKey. */
  spelled: ReadonlyMap<string, SpelledColumn>;
  /** The objects that tables use. */
  objects: CatalogObjects;
}

/**
 * Returns the differences from the catalog. Metadata rows are compared separately. Ignores unmanaged objects and
 * indexes that are not built yet.
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

/** False if the index does not exist or is being built. */
const isBuilt = (index: Json): boolean => index !== null && (index as { valid?: boolean }).valid !== false;

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
      const details = { spelled: context.spelled.get(memberKey(collection, field.field)), isUnmanaged };
      differences.push(...compareColumn(field, column, details).map((each) => ({ ...here, ...each })));
    }
  }
  for (const { name, type } of columns.values()) {
    differences.push({ where: 'catalog', collection, field: name, member: 'column', expected: null, found: type });
  }
  return differences;
}
