/** Constraints and indexes: what fields say of them, and what goes into the extras of the table. */
import { indexName, primaryKeyName, uniqueName } from '../../schema/constraint-names.js';
import type { TableExtras } from '../../schema/extras.js';
import { checkIndexDefinition, parseConstraint } from '../../schema/statement-text.js';
import type { CatalogConstraint, CatalogIndex } from '../catalog/model.js';
import type { ColumnParts } from './column.js';
import { type Converting, note, quoted } from './context.js';
import { foreignUse } from './needs.js';

export interface Keys {
  /** By column. */
  parts: ReadonlyMap<string, ColumnParts>;
  extras: Required<Pick<TableExtras, 'constraints' | 'indexes' | 'unmanaged'>> & Pick<TableExtras, 'primary_key'>;
}

type Building = { parts: Map<string, ColumnParts>; extras: Keys['extras'] };

/** @param others foreign keys that are no relations */
export function keysOf(converting: Converting, others: readonly CatalogConstraint[]): Keys {
  const { table } = converting;
  const building: Building = { parts: new Map(), extras: { constraints: [], indexes: [], unmanaged: [] } };
  for (const { name } of table.columns) {
    building.parts.set(name, { is_unique: false, is_indexed: false, is_primary_key: false, names: {} });
  }
  for (const constraint of ownFirst(table.constraints, table.name, uniqueName)) {
    if (constraint.kind === 'primary key') primaryKey(building, converting, constraint);
    else if (constraint.kind !== 'foreign key') other(building, converting, constraint);
  }
  for (const constraint of others) foreignKey(building, converting, constraint);
  for (const each of ownFirst(table.indexes, table.name, indexName)) index(building, converting, each);
  building.extras.constraints.sort(byNames);
  building.extras.indexes.sort(byNames);
  return building;
}

const byNames = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** Of several on the same column, the one that is named as the service would name it is the field's. */
function ownFirst<T extends { name: string; columns: (string | null)[] }>(
  items: readonly T[],
  table: string,
  nameOf: (table: string, column: string) => string,
): T[] {
  const isOwn = ({ name, columns: [column] }: T) => typeof column === 'string' && nameOf(table, column) === name;
  return [...items.filter(isOwn), ...items.filter((item) => !isOwn(item))];
}

function primaryKey({ parts, extras }: Building, { table }: Converting, constraint: CatalogConstraint): void {
  const { name, columns, definition } = constraint;
  for (const column of columns) mark(parts, column, { is_primary_key: true, is_unique: true });
  const isPlain = /^PRIMARY KEY \([^()]*\)$/.test(definition) || !/\)[^()]+$|INCLUDE|WITHOUT OVERLAPS/.test(definition);
  const [only, ...more] = columns;
  if (only === undefined || more.length > 0 || !isPlain) {
    extras.primary_key = { name, columns, ...(isPlain ? {} : { definition }) };
  } else if (name !== primaryKeyName(table.name)) {
    const part = parts.get(only);
    if (part !== undefined) part.names.primary_key_name = name;
  }
}

function mark(parts: Building['parts'], column: string, marks: Partial<ColumnParts>): void {
  const part = parts.get(column);
  if (part !== undefined) parts.set(column, { ...part, ...marks });
}

function other(building: Building, converting: Converting, constraint: CatalogConstraint): void {
  const { name, definition } = constraint;
  const [column, ...more] = constraint.columns;
  const part = building.parts.get(column ?? '');
  const isPlain = constraint.kind === 'unique' && more.length === 0 && isPlainUnique(constraint);
  if (isPlain && column !== undefined && part !== undefined && !part.is_unique) {
    if (name !== uniqueName(converting.table.name, column)) part.names.unique_name = name;
    part.is_unique = true;
    return;
  }
  const used = foreignUse(converting, 'constraint', name) ?? foreignUse(converting, 'index', name);
  const parsed = parseConstraint(definition);
  const fault = used === null ? (typeof parsed === 'string' ? parsed : null) : `uses ${used}`;
  if (fault === null) building.extras.constraints.push({ name, definition });
  else leave(building, converting, { kind: 'constraint', name, fault });
}

const isPlainUnique = ({ definition, deferrable }: CatalogConstraint): boolean =>
  !deferrable && definition.startsWith('UNIQUE (') && !definition.includes(') INCLUDE (') && definition.endsWith(')');

function foreignKey(building: Building, converting: Converting, constraint: CatalogConstraint): void {
  const { name, definition, references } = constraint;
  const { schema, together, state } = converting;
  const target = references?.table ?? '';
  const known = together.has(target) || state.collections.get(target)?.collection.schema;
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') leave(building, converting, { kind: 'constraint', name, fault: parsed });
  else if (references?.schema !== schema || parsed.references?.schema !== undefined || !known) {
    leave(building, converting, {
      kind: 'constraint',
      name,
      fault: `points at ${quoted(target)}, which isn't managed`,
    });
  } else building.extras.constraints.push({ name, definition, references: target });
}

function index(building: Building, converting: Converting, found: CatalogIndex): void {
  const { name, columns, tail, unique } = found;
  if (found.constraint !== null) return;
  const part = building.parts.get(columns[0] ?? '');
  if (found.plain && !unique && found.valid && part !== undefined && !part.is_indexed && !part.is_primary_key) {
    if (name !== indexName(converting.table.name, columns[0] ?? '')) part.names.index_name = name;
    part.is_indexed = true;
    return;
  }
  const used = foreignUse(converting, 'index', name);
  const fault =
    used !== null ? `uses ${used}` : found.valid ? checkIndexDefinition(tail) : 'is invalid: build it again';
  if (fault !== null) leave(building, converting, { kind: 'index', name, fault });
  else building.extras.indexes.push({ name, ...(unique ? { unique: true as const } : {}), definition: tail });
}

interface Left {
  kind: 'constraint' | 'index';
  name: string;
  fault: string;
}

function leave({ extras }: Building, converting: Converting, { kind, name, fault }: Left): void {
  extras.unmanaged.push({ kind, name });
  const message = `${kind} ${quoted(name)} ${fault}: it stays as it is, and is part of no snapshot`;
  note(converting, { kind, name, code: `${kind.toUpperCase()}_NOT_REPRESENTED`, message });
}
