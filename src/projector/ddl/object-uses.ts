/* Finds what objects use: tables, columns, views and functions. */
import { changesSchema } from '../../schema/fold/event-schemas.js';
import { type FormerNames, formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, type NewEvent, isAdopted } from '../../schema/model/events.js';
import { type SchemaObject, TARGETS, isRoutine, objectKey, objectNameParts } from '../../schema/model/objects.js';
import { objectsInOrder, withPartitions } from '../../schema/model/order.js';
import { type State, collectionAt, getField } from '../../schema/model/state.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import type { ObjectFacts, ObjectUse } from './catalog-object.js';

export interface ResolvedUse extends ObjectUse {
  /** The managed collection of the relation. Undefined for a view and for an unmanaged table. */
  collection: string | undefined;
}

export type Uses = ReadonlyMap<string, readonly ResolvedUse[]>;

interface UsesInput {
  before: State;
  /** The default schema. */
  schema: string;
  facts: ObjectFacts | undefined;
}

/** Returns what each object uses before the batch. Without facts, the parser finds relations but not columns. */
export function usesBefore({ before, facts, schema }: UsesInput): Uses {
  const collectionOf = ({ catalog, schema: place, name }: ObjectUse) =>
    catalog === 'pg_class' ? collectionAt(before, place === schema ? undefined : place, name) : undefined;
  const all = objectsInOrder(before);
  const overloads = overloadsByName(all);
  return new Map(
    all.map((object): [string, readonly ResolvedUse[]] => {
      const key = objectKey(object);
      const uses = (facts?.get(key)?.uses ?? parseUses(object, schema, overloads)).filter(
        ({ rule }) => rule == null || !before.objects.has(objectKey({ kind: 'rule', id: rule })),
      );
      return [key, uses.map((use) => ({ ...use, collection: collectionOf(use) }))];
    }),
  );
}

type Overloads = ReadonlyMap<string, readonly string[]>;

/** Maps names of functions to ids. Several functions may have one name. */
export function overloadsByName(objects: Iterable<SchemaObject>): Overloads {
  const overloads = new Map<string, string[]>();
  for (const object of objects) {
    if (!isRoutine(object)) continue;
    const { name } = objectNameParts(object);
    overloads.set(name, [...(overloads.get(name) ?? []), object.id]);
  }
  return overloads;
}

/** Returns what a definition uses. A call counts as a use of all functions with that name. */
export function parseUses({ kind, id, definition }: SchemaObject, schema: string, overloads: Overloads): ObjectUse[] {
  const parsed = parseDefinition(definition);
  const { table, target } = objectNameParts({ kind, id });
  if (target !== null) return [{ catalog: TARGETS[target.type].catalog, schema, name: target.id, column: null }];
  if (kind === 'privileges' && table !== null)
    return [{ catalog: 'pg_class', schema, name: table, column: null, isRowType: true }];
  if (typeof parsed === 'string') return [];
  const use = (catalog: ObjectUse['catalog'], place: string | undefined, name: string): ObjectUse => ({
    catalog,
    schema: place ?? schema,
    name,
    column: null,
  });
  return [
    ...parsed.relations.map((each, index) => ({
      ...use('pg_class', each.schema, each.name),
      // Changes to columns and keys do not affect a trigger or row security of the table.
      // They may affect a policy or a rule.
      isRowType: index === 0 && parsed.onTable !== null && parsed.policy === null && parsed.rule === null,
    })),
    ...parsed.calls.flatMap((each) => (overloads.get(each.name) ?? []).map((id) => use('pg_proc', each.schema, id))),
  ];
}

/* Finds the changes to tables that PostgreSQL rejects while objects use them. */

/** Matches members of a column that PostgreSQL can change while views use the column. */
const HARMLESS =
  /^\/(?:meta|type)\b|^\/schema\/(?:default_value|is_nullable|is_unique|is_indexed|has_auto_increment|comment)$/;

interface AlteringChange {
  before: State;
  events: readonly LogEvent[];
}

interface Alteration {
  index: number;
  isUsed: (use: ResolvedUse) => boolean;
}

/** Returns the changes to tables that PostgreSQL rejects while a view uses the column or the key. */
export function alterations(change: AlteringChange): Alteration[] {
  const former = formerNames();
  return change.events.flatMap((event, index): Alteration[] => {
    const isAltered = changesSchema(event) && !isAdopted(event) ? alterationBy(event, former, change.before) : null;
    const table = former.collection(event.collection ?? '');
    former.add(event);
    if (isAltered === null) return [];
    const tables = new Set(withPartitions(change.before, table));
    const isTable = ({ collection }: ResolvedUse): boolean => collection !== undefined && tables.has(collection);
    const isDropped = event.type === 'collection.deleted';
    return [{ index, isUsed: (use) => isTable(use) && (isDropped || use.isRowType !== true) && isAltered(use) }];
  });
}

const KEY = /^\/schema(?:\/is_primary_key|\/extras(?:\/primary_key.*)?)?$/;

type IsAltered = ((use: ResolvedUse) => boolean) | null;

/** Returns which uses of the event's table prevent its change. Null if none does. */
function alterationBy(event: NewEvent, former: FormerNames, before: State): IsAltered {
  const column = event.field === null ? null : former.field(event.collection, event.field);
  switch (event.type) {
    case 'collection.deleted':
      return () => true;
    case 'field.deleted':
      return (use) => use.column === column;
    case 'collection.updated':
      return event.data.patch.some(({ path }) => KEY.test(path)) ? () => true : null;
    case 'field.updated':
      return columnAlteration(
        event.data.patch.map(({ path }) => path),
        column,
        before,
      );
    default:
      return null;
  }
}

/** Generated columns count too, because they are dropped and created again with the columns that they read. */
function columnAlteration(paths: readonly string[], column: string | null, before: State): IsAltered {
  if (paths.every((path) => HARMLESS.test(path))) return null;
  if (paths.some((path) => KEY.test(path))) return () => true;
  return ({ collection = '', column: used }) =>
    used !== null && (used === column || isGenerated(before, collection, used));
}

const isGenerated = (state: State, collection: string, field: string): boolean =>
  getField(state, collection, field)?.schema?.generation_expression != null;
