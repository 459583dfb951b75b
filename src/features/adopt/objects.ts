/* Reads unmanaged objects to adopt. Adoption leaves them unchanged. */
import type pg from 'pg';
import { lockObjects, readObjects } from '../../projector/catalog/managed-objects.js';
import { type CatalogObject, type ObjectFacts, createdBy } from '../../projector/ddl/catalog-object.js';
import type { Note } from '../../projector/inspect/needs.js';
import type { Collection } from '../../schema/model/model.js';
import {
  KINDS,
  TABLE_LIKE_CATALOGS,
  type ObjectName,
  PUBLIC,
  type PrivilegesTarget,
  TARGETS,
  isOnTable,
  isRoutine,
  isSequence,
  isTableLike,
  isType,
  kindWithLabel,
  objectKey,
  objectLabel,
} from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { idOnTable, objectNameParts, toLocalObject } from '../../schema/model/object-ids.js';
import type { AdoptRequest } from '../../schema/operations/adopt-tables.js';
import { sortNeededFirst } from '../../schema/model/order.js';
import { type State, extrasOfTable, getTarget, locationKey } from '../../schema/model/state.js';
import { rolesOf } from '../../schema/findings/model.js';
import { readNeededObjects } from './unsupported-objects.js';
import { readNewObject } from '../../schema/normal-form/object.js';

export interface RefusedObject {
  /** The name of the object. The member is called `table` as in rejected tables. */
  table: string;
  object: ObjectName;
  code: 'BELONGS_TO_EXTENSION' | 'NOT_REPRESENTABLE' | 'NEEDS_UNMANAGED';
  message: string;
}

export interface ObjectAdoption {
  /** The adopted objects. Each one follows the objects that it uses. */
  adopted: SchemaObject[];
  missing: ObjectName[];
  refused: RefusedObject[];
  notes: Note[];
}

interface ManagedCollections {
  /** The default schema. */
  schema: string;
  /** All managed schemas. */
  schemas: readonly string[];
  state: State;
  /** The collections that exist after the adoption. */
  managed: readonly { collection: Collection }[];
}

/** Returns how notes name an object: `materialized view totals`. */
const objectNoteName = ({ kind, id }: ObjectName): string => `${KINDS[kind].label} ${id}`;

/** Returns how notes name an object, the comment of a sequence or a type, and the columns of its table on which it has privileges. */
export function noteNamesOf(object: SchemaObject): string[] {
  const { table } = objectNameParts(object);
  const columns = Array.isArray(object.definition) ? object.definition.flatMap((each) => each.columns ?? []) : [];
  return [
    objectNoteName(object),
    ...columns.map((column) => columnNoteName(table, column)),
    ...(isSequence(object) || isType(object) ? [`comment ${objectNoteName(object)}`] : []),
  ];
}

const columnNoteName = (table: string | null, column: string): string => `column privileges ${table}.${column}`;

/** Returns the id of the object that a note names, or the name if it is not an object of a table. */
function objectIdOfNote({ kind: label, name }: Note, table: string): string {
  const kind = kindWithLabel(label);
  return kind !== undefined && isOnTable({ kind }) ? idOnTable(kind, name, table) : name;
}

/**
 * Must be called in a transaction that holds the log's lock. The adopted views cannot change until that transaction
 * ends.
 */
export async function readObjectAdoption(
  client: pg.ClientBase,
  { schema, schemas, state, managed }: ManagedCollections,
  request: AdoptRequest,
): Promise<ObjectAdoption> {
  const wanted = 'all' in request ? undefined : (request.objects ?? []);
  const isWanted = wanted && new Set(wanted.map(objectKey));
  const needed = new Set(managed.flatMap(({ collection }) => neededSequences(collection, schema)));
  const isRequested = (view: CatalogObject): boolean => {
    if (state.objects.has(objectKey(view))) return false;
    if (isWanted !== undefined) return isWanted.has(objectKey(view));
    return (
      view.extension === null && view.isInitial !== true && !(isSequence(view) && needed.has(locationOf(view, schema)))
    );
  };
  const names = [...(await readObjects(client, { schema, schemas })).values()].filter(isRequested);
  await lockObjects(client, schema, names);
  const views = await readObjects(client, { schema }, names);
  const refused = new Map<string, RefusedObject>();
  const objects = new Map<string, SchemaObject>();
  for (const view of [...views.values()].filter(isRequested)) {
    const object = toRepresentedObject(view);
    if ('code' in object) refused.set(objectKey(view), object);
    else objects.set(objectKey(view), object);
  }
  const relations = managedRelations({ state, managed, schema, schemas });
  refuseUnmanagedUses({ objects, views, refused, relations, schema, state });
  const adopted = sortByDependency(objects, views, schema);
  const all = [...adopted, ...[...state.objects.values()].map(({ object }) => object)];
  const routines = new Set(all.filter(isRoutine).map((object) => locationOf(object, schema)));
  const types = new Set(all.filter(isType).map((object) => locationOf(object, schema)));
  const managedKeys = new Set([...state.objects.keys(), ...adopted.map(objectKey)]);
  const others = (await readNeededObjects(client, schema, adopted)).filter(
    (each) =>
      (each.routine === null || !routines.has(locationKey(each.schema, each.routine))) &&
      !(each.kind === 'type' && types.has(locationKey(each.schema, each.type ?? ''))),
  );
  return {
    adopted,
    missing: wanted?.filter((name) => !state.objects.has(objectKey(name)) && !views.has(objectKey(name))) ?? [],
    refused: [...refused.values()],
    notes: [
      ...adopted.flatMap((object) =>
        restoringNotes(object, views.get(objectKey(object)) as CatalogObject, { managed: managedKeys, schema }),
      ),
      ...adopted.flatMap(roleNotes),
      ...others.map(({ object, kind, identity, name }) => ({
        table: object,
        kind,
        name: name ?? identity,
        code: 'OBJECT_NEEDED',
        message: `${kind} ${JSON.stringify(identity)}: create it before you apply a snapshot with this object elsewhere`,
      })),
    ],
  };
}

/** Creates notes about the roles of a policy or of privileges, which another database needs. */
function roleNotes(object: SchemaObject): Note[] {
  return rolesOf(object).map((name) => ({
    table: object.id,
    kind: 'role',
    name,
    code: 'OBJECT_NEEDED',
    message: `role ${JSON.stringify(name)}: create it before you apply a snapshot with this object elsewhere`,
  }));
}

function toRepresentedObject(view: CatalogObject): SchemaObject | RefusedObject {
  const { kind, id, definition, comment, indexes, enabled, extension } = view;
  const subject = { table: id, object: { kind, id } };
  if (extension !== null)
    return {
      ...subject,
      code: 'BELONGS_TO_EXTENSION',
      message: `it belongs to the extension ${JSON.stringify(extension)}`,
    };
  const document = {
    kind,
    id,
    definition,
    comment,
    ...(indexes !== null && { indexes }),
    ...(enabled !== null && { enabled }),
  };
  const read = readNewObject(document, []);
  if (read.ok) return read.value;
  const message = read.problems.map((problem) => `${problem.path ?? ''} ${problem.message}`.trim()).join('; ');
  return { ...subject, code: 'NOT_REPRESENTABLE', message };
}

/** Returns the schema and the name of an object, or the schema and the id of a function, as a key. */
function locationOf(object: ObjectName, usual: string): string {
  const { schema = usual, id } = toLocalObject(object);
  return locationKey(schema, id);
}

/** Returns the sequences that a table needs, by schema and name. They are part of the table. */
const neededSequences = ({ schema: table }: Collection, schema: string): string[] =>
  (extrasOfTable(table).needs ?? []).flatMap((need) =>
    need.kind === 'sequence' ? [locationKey(need.schema ?? schema, need.name)] : [],
  );

/** Returns the tables, objects and sequences that are managed after the adoption, by schema and name. */
function managedRelations({ state, managed, schema }: ManagedCollections): Set<string> {
  const relations = new Set<string>();
  for (const { collection } of managed) {
    const table = collection.schema;
    if (table !== null) relations.add(locationKey(table.schema ?? schema, table.name ?? collection.collection));
    for (const sequence of neededSequences(collection, schema)) relations.add(sequence);
  }
  for (const { object } of state.objects.values()) if (isTableLike(object)) relations.add(locationOf(object, schema));
  return relations;
}

interface Adopting {
  objects: Map<string, SchemaObject>;
  views: ObjectFacts;
  refused: Map<string, RefusedObject>;
  relations: ReadonlySet<string>;
  schema: string;
  state: State;
}

const OWN_SCHEMAS: ReadonlySet<string> = new Set(['pg_catalog', 'information_schema']);

/**
 * Rejects objects that use an unmanaged table, types that use an unmanaged type, and privileges on an unmanaged function,
 * sequence or type. A replay of the log could not create such an object in another database.
 */
function refuseUnmanagedUses({ objects, views, refused, relations, schema, state }: Adopting): void {
  const managedTypes = [...state.objects.values()].flatMap(({ object }) =>
    isType(object) ? [locationOf(object, schema)] : [],
  );
  for (let before = -1; before !== objects.size;) {
    before = objects.size;
    const adopted = new Set(
      [...objects.values()].flatMap((object) => (isTableLike(object) ? [locationOf(object, schema)] : [])),
    );
    const isObject = (target: PrivilegesTarget): boolean =>
      getTarget(state, target) !== undefined ||
      TARGETS[target.type].kinds.some((each) => objects.has(objectKey({ kind: each, id: target.id })));
    const types = new Set([
      ...managedTypes,
      ...[...objects.values()].filter(isType).map((object) => locationOf(object, schema)),
    ]);
    for (const [key, { kind, id }] of objects) {
      const { target } = objectNameParts({ kind, id });
      const isManagedTable = (place: string, name: string): boolean =>
        OWN_SCHEMAS.has(place) || relations.has(locationKey(place, name)) || adopted.has(locationKey(place, name));
      const other = views.get(key)?.uses.find(({ catalog, schema: place, name }) => {
        if (target !== null) return !isObject(target);
        if (kind === 'type' && catalog === 'pg_type') return !types.has(locationKey(place, name));
        if (!TABLE_LIKE_CATALOGS.has(catalog)) return false;
        // The log contains all tables that a rule uses.
        return !isManagedTable(place, name) || (kind === 'rule' && OWN_SCHEMAS.has(place));
      });
      if (other === undefined) continue;
      objects.delete(key);
      const isNear = other.schema === schema || other.schema === '';
      const named = isNear ? other.name : `${other.schema}.${other.name}`;
      const message = `it uses ${JSON.stringify(named)}, which is not managed. Adopt that first or together with it`;
      refused.set(key, { table: id, object: { kind, id }, code: 'NEEDS_UNMANAGED', message });
    }
  }
}

function sortByDependency(
  objects: ReadonlyMap<string, SchemaObject>,
  views: ObjectFacts,
  usual: string,
): SchemaObject[] {
  const byUse = new Map(
    [...objects].map(([key, object]) => [`${KINDS[object.kind].catalog}\0${locationOf(object, usual)}`, key]),
  );
  const needs = (key: string): string[] =>
    (views.get(key)?.uses ?? []).flatMap(
      ({ catalog, schema, name }) => byUse.get(`${catalog}\0${locationKey(schema, name)}`) ?? [],
    );
  return sortNeededFirst(objects.keys(), needs).flatMap((key) => objects.get(key) ?? []);
}

/** Returns the key of the trigger, rule or privileges that a statement creates. Empty for other statements. */
function keyOfCreated(text: string, usual: string): string {
  const created = /^(?:GRANT |REVOKE |CREATE (?:RULE |.*TRIGGER ))/.test(text) ? createdBy(text, usual) : undefined;
  return created === undefined ? '' : objectKey(created);
}

/** The kinds of the statements in `restoring`. */
const KEPT: readonly [RegExp, kind: string][] = [
  [/^(?:GRANT|REVOKE ALL ON (?:FUNCTION|PROCEDURE|TYPE)) /, 'privilege'],
  [/^COMMENT ON COLUMN /, 'comment'],
  [/ SET DEFAULT /, 'column default'],
  [/^CREATE RULE /, 'rule'],
  [/^CREATE .*TRIGGER /, 'trigger'],
  [/ OWNER TO /, 'owner'],
  [/ SET STATISTICS /, 'statistics target'],
];

/**
 * Returns the name of the object that a note is about, in the form of `noteNamesOf`.
 * @param tables the tables of collections, as in `qualifiedId`
 */
export function nameOfNote(note: Note, tables: ReadonlyMap<string, string>): string {
  const { kind, name } = note;
  const table = tables.get(note.table ?? '') ?? note.table ?? '';
  const [, column] = kind === 'column setting' ? (/^(.*) privileges$/s.exec(name) ?? []) : [];
  if (column !== undefined) return columnNoteName(table, column);
  if (isAboutOptions(note)) return objectNoteName({ kind: 'table_options', id: table });
  if (kind !== 'privilege') return `${kind} ${objectIdOfNote(note, table)}`;
  return objectNoteName({ kind: 'privileges', id: idOnTable('privileges', roleOfNote(name), table) });
}

/** regrole quotes the name of the role. */
function roleOfNote(name: string): string {
  if (name === 'PUBLIC') return PUBLIC;
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

/** An index as the replica identity is not a table option that the service manages. */
const isAboutOptions = ({ kind, name }: Note): boolean =>
  ['storage parameter', 'unlogged', 'column setting'].includes(kind) ||
  (kind === 'replica identity' && name !== 'index');

/** PUBLIC has EXECUTE on every new function and USAGE on every new type, so a snapshot loses nothing if it has it here. */
const ABOUT_PUBLIC = /^(?:GRANT (?:EXECUTE|USAGE)|REVOKE ALL) ON (?:FUNCTION|PROCEDURE|TYPE) .* (?:TO|FROM) PUBLIC$/s;

/** Creates notes about properties that no snapshot contains, although changes to the object preserve them. */
function restoringNotes(
  object: SchemaObject,
  { restoring }: CatalogObject,
  { managed, schema }: { managed: ReadonlySet<string>; schema: string },
): Note[] {
  const isPublic = restoring.some((text) => /^GRANT (?:EXECUTE|USAGE ON TYPE) .* TO PUBLIC$/s.test(text));
  const kept = restoring.filter(
    (text) => !managed.has(keyOfCreated(text, schema)) && !(isPublic && ABOUT_PUBLIC.test(text)),
  );
  const kinds = new Set(kept.flatMap((text) => KEPT.find(([pattern]) => pattern.test(text))?.[1] ?? []));
  return [...kinds].sort().map((kind) => ({
    table: object.id,
    kind,
    name: object.id,
    code: `${kind.replaceAll(' ', '_').toUpperCase()}_NOT_REPRESENTED`,
    message: `the ${kind} of ${objectLabel(object)} stays unchanged and is not included in snapshots`,
  }));
}
