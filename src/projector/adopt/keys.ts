/** Converts constraints and indexes: fields represent some of them, the table's extras represent the others. */
import { quoted } from '../../kernel/quoted.js';
import { extrasOf, hasTable } from '../../schema/model/state.js';
import { indexName, primaryKeyName, uniqueName } from '../../schema/model/constraint-names.js';
import { keyDefinition } from '../../schema/sql-text/columns.js';
import type { TableExtras } from '../../schema/model/extras.js';
import { checkIndexDefinition, parseConstraint } from '../../schema/sql-text/definitions.js';
import type { CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import { type ColumnParts, noParts } from './column.js';
import { type Converting, note } from './context.js';
import { isSaid, listFault } from './unsendable-sql.js';
import { unmanagedUse } from './needs.js';

export interface Keys {
  /** Keyed by column. */
  parts: ReadonlyMap<string, ColumnParts>;
  extras: Required<Pick<TableExtras, 'constraints' | 'indexes' | 'unmanaged'>> & Pick<TableExtras, 'primary_key'>;
}

type Constraint = NonNullable<TableExtras['constraints']>[number];

type Building = { parts: Map<string, ColumnParts>; extras: Keys['extras'] };

/** @param others foreign keys that are not relations */
export function keysOf(converting: Converting, others: readonly CatalogConstraint[]): Keys {
  const { table } = converting;
  const building: Building = { parts: new Map(), extras: { constraints: [], indexes: [], unmanaged: [] } };
  for (const { name } of table.columns) {
    building.parts.set(name, noParts());
  }
  const [keys, rest] = [table.constraints.filter(isKey), table.constraints.filter((each) => !isKey(each))];
  for (const constraint of keys) primaryKey(building, converting, constraint);
  for (const constraint of ownFirst(rest, table.name, uniqueName)) {
    if (constraint.kind !== 'foreign key') other(building, converting, constraint);
  }
  for (const constraint of others) foreignKey(building, converting, constraint);
  for (const each of ownFirst(table.indexes, table.name, indexName)) index(building, converting, each);
  building.extras.constraints.sort(byNames);
  building.extras.indexes.sort(byNames);
  return building;
}

const isKey = ({ kind }: CatalogConstraint): boolean => kind === 'primary key';

export const byNames = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** Where several objects cover the same column, the field represents the one with the service's default name. */
function ownFirst<T extends { name: string; columns: (string | null)[] }>(
  items: readonly T[],
  table: string,
  nameOf: (table: string, column: string) => string,
): T[] {
  const isOwn = ({ name, columns: [column] }: T) => typeof column === 'string' && nameOf(table, column) === name;
  const own = new Set(items.filter(isOwn));
  return [...own, ...items.filter((item) => !own.has(item))];
}

function primaryKey({ parts, extras }: Building, converting: Converting, constraint: CatalogConstraint): void {
  const { name, columns } = constraint;
  for (const column of columns) mark(parts, column, { is_primary_key: true, is_unique: true });
  const [only = '', ...more] = columns;
  const part = parts.get(only);
  const inWords = keyInWords(converting, constraint);
  if (part === undefined || more.length > 0 || inWords !== null) extras.primary_key = { name, columns, ...inWords };
  else if (name !== primaryKeyName(converting.table.name)) part.names.primary_key_name = name;
}

/**
 * The properties of the primary key that fields cannot represent, or that the table already states. Null if the
 * fields represent all of it.
 */
function keyInWords({ like }: Converting, { name, definition }: CatalogConstraint): { definition?: string } | null {
  const known = extrasOf(like).primary_key;
  const said = known?.name === name ? known : undefined;
  if (!keyDefinition(definition).isPlain || said?.definition !== undefined) return { definition };
  return said === undefined ? null : {};
}

function mark(parts: Building['parts'], column: string, marks: Partial<ColumnParts>): void {
  const part = parts.get(column);
  if (part !== undefined) parts.set(column, { ...part, ...marks });
}

/** Converts a unique, check or exclusion constraint. */
function other(building: Building, converting: Converting, constraint: CatalogConstraint): void {
  const { name, definition } = constraint;
  const canBeField = isPlainUnique(constraint) && !isSaid(converting, 'constraint', name);
  if (canBeField && uniqueOfField(building, converting, constraint)) return;
  const used = unmanagedUse(converting, 'constraint', name) ?? unmanagedUse(converting, 'index', name);
  const fault = used === null ? constraintFault(converting, name, definition) : `uses ${used}`;
  if (fault === null) building.extras.constraints.push({ name, definition });
  else leaveUnmanaged(building, converting, { kind: 'constraint', name, fault });
}

function constraintFault(converting: Converting, name: string, text: string): string | null {
  const parsed = parseConstraint(text);
  return typeof parsed === 'string' ? parsed : listFault(converting, { kind: 'constraint', name, text });
}

function isPlainUnique({ kind, columns, definition, deferrable }: CatalogConstraint): boolean {
  if (kind !== 'unique' || columns.length !== 1 || deferrable) return false;
  return definition.startsWith('UNIQUE (') && !definition.includes(') INCLUDE (');
}

function uniqueOfField({ parts }: Building, { table }: Converting, { name, columns }: CatalogConstraint): boolean {
  const [column = ''] = columns;
  const part = parts.get(column);
  if (part === undefined || part.is_unique) return false;
  if (name !== uniqueName(table.name, column)) part.names.unique_name = name;
  part.is_unique = true;
  return true;
}

function foreignKey(building: Building, converting: Converting, constraint: CatalogConstraint): void {
  const kept = keptReference(converting, constraint);
  if (typeof kept !== 'string') building.extras.constraints.push(kept);
  else leaveUnmanaged(building, converting, { kind: 'constraint', name: constraint.name, fault: kept });
}

/** Converts a foreign key for the extras, or explains why that is not possible. */
export function keptReference(
  converting: Converting,
  { name, definition, references }: CatalogConstraint,
): Constraint | string {
  const target = references?.table ?? '';
  const isReachable = references?.schema === converting.schema && isManaged(converting, target);
  const fault = isReachable ? referenceFault(definition) : `points at ${quoted(target)}, which isn't managed`;
  return fault ?? { name, definition, references: target };
}

/** Checks whether the table is managed or is being adopted in this operation. */
export function isManaged({ together, state }: Pick<Converting, 'together' | 'state'>, table: string): boolean {
  return together.has(table) || hasTable(state, table);
}

function referenceFault(definition: string): string | null {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') return parsed;
  return parsed.references?.schema === undefined ? null : 'points at a table that is hidden by another of its name';
}

function index(building: Building, converting: Converting, found: CatalogIndex): void {
  if (found.constraint !== null || indexOfField(building, converting, found)) return;
  const { name, tail, unique } = found;
  const fault = indexFault(converting, found);
  if (fault !== null) leaveUnmanaged(building, converting, { kind: 'index', name, fault });
  else building.extras.indexes.push({ name, ...(unique ? { unique: true as const } : {}), definition: tail });
}

function indexOfField({ parts }: Building, converting: Converting, found: CatalogIndex): boolean {
  const { table } = converting;
  const column = found.columns[0] ?? '';
  const part = parts.get(column);
  if (!found.plain || found.unique || !found.valid || isSaid(converting, 'index', found.name)) return false;
  if (part === undefined || part.is_indexed || part.is_primary_key) return false;
  if (found.name !== indexName(table.name, column)) part.names.index_name = found.name;
  part.is_indexed = true;
  return true;
}

function indexFault(converting: Converting, { name, valid, tail }: CatalogIndex): string | null {
  const used = unmanagedUse(converting, 'index', name);
  if (used !== null) return `uses ${used}`;
  if (!valid) return 'is invalid: build it again';
  return checkIndexDefinition(tail) ?? listFault(converting, { kind: 'index', name, text: tail });
}

interface Unrepresented {
  kind: 'constraint' | 'index';
  name: string;
  fault: string;
}

function leaveUnmanaged({ extras }: Building, converting: Converting, left: Unrepresented): void {
  extras.unmanaged.push({ kind: left.kind, name: left.name });
  noteUnrepresented(converting, left);
}

/**
 * Notes `CONSTRAINT_NOT_REPRESENTED` or `INDEX_NOT_REPRESENTED`.
 * @param fault follows the name in the message, for example "is invalid"
 */
export function noteUnrepresented(converting: Converting, { kind, name, fault }: Unrepresented): void {
  const message = `${kind} ${quoted(name)} ${fault}: it stays as it is, and is part of no snapshot`;
  note(converting, { kind, name, code: `${kind.toUpperCase()}_NOT_REPRESENTED`, message });
}
