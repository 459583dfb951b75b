/**
 * Completes managed tables whose foreign keys were left out because the target was not managed. When the target is
 * adopted, the result equals adopting both tables together.
 */
import { extrasOf, extrasOfTable, type CollectionNode, type State } from '../../schema/model/state.js';
import { tableExtrasV1 } from '../../schema/fold/extras-schemas.js';
import type { Collection, NewRelation, TableSchema } from '../../schema/model/model.js';
import { keyFamily } from '../../schema/sql-text/data-types.js';
import { typeFromColumn } from '../../schema/normal-form/index.js';
import { withExtras } from '../../schema/transition/table-extras.js';
import type { CatalogConstraint, CatalogTable } from '../catalog/model.js';
import { objectNames } from '../ddl/object-names.js';
import type { Converting } from './context.js';
import { byNames, keptReference, noteUnrepresented, isManaged } from './keys.js';
import { foreignKeysOf } from './relations.js';

export interface ManagedKeys {
  relations: NewRelation[];
  /** The collections whose extras gain or lose an object. */
  collections: Collection[];
}

/** Managed tables with an unmanaged constraint that may be such a foreign key. */
export function waitingTables({ collections }: State): string[] {
  return [...collections].flatMap(([name, node]) => (leftOut(node).size > 0 ? [name] : []));
}

function leftOut({ collection }: CollectionNode): Set<string> {
  const unmanaged = extrasOf({ collection }).unmanaged ?? [];
  return new Set(unmanaged.flatMap(({ kind, name }) => (kind === 'constraint' ? [name] : [])));
}

type Common = Omit<Converting, 'table' | 'like'>;

/** @param common `together` holds the tables that are being adopted */
export function completeKeys(there: readonly CatalogTable[], common: Common): ManagedKeys {
  const managed: ManagedKeys = { relations: [], collections: [] };
  for (const table of there) {
    const node = common.state.collections.get(table.name);
    if (node === undefined || leftOut(node).size === 0) continue;
    const { relations, collection } = completeTable({ ...common, table, like: node });
    managed.relations.push(...relations);
    if (collection !== null) managed.collections.push(collection);
  }
  return managed;
}

type Holder = Converting & { like: CollectionNode };

function completeTable(holder: Holder): { relations: NewRelation[]; collection: Collection | null } {
  const { table, like } = holder;
  const keys = awaited(holder);
  const isOther = ({ kind, name }: CatalogConstraint) => kind !== 'foreign key' || keys.has(name);
  const found = foreignKeysOf({ ...holder, table: { ...table, constraints: table.constraints.filter(isOther) } });
  const relations = found.relations.filter((relation) => canBeRelation(holder, relation));
  const named = new Set(relations.map(({ schema }) => schema?.constraint_name));
  const constraints = [...keys.values()]
    .filter(({ name }) => !named.has(name))
    .flatMap((key) => keptReferences(holder, key));
  const { schema } = like.collection;
  const there = new Set(table.constraints.map(({ name }) => name));
  const gone = [...leftOut(like)].filter((name) => !there.has(name));
  const said = new Set([...named, ...constraints.map(({ name }) => name), ...gone]);
  if (schema === null || said.size === 0) return { relations: [], collection: null };
  const extras = {
    ...schema.extras,
    constraints: [...(extrasOfTable(schema).constraints ?? []), ...constraints].sort(byNames),
    unmanaged: extrasOfTable(schema).unmanaged?.filter(({ kind, name }) => kind !== 'constraint' || !said.has(name)),
  };
  return { relations, collection: { ...like.collection, schema: ordered(schema, extras) } };
}

/** Documents list their members in this order. */
const ordered = (schema: TableSchema, extras: object): TableSchema => withExtras(schema, tableExtrasV1.parse(extras));

/**
 * Foreign keys whose target is managed or becomes managed. A key with the same name in the log is the same key, and
 * is no longer left out.
 */
function awaited({ table, like, schema, state, together }: Holder): Map<string, CatalogConstraint> {
  const left = leftOut(like);
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

/** A column has one relation. If the log has a relation of another type for it, that is drift. */
function canBeRelation({ table, like }: Holder, { many_field: name }: NewRelation): boolean {
  const type = table.columns.find((column) => column.name === name)?.type;
  const known = like.fields.get(name)?.schema;
  if (!known || type === undefined || like.relations.has(name)) return false;
  return keyFamily(known.data_type) === keyFamily(typeFromColumn(type).data_type);
}

function keptReferences(holder: Holder, key: CatalogConstraint) {
  const isKnown = key.columns.every((column) => holder.like.fields.get(column)?.schema);
  const kept = isKnown ? keptReference(holder, key) : `is on a column that ${holder.table.name} isn't known to have`;
  if (typeof kept !== 'string') return [kept];
  // The other keys were reported when their target was adopted.
  if (holder.together.has(key.references?.table ?? '')) {
    noteUnrepresented(holder, { kind: 'constraint', name: key.name, fault: kept });
  }
  return [];
}
