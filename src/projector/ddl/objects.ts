/*
 * Plans the statements about objects. Objects that change, and those that use what changes, are dropped before all
 * other statements and created after them, because PostgreSQL would otherwise reject those statements. A function that
 * PostgreSQL can replace stays, and so does everything that uses it.
 */
import { changesObjects } from '../../schema/fold/event-schemas.js';
import { type LogEvent, type ObjectEvent, isAdopted, isConsequence } from '../../schema/model/events.js';
import {
  KINDS,
  type ObjectName,
  isNewType,
  isSequence,
  isType,
  objectKey,
  objectLabel,
  RELATION_KINDS,
} from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import {
  inSchema,
  isRenamedWithTable,
  objectNameParts,
  qualifiedId,
  splitQualifiedId,
  toLocalObject,
} from '../../schema/model/object-ids.js';
import { collectionsNeeding, sortNeededFirst, objectsInOrder } from '../../schema/model/order.js';
import {
  type CollectionNode,
  type ObjectNode,
  type State,
  getObject,
  getTarget,
  hasColumn,
  hasTableNamed,
} from '../../schema/model/state.js';
import { canReplace } from '../../schema/sql-text/object-definition.js';
import { usersOfType } from '../../schema/sql-text/object-table.js';
import type { Problem } from '../../kernel/problem.js';
import { type ObjectFacts, type ObjectUse, withoutManaged } from './catalog-object.js';
import {
  type Creation,
  createStatements,
  describeObject,
  dropObject,
  keepSettings,
  kindWords,
  renameStatements,
  revokeDefaults,
  revokeStatements,
  withTableLock,
} from './object-statements.js';
import {
  type AlteredColumns,
  type ChangedObjects,
  type ConvertedEnums,
  type ResolvedUse,
  type Uses,
  alterations,
  alteredColumns,
  definitionInNeeds,
  isNeeded,
  nameOfKey,
  objectOf,
  overloadsByName,
  parseUses,
  rejectUsedTypes,
  unwantedDefaults,
  usesBefore,
  rejectRenamedArguments,
} from './object-uses.js';
import { conversionOf, findConvertedEnums } from './enum-conversion.js';
import type { Statement } from './step.js';

export interface ObjectChange {
  before: State;
  after: State;
  events: readonly LogEvent[];
  schema: string;
  /** The role of OBJECTS_OWNER. Absent or null if objects belong to the role of the connection. */
  owner?: string | null | undefined;
  /** Absent if there is no database, or if it contains no object. */
  facts: ObjectFacts | undefined;
  /** True for a part of a log. Later events of the same batch may follow in the next part. */
  isReplay?: boolean;
}

export interface ObjectPlan {
  /** Statements that run before those of tables. */
  first: Statement[];
  /** Statements that run after those of tables. */
  last: Statement[];
  /** Objects that cannot be created again. */
  problems: Problem[];
}

const NOTHING: ObjectPlan = { first: [], last: [], problems: [] };

export function planObjects(change: ObjectChange): ObjectPlan {
  const { before, after, events } = change;
  if (before.objects.isEmpty() && after.objects.isEmpty()) return NOTHING;
  const changed = changesOf(change);
  const hasRenames = events.some(({ type }) => type.endsWith('.renamed'));
  const enums = findConvertedEnums({ before, after, hasRenames }, changed.defined);
  const uses = usesBefore(change);
  const affected = findAffectedObjects({ ...change, enums }, changed, uses);
  const gone = [
    ...rejectLostUses(change, changed, uses),
    ...rejectRenamedArguments(change, changed),
    ...rejectNeededRenames(change, changed),
  ];
  if (gone.length > 0) return { ...NOTHING, problems: gone };
  const used = rejectUsedTypes({ before, after, enums }, changed, affected);
  if (used.length > 0) return { ...NOTHING, problems: used };
  for (const key of affected.keys()) moveEntry(changed.replaced, changed.defined, key);
  const kept = [...affected.keys()].filter((key) => !changed.defined.has(key) && !changed.deleted.has(key));
  const again = hasRenames ? [...kept, ...enums.keys(), ...findRestoredWithRename(change, changed)] : [];
  if (again.length > 0)
    return { ...NOTHING, problems: again.map((key) => createRenameFirstProblem(objectOf(before, key))) };
  const dropped = new Set([
    ...kept,
    ...changed.deleted.keys(),
    ...[...changed.defined.keys()].filter((key) => before.objects.has(key)),
  ]);
  const causes = { affected, changed, enums };
  const altered = alteredColumns({ before, events, enums });
  // Someone renamed the table by hand, or moved it. The next comparison reports statistics objects that did not follow.
  const isAccepted = events.some((event) => event.type === 'collection.renamed' && isAdopted(event));
  const dropping = dropOrder(dropped, uses, change.schema).filter(
    (key) => !enums.has(key) && !isDroppedWithOther(change, key, dropped),
  );
  const drop = (key: string): Statement[] => {
    const object = objectOf(before, key);
    const isKept = collectionsNeeding(after, object).length > 0;
    return dropObject(change.schema, object, {
      index: sourceOf(causes, key),
      withTable: losesTable(change, key),
      isKept,
    });
  };
  const create = (creation: Creation): Statement[] => createStatements(change, creation, altered.names);
  const isLast = (key: string): boolean =>
    isNeeded(before, key) || (isType(nameOfKey(key)) && changed.deleted.has(key));
  const { early, sequences, others, defaults } = splitCreations(after, creationOrder(change, causes, dropped));
  return {
    ...withTableLocks(change, {
      first: [
        ...dropping.filter((key) => !isLast(key)).flatMap(drop),
        ...revokedFirst(change, changed),
        ...[...changed.renamed].flatMap(([key, each]) =>
          dropped.has(key) || isRenamedWithTable(nameOfKey(key), each.to) || isAccepted
            ? []
            : renameStatements(change.schema, objectOf(before, key), each),
        ),
        ...early.flatMap(create),
      ],
      last: [
        ...dropping.filter(isLast).flatMap(drop),
        ...sequences.flatMap(create),
        ...others.flatMap(create),
        ...unwantedDefaults(change).map((each) => revokeDefaults(change.schema, each)),
        ...defaults.flatMap(create),
        ...keptSettings(change, changed, altered),
        ...[...changed.described].flatMap(([key, each]) =>
          dropped.has(key) || changed.created.has(key)
            ? []
            : describeObject(
                change.schema,
                [objectOf(before, key), objectOf(after, objectKey(each.event.subject))],
                each.index,
              ),
        ),
      ],
    }),
    problems: [],
  };
}

/**
 * Types precede all tables. Sequences precede tables that need them, and all other objects, whose definitions may use them where the parser finds no
 * name: `nextval('numbers')`. Default privileges are last, so that they do not apply to the objects of the same batch.
 */
function splitCreations(
  after: State,
  creations: readonly Creation[],
): Record<'early' | 'sequences' | 'others' | 'defaults', Creation[]> {
  const isEarly = ({ object }: Creation): boolean => isType(object) || collectionsNeeding(after, object).length > 0;
  const others = creations.filter(({ object }) => !isSequence(object) && !isType(object));
  return {
    early: creations.filter(isEarly),
    sequences: creations.filter((each) => isSequence(each.object) && !isEarly(each)),
    others: others.filter(({ object }) => !areDefaults(object)),
    defaults: others.filter(({ object }) => areDefaults(object)),
  };
}

function areDefaults(object: ObjectName): boolean {
  const { target } = objectNameParts(object);
  return target !== null && isNewType(target.type);
}

/** Tables would still need the sequence under its former name. */
function rejectNeededRenames({ before }: ObjectChange, { renamed }: ChangedObjects): Problem[] {
  return [...renamed.keys()].map(nameOfKey).flatMap((object): Problem[] => {
    const [collection] = collectionsNeeding(before, object);
    if (collection === undefined) return [];
    const message = `collection ${JSON.stringify(collection)} needs ${objectLabel(object)}, which therefore cannot be renamed. Remove the default that uses it first`;
    return [{ code: 'IN_USE', message, object: { kind: object.kind, id: object.id }, collection }];
  });
}

/**
 * True for privileges on a view, function, sequence or type that is dropped too. They then no longer exist. A sequence or a
 * type that tables still need stays.
 */
function isDroppedWithOther({ before, after }: ObjectChange, key: string, dropped: ReadonlySet<string>): boolean {
  const { kind, id } = nameOfKey(key);
  const { table, target } = objectNameParts({ kind, id });
  const other = target === null ? undefined : getTarget(before, target);
  if (target !== null)
    return other !== undefined && dropped.has(objectKey(other)) && collectionsNeeding(after, other).length === 0;
  if (kind !== 'privileges' || table === null || hasTableNamed(before, table)) return false;
  return RELATION_KINDS.some((relation) => dropped.has(objectKey({ kind: relation, id: table })));
}

function losesTable({ before, after }: ObjectChange, key: string): boolean {
  const { table } = objectNameParts(nameOfKey(key));
  return table !== null && hasTableNamed(before, table) && !hasTableNamed(after, table);
}

/** Returns the statements that revoke privileges and reset settings of columns. They run before columns are renamed or dropped. */
const revokedFirst = ({ before, after, schema }: ObjectChange, { replaced }: ChangedObjects): Statement[] =>
  [...replaced].flatMap(([key, { event, index }]) => {
    const [old, now] = [objectOf(before, key), objectOf(after, objectKey(event.subject))];
    return old.kind === 'privileges' || old.kind === 'table_options' ? revokeStatements(schema, [old, now], index) : [];
  });

/** Returns the statements for table options that the batch does not change. PostgreSQL resets some with a new type. */
const keptSettings = (
  { before, after, schema }: ObjectChange,
  { renamed, replaced }: ChangedObjects,
  altered: AlteredColumns,
) =>
  objectsInOrder(before).flatMap((old): Statement[] => {
    if (altered.names.size === 0 || old.kind !== 'table_options' || replaced.has(objectKey(old))) return [];
    const object = getObject(after, { kind: old.kind, id: renamed.get(objectKey(old))?.to ?? old.id });
    return object === undefined ? [] : keepSettings(schema, object, altered);
  });

const withTableLocks = (
  change: ObjectChange,
  { first, last }: Omit<ObjectPlan, 'problems'>,
): Omit<ObjectPlan, 'problems'> => ({
  first: first.map((each) => withTableLock(change, each)),
  last: last.map((each) => withTableLock(change, each)),
});

/**
 * Moves an event from `from` to `to`, for example if a function cannot stay because it uses something that is dropped.
 */
function moveEntry<V>(from: Map<string, V>, to: Map<string, V>, key: string): void {
  const value = from.get(key);
  if (value === undefined) return;
  from.delete(key);
  to.set(key, value);
}

type ObjectUpdate = Extract<ObjectEvent, { type: 'object.updated' }>;

function changesOf({ before, after, events }: ObjectChange): ChangedObjects {
  const updatesOf = (changed: ChangedObjects, { data }: ObjectUpdate, [old, key]: readonly [string, string]) => {
    if (data.patch.every(({ path }) => path !== '/definition')) return changed.described;
    return isReplacedBy(before.objects.get(old), after.objects.get(key)) ? changed.replaced : changed.defined;
  };
  const changed: ChangedObjects = {
    created: new Map(),
    deleted: new Map(),
    renamed: new Map(),
    defined: new Map(),
    replaced: new Map(),
    described: new Map(),
  };
  const former = new Map<string, string>();
  for (const [index, event] of events.entries()) {
    if (!changesObjects(event) || isAdopted(event) || isConsequence(event)) continue;
    const key = objectKey(event.subject);
    const old = former.get(key) ?? key;
    if (event.type === 'object.created') changed.created.set(key, { event, index });
    else if (event.type === 'object.deleted') changed.deleted.set(old, { event, index });
    else if (event.type === 'object.renamed') {
      changed.renamed.set(old, { event, index, to: event.data.to });
      former.set(objectKey({ kind: event.subject.kind, id: event.data.to }), old);
    } else updatesOf(changed, event, [old, key]).set(old, { event, index });
  }
  return changed;
}

const isReplacedBy = (old: ObjectNode | undefined, now: ObjectNode | undefined): boolean =>
  old !== undefined && now !== undefined && canReplace(old.object.definition, now.object.definition);

/** Returns objects that must be dropped, with the index of the event that requires it. */
function findAffectedObjects(
  change: ObjectChange & { enums: ConvertedEnums },
  { defined, deleted }: ChangedObjects,
  uses: Uses,
): Map<string, number> {
  // Deleted objects are included, because a view may use a deleted object whose name another kind takes.
  const affected = new Map([...deleted].map(([key, { index }]) => [key, index]));
  for (const [key, { index }] of defined) if (uses.has(key)) affected.set(key, index);
  for (const { index, isUsed } of alterations(change))
    for (const [key, used] of uses) if (!affected.has(key) && used.some(isUsed)) affected.set(key, index);
  // A map also visits entries that are added during the iteration.
  for (const [key, index] of affected)
    for (const user of usersOf(objectOf(change.before, key), change, uses))
      if (!affected.has(user)) affected.set(user, index);
  return affected;
}

function usersOf(object: ObjectName, { schema }: ObjectChange, uses: Uses): string[] {
  return [...uses].flatMap(([key, used]) => (used.some((use) => isOf(use, object, schema)) ? [key] : []));
}

/** True if `use` refers to this object. @param schema the default schema */
function isOf(use: ObjectUse, object: ObjectName, schema: string): boolean {
  if (use.catalog !== KINDS[object.kind].catalog) return false;
  const { schema: own = schema, id } = toLocalObject(object);
  return use.schema === own && use.name === id;
}

/**
 * Rejects lost relations and columns, unless the change also changes or deletes the objects that use them, or PostgreSQL
 * drops an object with an inherited column.
 */
function rejectLostUses(
  { before, after, schema, events }: ObjectChange,
  changed: ChangedObjects,
  uses: Uses,
): Problem[] {
  if (!events.some((event) => event.type.endsWith('.deleted') && !isAdopted(event))) return [];
  const renamed = events.some(({ type }) => type === 'collection.renamed' || type === 'field.renamed');
  const dropped = new Set(
    events.flatMap((event) => (event.type === 'object.deleted' && isAdopted(event) ? objectKey(event.subject) : [])),
  );
  return [...uses].flatMap(([key, used]): Problem[] => {
    if (dropped.has(key)) return [];
    if (changed.defined.has(key) || changed.replaced.has(key) || changed.deleted.has(key)) return [];
    const object = objectOf(before, key);
    const lost = used.find((use) => isLost(use, { before, after, schema, changed, renamed }));
    return lost === undefined ? [] : [createStillUsedProblem(object, lost, schema)];
  });
}

interface ObjectLossInput extends Pick<ObjectChange, 'before' | 'after' | 'schema'> {
  changed: ChangedObjects;
  renamed: boolean;
}

function isLost(use: ResolvedUse, losing: ObjectLossInput): boolean {
  const { before, after, schema, changed, renamed } = losing;
  const isNamed = (key: string): boolean => isOf(use, nameOfKey(key), schema);
  if ([...changed.deleted.keys()].some(isNamed)) return ![...changed.created.keys()].some(isNamed);
  const { collection = '' } = use;
  const old = before.collections.get(collection);
  if (old?.collection.schema == null) return false;
  const now = findCurrent(before, after, collection, renamed);
  return now?.collection.schema == null || isColumnLost(use.column, { old, now, renamed });
}

interface TableSides {
  old: CollectionNode;
  now: CollectionNode;
  renamed: boolean;
}

function isColumnLost(column: string | null, { old, now, renamed }: TableSides): boolean {
  if (column === null || !hasColumn(old.fields.get(column))) return false;
  if (!renamed) return !hasColumn(now.fields.get(column));
  const identity = old.identities.fields.get(column);
  return ![...now.identities.fields].some(([name, each]) => each === identity && hasColumn(now.fields.get(name)));
}

/** Finds the table after the batch, by its identity if the batch renames tables or columns. */
function findCurrent(before: State, after: State, name: string, renamed: boolean) {
  if (!renamed) return after.collections.get(name);
  const identity = before.collections.get(name)?.identities.collection;
  return after.collections.find(({ identities }) => identities.collection === identity);
}

/** @param usual the default schema */
function createStillUsedProblem(object: SchemaObject, use: ResolvedUse, usual: string): Problem {
  const { catalog, collection, column } = use;
  const name = collection ?? nameOfUse(use, usual);
  const what = column === null ? JSON.stringify(name) : `column ${JSON.stringify(column)} of ${JSON.stringify(name)}`;
  return {
    code: 'IN_USE',
    message: `${objectLabel(object)} uses ${what}, which this change deletes. Change or delete the ${kindWords(object)} in the same change or an earlier one`,
    object: { kind: object.kind, id: object.id },
    ...(catalog === 'pg_class' && { collection: name }),
    ...(column !== null && { field: column }),
  };
}

/** Returns the name of a relation or a type, or the id of a function, with its schema if it is not the default one. */
function nameOfUse({ catalog, schema, name }: ObjectUse, usual: string): string {
  if (schema === usual || schema === '') return name;
  return catalog === 'pg_proc' ? inSchema({ kind: 'function', id: name }, schema).id : qualifiedId({ schema, name });
}

/** Returns renamed objects that are created again. Their privileges and settings are restored by the former name. */
const findRestoredWithRename = ({ before, facts, schema }: ObjectChange, { renamed, defined }: ChangedObjects) =>
  [...renamed.keys()].filter(
    (key) => defined.has(key) && (withoutManaged(before, facts?.get(key), schema)?.restoring.length ?? 0) > 0,
  );

const createRenameFirstProblem = (object: SchemaObject): Problem => ({
  code: 'IN_USE',
  message: `${objectLabel(object)} must be created again for this change, which also renames objects. Apply the renames first, in a separate change`,
  object: { kind: object.kind, id: object.id },
});

/** Returns the order in which objects are dropped: users come before what they use. */
function dropOrder(keys: ReadonlySet<string>, uses: Uses, schema: string): string[] {
  const byUse = new Map([...keys].map((key) => [useKey(nameOfKey(key), schema), key]));
  return sortNeededFirst(keys, (key) => (uses.get(key) ?? []).flatMap((use) => keyOfUse(use, byUse))).reverse();
}

function useKey(object: ObjectName, usual: string): string {
  const { schema = usual, id } = toLocalObject(object);
  return `${KINDS[object.kind].catalog}\0${schema}\0${id}`;
}

const keyOfUse = ({ catalog, schema, name }: ObjectUse, byUse: ReadonlyMap<string, string>): string[] => {
  const key = byUse.get(`${catalog}\0${schema}\0${name}`);
  return key === undefined ? [] : [key];
};

interface Causes {
  affected: ReadonlyMap<string, number>;
  changed: ChangedObjects;
  enums: ConvertedEnums;
}

function sourceOf({ affected, changed }: Causes, key: string): number {
  return (changed.deleted.get(key) ?? changed.defined.get(key))?.index ?? affected.get(key) ?? 0;
}

const NEW = { known: undefined, isNew: true, isChanged: true, isSwitched: false, replaces: null };

/** Returns the collections with columns of a type that changes. */
const tablesOf = (before: State, replaces: SchemaObject | null): Pick<Creation, 'tables'> =>
  replaces !== null && isType(replaces)
    ? { tables: [...new Set(usersOfType(before, splitQualifiedId(replaces.id)).map(({ collection }) => collection))] }
    : {};

/** A sequence or a type that tables need exists. It becomes an object with a comment. */
function newCreation({ before, after }: ObjectChange, key: string, index: number): Creation {
  const object = objectOf(after, key);
  const definition = definitionInNeeds(before, object) ?? object.definition;
  const replaces = isNeeded(before, key) ? { ...object, definition, comment: null } : null;
  return { ...NEW, object, index, replaces, ...tablesOf(before, replaces) };
}

function creationOrder(change: ObjectChange, causes: Causes, dropped: ReadonlySet<string>): Creation[] {
  const { affected, changed, enums } = causes;
  const { before, after, facts, schema } = change;
  const nameNow = (key: string): string => {
    const { kind, id } = nameOfKey(key);
    return objectKey({ kind, id: changed.renamed.get(key)?.to ?? id });
  };
  const created = new Map<string, Creation>();
  for (const [key, { index }] of changed.created) created.set(key, newCreation(change, key, index));
  for (const old of [...dropped, ...changed.replaced.keys()]) {
    if (changed.deleted.has(old)) continue;
    const replaces = changed.replaced.has(old) ? objectOf(before, old) : null;
    const redefined = changed.defined.get(old) ?? changed.replaced.get(old);
    const isChanged = redefined !== undefined;
    const index = redefined?.index ?? affected.get(old) ?? 0;
    const object = objectOf(after, nameNow(old));
    created.set(nameNow(old), {
      object,
      known: withoutManaged(before, facts?.get(old), schema),
      isNew: false,
      isChanged,
      isSwitched: objectOf(before, old).enabled !== object.enabled,
      replaces,
      index,
      ...tablesOf(before, replaces),
      ...conversionOf(change, enums, old),
    });
  }
  const byUse = new Map([...created].map(([key, { object }]) => [useKey(object, schema), key]));
  const overloads = overloadsByName([...created.values()].map(({ object }) => object));
  const needs = (key: string): string[] => {
    const creation = created.get(key);
    const used = creation === undefined ? [] : parseUses(creation.object, schema, overloads);
    return used.flatMap((use) => keyOfUse(use, byUse));
  };
  return sortNeededFirst(created.keys(), needs).flatMap((key) => created.get(key) ?? []);
}
