/* Finds what objects use: tables, columns, views and functions. */
import { changesSchema } from '../../schema/fold/event-schemas.js';
import { type FormerNames, formerNames } from '../../schema/fold/former-names.js';
import {
  type LogEvent,
  type NewEvent,
  type ObjectEvent,
  isAdopted,
  isConsequence,
  isMetaOnly,
} from '../../schema/model/events.js';
import {
  type ObjectKind,
  type ObjectName,
  TARGETS,
  isRoutine,
  isType,
  objectKey,
  objectLabel,
  KINDS,
} from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import {
  type QualifiedName,
  objectNameParts,
  qualifiedId,
  searchedNames,
  splitQualifiedId,
  toLocalObject,
  splitArgumentTypes,
  SEARCHED,
} from '../../schema/model/object-ids.js';
import { collectionsNeeding, needsOfNode, objectsInOrder, withPartitions } from '../../schema/model/order.js';
import {
  type CollectionNode,
  type State,
  collectionAt,
  getField,
  getObject,
  isFolder,
  sameCollection,
  tableIdOf,
  hasTypeNamed,
  memberKey,
} from '../../schema/model/state.js';
import { canReplace, parseDefinition } from '../../schema/sql-text/object-definition.js';
import { type Created, defaultPrivilegesOn, usersOfType } from '../../schema/sql-text/object-table.js';
import { type TypeParts, attributeChanges, labelChanges } from '../../schema/sql-text/types-and-sequences.js';
import { quotedName, quotedQualified } from '../../schema/sql-text/quoted-name.js';
import type { Problem } from '../../kernel/problem.js';
import type { ObjectFacts, ObjectUse } from './catalog-object.js';
import { columnsOfEnum } from './enum-conversion.js';
import { definitionOfNeed } from './needs.js';

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

/** Maps names of functions, as in `qualifiedId`, to ids without the schema. Several functions may have one name. */
export function overloadsByName(objects: Iterable<SchemaObject>): Overloads {
  const overloads = new Map<string, string[]>();
  for (const object of objects) {
    if (!isRoutine(object)) continue;
    const name = qualifiedId(objectNameParts(object));
    overloads.set(name, [...(overloads.get(name) ?? []), toLocalObject(object).id]);
  }
  return overloads;
}

/**
 * Returns what a definition uses. A call counts as a use of all functions with that name.
 * @param schema the default schema
 */
export function parseUses({ kind, id, definition }: SchemaObject, schema: string, overloads: Overloads): ObjectUse[] {
  const parsed = parseDefinition(definition);
  const { table, target, schema: own = schema } = objectNameParts({ kind, id });
  if (target !== null) {
    const { catalog, kinds } = TARGETS[target.type];
    const [targetKind] = kinds;
    if (catalog === null) return [];
    const { id: name } = toLocalObject({ kind: targetKind ?? 'function', id: target.id });
    return [{ catalog, schema: own, name, column: null }];
  }
  if (kind === 'privileges' && table !== null)
    return [{ catalog: 'pg_class', schema: own, name: splitQualifiedId(table).name, column: null, isRowType: true }];
  if (typeof parsed === 'string') return [];
  const uses = (catalog: ObjectUse['catalog'], used: QualifiedName): ObjectUse[] =>
    searchedNames(used).map((each) => ({ catalog, schema: each.schema ?? schema, name: each.name, column: null }));
  return [
    ...parsed.relations.flatMap((each, index) =>
      uses('pg_class', each).map((use) => ({
        ...use,
        // Changes to columns and keys do not affect a trigger or row security of the table.
        // They may affect a policy or a rule.
        isRowType: index === 0 && parsed.onTable !== null && parsed.policy === null && parsed.rule === null,
      })),
    ),
    ...[...parsed.relations, ...(parsed.type?.types ?? [])].flatMap((each) => uses('pg_type', each)),
    ...parsed.calls.flatMap(searchedNames).flatMap((each) => {
      const place = each.schema === schema ? undefined : each.schema;
      const ids = overloads.get(qualifiedId({ ...each, schema: place })) ?? [];
      return ids.map((name) => ({ catalog: 'pg_proc' as const, schema: each.schema ?? schema, name, column: null }));
    }),
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

/** Enums whose columns are converted, with the index of the event about them. The keys are those before the batch. */
export type ConvertedEnums = ReadonlyMap<string, number>;

interface ConvertingChange extends AlteringChange {
  enums: ConvertedEnums;
}

interface Alteration {
  index: number;
  isUsed: (use: ResolvedUse) => boolean;
}

/** Returns the changes to tables that PostgreSQL rejects while a view uses the column or the key. */
export function alterations(change: ConvertingChange): Alteration[] {
  const former = formerNames();
  const ofTables = change.events.flatMap((event, index): Alteration[] => {
    const isAltered = changesSchema(event) && !isAdopted(event) ? alterationBy(event, former, change.before) : null;
    const table = former.collection(event.collection ?? '');
    former.add(event);
    if (isAltered === null) return [];
    const tables = new Set(withPartitions(change.before, table));
    const isTable = ({ collection }: ResolvedUse): boolean => collection !== undefined && tables.has(collection);
    const isDropped = event.type === 'collection.deleted';
    return [{ index, isUsed: (use) => isTable(use) && (isDropped || use.isRowType !== true) && isAltered(use) }];
  });
  return [...ofTables, ...[...change.enums].map(([key, index]) => alterationOfEnum(change.before, key, index))];
}

/** A generated column is dropped and created again with the columns that it reads. */
function alterationOfEnum(before: State, key: string, index: number): Alteration {
  const columns = columnsOfEnum(before, objectOf(before, key));
  const keys = new Set(columns.map(({ collection, field }) => memberKey(collection, field)));
  const tables = new Set(columns.map(({ collection }) => collection));
  const isUsed = ({ collection = '', column }: ResolvedUse): boolean =>
    column !== null &&
    (keys.has(memberKey(collection, column)) || (tables.has(collection) && isGenerated(before, collection, column)));
  return { index, isUsed };
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

export interface AlteredColumns {
  names: ReadonlySet<string>;
  /** The index of the first event about one of them. */
  index: number;
}

/** Returns the columns that the batch changes. Accepted changes are those of tables that inherit one of the columns. */
export function alteredColumns({ before, events, enums }: ConvertingChange): AlteredColumns {
  const changed = events.findIndex(
    (event) => event.type === 'field.updated' && !isAdopted(event) && !isMetaOnly(event.data.patch),
  );
  const [converted = -1] = enums.values();
  const index = changed >= 0 ? changed : converted;
  const names = events.flatMap((event) => (event.type === 'field.updated' && changed >= 0 ? (event.field ?? []) : []));
  const ofEnums = [...enums.keys()].flatMap((key) => columnsOfEnum(before, objectOf(before, key)));
  return { names: new Set([...names, ...ofEnums.map(({ field }) => field)]), index };
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

/* Changes to types that columns use. */

/** The events about each object, keyed by the object's key before the batch. */
export interface ChangedObjects {
  created: Map<string, IndexedEvent>;
  deleted: Map<string, IndexedEvent>;
  renamed: Map<string, IndexedEvent & { to: string }>;
  /** Events with a new definition for which the object must be dropped first. */
  defined: Map<string, IndexedEvent>;
  /** Events with a new definition that PostgreSQL can replace in place. */
  replaced: Map<string, IndexedEvent>;
  /** Events with new comments or indexes. */
  described: Map<string, IndexedEvent>;
}

/** An event with its index in the batch. */
interface IndexedEvent {
  event: ObjectEvent;
  index: number;
}

export const objectOf = ({ objects }: State, key: string): SchemaObject => {
  const node = objects.get(key);
  if (node === undefined) throw new Error(`objects: ${JSON.stringify(key)} does not exist`);
  return node.object;
};

export function nameOfKey(key: string): ObjectName {
  const [kind = '', id = ''] = key.split('\0');
  return { kind: kind as ObjectKind, id };
}

/** True for a sequence or a type that tables need. It is dropped only after the tables have changed. */
export const isNeeded = (state: State, key: string): boolean => collectionsNeeding(state, nameOfKey(key)).length > 0;

/**
 * PostgreSQL cannot drop a type while columns use it, so a type that must be created again must have no columns, unless it
 * is an enum. The columns of a renamed type get its new name in the same change.
 */
export function rejectUsedTypes(
  { before, after, enums }: Record<'before' | 'after', State> & Pick<ConvertingChange, 'enums'>,
  { created, defined, deleted, renamed, replaced }: ChangedObjects,
  affected: ReadonlyMap<string, number>,
): Problem[] {
  const reject = (key: string, state: State, reason: string): Problem[] => {
    const { kind, id } = nameOfKey(key);
    const all = isType({ kind }) ? usersOfType(state, splitQualifiedId(id)) : [];
    const users = enums.has(key) ? all.filter(({ field }) => field === null) : all;
    const [first] = users;
    if (first === undefined) return [];
    const names = users.map(({ collection, field }) =>
      field === null
        ? `a domain of ${JSON.stringify(collection)}`
        : `${JSON.stringify(collection)}.${JSON.stringify(field)}`,
    );
    const shown =
      names.length > SHOWN_USERS ? [...names.slice(0, SHOWN_USERS), `${names.length - SHOWN_USERS} more`] : names;
    const message = `${objectLabel({ kind, id })} ${reason} while columns use it: ${shown.join(', ')}. Keep it as it is, or delete these columns first`;
    return [{ code: 'IN_USE', message, object: { kind, id }, collection: first.collection }];
  };
  const again = [...affected.keys()].filter((key) => !deleted.has(key));
  return [
    ...[...deleted.keys()]
      .filter((key) => !isNeeded(after, key))
      .flatMap((key) => reject(key, after, 'cannot be deleted')),
    ...[...renamed.keys()].flatMap((key) => reject(key, after, 'cannot be renamed')),
    ...[...new Set([...defined.keys(), ...again])].flatMap((key) =>
      [...reject(key, before, CANNOT_CHANGE), ...reject(key, after, CANNOT_CHANGE)].slice(0, 1),
    ),
    ...[...replaced.keys()]
      .filter((key) => changesAttributeTypes(objectOf(before, key), after))
      .flatMap((key) => reject(key, before, 'cannot get an attribute with another type')),
    ...[...replaced.keys()].flatMap((key) => rejectUsedLabels(objectOf(before, key), after)),
    ...[...created.keys()]
      .filter((key) => !canReplaceNeed(before, objectOf(after, key)))
      .flatMap(createDifferentNeedProblem),
  ];
}

const SHOWN_USERS = 10;

/** PostgreSQL cannot reorder attributes, or change a base type or a range. */
const CANNOT_CHANGE = 'cannot change in this way, because PostgreSQL must create it again, which is not possible';

interface TypeSides {
  old: TypeParts;
  now: TypeParts;
}

/** Returns the parts of a type before and after the change. Null for other objects. */
function typeSides(old: SchemaObject, after: State): TypeSides | null {
  const [from, to] = [old, getObject(after, old)].map((each) => parseDefinition(each?.definition ?? ''));
  if (typeof from !== 'object' || typeof to !== 'object' || from.type === null || to.type === null) return null;
  return { old: from.type, now: to.type };
}

function changesAttributeTypes(old: SchemaObject, after: State): boolean {
  const sides = typeSides(old, after);
  if (sides?.old.form !== 'composite' || sides.now.form !== 'composite') return false;
  return (attributeChanges(sides.old, sides.now)?.changed.length ?? 0) > 0;
}

/** The definitions of tables would keep the former name of a renamed label. */
function rejectUsedLabels(old: SchemaObject, after: State): Problem[] {
  const sides = typeSides(old, after);
  if (sides?.old.form !== 'enum' || sides.now.form !== 'enum') return [];
  const renamed = labelChanges(sides.old.labels, sides.now.labels)?.renamed ?? [];
  const users = new Set(
    renamed.length === 0 ? [] : usersOfType(after, splitQualifiedId(old.id)).map(({ collection }) => collection),
  );
  return renamed.flatMap(([label]): Problem[] => {
    const collection = [...users].find((each) => namesLabel(after.collections.get(each), label));
    if (collection === undefined) return [];
    const message = `label ${JSON.stringify(label)} of ${objectLabel(old)} cannot be renamed while a default or another definition of ${JSON.stringify(collection)} names it. Change both in the same change`;
    return [{ code: 'IN_USE', message, object: { kind: old.kind, id: old.id }, collection }];
  });
}

function namesLabel(node: CollectionNode | undefined, label: string): boolean {
  if (node === undefined) return false;
  const texts = JSON.stringify([node.collection.schema, ...[...node.fields.values()].map(({ schema }) => schema)]);
  const quoted = JSON.stringify(label.replaceAll("'", "''")).slice(1, -1);
  return texts.includes(`'${quoted}'`) || texts.includes(`"default_value":${JSON.stringify(label)}`);
}

/** Returns the definition of a type in the needs of tables. Undefined if no table needs it. */
export function definitionInNeeds(state: State, object: ObjectName): string | undefined {
  const [collection] = isType(object) ? collectionsNeeding(state, object) : [];
  const need = needsOfNode(state.collections.get(collection ?? '')).find(
    (each) =>
      (each.kind === 'enum' || each.kind === 'domain') &&
      qualifiedId({ schema: each.schema, name: each.name }) === object.id,
  );
  return need && definitionOfNeed(need);
}

function canReplaceNeed(before: State, object: SchemaObject): boolean {
  const existing = definitionInNeeds(before, object);
  return existing === undefined || canReplace(existing, object.definition);
}

const createDifferentNeedProblem = (key: string): Problem => {
  const { kind, id } = nameOfKey(key);
  const message = `${objectLabel({ kind, id })} differs from the definition in extras.needs of the collections that use it, and PostgreSQL cannot change one to the other. Use the definition of extras.needs`;
  return { code: 'INVALID_PAYLOAD', message, object: { kind, id } };
};

/** The id of a function contains its argument types, which would change with the name of the table. */
export function rejectRenamedArguments(
  { before, after, events }: AlteringChange & { after: State },
  changed: ChangedObjects,
): Problem[] {
  const former = formerNames();
  const renamed = new Set([...changed.renamed.keys()].map((key) => nameOfKey(key).id));
  for (const event of events) {
    if (event.type === 'collection.renamed') {
      const node = before.collections.get(former.collection(event.collection));
      const now = node && sameCollection(after, node);
      // Renaming a collection of another schema does not rename its table.
      const isRenamed = node !== undefined && (!now || tableIdOf(now.collection) !== tableIdOf(node.collection));
      if (isRenamed && !isFolder(node)) renamed.add(tableIdOf(node.collection));
    }
    former.add(event);
  }
  if (renamed.size === 0) return [];
  return objectsInOrder(before).flatMap((object): Problem[] => {
    if (changed.deleted.has(objectKey(object))) return [];
    const types = splitArgumentTypes(objectNameParts(object).argumentTypes ?? '');
    const name = [...renamed].find((each) => {
      const { schema, name: own } = splitQualifiedId(each);
      const isSearched = schema === SEARCHED && !hasTypeNamed(before, qualifiedId({ schema: undefined, name: own }));
      const spellings = [quotedQualified({ schema, name: own }), ...(isSearched ? [quotedName(own)] : [])];
      return types.some((type) => spellings.includes(type.replace(/\[\]$/, '')));
    });
    if (name === undefined) return [];
    return [
      {
        code: 'IN_USE',
        message: `${objectLabel(object)} has an argument with the row type of ${JSON.stringify(name)}, which this change renames or moves. Delete the ${KINDS[object.kind].label} first, and create it again afterwards`,
        object: { kind: object.kind, id: object.id },
      },
    ];
  });
}

/* Finds what PostgreSQL grants on new tables and objects by default, and the state after the batch does not contain. */

export interface UnwantedDefaults {
  privileges: SchemaObject;
  /** The event that creates the table or object. */
  index: number;
  type: LogEvent['type'];
}

interface ChangeOfObjects extends Record<'before' | 'after', State> {
  events: readonly LogEvent[];
  /** The default schema. */
  schema: string;
}

export function unwantedDefaults({ before, after, events, schema }: ChangeOfObjects): UnwantedDefaults[] {
  return events.flatMap((event, index) => {
    const created = isAdopted(event) ? undefined : createdBy(event, { before, after });
    if (created === undefined) return [];
    return defaultPrivilegesOn(before.objects, created, schema)
      .filter((privileges) => !after.objects.has(objectKey(privileges)))
      .map((privileges) => ({ privileges, index, type: event.type }));
  });
}

/** Returns the table or object that the statements of an event create. */
function createdBy(event: LogEvent, { before, after }: Record<'before' | 'after', State>): Created | undefined {
  if (event.type === 'object.created')
    return isConsequence(event) || isNeeded(before, objectKey(event.subject)) ? undefined : event.subject;
  const table = event.type === 'collection.created' ? after.collections.get(event.collection)?.collection : undefined;
  return table?.schema == null ? undefined : { kind: 'table', id: tableIdOf(table) };
}
