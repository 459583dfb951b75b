/* Compares objects in the fold, the rows and the catalog. */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import { sha256 } from '../../kernel/sha256.js';
import {
  KINDS,
  type ObjectName,
  isFreeOnTable,
  isRelation,
  isRoutine,
  isType,
  objectKey,
} from '../../schema/model/objects.js';
import type { Definition, SchemaObject } from '../../schema/model/object-document.js';
import { objectsInOrder } from '../../schema/model/order.js';
import type { State } from '../../schema/model/state.js';
import { type ParsedDefinition, isSameDefinition, parseDefinition } from '../../schema/sql-text/object-definition.js';
import { readObjects } from '../catalog/managed-objects.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import type { CatalogObject, ObjectFacts } from '../ddl/catalog-object.js';
import {
  type Sql,
  creationWords,
  createOnTable,
  ident,
  literal,
  own,
  scratch,
  scratchTail,
  sql,
  qualified,
} from '../ddl/sql.js';
import type { Difference } from './difference.js';

/** Returns the query for the text that PostgreSQL prints for a scratch object. Options of views are printed separately. */
function printedQuery({ kind }: ParsedDefinition, name: string): Sql {
  const { catalog } = KINDS[kind];
  const { from, where, printed, relation } = OBJECT_CATALOGS[catalog];
  const options = catalog === 'pg_class' ? sql`pg_catalog.array_to_string(c.reloptions, ',')` : sql`NULL`;
  return sql`SELECT pg_catalog.concat_ws(' ', ${options}, ${printed}) AS text FROM ${from}
    WHERE n.oid = pg_catalog.pg_my_temp_schema() AND ${where} AND ${relation} = ${literal(name)}`;
}

/** A client that is inside a transaction. */
type Client = Pick<pg.ClientBase, 'query'>;

/**
 * True if PostgreSQL prints both definitions alike. It creates both as temporary objects and rolls them back, so call
 * it inside a transaction, which it leaves unchanged. False if it rejects one of them.
 */
export async function areEquivalent(client: Client, a: Definition, b: Definition): Promise<boolean> {
  return (await findEquivalent(client, [[a, b]])).length > 0;
}

/** Two definitions, and what the caller adds to recognise them. */
type Pair = readonly [a: Definition, b: Definition, ...rest: unknown[]];

/** Returns the pairs of equivalent definitions. See `areEquivalent`. */
export async function findEquivalent<P extends Pair>(client: Client, pairs: readonly P[]): Promise<P[]> {
  const asked = pairs.filter((pair) => !isSameDefinition(pair[0], pair[1]) && isComparable(pair));
  const keys = await readKeys(client, asked);
  const compared = new Map<P, boolean>();
  const fresh = new Map<string, boolean>();
  for (const [index, pair] of asked.entries()) {
    const key = keys[index] ?? null;
    const cached = readAnswer(key);
    const answer = cached ?? (await arePrintedAlike(client, pair));
    compared.set(pair, answer === true);
    if (key !== null && cached === undefined && answer !== null) fresh.set(key, answer);
  }
  // Another session may have changed something that a definition uses since the keys were read.
  const still = fresh.size === 0 ? [] : await readKeys(client, asked);
  for (const key of still) storeAnswer(key, fresh.get(key ?? ''));
  return pairs.filter((pair) => compared.get(pair) ?? isSameDefinition(pair[0], pair[1]));
}

function isComparable([a, b]: Pair): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  const [first, second] = [parseDefinition(a), parseDefinition(b)];
  if (typeof first === 'string' || typeof second === 'string') return false;
  return first.kind === second.kind && first.storage === second.storage;
}

/** Null if PostgreSQL rejects one of the definitions, possibly only now. */
async function arePrintedAlike(client: Client, [a, b]: Pair): Promise<boolean | null> {
  const object = parseDefinition(a);
  if (typeof object === 'string' || typeof a !== 'string' || typeof b !== 'string') return null;
  const printed = await print(client, object, a);
  const other = printed === null ? null : await print(client, object, b);
  return other === null ? null : printed === other;
}

/*
 * Caches how PostgreSQL compared two definitions. The key contains everything that its answer depends on: the texts, the
 * version of the server, and all columns, types, functions and other catalog rows that words of the texts may name. A
 * change to one of them, even by hand or in the same transaction, leads to another key.
 */

const MAX_ANSWERS = 2_000;
const answers = new Map<string, boolean>();

function readAnswer(key: string | null): boolean | undefined {
  const answer = key === null ? undefined : answers.get(key);
  if (key === null || answer === undefined) return undefined;
  // The answer that was used last is removed last.
  answers.delete(key);
  answers.set(key, answer);
  return answer;
}

function storeAnswer(key: string | null, answer: boolean | undefined): void {
  if (key === null || answer === undefined) return;
  answers.set(key, answer);
  const [oldest] = answers.size > MAX_ANSWERS ? answers.keys() : [];
  if (oldest !== undefined) answers.delete(oldest);
}

/** Returns the key of each pair. Null if its answer cannot be cached. */
async function readKeys(client: Client, pairs: readonly Pair[]): Promise<(string | null)[]> {
  const names = pairs.map(([a, b]) => wordsIn([a, b].filter((each) => typeof each === 'string').join('\n')));
  if (names.every((each) => each === null)) return names.map(() => null);
  const { rows } = await client.query<{ text: string }>(DEPENDENCIES, [
    JSON.stringify(names.map((each) => each ?? [])),
  ]);
  return pairs.map(([a, b], index) => {
    const texts = [a, b].map((each) => JSON.stringify(each)).sort();
    return names[index] == null ? null : sha256(JSON.stringify([rows[index]?.text, ...texts]));
  });
}

/**
 * Matches text with another meaning tomorrow (`'today'::date`), and text in which a name or such a constant can be
 * written differently: with escapes, or as a string that continues in the next line.
 */
const UNCACHEABLE = /\b(?:today|tomorrow|yesterday|uescape)\b|\bnow\b(?!\s*\()|\\|'\s*\n\s*'/i;

/** Returns the words of a text, including those in quotes. Null if they may not cover what the text names. */
function wordsIn(text: string): string[] | null {
  if (UNCACHEABLE.test(text)) return null;
  const bare = text.match(/[a-z_\x80-\uffff][\w$\x80-\uffff]*/gi) ?? [];
  const quoted = (text.match(/"(?:[^"]|"")+"/g) ?? []).map((name) => name.slice(1, -1).replaceAll('""', '"'));
  // PostgreSQL changes only ASCII letters to lower case, except in databases with one byte per character.
  const lower = bare.flatMap((word) => [
    word.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
    word.toLowerCase(),
  ]);
  const words = new Set([...bare, ...lower, ...quoted]);
  return [...words].some((word) => Buffer.byteLength(word) > LONGEST_NAME) ? null : [...words];
}

/** PostgreSQL truncates longer names. */
const LONGEST_NAME = 63;

/** Objects with a lower oid belong to PostgreSQL and never change. */
const FIRST_OWN: Sql = sql`16384::oid`;

const rowsOf = (row: Sql, from: Sql): Sql =>
  sql`(SELECT pg_catalog.string_agg(d.text, E'\n' ORDER BY d.text) FROM (SELECT pg_catalog.concat_ws(',', ${row}) FROM ${from}) d (text))`;

/** Selects a hash of what definitions may depend on, in the order of $1, which contains a list of words for each. */
const DEPENDENCIES: Sql = sql`
SELECT f.text FROM pg_catalog.jsonb_array_elements($1::jsonb) WITH ORDINALITY AS p (list, number),
LATERAL (SELECT ARRAY(SELECT e.word::name FROM pg_catalog.jsonb_array_elements_text(p.list) e (word)) AS names) w,
LATERAL (
  WITH RECURSIVE relation AS (
    SELECT c.* FROM pg_catalog.pg_class c WHERE c.relname = ANY (w.names)
  ), routine AS (
    SELECT r.* FROM pg_catalog.pg_proc r WHERE r.proname = ANY (w.names) AND r.oid >= ${FIRST_OWN}
  ), used (oid) AS (
    SELECT s.oid FROM (
      SELECT a.atttypid FROM pg_catalog.pg_attribute a JOIN relation r ON r.oid = a.attrelid
      UNION ALL SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typname = ANY (w.names)
      UNION ALL SELECT r.prorettype FROM routine r
      UNION ALL SELECT pg_catalog.unnest(coalesce(r.proallargtypes, r.proargtypes::oid[])) FROM routine r
    ) s (oid) WHERE s.oid >= ${FIRST_OWN}
    UNION SELECT x.oid FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.oid, LATERAL (
      SELECT t.typelem UNION ALL SELECT t.typbasetype
      UNION ALL SELECT g.rngsubtype FROM pg_catalog.pg_range g WHERE g.rngtypid = t.oid
      UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a WHERE a.attrelid = t.typrelid
    ) x (oid) WHERE x.oid >= ${FIRST_OWN}
  ), type AS (
    SELECT t.* FROM pg_catalog.pg_type t JOIN used u ON u.oid = t.oid
  )
  SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(E'\n\n',
    pg_catalog.version(), current_user, pg_catalog.current_setting('search_path'),
    pg_catalog.current_setting('transform_null_equals'), pg_catalog.current_setting('array_nulls'),
    ${rowsOf(sql`r.oid, r.relname, r.relnamespace, r.relkind, r.relowner, r.relacl`, sql`relation r`)},
    ${rowsOf(
      sql`a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation, a.attisdropped, a.attgenerated`,
      sql`pg_catalog.pg_attribute a WHERE a.attrelid IN (SELECT r.oid FROM relation r UNION SELECT t.typrelid FROM type t)`,
    )},
    ${rowsOf(sql`k.conrelid, k.conname, k.conkey`, sql`pg_catalog.pg_constraint k JOIN relation r ON r.oid = k.conrelid WHERE k.contype = 'p'`)},
    ${rowsOf(sql`r.*`, sql`routine r`)},
    ${rowsOf(sql`t.*`, sql`type t`)},
    ${rowsOf(sql`e.*`, sql`pg_catalog.pg_enum e JOIN type t ON t.oid = e.enumtypid`)},
    ${rowsOf(sql`k.oid, k.conname, k.conbin`, sql`pg_catalog.pg_constraint k JOIN type t ON t.oid = k.contypid`)},
    ${rowsOf(sql`o.*`, sql`pg_catalog.pg_operator o WHERE o.oid >= ${FIRST_OWN}`)},
    ${rowsOf(sql`k.*`, sql`pg_catalog.pg_cast k WHERE k.oid >= ${FIRST_OWN}`)},
    ${rowsOf(sql`k.*`, sql`pg_catalog.pg_collation k WHERE k.collname = ANY (w.names)`)},
    ${rowsOf(sql`l.*`, sql`pg_catalog.pg_language l WHERE l.lanname = ANY (w.names)`)},
    ${rowsOf(sql`r.oid, r.rolname`, sql`pg_catalog.pg_roles r WHERE r.rolname = ANY (w.names)`)},
    ${rowsOf(sql`s.*`, sql`pg_catalog.pg_namespace s WHERE NOT pg_catalog.starts_with(s.nspname::text, 'pg_')`)}
  ), 'UTF8')), 'hex') AS text
) f
ORDER BY p.number`;

/**
 * Returns SQL for a view or table with the columns of the object's table, and for the object.
 * @param name the name of the view or table, and of the object
 */
function scratchOnTable({ kind, trigger, onTable }: ParsedDefinition, name: string, definition: string): Sql {
  const { schema, name: table = '' } = onTable ?? {};
  const columns = schema === undefined ? ident(table) : qualified(schema, table);
  const relation =
    trigger?.isInsteadOf === true
      ? sql`VIEW ${scratch(name)} AS SELECT * FROM ${columns}`
      : sql`TABLE ${scratch(name)} (LIKE ${columns})`;
  return sql`CREATE ${relation}; ${createOnTable(definition, isFreeOnTable({ kind }) ? scratch(name) : ident(name), scratch(name))}`;
}

/**
 * PostgreSQL writes the name of a function before its arguments in a parsed body. A policy and a statistics object can
 * write the name of their table before columns. A rule writes `old` and `new` instead, and its commands can use
 * the table itself.
 */
const scratchName = ({ kind, name, onTable, trigger, rule }: ParsedDefinition): string => {
  if (isRoutine({ kind })) return name;
  return onTable === null || trigger !== null || rule !== null ? SCRATCH : onTable.name;
};

const SCRATCH = 'dps_view';

/** Returns the statement that creates a scratch object. Null if PostgreSQL has no form that prints alike. */
function scratchSql(parsed: ParsedDefinition, name: string, definition: string): Sql | null {
  const { kind, onTable } = parsed;
  if (onTable !== null) return scratchOnTable(parsed, name, definition);
  const tail = scratchTail(definition);
  if (tail === null) return null;
  const words = isRoutine({ kind }) || isType({ kind }) ? creationWords(definition) : sql`VIEW`;
  return sql`CREATE ${words} ${scratch(name)}${tail}`;
}

/** Creates a scratch object, reads it back and rolls it back. Null if PostgreSQL rejects it. */
async function print(client: Client, object: ParsedDefinition, definition: string): Promise<string | null> {
  const name = scratchName(object);
  const creation = scratchSql(object, name, definition);
  if (creation === null) return null;
  try {
    const results = (await client.query(
      sql`SAVEPOINT dps_view; ${creation}; ${printedQuery(object, name)}; ${BACK}`,
    )) as unknown as pg.QueryResult<{ text: string }>[];
    return results.find(({ rows }) => rows.length > 0)?.rows[0]?.text ?? null;
  } catch (error) {
    await client.query(BACK);
    // A lock conflict gives no information about the definitions.
    if (isLocked(error)) throw error;
    return null;
  }
}

const BACK = sql`ROLLBACK TO SAVEPOINT dps_view; RELEASE SAVEPOINT dps_view`;

interface ObjectRow extends ObjectName {
  definition: string;
  comment: string | null;
  indexes: Json;
  enabled: string | null;
  printed: string | null;
}

const ROWS = sql`SELECT kind, id, definition, comment, indexes, enabled, printed FROM ${own.objects} ORDER BY kind, id`;

/** Call it inside a transaction, which it leaves unchanged. @param inCatalog false to compare only the rows */
export async function verifyObjects(
  client: pg.ClientBase,
  state: State,
  { schema, inCatalog }: { schema: string; inCatalog: boolean },
): Promise<Difference[]> {
  const rows = await readRows(client);
  const byKey = new Map(rows.map((row) => [objectKey(row), row]));
  const objects = objectsInOrder(state);
  const differences = objects.flatMap((object) => rowDifferences(object, byKey.get(objectKey(object))));
  for (const row of rows) {
    if (!state.objects.has(objectKey(row)))
      differences.push(differenceOf(row, { where: 'metadata', member: row.kind, expected: null, found: row.kind }));
  }
  if (!inCatalog || objects.length === 0) return differences;
  const views = await readObjects(client, { schema }, objects);
  return [...differences, ...(await compareObjects(client, objects, { views, rows }))];
}

async function readRows(client: pg.ClientBase): Promise<ObjectRow[]> {
  const { rows } = await client.query<ObjectRow>(ROWS);
  return rows;
}

/** Compares only the fold with the catalog. Call it inside a transaction, which it leaves unchanged. */
export async function verifyCatalogObjects(
  client: pg.ClientBase,
  state: State,
  views: ObjectFacts,
): Promise<Difference[]> {
  return compareObjects(client, objectsInOrder(state), { views, rows: await readRows(client) });
}

async function compareObjects(
  client: pg.ClientBase,
  objects: readonly SchemaObject[],
  { views, rows }: { views: ObjectFacts; rows: readonly ObjectRow[] },
): Promise<Difference[]> {
  const printedByKey = new Map(rows.map((row) => [objectKey(row), row.printed]));
  const differences: Difference[] = [];
  for (const object of objects) {
    const key = objectKey(object);
    const printed = printedByKey.get(key) ?? null;
    differences.push(...(await findCatalogDifferences(client, object, { view: views.get(key), printed })));
  }
  return differences;
}

type ObjectDifference = Omit<Difference, 'collection' | 'object'>;

const differenceOf = ({ kind, id }: ObjectName, difference: ObjectDifference): Difference => ({
  ...difference,
  collection: id,
  object: { kind, id },
});

function rowDifferences(object: SchemaObject, row: ObjectRow | undefined): Difference[] {
  const there = { where: 'metadata', member: object.kind } as const;
  if (row === undefined) return [differenceOf(object, { ...there, expected: object.kind, found: null })];
  const members = [
    ['definition', object.definition as Json, definitionIn(object, row)],
    ['comment', object.comment, row.comment],
    ['indexes', (object.indexes ?? null) as Json, row.indexes],
    ['enabled', object.enabled ?? null, row.enabled],
  ] as const;
  return members.flatMap(([member, expected, actual]) =>
    jsonEqual(expected, actual) ? [] : [differenceOf(object, { where: 'metadata', member, expected, found: actual })],
  );
}

/** Returns the definition of a row. The column contains a list as JSON. */
function definitionIn({ definition: expected }: SchemaObject, { definition }: ObjectRow): Json {
  if (typeof expected === 'string') return definition;
  try {
    return JSON.parse(definition) as Json;
  } catch {
    return definition;
  }
}

interface ActualView {
  view: CatalogObject | undefined;
  /** The definition as the server printed it when the object was created. */
  printed: string | null;
}

async function findCatalogDifferences(
  client: pg.ClientBase,
  object: SchemaObject,
  { view, printed }: ActualView,
): Promise<Difference[]> {
  const where = 'catalog' as const;
  if (view === undefined)
    return [differenceOf(object, { where, member: object.kind, expected: object.kind, found: null })];
  const differences: Difference[] = [];
  if (!(await isAsLogged(client, object, { view, printed }))) {
    const texts = { expected: object.definition as Json, found: view.definition as Json };
    differences.push(differenceOf(object, { where, member: 'definition', ...texts }));
  }
  const members = [
    ['comment', object.comment, view.comment],
    ['indexes', (object.indexes ?? null) as Json, view.indexes as Json],
    ['enabled', object.enabled ?? null, view.enabled],
  ] as const;
  for (const [member, expected, found] of members)
    if (!jsonEqual(expected, found)) differences.push(differenceOf(object, { where, member, expected, found }));
  return differences;
}

async function isAsLogged(
  client: Client,
  object: SchemaObject,
  { view, printed }: { view: CatalogObject; printed: string | null },
): Promise<boolean> {
  const isPrinted = printed !== null && printed.replace(/;\s*$/, '') === view.query;
  if (isPrinted && (!isRelation(object) || hasSameOptions(object, view))) return true;
  return areEquivalent(client, object.definition, view.definition);
}

const PRINTED = sql`
SELECT o.kind, o.id, o.printed FROM ${own.objects} o
JOIN pg_catalog.jsonb_to_recordset($1::jsonb) AS asked (kind text, id text) ON asked.kind = o.kind AND asked.id = o.id`;

/**
 * Returns the facts with the information whether the definitions of some objects have the same meaning as those in the
 * log. Call it inside a transaction, which it leaves unchanged.
 */
export async function compareWithLog(
  client: Client,
  objects: readonly SchemaObject[],
  facts: ObjectFacts,
): Promise<ObjectFacts> {
  if (objects.length === 0) return facts;
  const asked = JSON.stringify(objects.map(({ kind, id }) => ({ kind, id })));
  const { rows } = await client.query<Pick<ObjectRow, 'kind' | 'id' | 'printed'>>(PRINTED, [asked]);
  const printedByKey = new Map(rows.map((row) => [objectKey(row), row.printed]));
  const compared = new Map(facts);
  for (const object of objects) {
    const key = objectKey(object);
    const view = facts.get(key);
    if (view === undefined) continue;
    const isSame = await isAsLogged(client, object, { view, printed: printedByKey.get(key) ?? null });
    compared.set(key, { ...view, isAsLogged: isSame });
  }
  return compared;
}

/** True if the options are equal. The server does not print them with the definition. */
function hasSameOptions(object: SchemaObject, view: CatalogObject): boolean {
  const [expected, actual] = [parseDefinition(object.definition), parseDefinition(view.definition)];
  return typeof expected !== 'string' && typeof actual !== 'string' && expected.options === actual.options;
}
