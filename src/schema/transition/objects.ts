/** Returns the events about objects between two states. The statements of these events are ordered separately. */
import type { Operation } from 'fast-json-patch';
import { jsonEqual } from '../../kernel/json.js';
import { changesObjects, changesSchema } from '../fold/event-schemas.js';
import { patchBetween, renameDocument } from '../fold/rename-events.js';
import {
  type LogEvent,
  type NewEvent,
  type ObjectEvent,
  type SchemaEventData,
  isMetaOnly,
  newObjectEvent,
} from '../model/events.js';
import {
  type ObjectName,
  type PrivilegesTarget,
  isOnTable,
  isType,
  objectKey,
  RELATION_KINDS,
  objectLabel,
} from '../model/objects.js';
import type { Definition, Privilege, SchemaObject } from '../model/object-document.js';
import {
  idOnTarget,
  idOnTable,
  objectNameParts,
  qualifiedId,
  routineId,
  searchedNames,
  splitQualifiedId,
} from '../model/object-ids.js';
import { objectsInOrder, sortNeededFirst } from '../model/order.js';
import { findLostPrivileges, selectColumns, privilegesIn } from '../model/privileges.js';
import type { Field } from '../model/model.js';
import {
  type CollectionNode,
  type State,
  NEW_IDENTITY,
  byName,
  extrasOf,
  getObject,
  getTarget,
  hasTable,
  hasTableNamed,
  hasFunction,
  hasView,
  tableIdOf,
} from '../model/state.js';
import { renamedDefinition, type ParsedDefinition, parseDefinition } from '../sql-text/object-definition.js';
import {
  isDroppedWithColumns,
  objectsOn,
  privilegesOn,
  searchedCollection,
  tableOf,
  usersOfType,
} from '../sql-text/object-table.js';
import { quotedName, quotedQualified } from '../sql-text/quoted-name.js';
import { type SqlText, textsOfField, textsOfTable } from '../sql-text/texts.js';
import type { UnwrittenText } from './rename-texts.js';

interface ObjectTransition {
  /** Deletions and renames. They come first, because they release names. Types follow, because tables may use them. */
  first: ObjectEvent[];
  /** Creations and changes. They come last, because they may use new tables and columns. Deletions of types follow. */
  last: ObjectEvent[];
}

/** Returns the former key of each object that both states contain, by its key in `to`. */
export function findFormerObjects(from: State, to: State): ReadonlyMap<string, string> {
  const keyByIdentity = new Map([...from.objects].map(([key, { identity }]) => [identity, key]));
  const former = new Map<string, string>();
  for (const [key, { identity }] of to.objects) {
    const old = identity === NEW_IDENTITY ? undefined : keyByIdentity.get(identity);
    if (old !== undefined) former.set(key, old);
  }
  // A new object can have the name of a renamed one.
  const renamed = new Set(former.values());
  for (const [key, { object }] of to.objects)
    if (!former.has(key) && from.objects.has(key) && !renamed.has(key) && !isOnReplaced(from, to, object))
      former.set(key, key);
  return removeSwaps(former);
}

/** A type that is renamed, by its ids. */
interface RenamedType {
  former: string;
  now: string;
}

/** Returns the types that have another name in `to`. */
export function renamedTypes(from: State, to: State): RenamedType[] {
  if (from.objects === to.objects) return [];
  return [...findFormerObjects(from, to)].flatMap(([key, old]) => {
    const [former, now] = [from.objects.get(old)?.object, to.objects.get(key)?.object];
    const isRenamed = former !== undefined && now !== undefined && isType(former) && former.id !== now.id;
    return isRenamed ? [{ former: former.id, now: now.id }] : [];
  });
}

/** Returns the columns of a type with its new name. PostgreSQL renames a type in all tables. */
export const columnsOfRenamed = (state: State, { former, now }: RenamedType): Field[] =>
  usersOfType(state, splitQualifiedId(former)).flatMap(({ collection, field: name }) => {
    const field = state.collections.get(collection)?.fields.get(name ?? '');
    if (!field?.schema) return [];
    const array = field.schema.data_type.endsWith('[]') ? '[]' : '';
    const data_type = `${quotedQualified(splitQualifiedId(now))}${array}`;
    return [{ ...field, schema: { ...field.schema, data_type } }];
  });

/** Returns the state with the columns of types that are renamed in `to`. */
export const withTypeNames = (state: State, to: State): State => withRenamedTypes(state, renamedTypes(state, to));

/** Returns the state with the columns of the types under the new names of these. */
export function withRenamedTypes(state: State, types: readonly RenamedType[]): State {
  const columns = types.flatMap((each) => columnsOfRenamed(state, each));
  if (columns.length === 0) return state;
  const collections = state.collections.withMutations((map) => {
    for (const field of columns) {
      const node = map.get(field.collection);
      if (node !== undefined)
        map.set(field.collection, { ...node, fields: new Map(node.fields).set(field.field, field) });
    }
  });
  return { ...state, collections };
}

/** Matches the name of the type that follows `::` or `CAST (… AS`, without its schema. */
const CAST = /(?:::|\bas)\s*(?:[\w$"]+\.)?("(?:[^"]|"")+"|[\w$]+)/gi;

/** Returns the SQL of a collection that casts to the former name of a type. The service cannot rewrite it. */
export function findFormerTypes(types: readonly RenamedType[], node: CollectionNode | undefined): UnwrittenText[] {
  if (types.length === 0 || node === undefined) return [];
  const names = new Set(types.map(({ former }) => quotedName(splitQualifiedId(former).name)));
  const { collection } = node.collection;
  const named = (texts: readonly SqlText[]): SqlText[] =>
    texts.filter(({ text }) => [...text.matchAll(CAST)].some(([, type = '']) => names.has(type)));
  return [
    ...named(textsOfTable(extrasOf(node))).map(({ path }) => ({ collection, path })),
    ...[...node.fields.values()].flatMap((field) =>
      named(textsOfField(field)).map(({ path }) => ({ collection, field: field.field, path })),
    ),
  ];
}

/**
 * True for a trigger or privileges if a relation or a function of another kind takes the name. They are dropped with the
 * first of them.
 */
function isOnReplaced(from: State, to: State, object: SchemaObject): boolean {
  const { table, target } = objectNameParts(object);
  if (target !== null) return getTarget(from, target)?.kind !== getTarget(to, target)?.kind;
  return table !== null && kindOfRelation(from, table) !== kindOfRelation(to, table);
}

const kindOfRelation = (state: State, id: string): string | undefined =>
  hasTableNamed(state, id) ? 'table' : RELATION_KINDS.find((kind) => state.objects.has(objectKey({ kind, id })));

/** Excludes objects that exchange their names. They are changed instead of renamed. */
function removeSwaps(former: Map<string, string>): ReadonlyMap<string, string> {
  const waiting = new Map([...former].filter(([key, old]) => key !== old));
  for (let count = -1; count !== waiting.size;) {
    count = waiting.size;
    const held = new Set(waiting.values());
    for (const key of waiting.keys()) if (!held.has(key)) waiting.delete(key);
  }
  for (const key of waiting.keys()) former.set(key, key);
  return former;
}

/** Returns the object with another id, including in its definition. The argument types must be the same. */
export const renamedObject = (object: SchemaObject, id: string): SchemaObject => ({
  ...object,
  id,
  definition: renamedDefinition(object.definition, id),
});

/**
 * True if an event about an object of a table follows from an event about the table in the same batch. The object is
 * deleted, renamed or restored together with the table or with columns. A folder may have the name of a view with triggers,
 * and is not its table.
 */
export function followsTable(event: LogEvent, events: readonly LogEvent[], before: State): boolean {
  if (!changesObjects(event)) return false;
  const object = event.type === 'object.created' ? event.data.object : getObject(before, event.subject);
  const table = tableOf(object ?? event.subject);
  if (table === null) return false;
  const changes = events.filter(changesSchema);
  const causes = changes.filter((cause) => tableIn(cause, before) === table);
  const isCause = (cause: NewEvent): boolean =>
    event.type === 'object.renamed'
      ? event.data.to === renamedOnTable(event.subject, findRenamedTable(cause, changes, before))
      : hasConsequence(cause, event, before);
  return causes.some(isCause) || followsColumns(event, { table, causes, before });
}

/** Returns the id of an object of a table after the table was renamed or moved. Undefined without such a table. */
const renamedOnTable = (object: ObjectName, table: string | undefined): string | undefined =>
  table && idOnTable(object.kind, objectNameParts(object).name, table);

/**
 * Returns the table of a renamed collection after the batch, as in `qualifiedId`. A table may get a temporary name first.
 */
function findRenamedTable(cause: NewEvent, events: readonly NewEvent[], before: State): string | undefined {
  if (cause.type !== 'collection.renamed') return undefined;
  const collection = before.collections.get(cause.collection)?.collection;
  if (collection?.schema == null) return undefined;
  return tableIdOf(
    events.reduce(
      (at, event) =>
        event.type === 'collection.renamed' && event.collection === at.collection ? renameDocument(at, event) : at,
      collection,
    ),
  );
}

/** Returns the table that an event is about, as in `qualifiedId`. Undefined for a folder. */
function tableIn(event: NewEvent, before: State): string | undefined {
  const collection =
    before.collections.get(event.collection ?? '')?.collection ??
    (event.type === 'collection.created' ? event.data.collection : undefined);
  return collection?.schema == null ? undefined : tableIdOf(collection);
}

/** True if the object is deleted with columns, or gets back its privileges on restored columns. */
function followsColumns(
  event: ObjectEvent,
  { table, causes, before }: { table: string; causes: readonly NewEvent[]; before: State },
): boolean {
  if (!hasTableNamed(before, table)) return false;
  const old = getObject(before, event.subject);
  if (event.type === 'object.deleted') {
    // Privileges and settings prevent a column from being created again. Statistics objects do not.
    const isDropping = (cause: NewEvent): boolean =>
      cause.type === 'field.deleted' ||
      (cause.type === 'field.updated' && event.subject.kind === 'statistics' && !isMetaOnly(cause.data.patch));
    const dropped = causes.filter(isDropping).flatMap(({ field }) => field ?? []);
    return old !== undefined && isDroppedWithColumns(old, new Set(dropped));
  }
  const restored = causes.flatMap((cause) =>
    cause.type === 'field.created' && cause.data.restored !== undefined ? (cause.field ?? []) : [],
  );
  const now = privilegesAfter(event);
  if (restored.length === 0 || now === undefined) return false;
  const former = privilegesIn(old?.definition);
  const added = findLostPrivileges(now, former);
  return findLostPrivileges(former, now).length === 0 && jsonEqual(selectColumns(added, new Set(restored)), added);
}

/** Returns the privileges that an event creates or changes. Undefined for other events. */
function privilegesAfter(event: ObjectEvent): Privilege[] | undefined {
  if (event.type === 'object.created') return listIn(event.data.object.definition);
  const [only, ...others] = event.type === 'object.updated' ? event.data.patch : [];
  if (only?.op !== 'replace' || only.path !== '/definition' || others.length > 0) return undefined;
  return listIn(only.value as Definition);
}

const listIn = (definition: Definition): Privilege[] | undefined =>
  Array.isArray(definition) ? definition : undefined;

/** True if the creation or the deletion of a table has that of an object of the table as its consequence. */
function hasConsequence(cause: NewEvent, event: ObjectEvent, before: State): boolean {
  if (event.type === 'object.created') return cause.type === 'collection.created' && isRestoredTable(cause.data);
  return event.type === 'object.deleted' && cause.type === 'collection.deleted' && hasTable(before, cause.collection);
}

/** True for a table that comes from the trash, with or without its rows. */
const isRestoredTable = ({ collection: { schema }, restored }: SchemaEventData['collection.created']): boolean =>
  restored !== undefined && schema !== null;

/**
 * Returns the objects after tables and views were renamed. The names are as in `qualifiedId`. Objects on these get new ids but keep their identities.
 * PostgreSQL rewrites the definitions of statistics objects, like those of views. They only follow their table to another
 * schema.
 */
export function renameOnTables(objects: State['objects'], names: ReadonlyMap<string, string>): State['objects'] {
  const moved = [...names].flatMap(([table, to]) =>
    objectsOn(objects, table)
      .filter((object) => isOnTable(object) || splitQualifiedId(table).schema !== splitQualifiedId(to).schema)
      .map((object) => ({ object, id: idOnTable(object.kind, objectNameParts(object).name, to) })),
  );
  return moveObjects(objects, moved);
}

/** Returns the objects after functions, sequences and types were renamed. Privileges on these get new ids but keep their identities. */
export function renameOnTargets(
  objects: State['objects'],
  renames: readonly { from: PrivilegesTarget; to: string }[],
): State['objects'] {
  const moved = renames.flatMap(({ from, to }) =>
    privilegesOn(objects, from).map((object) => ({
      object,
      id: idOnTarget(objectNameParts(object).name, { ...from, id: to }),
    })),
  );
  return moveObjects(objects, moved);
}

function moveObjects(objects: State['objects'], moves: readonly { object: SchemaObject; id: string }[]) {
  const moved = moves.map(({ object, id }) => ({
    from: objectKey(object),
    node: objects.get(objectKey(object)),
    object: renamedObject(object, id),
  }));
  if (moved.length === 0) return objects;
  return objects.withMutations((map) => {
    for (const { from } of moved) map.delete(from);
    for (const { node, object } of moved) if (node !== undefined) map.set(objectKey(object), { ...node, object });
  });
}

/** Returns the patch between two versions of an object. A list of privileges is replaced as a whole. */
function patchOfObject(before: SchemaObject, after: SchemaObject): Operation[] {
  if (!Array.isArray(after.definition) || jsonEqual(before.definition, after.definition))
    return patchBetween(before, after);
  return [
    ...patchBetween({ ...before, definition: after.definition }, after),
    { op: 'replace', path: '/definition', value: after.definition },
  ];
}

export function objectTransition(from: State, to: State): ObjectTransition {
  const first: ObjectEvent[] = [];
  const last: ObjectEvent[] = [];
  if (from.objects === to.objects) return { first, last };
  const types: ObjectEvent[] = [];
  const former = findFormerObjects(from, to);
  const kept = new Set(former.values());
  for (const object of typesInOrder(from).filter((each) => !kept.has(objectKey(each))))
    first.push(newObjectEvent('object.deleted', object, {}));
  for (const object of typesInOrder(to)) {
    const key = objectKey(object);
    const old = from.objects.get(former.get(key) ?? '');
    const changes = isType(object) ? types : last;
    if (old === undefined) changes.push(newObjectEvent('object.created', object, { object }));
    else {
      let now = old.object;
      if (now.id !== object.id) {
        now = renamedObject(now, object.id);
        const patch = patchOfObject({ ...old.object, id: object.id }, now);
        first.push(newObjectEvent('object.renamed', old.object, { to: object.id, patch }));
      }
      const patch = now === object ? [] : patchOfObject(now, object);
      if (patch.length > 0) changes.push(newObjectEvent('object.updated', object, { patch }));
    }
  }
  const deletedTypes = first.filter((event) => event.type === 'object.deleted' && isType(event.subject)).reverse();
  const freeing = first.filter((event) => !deletedTypes.includes(event));
  return { first: [...orderRenames(freeing), ...types], last: [...last, ...deletedTypes] };
}

/** Returns the objects in document order, except that each type follows the types that it uses. */
function typesInOrder(state: State): SchemaObject[] {
  const objects = objectsInOrder(state);
  const types = new Map(objects.filter(isType).map((object) => [object.id, object]));
  const ordered = sortNeededFirst(types.keys(), (id) => typesUsedBy(types.get(id)));
  return [...objects.filter((object) => !isType(object)), ...ordered.flatMap((id) => types.get(id) ?? [])];
}

function typesUsedBy(type: SchemaObject | undefined): string[] {
  const parsed = type === undefined ? '' : parseDefinition(type.definition);
  return typeof parsed === 'string' ? [] : (parsed.type?.types ?? []).flatMap(searchedNames).map(qualifiedId);
}

/** Orders deletions and renames so that each new name is free. */
function orderRenames(events: readonly ObjectEvent[]): ObjectEvent[] {
  const waiting = [...events].sort((a, b) => byName(a.type, b.type));
  const ordered: ObjectEvent[] = [];
  while (waiting.length > 0) {
    const held = new Set(waiting.map(({ subject: { kind, id } }) => objectKey({ kind, id })));
    const at = waiting.findIndex(
      (event) =>
        event.type !== 'object.renamed' || !held.has(objectKey({ kind: event.subject.kind, id: event.data.to })),
    );
    ordered.push(...waiting.splice(Math.max(at, 0), 1));
  }
  return ordered;
}

/* Finds which objects of a deleted table can be restored with it: triggers, policies, statistics objects and so on. */

interface DeletedTable {
  state: State;
  /** The state before the deletion, with the names of that time. */
  past: State;
  /** The names of the table before the deletion and after the restore. */
  names: { former: string; now: string };
  /** True if a collection still has the name that it had before the deletion. */
  isThere(collection: string): boolean;
  /** Explains as the end of a sentence why a collection cannot be used. */
  explainMissing(collection: string): string;
}

interface RestoredObject {
  object: SchemaObject;
  /** The reason as the end of a sentence. Undefined if the object can be restored. */
  obstacle: string | undefined;
}

/**
 * Without a restrictive policy, the other policies would show more rows than before, so none of them is restored.
 * @param objects the objects of the table, with its name after the restore
 */
export function findRestoredObjects(objects: readonly SchemaObject[], table: DeletedTable): RestoredObject[] {
  const checked = objects.map((object) => {
    const parsed = parseDefinition(object.definition);
    if (typeof parsed === 'string') return { object, policy: null, obstacle: undefined };
    if (table.state.objects.has(objectKey(object)))
      return { object, policy: parsed.policy, obstacle: 'another object now has its name' };
    return { object, policy: parsed.policy, obstacle: findObstacle(parsed, table) };
  });
  const lost = checked.find(({ policy, obstacle }) => obstacle !== undefined && policy?.isPermissive === false);
  if (lost === undefined) return checked;
  const reason = `the restrictive ${objectLabel(lost.object)} cannot be restored`;
  return checked.map(({ object, policy, obstacle }) => ({
    object,
    obstacle: obstacle ?? (policy === null ? undefined : reason),
  }));
}

/**
 * A definition keeps the names of the time of the deletion, except that of its own table. A renamed table is an obstacle,
 * because another one may have its name now. PostgreSQL decides about roles and about functions that are not managed.
 */
function findObstacle({ calls, trigger, relations }: ParsedDefinition, table: DeletedTable): string | undefined {
  const { state, past, names, isThere, explainMissing } = table;
  const [called, inCondition] = trigger === null ? [undefined, calls] : [calls[0], calls.slice(1)];
  const ids = searchedNames(called ?? { schema: undefined, name: '' }).map((each) =>
    routineId(each.name, '', each.schema),
  );
  const id = ids.find((each) => past.objects.has(objectKey({ kind: 'function', id: each })));
  if (id !== undefined && !state.objects.has(objectKey({ kind: 'function', id })))
    return `function ${JSON.stringify(id)} no longer exists`;
  const missing = inCondition
    .flatMap((call) => searchedNames(call).find((each) => hasFunction(past, each)) ?? [])
    .find((call) => !hasFunction(state, call));
  if (missing !== undefined) return `function ${JSON.stringify(missing.name)} no longer exists`;
  const isUnchanged = (name: string): boolean => (name === names.former ? name === names.now : isThere(name));
  // The first relation is the table itself.
  const others = relations.slice(1).flatMap((relation) => searchedCollection(past, relation) ?? []);
  const other = others.find((name) => !isUnchanged(name));
  if (other !== undefined) return explainMissing(other);
  const view = relations
    .flatMap(
      (relation) =>
        searchedNames(relation)
          .map(qualifiedId)
          .find((each) => hasView(past, each)) ?? [],
    )
    .find((each) => !hasView(state, each));
  return view && `view ${JSON.stringify(view)} no longer exists`;
}
