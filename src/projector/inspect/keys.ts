/* Converts constraints and indexes: fields represent some of them, the table's extras represent the others. */
import { quoteName } from '../../kernel/text.js';
import {
  extrasOf,
  hasTable,
  primaryKeyOf,
  extrasOfTable,
  type CollectionNode,
  type State,
} from '../../schema/model/state.js';
import { indexName, primaryKeyName, uniqueName } from '../../schema/model/constraint-names.js';
import { keyDefinition, checkIndexDefinition, parseConstraint } from '../../schema/sql-text/definitions.js';
import { type TableExtras, tableExtras } from '../../schema/model/extras.js';
import type { CatalogConstraint, CatalogIndex, CatalogTable } from '../catalog/model.js';
import { type ColumnParts, createNoParts } from './column.js';
import { type TableConversion, note, isStoredDefinition, listFault, findUnmanagedUse } from './needs.js';
import type { ForeignKey, NewRelation, Collection, TableSchema } from '../../schema/model/model.js';
import { keyFamily } from '../../schema/sql-text/data-types.js';
import { typeFromColumn } from '../../schema/normal-form/index.js';
import { REFERABLE_SYSTEM_COLLECTIONS, isSystemCollection } from '../../schema/model/system-collections.js';
import { withExtras } from '../../schema/transition/cascade.js';
import { objectNames } from '../ddl/column.js';

/* Converts foreign keys with one column that reference the primary key of a managed table to relations. */

interface ForeignKeys {
  relations: NewRelation[];
  others: CatalogConstraint[];
}

/**
 * Returns the foreign keys that become relations. If several foreign keys use one column, the relation uses the
 * existing one, or the first by name.
 */
export function foreignKeysOf(converting: TableConversion): ForeignKeys {
  const { table, like } = converting;
  const relations = new Map<string, NewRelation>();
  const others: CatalogConstraint[] = [];
  const foreignKeys = table.constraints.filter(({ kind }) => kind === 'foreign key');
  const wasRelation = ({ name, columns }: CatalogConstraint): boolean =>
    like?.relations.get(columns[0] ?? '')?.schema?.constraint_name === name;
  for (const constraint of [...foreignKeys.filter(wasRelation), ...foreignKeys.filter((each) => !wasRelation(each))]) {
    const relation = isStoredDefinition(converting, 'constraint', constraint.name)
      ? null
      : toRelation(converting, constraint);
    if (relation === null || relations.has(relation.many_field)) others.push(constraint);
    else relations.set(relation.many_field, relation);
  }
  return { relations: [...relations.values()], others };
}

/**
 * Matches only what a relation supports: no NOT VALID, no NOT ENFORCED. A column list of SET NULL can only name the
 * one column.
 */
const EXPRESSIBLE =
  /\)( ON UPDATE (CASCADE|RESTRICT|SET NULL|SET DEFAULT))?( ON DELETE (CASCADE|RESTRICT|SET NULL|SET DEFAULT))?( DEFERRABLE( INITIALLY DEFERRED)?)?$/;

function toRelation(converting: TableConversion, constraint: CatalogConstraint): NewRelation | null {
  const { table, like } = converting;
  const { references } = constraint;
  const [field, ...more] = constraint.columns;
  if (field === undefined || more.length > 0 || references === null) return null;
  if (!isExpressible(converting, constraint)) return null;
  const relation = like?.relations.get(field);
  const kept = relation?.one_collection === references.table ? relation : NOTHING_KNOWN;
  return {
    many_collection: table.name,
    many_field: field,
    one_collection: references.table,
    one_field: kept.one_field,
    one_collection_field: null,
    one_allowed_collections: null,
    junction_field: kept.junction_field,
    sort_field: kept.sort_field,
    one_deselect_action: kept.one_deselect_action,
    schema: {
      constraint_name: constraint.name,
      on_update: references.onUpdate,
      on_delete: references.onDelete,
      ...readDeferrable(constraint),
    },
  };
}

/** Members of a relation that no constraint records. */
type Metadata = Pick<NewRelation, 'one_field' | 'junction_field' | 'sort_field' | 'one_deselect_action'>;

const NOTHING_KNOWN: Metadata = {
  one_field: null,
  junction_field: null,
  sort_field: null,
  one_deselect_action: 'nullify',
};

function readDeferrable({ deferrable, initiallyDeferred }: CatalogConstraint): Pick<ForeignKey, 'deferrable'> {
  if (!deferrable) return {};
  return { deferrable: initiallyDeferred ? 'INITIALLY DEFERRED' : 'INITIALLY IMMEDIATE' };
}

function isExpressible(
  converting: TableConversion,
  { references, columns, definition, validated }: CatalogConstraint,
): boolean {
  if (references === null || !isInReach(converting, references) || references.match !== 'simple') return false;
  if (!validated || !EXPRESSIBLE.test(definition)) return false;
  const key = keyOf(converting, references.table);
  const type = converting.table.columns.find(({ name }) => name === columns[0])?.type;
  if (key === null || type === undefined || references.columns[0] !== key.name) return false;
  return keyFamily(typeFromColumn(type).data_type) === keyFamily(typeFromColumn(key.type).data_type);
}

/** True if the table is in the managed schema or is one of the service's own. */
const isInReach = (
  converting: TableConversion,
  { schema, table }: NonNullable<CatalogConstraint['references']>,
): boolean => schema === (isSystemCollection(table) ? null : converting.schema);

interface Key {
  name: string;
  /** The type of the key column, as format_type writes it or in the normal form. */
  type: string;
}

/** Returns the column of the primary key of a table. Null unless the key has a single column. */
function keyOf({ table, together, state }: TableConversion, target: string): Key | null {
  const system = REFERABLE_SYSTEM_COLLECTIONS.get(target);
  if (system !== undefined) return { name: system.field, type: system.data_type };
  const targetTable = target === table.name ? table : together.get(target);
  if (targetTable !== undefined) return catalogKey(targetTable);
  const node = state.collections.get(target);
  const [only, ...more] = node === undefined ? [] : primaryKeyOf(node);
  return only?.schema && more.length === 0 ? { name: only.field, type: only.schema.data_type } : null;
}

function catalogKey({ constraints, columns }: CatalogTable): Key | null {
  const key = constraints.find(({ kind }) => kind === 'primary key');
  const [only, ...more] = key?.columns ?? [];
  const column = more.length > 0 ? undefined : columns.find(({ name }) => name === only);
  return column === undefined ? null : { name: column.name, type: column.type };
}

interface Keys {
  /** The attributes of fields that represent constraints and indexes, keyed by column. */
  parts: ReadonlyMap<string, ColumnParts>;
  extras: Required<Pick<TableExtras, 'constraints' | 'indexes' | 'unmanaged'>> & Pick<TableExtras, 'primary_key'>;
}

type Constraint = NonNullable<TableExtras['constraints']>[number];

type Building = { parts: Map<string, ColumnParts>; extras: Keys['extras'] };

/** Converts the constraints and indexes of a table. @param others foreign keys that are not relations */
export function keysOf(converting: TableConversion, others: readonly CatalogConstraint[]): Keys {
  const { table } = converting;
  const building: Building = { parts: new Map(), extras: { constraints: [], indexes: [], unmanaged: [] } };
  for (const { name } of table.columns) {
    building.parts.set(name, createNoParts());
  }
  const [keys, rest] = [table.constraints.filter(isKey), table.constraints.filter((each) => !isKey(each))];
  for (const constraint of keys) primaryKey(building, converting, constraint);
  for (const constraint of sortOwnFirst(rest, table.table, uniqueName)) {
    if (constraint.kind !== 'foreign key') convertConstraint(building, converting, constraint);
  }
  for (const constraint of others) foreignKey(building, converting, constraint);
  for (const each of sortOwnFirst(table.indexes, table.table, indexName)) index(building, converting, each);
  building.extras.constraints.sort(byNames);
  building.extras.indexes.sort(byNames);
  return building;
}

const isKey = ({ kind }: CatalogConstraint): boolean => kind === 'primary key';

const byNames = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/**
 * Moves objects with the service's default names to the front. If several objects cover a column, the field represents
 * the first one.
 */
function sortOwnFirst<T extends { name: string; columns: (string | null)[] }>(
  items: readonly T[],
  table: string,
  nameOf: (table: string, column: string) => string,
): T[] {
  const isOwn = ({ name, columns: [column] }: T) => typeof column === 'string' && nameOf(table, column) === name;
  const own = new Set(items.filter(isOwn));
  return [...own, ...items.filter((item) => !own.has(item))];
}

function primaryKey({ parts, extras }: Building, converting: TableConversion, constraint: CatalogConstraint): void {
  const { name, columns } = constraint;
  for (const column of columns) markColumn(parts, column, { is_primary_key: true, is_unique: true });
  const [only = '', ...more] = columns;
  const part = parts.get(only);
  const inWords = describeKey(converting, constraint);
  if (part === undefined || more.length > 0 || inWords !== null) extras.primary_key = { name, columns, ...inWords };
  else if (name !== primaryKeyName(converting.table.table)) part.names.primary_key_name = name;
}

/**
 * Returns the properties of the primary key that fields cannot represent, or that the table already states. Null if the
 * fields represent all of it.
 */
function describeKey(
  { like }: TableConversion,
  { name, definition }: CatalogConstraint,
): { definition?: string } | null {
  const formerKey = extrasOf(like).primary_key;
  const existing = formerKey?.name === name ? formerKey : undefined;
  if (!keyDefinition(definition).isPlain || existing?.definition !== undefined) return { definition };
  return existing === undefined ? null : {};
}

function markColumn(parts: Building['parts'], column: string, marks: Partial<ColumnParts>): void {
  const part = parts.get(column);
  if (part !== undefined) parts.set(column, { ...part, ...marks });
}

/** Converts a unique, check or exclusion constraint. */
function convertConstraint(building: Building, converting: TableConversion, constraint: CatalogConstraint): void {
  const { name, definition } = constraint;
  const canBeField = isPlainUnique(constraint) && !isStoredDefinition(converting, 'constraint', name);
  if (canBeField && uniqueOfField(building, converting, constraint)) return;
  const used = findUnmanagedUse(converting, 'constraint', name) ?? findUnmanagedUse(converting, 'index', name);
  const fault = used === null ? constraintFault(converting, name, definition) : `uses ${used}`;
  if (fault === null) building.extras.constraints.push({ name, definition });
  else recordUnmanaged(building, converting, { kind: 'constraint', name, fault });
}

function constraintFault(converting: TableConversion, name: string, text: string): string | null {
  const parsed = parseConstraint(text);
  return typeof parsed === 'string' ? parsed : listFault(converting, { kind: 'constraint', name, text });
}

function isPlainUnique({ kind, columns, definition, deferrable }: CatalogConstraint): boolean {
  if (kind !== 'unique' || columns.length !== 1 || deferrable) return false;
  return definition.startsWith('UNIQUE (') && !definition.includes(') INCLUDE (');
}

function uniqueOfField({ parts }: Building, { table }: TableConversion, { name, columns }: CatalogConstraint): boolean {
  const [column = ''] = columns;
  const part = parts.get(column);
  if (part === undefined || part.is_unique) return false;
  if (name !== uniqueName(table.table, column)) part.names.unique_name = name;
  part.is_unique = true;
  return true;
}

function foreignKey(building: Building, converting: TableConversion, constraint: CatalogConstraint): void {
  const kept = convertReference(converting, constraint);
  if (typeof kept !== 'string') building.extras.constraints.push(kept);
  else recordUnmanaged(building, converting, { kind: 'constraint', name: constraint.name, fault: kept });
}

/** Converts a foreign key for the extras, or explains why that is not possible. */
function convertReference(
  converting: TableConversion,
  { name, definition, references }: CatalogConstraint,
): Constraint | string {
  const target = references?.table ?? '';
  const isReachable = references?.schema === converting.schema && isManaged(converting, target);
  const fault = isReachable
    ? referenceFault(definition, schemaOfTable(converting, target))
    : `references ${quoteName(target)}, which is not managed`;
  return fault ?? { name, definition, references: target };
}

/** True if the table is managed or is being adopted in this operation. */
function isManaged({ together, state }: Pick<TableConversion, 'together' | 'state'>, table: string): boolean {
  return together.has(table) || hasTable(state, table);
}

/** Returns the schema of a managed table. Undefined for the default schema. */
function schemaOfTable(
  { together, state }: Pick<TableConversion, 'together' | 'state'>,
  table: string,
): string | undefined {
  const catalogTable = together.get(table);
  return catalogTable === undefined ? state.collections.get(table)?.collection.schema?.schema : catalogTable.schema;
}

/**
 * Returns why the extras cannot contain a foreign key, or null. @param schema of the referenced table, which PostgreSQL
 * omits for tables that its search path finds
 */
function referenceFault(definition: string, schema: string | undefined): string | null {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') return parsed;
  return parsed.references?.schema === schema || parsed.references?.schema === undefined
    ? null
    : 'references a table that another table with the same name hides';
}

function index(building: Building, converting: TableConversion, catalogIndex: CatalogIndex): void {
  if (catalogIndex.constraint !== null || indexOfField(building, converting, catalogIndex)) return;
  const { name, tail, unique } = catalogIndex;
  const fault = indexFault(converting, catalogIndex);
  if (fault !== null) recordUnmanaged(building, converting, { kind: 'index', name, fault });
  else building.extras.indexes.push({ name, ...(unique ? { unique: true as const } : {}), definition: tail });
}

function indexOfField({ parts }: Building, converting: TableConversion, catalogIndex: CatalogIndex): boolean {
  const { table } = converting;
  const column = catalogIndex.columns[0] ?? '';
  const part = parts.get(column);
  if (
    !catalogIndex.plain ||
    catalogIndex.unique ||
    !catalogIndex.valid ||
    isStoredDefinition(converting, 'index', catalogIndex.name)
  )
    return false;
  if (part === undefined || part.is_indexed || part.is_primary_key) return false;
  if (catalogIndex.name !== indexName(table.table, column)) part.names.index_name = catalogIndex.name;
  part.is_indexed = true;
  return true;
}

function indexFault(converting: TableConversion, { name, valid, tail }: CatalogIndex): string | null {
  const used = findUnmanagedUse(converting, 'index', name);
  if (used !== null) return `uses ${used}`;
  if (!valid) return 'is invalid: rebuild it';
  return checkIndexDefinition(tail) ?? listFault(converting, { kind: 'index', name, text: tail });
}

interface Unrepresented {
  kind: 'constraint' | 'index';
  name: string;
  fault: string;
}

function recordUnmanaged({ extras }: Building, converting: TableConversion, left: Unrepresented): void {
  extras.unmanaged.push({ kind: left.kind, name: left.name });
  noteUnrepresented(converting, left);
}

/**
 * Notes `CONSTRAINT_NOT_REPRESENTED` or `INDEX_NOT_REPRESENTED`.
 * @param fault follows the name in the message, for example "is invalid"
 */
function noteUnrepresented(converting: TableConversion, { kind, name, fault }: Unrepresented): void {
  const message = `${kind} ${quoteName(name)} ${fault}: it stays unchanged and is not included in snapshots`;
  note(converting, { kind, name, code: `${kind.toUpperCase()}_NOT_REPRESENTED`, message });
}

/*
 * Completes managed tables whose foreign keys were left out because the target was not managed. When the target is
 * adopted, the result equals adopting both tables together.
 */

interface ManagedKeys {
  relations: NewRelation[];
  /** The collections whose extras gain or lose an object. */
  collections: Collection[];
}

/** Returns managed tables with an unmanaged constraint that may be a foreign key to a table that was not managed. */
export function waitingTables({ collections }: State): string[] {
  return [...collections].flatMap(([name, node]) => (unmanagedConstraints(node).size > 0 ? [name] : []));
}

function unmanagedConstraints({ collection }: CollectionNode): Set<string> {
  const unmanaged = extrasOf({ collection }).unmanaged ?? [];
  return new Set(unmanaged.flatMap(({ kind, name }) => (kind === 'constraint' ? [name] : [])));
}

type Common = Omit<TableConversion, 'table' | 'like'>;

/** @param common `together` holds the tables that are being adopted */
export function completeKeys(there: readonly CatalogTable[], common: Common): ManagedKeys {
  const managed: ManagedKeys = { relations: [], collections: [] };
  for (const table of there) {
    const node = common.state.collections.get(table.name);
    if (node === undefined || unmanagedConstraints(node).size === 0) continue;
    const { relations, collection } = completeTable({ ...common, table, like: node });
    managed.relations.push(...relations);
    if (collection !== null) managed.collections.push(collection);
  }
  return managed;
}

type Holder = TableConversion & { like: CollectionNode };

function completeTable(holder: Holder): { relations: NewRelation[]; collection: Collection | null } {
  const { table, like } = holder;
  const keys = findAwaitedKeys(holder);
  const isOther = ({ kind, name }: CatalogConstraint) => kind !== 'foreign key' || keys.has(name);
  const foreignKeys = foreignKeysOf({ ...holder, table: { ...table, constraints: table.constraints.filter(isOther) } });
  const relations = foreignKeys.relations.filter((relation) => canBeRelation(holder, relation));
  const named = new Set(relations.map(({ schema }) => schema?.constraint_name));
  const constraints = [...keys.values()]
    .filter(({ name }) => !named.has(name))
    .flatMap((key) => convertReferences(holder, key));
  const { schema } = like.collection;
  const there = new Set(table.constraints.map(({ name }) => name));
  const missing = [...unmanagedConstraints(like)].filter((name) => !there.has(name));
  const recordedNames = new Set([...named, ...constraints.map(({ name }) => name), ...missing]);
  if (schema === null || recordedNames.size === 0) return { relations: [], collection: null };
  const extras = {
    ...schema.extras,
    constraints: [...(extrasOfTable(schema).constraints ?? []), ...constraints].sort(byNames),
    unmanaged: extrasOfTable(schema).unmanaged?.filter(
      ({ kind, name }) => kind !== 'constraint' || !recordedNames.has(name),
    ),
  };
  return { relations, collection: { ...like.collection, schema: ordered(schema, extras) } };
}

/** Orders the members as documents list them. */
const ordered = (schema: TableSchema, extras: object): TableSchema => withExtras(schema, tableExtras.parse(extras));

/**
 * Returns foreign keys whose target is managed or becomes managed. A key with the same name in the log is the same key,
 * and is no longer left out.
 */
function findAwaitedKeys({ table, like, schema, state, together }: Holder): Map<string, CatalogConstraint> {
  const left = unmanagedConstraints(like);
  for (const name of objectNames(like)) left.delete(name);
  const keys = table.constraints.filter(
    ({ kind, name, references }) =>
      kind === 'foreign key' &&
      left.has(name) &&
      references?.schema === schema &&
      isManaged({ together, state }, references.table),
  );
  return new Map(keys.map((key) => [key.name, key]));
}

/**
 * True if the foreign key can become a relation. A column has one relation. If the log has a relation of a different type
 * for it, that is drift.
 */
function canBeRelation({ table, like }: Holder, { many_field: name }: NewRelation): boolean {
  const type = table.columns.find((column) => column.name === name)?.type;
  const known = like.fields.get(name)?.schema;
  if (!known || type === undefined || like.relations.has(name)) return false;
  return keyFamily(known.data_type) === keyFamily(typeFromColumn(type).data_type);
}

function convertReferences(holder: Holder, key: CatalogConstraint) {
  const isKnown = key.columns.every((column) => holder.like.fields.get(column)?.schema);
  const kept = isKnown
    ? convertReference(holder, key)
    : `is on a column of ${holder.table.name} that the log does not contain`;
  if (typeof kept !== 'string') return [kept];
  // The other keys were reported when their target was adopted.
  if (holder.together.has(key.references?.table ?? '')) {
    noteUnrepresented(holder, { kind: 'constraint', name: key.name, fault: kept });
  }
  return [];
}
