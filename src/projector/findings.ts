/* The findings of a plan, with facts from the database about its tables. */
import { runYielding } from '../kernel/event-loop.js';
import { NotInTimeError, limitTime } from '../kernel/time.js';
import type { Warning } from '../kernel/problem.js';
import { readNamesOfLifetimes, readCollectionSpans } from '../log/lifetimes.js';
import { readPolicy } from '../log/decisive-events.js';
import { NO_FOLD_LIMITS, foldCollections } from '../log/fold.js';
import type { Queryable } from '../postgres/pool.js';
import { findingOf, groupFindings } from '../schema/findings/finding.js';
import type { Dependent, Finding, Inheritance, TableStatistics } from '../schema/findings/model.js';
import {
  type DatabaseFacts,
  type Plan,
  type DatabaseQuestions,
  findingsOf,
  questionsOf,
} from '../schema/findings/planned-batch.js';
import {
  type JudgedNames,
  type NamedCollection,
  type NamesBefore,
  collectionsNamed,
} from '../schema/fold/former-names.js';
import type { LogEvent } from '../schema/model/events.js';
import { type ObjectName, kindWithLabel, objectKey } from '../schema/model/objects.js';
import { objectNameParts, fromLocalObject, splitQualifiedId, type LocalObject } from '../schema/model/object-ids.js';
import { ancestorsOf, parentOf } from '../schema/model/order.js';
import { type State, NEW_IDENTITY, collectionAt, locationKey, tablesBySchema } from '../schema/model/state.js';
import { type FindingWithAction, type Policy, isEarlyPurge, isStopping, judgeAll } from '../schema/policy.js';
import { typeLookup, typeQuestion } from './refusals/missing-extension.js';
import { readPrivilegesOn } from './catalog/privileges.js';
import { readTableFacts } from './online/steps.js';
import { POLICY_ID, ROUTINE_ID, ROUTINE_KIND, IS_RULE, RULE_ID } from './ddl/object-sql.js';
import { own, sql } from './ddl/sql.js';
import { findOtherLocation } from './ddl/step.js';

/** The state that locates the tables of a plan. */
interface DescribedTables {
  /** The default schema. */
  schema: string;
  state: State;
}

/* Finds objects that depend on a table or a column: views, rules, policies, functions. */

/**
 * Selects objects that depend on a table or a column, with their schema and their id without it. A view depends through
 * its rule. Functions only depend if PostgreSQL has parsed their body (BEGIN ATOMIC). Each kind has its
 * own subquery: planning one join of all catalogs took 20 ms.
 */
const DEPENDENTS = sql`
WITH d AS MATERIALIZED (
  SELECT c.oid, c.relname, d.classid, d.objid, d.refobjsubid
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
    JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = c.oid
   WHERE c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p'))
SELECT DISTINCT d.relname::text AS table,
  (SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = d.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0) AS column,
  o.kind, o.name, o.schema, o.id
FROM d CROSS JOIN LATERAL (
  SELECT CASE WHEN ${IS_RULE} THEN 'rule' WHEN c.relkind = 'm' THEN 'materialized view' ELSE 'view' END,
         CASE WHEN ${IS_RULE} THEN r.rulename::text ELSE c.oid::regclass::text END,
         n.nspname::text, CASE WHEN ${IS_RULE} THEN ${RULE_ID} ELSE c.relname::text END
    FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND r.oid = d.objid AND (c.oid <> d.oid OR d.refobjsubid > 0)
  UNION ALL
  SELECT ${ROUTINE_KIND}, p.oid::regprocedure::text,
         n.nspname::text, ${ROUTINE_ID}
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
   WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.objid
  UNION ALL
  SELECT 'policy', policy.polname::text, n.nspname::text, ${POLICY_ID}
    FROM pg_catalog.pg_policy policy JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE d.classid = 'pg_catalog.pg_policy'::regclass::oid AND policy.oid = d.objid AND d.refobjsubid > 0) o (kind, name, schema, id)
ORDER BY 1, 2, 3, 4 LIMIT 1000`;

interface DependentRow extends Omit<Dependent, 'isManaged'> {
  schema: string;
  id: string;
}

/** Returns at most 1000 dependents, ordered by table. */
async function readDependents(
  db: Queryable,
  { schema, state }: DescribedTables,
  tables: readonly string[],
): Promise<Dependent[]> {
  const dependents: Dependent[] = [];
  for (const [place, names] of tablesBySchema(state, tables, schema)) {
    const { rows } = await db.query<DependentRow>(DEPENDENTS, [place, [...names.keys()]]);
    for (const row of rows) {
      const { id, schema: other, ...dependent } = row;
      const own = other === schema ? undefined : other;
      const isManaged = isManagedObject(state, row.kind, { id, schema: own });
      dependents.push({ ...dependent, table: names.get(row.table) ?? row.table, isManaged });
    }
  }
  return dependents.slice(0, MOST_DEPENDENTS);
}

function isManagedObject({ objects }: State, label: string, local: Omit<LocalObject, 'kind'>): boolean {
  const kind = kindWithLabel(label);
  return kind !== undefined && objects.has(objectKey(fromLocalObject({ kind, ...local })));
}

const MOST_DEPENDENTS = 1_000;

interface InheritanceRow {
  child: [schema: string, name: string];
  parent: [schema: string, name: string];
  child_name: string;
  parent_name: string;
  is_partition: boolean;
  columns: string[];
  not_null: string[];
  checks: string[];
}

/**
 * Selects all parents of tables and of their descendants, and the parents of those. A partition has one parent, so
 * only the partitions of the tables themselves are included. They come last, because a table may have many. Only PostgreSQL 18 has NOT NULL constraints that are inherited.
 */
const INHERITANCE = sql`
WITH RECURSIVE roots (oid) AS (
  SELECT c.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
   WHERE c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p')),
down (oid) AS (
  SELECT r.oid FROM roots r
  UNION
  SELECT i.inhrelid FROM down d JOIN pg_catalog.pg_class c ON c.oid = d.oid AND c.relkind = 'r'
    JOIN pg_catalog.pg_inherits i ON i.inhparent = d.oid),
up (child, parent) AS (
  SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits i
   WHERE i.inhrelid IN (SELECT d.oid FROM down d)
  UNION
  SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits i
   WHERE i.inhparent IN (SELECT r.oid FROM roots r)
  UNION
  SELECT i.inhrelid, i.inhparent FROM up u JOIN pg_catalog.pg_inherits i ON i.inhrelid = u.parent)
SELECT ARRAY[nc.nspname::text, c.relname::text] AS child, ARRAY[np.nspname::text, p.relname::text] AS parent,
  u.child::regclass::text AS child_name, u.parent::regclass::text AS parent_name, c.relispartition AS is_partition,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_attribute b ON b.attname = a.attname
    WHERE a.attrelid = u.child AND b.attrelid = u.parent AND b.attnum > 0 AND a.attinhcount > 0) AS columns,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_constraint k
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
    JOIN pg_catalog.pg_attribute b ON b.attrelid = u.parent AND b.attname = a.attname AND b.attnotnull
    WHERE k.conrelid = u.child AND k.contype = 'n'::"char" AND k.coninhcount > 0) AS not_null,
  ARRAY(SELECT k.conname::text FROM pg_catalog.pg_constraint k
    JOIN pg_catalog.pg_constraint o ON o.conname = k.conname AND o.contype = k.contype AND o.conrelid = u.parent
    WHERE k.conrelid = u.child AND k.contype = 'c'::"char" AND k.coninhcount > 0) AS checks
FROM up u JOIN pg_catalog.pg_class c ON c.oid = u.child JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
JOIN pg_catalog.pg_class p ON p.oid = u.parent JOIN pg_catalog.pg_namespace np ON np.oid = p.relnamespace
ORDER BY c.relispartition, 1, 2 LIMIT 1000`;

async function readInheritance(
  db: Queryable,
  { schema, state }: DescribedTables,
  tables: readonly string[],
): Promise<Inheritance[]> {
  const found = new Map<string, Inheritance>();
  const keyOf = ([place, name]: readonly [string, string]): string =>
    collectionAt(state, place === schema ? undefined : place, name) ?? locationKey(place, name);
  for (const [place, names] of tablesBySchema(state, tables, schema)) {
    const { rows } = await db.query<InheritanceRow>(INHERITANCE, [place, [...names.keys()]]);
    for (const { child_name, parent_name, is_partition, not_null, columns, checks, ...row } of rows) {
      const [child, parent] = [keyOf(row.child), keyOf(row.parent)];
      const each = { child, parent, childName: child_name, parentName: parent_name, isPartition: is_partition };
      found.set(JSON.stringify([child, parent]), { ...each, columns, notNull: not_null, checks });
    }
  }
  return [...found.values()];
}

/** Milliseconds that all queries for the findings may take. A plan without these facts is better than none. */
const LIMIT = 2_000;

/** Tables per query, because each result is parsed at once. */
const AT_ONCE = 1_000;

/**
 * Reads the facts that rules need, once per plan and outside its transaction. The statements may already have run and
 * been rolled back.
 * @param schema of the tables; `patient`: waits for the results, because a decision depends on them
 */
export async function planFindings(
  db: Queryable,
  schema: string,
  plan: Plan,
  { patient = false } = {},
): Promise<Finding[]> {
  const questions = await runYielding(questionsOf(plan));
  return runYielding(findingsOf(plan, await askWithLimit(db, { schema, state: plan.before }, { questions, patient })));
}

/**
 * Returns the findings of a plan, with the effect of the current policy.
 * @param noticed findings from other sources
 */
export async function judgeFindings(
  db: Queryable,
  schema: string,
  { plan, noticed }: { plan: Plan; noticed: readonly Warning[] },
): Promise<FindingWithAction<Finding>[]> {
  const { policy } = await readPolicy(db);
  return findingsByPolicy(db, schema, { plan, policy, noticed });
}

/**
 * Returns only the findings that the policy blocks, for accepted drift. The other findings are already true in the
 * database.
 */
export async function stoppingFindings(
  db: Queryable,
  schema: string,
  { warnings, ...plan }: Plan & { warnings: readonly Warning[] },
): Promise<FindingWithAction<Finding>[]> {
  const shown = await judgeFindings(db, schema, { plan: { ...plan, adopted: true }, noticed: warnings });
  return shown.filter(({ action }) => isStopping(action));
}

/** Returns the findings under another policy. */
export async function findingsByPolicy(
  db: Queryable,
  schema: string,
  { plan, policy, noticed }: { plan: Plan; policy: Policy; noticed: readonly Warning[] },
  options: Parameters<typeof planFindings>[3] = {},
): Promise<FindingWithAction<Finding>[]> {
  const before = await readJudgedNames(db, schema, { ...plan, policy });
  const findings = await planFindings(db, schema, { ...plan, policy, judgedNames: before }, options);
  const shown = await runYielding(judgeAll(policy, findings, before));
  const beside = await runYielding(judgeAll(policy, noticed.map(findingOf), before));
  return [...shown, ...(await runYielding(groupFindings(beside)))];
}

/**
 * Returns the names under which the policy evaluates a collection: all that it had since it was created, including through the
 * trash, and those that the batch assigns. The tables above a partition or an inheriting table count before and after
 * the batch. Runs no query if the policy is the same for all collections.
 */
export async function readJudgedNames(
  db: Queryable,
  schema: string,
  { policy, before, after, events }: Pick<Plan, 'before' | 'after' | 'events'> & { policy: Policy },
): Promise<NamesBefore> {
  const called = collectionsNamed(before, events);
  if (policy.collections.length === 0) return () => NO_OTHERS;
  const lives = await readNamesOfLifetimes(db, namesBefore(before, events));
  const purged = await readPurgedNames(db, events);
  const parents = await readInheritedParents(
    db,
    { schema, state: before },
    new Set(events.flatMap(({ collection }) => called(collection ?? '').flatMap(({ names }) => [...names]))),
  );
  const namesOf = (name: string): string[] =>
    called(name).flatMap(({ identity, names }) => [...names, ...(lives.get(identity) ?? [])]);
  const above = (name: string): string[] => {
    const partitioned = called(name).flatMap((collection) => [
      ...ancestorsIn(before, collection),
      ...ancestorsIn(after, collection, true),
    ]);
    return [...partitioned, ...parents(name), ...called(name).flatMap(({ names }) => [...names].flatMap(parents))];
  };
  return (name) => purged.get(name) ?? { own: new Set(namesOf(name)), above: new Set(above(name).flatMap(namesOf)) };
}

const NO_OTHERS: JudgedNames = { own: new Set(), above: new Set() };

/** Returns the partitioned tables above a collection in a state. A new collection has no identity before the batch. */
const ancestorsIn = (state: State, { identity, names }: NamedCollection, withNew = false): string[] =>
  [...names].flatMap((name) => {
    const isSame = state.collections.get(name)?.identities.collection === identity;
    return isSame || (withNew && identity === NEW_IDENTITY) ? ancestorsOf(state, name) : [];
  });

/** Returns a function from a table to all tables from which it inherits, by their names before the batch. */
async function readInheritedParents(
  db: Queryable,
  place: DescribedTables,
  tables: Iterable<string>,
): Promise<(table: string) => string[]> {
  const parents = new Map<string, Set<string>>();
  for (const some of splitNames([...tables]))
    for (const { child, childName, parent } of await readInheritance(db, place, some)) {
      const name = place.state.collections.has(child) ? child : childName;
      parents.set(name, (parents.get(name) ?? new Set()).add(parent));
    }
  return (table) => {
    const above = new Set(parents.get(table));
    // The loop also visits parents that are added to the set while it runs.
    for (const each of above) for (const parent of parents.get(each) ?? []) above.add(parent);
    return [...above];
  };
}

/**
 * Returns the names of the collections whose data is purged, by the name that they had at the deletion. Another
 * collection may have that name now.
 */
async function readPurgedNames(db: Queryable, events: readonly LogEvent[]): Promise<Map<string, JudgedNames>> {
  const purged = new Map<string, JudgedNames>();
  for (const event of events) {
    if (event.type !== 'trash.purged' || event.collection === null || !isEarlyPurge(event)) continue;
    const at = event.data.position - 1;
    const names = async (collection: string): Promise<string[]> =>
      (await readCollectionSpans(db, [collection], at)).map((span) => span.collection);
    const above = new Set<string>();
    for (const parent of await readAncestorsAt(db, event.collection, at))
      for (const name of await names(parent)) above.add(name);
    purged.set(event.collection, { own: new Set(await names(event.collection)), above });
  }
  return purged;
}

/** Returns the partitioned tables above a collection at a position. Reads only the events of these tables. */
async function readAncestorsAt(db: Queryable, collection: string, position: number): Promise<string[]> {
  const above = new Set<string>();
  for (let name: string | undefined = collection; name !== undefined;) {
    const state: State | undefined = await foldCollections(db, [name], position, NO_FOLD_LIMITS);
    name = state && parentOf(state, name);
    if (name === undefined || above.has(name)) break;
    above.add(name);
  }
  return [...above];
}

/** Yields names of existing collections, and of those that the batch restores. */
function* namesBefore({ collections }: State, events: readonly LogEvent[]): Iterable<string> {
  yield* collections.keys();
  for (const { type, data } of events) if (type === 'collection.created' && data.restored) yield data.restored.name;
}

interface FindingQueries {
  questions: DatabaseQuestions;
  patient: boolean;
}

async function askWithLimit(
  db: Queryable,
  place: DescribedTables,
  { questions, patient }: FindingQueries,
): Promise<DatabaseFacts> {
  if (patient) return answer(db, place, questions);
  try {
    return await limitTime(answer(db, place, questions), LIMIT);
  } catch (error) {
    if (error instanceof NotInTimeError) return {};
    throw error;
  }
}

async function answer(
  db: Queryable,
  { schema, state }: DescribedTables,
  { tables, altered, types = [], roles = [], deletions = [], replaced }: DatabaseQuestions,
): Promise<DatabaseFacts> {
  const statistics: [string, TableStatistics][] = [];
  for (const some of splitNames(tables)) {
    const facts = await readTableFacts(db, {
      schema,
      tables: some.map((table) => ({ table, ...findOtherLocation(state, table, schema) })),
      exact: false,
    });
    for (const { name, bytes, rows, age, uses } of facts.values()) statistics.push([name, { bytes, rows, age, uses }]);
  }
  const dependents: Dependent[] = [];
  const inheritance: Inheritance[] = [];
  for (const some of splitNames(altered)) {
    dependents.push(...(await readDependents(db, { schema, state }, some)));
    inheritance.push(...(await readInheritance(db, { schema, state }, some)));
  }
  const missingRoles = new Set(roles.length === 0 ? [] : await readMissingRoles(db, roles));
  const deletedObjects = deletions.length === 0 ? new Map() : await readDeletedObjects(db, deletions);
  const replacedPrivileges = await readReplacedPrivileges(db, schema, replaced);
  const databaseFacts = {
    statistics: new Map(statistics),
    dependents,
    inheritance,
    missingRoles,
    deletedObjects,
    replacedPrivileges,
  };
  if (types.length === 0) return databaseFacts;
  const { rows } = await db.query(typeQuestion(types.slice(0, AT_ONCE), schema));
  return { ...databaseFacts, types: typeLookup(rows) };
}

async function readReplacedPrivileges(
  db: Queryable,
  schema: string,
  replaced: readonly string[] = [],
): Promise<readonly ObjectName[]> {
  const names = replaced.flatMap((id) => [splitQualifiedId(id), objectNameParts({ kind: 'function', id })]);
  const privileges: ObjectName[] = [];
  for (const place of new Set(names.map((each) => each.schema))) {
    const here = names.filter((each) => each.schema === place).map(({ name }) => name);
    const found = await readPrivilegesOn(db, place ?? schema, here);
    privileges.push(...found.map(([, object]) => fromLocalObject({ ...object, schema: place })));
  }
  return privileges;
}

async function readMissingRoles(db: Queryable, roles: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    sql`SELECT r.name FROM pg_catalog.unnest($1::text[]) r (name)
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles p WHERE p.rolname = r.name)`,
    [roles],
  );
  return rows.map(({ name }) => name);
}

/** Returns the objects that the batches of these deletions deleted too, by the position of the deletion. */
async function readDeletedObjects(
  db: Queryable,
  deletions: readonly number[],
): Promise<ReadonlyMap<number, readonly ObjectName[]>> {
  const { rows } = await db.query<{ position: number; objects: ObjectName[] }>(
    sql`SELECT d.position::float8 AS position, pg_catalog.jsonb_agg(e.subject ORDER BY e.position) AS objects
          FROM ${own.events} d JOIN ${own.events} e ON e.batch = d.batch AND e.type = 'object.deleted'
         WHERE d.position = ANY ($1::bigint[]) GROUP BY d.position`,
    [deletions],
  );
  return new Map(rows.map(({ position, objects }) => [position, objects]));
}

function splitNames(names: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) parts.push(names.slice(from, from + AT_ONCE));
  return parts;
}
