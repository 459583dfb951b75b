/* Finds drift of objects, and plans their repair. */
import type pg from 'pg';
import { createTimeSlice, mapYielding } from '../../kernel/event-loop.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import { objectsOwnerOf } from '../../postgres/client.js';
import { type ManagedSchemas, lockObjects, readObjects } from '../../projector/catalog/managed-objects.js';
import type { CatalogColumn, CatalogTable } from '../../projector/catalog/model.js';
import type { CatalogObject, ObjectFacts } from '../../projector/ddl/catalog-object.js';
import { kindWords, setOwner } from '../../projector/ddl/object-statements.js';
import { planObjects } from '../../projector/ddl/objects.js';
import { type Sql, ident, objectTail, qualified, sql, relationSql } from '../../projector/ddl/sql.js';
import { requestOf } from '../../projector/online/copy.js';
import type { Difference } from '../../projector/verify/difference.js';
import { verifyCatalogObjects } from '../../projector/verify/objects.js';
import { OWNER } from '../../projector/verify/properties.js';
import type { ObjectEvent } from '../../schema/model/events.js';
import type { TableSchema } from '../../schema/model/model.js';
import { type ObjectName, isSequence, objectKey } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { collectionsNeeding } from '../../schema/model/order.js';
import { type State, byName, extrasOfTable, schemasOf } from '../../schema/model/state.js';
import { mergeObject } from '../../schema/normal-form/object.js';
import { Draft } from '../../schema/transition/draft.js';
import { objectTransition } from '../../schema/transition/objects.js';
import type { ObjectDrift, RepairPlan } from './model.js';
import { toShownRepair } from './repair-plan.js';

interface ObjectFinding {
  views: ObjectFacts;
  /** The differences of each object, by its key. */
  drifted: Map<string, Difference[]>;
}

interface InspectedSchemas extends ManagedSchemas {
  state: State;
}

/** Must be called in a transaction that holds the log's lock. The transaction is unchanged afterwards. */
async function inspectObjects(
  client: pg.ClientBase,
  { state, schema, schemas = [] }: InspectedSchemas,
): Promise<ObjectFinding> {
  const all = [...new Set([...schemas, ...schemasOf(state, schema)])];
  const views = await readObjects(client, { schema, schemas: all });
  const drifted = new Map<string, Difference[]>();
  for (const difference of await verifyCatalogObjects(client, state, views)) {
    const key = objectKey(difference.object as ObjectName);
    drifted.set(key, [...(drifted.get(key) ?? []), difference]);
  }
  return { views, drifted };
}

interface DetectedObjects {
  objects: ObjectDrift[];
  unmanaged_objects: ObjectName[];
}

/** Must be called in a transaction that holds the log's lock. */
export async function findObjectDrift(
  client: pg.ClientBase,
  { owners, ...inspected }: InspectedSchemas & { owners: readonly Difference[] },
): Promise<DetectedObjects> {
  const { state, schema } = inspected;
  const { views, drifted } = await inspectObjects(client, inspected);
  for (const owner of owners) {
    if (owner.object !== undefined) {
      const key = objectKey(owner.object as ObjectName);
      drifted.set(key, [...(drifted.get(key) ?? []), owner]);
    }
  }
  const actual = actualState(state, { views, drifted });
  const owner = objectsOwnerOf(client);
  const objects = await mapYielding(
    [...drifted].sort(([a], [b]) => byName(a, b)),
    ([key, differences]) => objectDrift({ state, actual, schema, owner, views }, key, differences),
    createTimeSlice(),
  );
  const isNeeded = (view: CatalogObject): boolean => collectionsNeeding(state, view).length > 0;
  const unmanaged = [...views.values()]
    // A sequence that a table needs is part of that table. Every database has initial privileges.
    .filter(
      (view) =>
        view.extension === null && view.isInitial !== true && !state.objects.has(objectKey(view)) && !isNeeded(view),
    )
    .map(({ kind, id }) => ({ kind, id }));
  return { objects, unmanaged_objects: unmanaged.sort((a, b) => byName(objectKey(a), objectKey(b))) };
}

/** Returns the state with all objects as the database contains them. */
function actualState(state: State, { views, drifted }: ObjectFinding): State {
  const draft = new Draft(state);
  for (const [key, differences] of drifted) {
    const { object } = state.objects.get(key) as { object: SchemaObject };
    const view = views.get(key);
    if (view === undefined) draft.removeObject(object);
    else draft.putObject(withDatabaseValues(object, view, differences));
  }
  return draft.toState();
}

/** Returns the object of the log with the values of the database where these differ. */
function withDatabaseValues(
  object: SchemaObject,
  view: CatalogObject,
  differences: readonly Difference[],
): SchemaObject {
  const differs = new Set(differences.map(({ member }) => member));
  return {
    ...object,
    ...(differs.has('definition') && { definition: view.definition }),
    ...(differs.has('comment') && { comment: view.comment }),
    ...(differs.has('enabled') && view.enabled !== null && { enabled: view.enabled }),
    ...(differs.has('indexes') && view.indexes !== null && { indexes: view.indexes }),
  };
}

interface Sides {
  state: State;
  actual: State;
  schema: string;
  /** The role of OBJECTS_OWNER. */
  owner: string | undefined;
  views: ObjectFacts;
}

function objectDrift(sides: Sides, key: string, differences: readonly Difference[]): ObjectDrift {
  const { state, actual } = sides;
  const { object } = state.objects.get(key) as { object: SchemaObject };
  const there = actual.objects.get(key)?.object;
  const draft = new Draft(state);
  if (there === undefined) draft.removeObject(object);
  else draft.putObject(there);
  return {
    object: { kind: object.kind, id: object.id },
    kind: there === undefined ? 'missing' : 'different',
    differences: differences.map(({ member, expected, found }) => ({ member, expected, found })),
    repair: {
      database: repairStatements(sides, object, differences),
      log: eventsBetween(state, draft.toState()).map(toRepairEvent),
    },
  };
}

function toRepairEvent({ type, collection, field, data, subject }: ObjectEvent): ObjectDrift['repair']['log'][number] {
  return { type, collection, field, data, subject };
}

function eventsBetween(from: State, to: State): ObjectEvent[] {
  const { first, last } = objectTransition(from, to);
  return [...first, ...last];
}

/** Returns the statements of a repair. Objects that use this object are dropped and created again. */
function repairStatements(
  { actual, schema, owner, views }: Sides,
  object: SchemaObject,
  differences: readonly Difference[],
): ObjectDrift['repair']['database'] {
  const isMissing = !actual.objects.has(objectKey(object));
  const sequence = isSequence(object) && isMissing ? sequenceStatements(schema, object) : [];
  const before = sequence.length > 0 ? withObject(actual, { ...object, comment: null }) : actual;
  const after = withObject(before, object);
  const events = eventsBetween(before, after);
  const { first, last } = planObjects({ before, after, events, schema, owner, facts: views });
  const kept = new Set((object.indexes ?? []).map(({ name }) => name));
  const losesIndex = views.get(objectKey(object))?.indexes?.some(({ name }) => !kept.has(name)) === true;
  const isGiven = sequence.length > 0 || differences.some(({ member }) => member === OWNER);
  const given =
    owner !== undefined && isGiven
      ? [
          {
            sql: setOwner(schema, object, owner),
            summary: `set the owner of ${kindWords(object)} ${object.id} to ${owner}`,
          },
        ]
      : [];
  return [...sequence, ...first, ...last, ...given].map(({ sql, summary }) =>
    toShownRepair({ sql, summary, drops: losesIndex }),
  );
}

function withObject(state: State, object: SchemaObject): State {
  const draft = new Draft(state);
  draft.putObject(object);
  return draft.toState();
}

/** A missing sequence may exist, because someone attached it to a column. It then keeps its value. */
function sequenceStatements(schema: string, { id, definition }: SchemaObject): { sql: Sql; summary: string }[] {
  const name = relationSql(schema, id);
  return [
    {
      sql: sql`CREATE SEQUENCE IF NOT EXISTS ${name}${objectTail(definition)}`,
      summary: `create sequence ${id} unless it exists`,
    },
    { sql: sql`ALTER SEQUENCE ${name} OWNED BY NONE`, summary: `detach sequence ${id} from its column` },
  ];
}

interface AcceptedObjects {
  changed: SchemaObject[];
  deleted: ObjectName[];
  /** Objects that the log cannot represent, with reasons. */
  notAccepted: (ObjectName & { message: string })[];
}

/** Reads the objects that the request accepts. Views cannot change until the transaction ends. */
export async function readAcceptedObjects(
  client: pg.ClientBase,
  inspected: InspectedSchemas,
  requested: readonly ObjectName[] | undefined,
): Promise<AcceptedObjects> {
  const { state, schema } = inspected;
  const isMeant = requested && new Set(requested.map(objectKey));
  const held = new Set<string>();
  for (;;) {
    const { views, drifted } = await inspectObjects(client, inspected);
    const meant = [...drifted].filter(([key]) => isMeant?.has(key) ?? true);
    const open = meant.filter(([key]) => views.has(key) && !held.has(key));
    if (open.length === 0) return acceptedObjects(state, views, meant);
    await lockObjects(
      client,
      schema,
      open.map(([key]) => views.get(key) as CatalogObject),
    );
    for (const [key] of open) held.add(key);
  }
}

function acceptedObjects(
  state: State,
  views: ObjectFacts,
  drifted: readonly [key: string, differences: Difference[]][],
): AcceptedObjects {
  const accepted: AcceptedObjects = { changed: [], deleted: [], notAccepted: [] };
  for (const [key, differences] of drifted) {
    const { object } = state.objects.get(key) as { object: SchemaObject };
    const { kind, id } = object;
    const view = views.get(key);
    if (view === undefined) {
      accepted.deleted.push({ kind, id });
      continue;
    }
    // If a request with these members would be rejected, a snapshot with them could not be applied to another instance.
    const read = mergeObject(object, withDatabaseValues(object, view, differences), []);
    if (read.ok) accepted.changed.push(read.value);
    else accepted.notAccepted.push({ kind, id, message: read.problems.map(({ message }) => message).join('; ') });
  }
  return accepted;
}

/*
 * Finds constraints and indexes that cannot be altered to the recorded definition. They are dropped and created again.
 */

interface ConflictingObjects {
  statements: RepairPlan['statements'];
  rest: CatalogTable;
}

interface Part {
  kind: 'constraint' | 'index';
  name: string;
}

const MEMBER = /^(constraint|index) (.*)$/s;

/** Returns the constraint or index that a difference is about. Null for other differences. */
export function partOf({ member }: Pick<Difference, 'member'>): Part | null {
  const [, kind, name] = MEMBER.exec(member) ?? [];
  return kind === undefined || name === undefined ? null : { kind: kind as Part['kind'], name };
}

/** Returns the members that belong to the table as a whole and not to a field. */
export function listTableParts(schema: TableSchema | null): string[] {
  const { constraints = [], indexes = [], unmanaged = [] } = extrasOfTable(schema);
  return [
    ...constraints.map(({ name }) => `constraint ${name}`),
    ...indexes.map(({ name }) => `index ${name}`),
    ...unmanaged.map(({ kind, name }) => `${kind} ${name}`),
  ];
}

interface TableComparison {
  schema: string;
  table: CatalogTable;
  /** The existing columns, by the name of their field. */
  renamed: ReadonlyMap<string, CatalogColumn>;
  /** The members of the existing table that belong to the table as a whole. */
  loose: ReadonlySet<string>;
}

export function conflictingObjects(
  differences: readonly Difference[],
  comparison: TableComparison,
): ConflictingObjects {
  const { schema, table, loose } = comparison;
  const keys = new Set(table.constraints.filter(({ kind }) => kind === 'primary key').map(({ name }) => name));
  const going = differences.filter((each) => {
    const part = partOf(each);
    if (part === null || each.found === null || (part.kind === 'constraint' && keys.has(part.name))) return false;
    if (requestOf(part.name) !== null) return true;
    return each.expected === null ? loose.has(each.member) : !isOnlyRenamed(each, comparison);
  });
  const removedMembers = new Set(going.map(({ member }) => member));
  const stays = (member: string): boolean => !removedMembers.has(member);
  return {
    statements: going.map((each) => ({ field: each.field ?? null, ...dropPart(partOf(each) as Part, schema, table) })),
    rest: {
      ...table,
      constraints: table.constraints.filter(({ name }) => stays(`constraint ${name}`)),
      indexes: table.indexes.filter(({ name, constraint }) =>
        stays(constraint === null ? `index ${name}` : `constraint ${constraint}`),
      ),
    },
  };
}

/** True if only the name of a column differs. The rename then also removes this difference. */
function isOnlyRenamed({ expected, found }: Difference, { renamed }: TableComparison): boolean {
  if (!isObject(found) || !Array.isArray(found['columns'])) return false;
  const names = new Map([...renamed].map(([field, { name }]) => [name, field]));
  const columns = found['columns'].map((name) => (typeof name === 'string' ? (names.get(name) ?? name) : name));
  return jsonEqual(expected, { ...found, columns });
}

function dropPart({ kind, name }: Part, usual: string, { name: table, schema = usual, table: own }: CatalogTable) {
  const dropConstraint = (): Sql => sql`ALTER TABLE ${qualified(schema, own)} DROP CONSTRAINT ${ident(name)}`;
  const text = kind === 'index' ? sql`DROP INDEX ${qualified(schema, name)}` : dropConstraint();
  return { sql: text, summary: `drop ${kind} ${name} of ${table}`, drops: true, object: { kind, name, table } };
}
