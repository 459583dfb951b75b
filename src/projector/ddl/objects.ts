/*
 * Plans the statements about views and materialized views. Objects that change, and those that use what changes, are dropped
 * before all other statements and created after them, because PostgreSQL would otherwise reject those statements.
 */
import { changesObjects, changesSchema } from '../../schema/fold/event-schemas.js';
import { type FormerNames, formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, type NewEvent, type ObjectEvent, isAdopted, isConsequence } from '../../schema/model/events.js';
import {
  KINDS,
  type ObjectIndex,
  type ObjectKind,
  type ObjectName,
  type SchemaObject,
  objectKey,
  objectLabel,
} from '../../schema/model/objects.js';
import { sortNeededFirst, objectsInOrder, withPartitions } from '../../schema/model/order.js';
import { type CollectionNode, type State, collectionAt, getField, hasColumn } from '../../schema/model/state.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import type { Problem } from '../../kernel/problem.js';
import {
  type Sql,
  ident,
  indexDefinition,
  kindSql,
  literal,
  objectTail,
  qualified,
  restoringStatement,
  sql,
} from './sql.js';
import type { Statement } from './step.js';

/** A relation or one of its columns that a view uses. */
interface ViewUse {
  schema: string;
  relation: string;
  /** Null for the relation as a whole. */
  column: string | null;
}

interface ResolvedUse extends ViewUse {
  /** The managed collection of the relation. Undefined for a view and for an unmanaged table. */
  collection: string | undefined;
}

export interface CatalogView {
  kind: ObjectKind;
  id: string;
  /** The output of pg_get_viewdef, without the semicolon. */
  query: string;
  /** One statement without a schema: `CREATE VIEW name WITH (…) AS SELECT …`. */
  definition: string;
  comment: string | null;
  /** Sorted by name. Null for a view. */
  indexes: ObjectIndex[] | null;
  /** False for a materialized view without data. */
  populated: boolean;
  /** Statements for owner, privileges, comments on columns, defaults, triggers and rules. */
  restoring: string[];
  uses: ViewUse[];
  /** The extension that owns it. */
  extension: string | null;
}

/** The managed objects as they are in the database, by `objectKey`. */
export type ObjectFacts = ReadonlyMap<string, CatalogView>;

export interface ObjectChange {
  before: State;
  after: State;
  events: readonly LogEvent[];
  schema: string;
  /** Absent if there is no database, or if it contains no object. */
  facts: ObjectFacts | undefined;
}

export interface ObjectPlan {
  /** Statements before those of tables. */
  first: Statement[];
  /** Statements after those of tables. */
  last: Statement[];
  /** Objects that cannot be created again. */
  problems: Problem[];
}

const NOTHING: ObjectPlan = { first: [], last: [], problems: [] };

/** The events about each object, by its key before the batch. */
interface Changed {
  created: Map<string, Numbered>;
  deleted: Map<string, Numbered>;
  renamed: Map<string, Numbered & { to: string }>;
  /** New definitions. */
  defined: Map<string, Numbered>;
  /** New comments or indexes. */
  described: Map<string, Numbered>;
}

/** An event with its index in the batch. */
interface Numbered {
  event: ObjectEvent;
  index: number;
}

export function planObjects(change: ObjectChange): ObjectPlan {
  const { before, after, events } = change;
  if (before.objects.isEmpty() && after.objects.isEmpty()) return NOTHING;
  const changed = changesOf(events);
  const uses = usesBefore(change);
  const affected = findAffectedObjects(change, changed, uses);
  const gone = rejectLostUses(change, changed, uses);
  if (gone.length > 0) return { ...NOTHING, problems: gone };
  const kept = [...affected.keys()].filter((key) => !changed.defined.has(key) && !changed.deleted.has(key));
  const renamed = events.some(({ type }) => type.endsWith('.renamed'));
  if (renamed && kept.length > 0)
    return { ...NOTHING, problems: kept.map((key) => createRenameFirstProblem(objectOf(before, key))) };
  const dropped = new Set([
    ...kept,
    ...changed.deleted.keys(),
    ...[...changed.defined.keys()].filter((key) => before.objects.has(key)),
  ]);
  const causes = { affected, changed };
  return {
    first: [
      ...dropOrder(dropped, uses).map((key) => dropObject(change, objectOf(before, key), sourceOf(causes, key))),
      ...[...changed.renamed].flatMap(([key, each]) => (dropped.has(key) ? [] : [renameStatement(change, key, each)])),
    ],
    last: [
      ...creationOrder(change, causes, dropped).flatMap((object) => createStatements(change, object)),
      ...[...changed.described].flatMap(([key, each]) =>
        dropped.has(key) || changed.created.has(key) ? [] : describeObject(change, key, each),
      ),
    ],
    problems: [],
  };
}

const objectOf = ({ objects }: State, key: string): SchemaObject => {
  const node = objects.get(key);
  if (node === undefined) throw new Error(`objects: ${JSON.stringify(key)} does not exist`);
  return node.object;
};

function changesOf(events: readonly LogEvent[]): Changed {
  const changed: Changed = {
    created: new Map(),
    deleted: new Map(),
    renamed: new Map(),
    defined: new Map(),
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
    } else if (event.data.patch.some(({ path }) => path === '/definition')) changed.defined.set(old, { event, index });
    else changed.described.set(old, { event, index });
  }
  return changed;
}

type Uses = ReadonlyMap<string, readonly ResolvedUse[]>;

/** Without facts, the parser finds the relations but not their columns. */
function usesBefore({ before, facts, schema }: ObjectChange): Uses {
  const collectionOf = (use: ViewUse) =>
    collectionAt(before, use.schema === schema ? undefined : use.schema, use.relation);
  return new Map(
    objectsInOrder(before).map((object): [string, readonly ResolvedUse[]] => {
      const key = objectKey(object);
      const uses = facts?.get(key)?.uses ?? parseUses(object, schema);
      return [key, uses.map((use) => ({ ...use, collection: collectionOf(use) }))];
    }),
  );
}

function parseUses({ definition }: SchemaObject, schema: string): ViewUse[] {
  const parsed = parseDefinition(definition);
  const relations = typeof parsed === 'string' ? [] : parsed.relations;
  return relations.map((each) => ({ schema: each.schema ?? schema, relation: each.name, column: null }));
}

/** Members of a column that PostgreSQL changes without regard to views. */
const HARMLESS =
  /^\/(?:meta|type)\b|^\/schema\/(?:default_value|is_nullable|is_unique|is_indexed|has_auto_increment|comment)$/;

/** Returns objects that must be dropped, with the index of the event that requires it. */
function findAffectedObjects(change: ObjectChange, { defined, deleted }: Changed, uses: Uses): Map<string, number> {
  // A view may use a deleted one whose name another kind takes.
  const affected = new Map([...deleted].map(([key, { index }]) => [key, index]));
  for (const [key, { index }] of defined) if (uses.has(key)) affected.set(key, index);
  for (const { index, isUsed } of alterations(change))
    for (const [key, used] of uses) if (!affected.has(key) && used.some(isUsed)) affected.set(key, index);
  // A map visits entries that are added in the meantime.
  for (const [key, index] of affected)
    for (const user of usersOf(objectOf(change.before, key), change, uses))
      if (!affected.has(user)) affected.set(user, index);
  return affected;
}

function usersOf({ id }: ObjectName, { schema }: ObjectChange, uses: Uses): string[] {
  return [...uses].flatMap(([key, used]) => (used.some((use) => isOf(use, id, schema)) ? [key] : []));
}

/** True if the view uses this other view. Views are in the default schema. */
const isOf = (use: ViewUse, id: string, schema: string): boolean => use.schema === schema && use.relation === id;

interface Alteration {
  index: number;
  isUsed: (use: ResolvedUse) => boolean;
}

/** Returns the changes of tables that PostgreSQL rejects while a view uses the column or the key. */
function alterations(change: ObjectChange): Alteration[] {
  const former = formerNames();
  return change.events.flatMap((event, index): Alteration[] => {
    const isAltered = changesSchema(event) && !isAdopted(event) ? alterationBy(event, former, change.before) : null;
    const table = former.collection(event.collection ?? '');
    former.add(event);
    if (isAltered === null) return [];
    const tables = new Set(withPartitions(change.before, table));
    const isTable = ({ collection }: ResolvedUse): boolean => collection !== undefined && tables.has(collection);
    return [{ index, isUsed: (use) => isTable(use) && isAltered(use) }];
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

/** Generated columns are dropped and created again with the columns that they read. */
function columnAlteration(paths: readonly string[], column: string | null, before: State): IsAltered {
  if (paths.every((path) => HARMLESS.test(path))) return null;
  if (paths.some((path) => KEY.test(path))) return () => true;
  return ({ collection = '', column: used }) =>
    used !== null && (used === column || isGenerated(before, collection, used));
}

const isGenerated = (state: State, collection: string, field: string): boolean =>
  getField(state, collection, field)?.schema?.generation_expression != null;

/** Objects whose relation or column is deleted, unless the change also changes or deletes them. */
function rejectLostUses({ before, after, schema, events }: ObjectChange, changed: Changed, uses: Uses): Problem[] {
  if (!events.some((event) => event.type.endsWith('.deleted') && !isAdopted(event))) return [];
  const renamed = events.some(({ type }) => type === 'collection.renamed' || type === 'field.renamed');
  return [...uses].flatMap(([key, used]): Problem[] => {
    if (changed.defined.has(key) || changed.deleted.has(key)) return [];
    const object = objectOf(before, key);
    const lost = used.find((use) => isLost(use, { before, after, schema, changed, renamed }));
    return lost === undefined ? [] : [createStillUsedProblem(object, lost)];
  });
}

interface Losing extends Pick<ObjectChange, 'before' | 'after' | 'schema'> {
  changed: Changed;
  renamed: boolean;
}

function isLost(use: ResolvedUse, losing: Losing): boolean {
  const { before, after, schema, changed, renamed } = losing;
  const isNamed = (key: string): boolean => isOf(use, key.split('\0')[1] ?? '', schema);
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

/** Finds the table by its identity if the batch renames tables or columns. */
function findCurrent(before: State, after: State, name: string, renamed: boolean) {
  if (!renamed) return after.collections.get(name);
  const identity = before.collections.get(name)?.identities.collection;
  return after.collections.find(({ identities }) => identities.collection === identity);
}

function createStillUsedProblem(object: SchemaObject, { collection, relation, column }: ResolvedUse): Problem {
  const name = collection ?? relation;
  const what = column === null ? JSON.stringify(name) : `column ${JSON.stringify(column)} of ${JSON.stringify(name)}`;
  return {
    code: 'IN_USE',
    message: `${objectLabel(object)} uses ${what}, which this change deletes. Change or delete the ${kindWords(object)} in the same change or before`,
    object: { kind: object.kind, id: object.id },
    collection: name,
    ...(column !== null && { field: column }),
  };
}

const createRenameFirstProblem = (object: SchemaObject): Problem => ({
  code: 'IN_USE',
  message: `${objectLabel(object)} must be created again for this change, which also renames objects. Apply the renames in a change of their own, before the others`,
  object: { kind: object.kind, id: object.id },
});

const kindWords = ({ kind }: ObjectName): string => KINDS[kind].label;

/** Users come before what they use. */
function dropOrder(keys: ReadonlySet<string>, uses: Uses): string[] {
  const byRelation = new Map([...keys].map((key) => [key.split('\0')[1] ?? '', key]));
  return sortNeededFirst(keys, (key) =>
    (uses.get(key) ?? []).flatMap(({ relation }) => byRelation.get(relation) ?? []),
  ).reverse();
}

interface Causes {
  affected: ReadonlyMap<string, number>;
  changed: Changed;
}

function sourceOf({ affected, changed }: Causes, key: string): number {
  return (changed.deleted.get(key) ?? changed.defined.get(key))?.index ?? affected.get(key) ?? 0;
}

/** An object to create: new, changed, or dropped for something that it uses. */
interface Creation {
  object: SchemaObject;
  /** The view before the batch. Undefined for a new one. */
  known: CatalogView | undefined;
  isNew: boolean;
  isChanged: boolean;
  index: number;
}

function creationOrder(change: ObjectChange, { affected, changed }: Causes, dropped: ReadonlySet<string>): Creation[] {
  const { after, facts, schema } = change;
  const nameNow = (key: string): string => {
    const [kind = ''] = key.split('\0');
    return `${kind}\0${changed.renamed.get(key)?.to ?? key.split('\0')[1]}`;
  };
  const created = new Map<string, Creation>();
  for (const [key, { index }] of changed.created)
    created.set(key, { object: objectOf(after, key), known: undefined, isNew: true, isChanged: true, index });
  for (const old of dropped) {
    if (changed.deleted.has(old)) continue;
    const isChanged = changed.defined.has(old);
    const index = changed.defined.get(old)?.index ?? affected.get(old) ?? 0;
    created.set(nameNow(old), {
      object: objectOf(after, nameNow(old)),
      known: facts?.get(old),
      isNew: false,
      isChanged,
      index,
    });
  }
  const byRelation = new Map([...created].map(([key, { object }]) => [object.id, key]));
  const needs = (key: string): string[] => {
    const creation = created.get(key);
    const used = creation === undefined ? [] : parseUses(creation.object, schema);
    return used.flatMap(({ relation }) => byRelation.get(relation) ?? []);
  };
  return sortNeededFirst(created.keys(), needs).flatMap((key) => created.get(key) ?? []);
}

function createStatements({ schema }: ObjectChange, creation: Creation): Statement[] {
  const { object, known, isNew, isChanged, index } = creation;
  const name = qualified(schema, object.id);
  const statement = statementFor(object, index, isNew ? 'object.created' : 'object.updated');
  const restored = (known?.restoring ?? []).map((text) =>
    statement(restoringStatement(text), `restore privileges and settings of ${object.id}`),
  );
  const comment = statement(commentOn(schema, object), `comment on ${kindWords(object)} ${object.id}`);
  const verb = isNew ? 'create' : isChanged ? 'change' : 'recreate';
  return [
    statement(creationSql(name, creation), `${verb} ${kindWords(object)} ${object.id}`),
    ...restored,
    ...(object.comment === null ? [] : [comment]),
    ...(object.indexes ?? []).map((each) => statement(createIndex(name, each), `create index ${each.name}`)),
  ];
}

/** An object that did not change is created from what the server printed, because names may have changed since then. */
function creationSql(name: Sql, { object, known, isChanged }: Creation): Sql {
  if (isChanged || known === undefined)
    return sql`CREATE ${kindSql(object.kind)} ${name}${objectTail(object.definition)}`;
  const data = known.populated ? sql`` : sql` WITH NO DATA`;
  return sql`CREATE ${kindSql(object.kind)} ${name}${objectTail(known.definition)}${data}`;
}

type MakeStatement = (text: Sql, summary: string) => Statement;

const statementFor =
  (object: ObjectName, event: number, type: ObjectEvent['type']): MakeStatement =>
  (text, summary) => ({
    sql: text,
    object: { kind: KINDS[object.kind].label, name: object.id, table: null },
    drops: [],
    summary,
    lock: 'none',
    locks: [],
    loses_data: false,
    rewrites_table: false,
    may_fail: false,
    lock_entries: 2,
    source: { event, type, collection: object.id, field: null },
  });

const createIndex = (name: Sql, { name: index, unique, definition }: ObjectIndex): Sql =>
  sql`CREATE ${unique === true ? sql`UNIQUE ` : sql``}INDEX ${ident(index)} ON ${name} ${indexDefinition(definition)}`;

const commentOn = (schema: string, object: SchemaObject): Sql =>
  sql`COMMENT ON ${kindSql(object.kind)} ${qualified(schema, object.id)} IS ${object.comment === null ? sql`NULL` : literal(object.comment)}`;

function dropObject({ schema }: ObjectChange, object: SchemaObject, index: number): Statement {
  const make = statementFor(object, index, 'object.deleted');
  const statement = make(
    sql`DROP ${kindSql(object.kind)} ${qualified(schema, object.id)}`,
    `drop ${kindWords(object)} ${object.id}`,
  );
  return { ...statement, drops: [statement.object] };
}

function renameStatement(
  { schema, before }: ObjectChange,
  key: string,
  { index, to }: Numbered & { to: string },
): Statement {
  const object = objectOf(before, key);
  const text = sql`ALTER ${kindSql(object.kind)} ${qualified(schema, object.id)} RENAME TO ${ident(to)}`;
  return statementFor(object, index, 'object.renamed')(text, `rename ${kindWords(object)} ${object.id} to ${to}`);
}

/** Changes comments and indexes of an object that stays. */
function describeObject({ schema, before, after }: ObjectChange, key: string, { event, index }: Numbered): Statement[] {
  const [old, now] = [objectOf(before, key), objectOf(after, objectKey(event.subject))];
  const statement = statementFor(now, index, 'object.updated');
  const name = qualified(schema, now.id);
  const same = new Set((old.indexes ?? []).map((each) => JSON.stringify(each)));
  const kept = new Set((now.indexes ?? []).map((each) => JSON.stringify(each)));
  return [
    ...(old.indexes ?? []).flatMap((each) =>
      kept.has(JSON.stringify(each))
        ? []
        : [statement(sql`DROP INDEX ${qualified(schema, each.name)}`, `drop index ${each.name}`)],
    ),
    ...(now.indexes ?? []).flatMap((each) =>
      same.has(JSON.stringify(each)) ? [] : [statement(createIndex(name, each), `create index ${each.name}`)],
    ),
    ...(old.comment === now.comment
      ? []
      : [statement(commentOn(schema, now), `comment on ${kindWords(now)} ${now.id}`)]),
  ];
}
