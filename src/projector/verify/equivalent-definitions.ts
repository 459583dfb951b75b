/**
 * Finds out how PostgreSQL spells a stored definition today. It rewrites constraints and indexes when their column
 * changes type (`(v)::text <> 'x'` → `v <> 'x'`), but the fold keeps the original text. PostgreSQL spells that text
 * in a copy of the table that is rolled back.
 */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import type { Need } from '../../schema/model/extras.js';
import { parseConstraint } from '../../schema/sql-text/definitions.js';
import { describedType, createDomain } from '../ddl/create-need.js';
import { createCollation, describedCollation } from '../ddl/collation.js';
import {
  type Sql,
  constraintDefinition,
  ident,
  indexDefinition,
  join,
  literal,
  partitionBound,
  partitionKey,
  qualified,
  scratch,
  sql,
} from '../ddl/sql.js';
import type { Difference } from './difference.js';

/** Removes differences in spelling only. Call it inside a transaction, which it leaves unchanged. */
export async function withoutEquivalent(
  client: pg.ClientBase,
  schema: string,
  differences: readonly Difference[],
): Promise<Difference[]> {
  const real: Difference[] = [];
  const slice = createTimeSlice();
  for (const difference of differences) {
    if (slice.isOver()) await slice.yield();
    const pair = spelledTwice(difference);
    const need = spelledNeed(difference);
    const isSame = pair !== null && (await spelled(client, schema, pair)) === pair.found;
    if (await isPartitionSpelled(client, schema, difference)) continue;
    if (!isSame && !(need !== null && (await isSpelled(client, schema, need)))) real.push(difference);
  }
  return real;
}

interface Pair {
  kind: 'constraint' | 'index';
  collection: string;
  expected: string;
  found: string;
}

function spelledTwice({ collection, member, expected, found }: Difference): Pair | null {
  const kind = member.startsWith('constraint ') ? 'constraint' : member.startsWith('index ') ? 'index' : null;
  const [ours, theirs] = [definitionOf(expected), definitionOf(found)];
  if (kind === null || ours === null || theirs === null || !jsonEqual(ours.rest, theirs.rest)) return null;
  return { kind, collection, expected: ours.definition, found: theirs.definition };
}

function definitionOf(side: Json | undefined): { definition: string; rest: object } | null {
  if (!isObject(side)) return null;
  const { definition, ...rest } = side;
  return typeof definition === 'string' ? { definition, rest } : null;
}

type SpelledNeed = Extract<Need, { kind: 'domain' | 'collation' }>;

/** For an existing object that the table needs. */
function spelledNeed({ member, expected, found }: Difference): SpelledNeed | null {
  return /^(domain|collation) /.test(member) && isObject(expected) && isObject(found)
    ? (expected as unknown as SpelledNeed)
    : null;
}

const COPY = scratch('spelling_of');
const PARENT = scratch('spelling_parent');

async function spelled(client: pg.ClientBase, schema: string, pair: Pair): Promise<string | undefined> {
  return tried<string>(client, () => withAddition(schema, pair), SPELLING[pair.kind]);
}

/** Checks whether a difference in partitioning or partition bounds is only one of spelling. */
async function isPartitionSpelled(client: pg.ClientBase, schema: string, difference: Difference): Promise<boolean> {
  const { collection, member, expected, found } = difference;
  if (member === 'partition_by' && typeof expected === 'string' && typeof found === 'string') {
    const divided = () =>
      sql`CREATE TABLE ${COPY} (LIKE ${qualified(schema, collection)}) PARTITION BY ${partitionKey(expected)}`;
    return (await tried<string>(client, divided, PARTITION_KEY)) === found;
  }
  if (member !== 'partition_of' || !isObject(expected) || !isObject(found)) return false;
  const { table: parent, bound } = expected;
  if (parent !== found['table'] || typeof parent !== 'string' || typeof bound !== 'string') return false;
  return (await tried<string>(client, () => partition(qualified(schema, parent), bound), BOUND)) === found['bound'];
}

/** A table that is partitioned like the parent. */
function partition(parent: Sql, bound: string): Sql {
  const like = literal(sql`CREATE TABLE ${PARENT} (LIKE ${parent}) PARTITION BY %s`);
  const body = sql`BEGIN EXECUTE pg_catalog.format(${like}, pg_catalog.pg_get_partkeydef(pg_catalog.to_regclass(${literal(parent)}))); END`;
  return sql`DO ${literal(body)}; CREATE TABLE ${COPY} PARTITION OF ${PARENT} ${partitionBound(bound)}`;
}

const OF_COPY = sql`FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass(${literal(COPY)})::oid`;
const PARTITION_KEY = sql`SELECT pg_catalog.pg_get_partkeydef(c.oid) AS answer ${OF_COPY}`;
const BOUND = sql`SELECT pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS answer ${OF_COPY}`;

/** Checks whether the existing domain or collation equals the stored definition. */
async function isSpelled(client: pg.ClientBase, schema: string, need: SpelledNeed): Promise<boolean> {
  const described = need.kind === 'domain' ? describedType : describedCollation;
  const [there, ours] = [described(qualified(schema, need.name)), described(COPY)];
  const create = () => (need.kind === 'domain' ? createDomain(COPY, need) : createCollation(COPY, need));
  return (await tried<boolean>(client, create, sql`SELECT ${there} = ${ours} AS answer`)) === true;
}

/** Runs the query after the statements and rolls them back. Returns undefined if the statements fail. */
async function tried<T>(client: pg.ClientBase, statements: () => Sql, question: Sql): Promise<T | undefined> {
  await client.query('SAVEPOINT dps_spelling');
  try {
    await client.query(statements());
    const { rows } = await client.query<{ answer: T }>(question);
    return rows[0]?.answer;
  } catch (error) {
    // A busy lock says nothing about the spelling.
    if (isLocked(error)) throw error;
    return undefined;
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT dps_spelling; RELEASE SAVEPOINT dps_spelling');
  }
}

const NAMES = ['dps_spelling', 'dps_spelling_of'] as const;

/** A temporary name: an index cannot have the name of its table. */
const nameBeside = (collection: string): Sql => ident(collection === NAMES[0] ? NAMES[1] : NAMES[0]);

function withAddition(schema: string, { kind, collection, expected }: Pair): Sql {
  const target = kind === 'constraint' ? targetOf(expected) : undefined;
  if (target !== undefined) return withReference(schema, { collection, expected, target });
  // Uses the table's own name, which a definition may contain (`articles.title`).
  const [copy, name] = [scratch(collection), nameBeside(collection)];
  const added =
    kind === 'constraint'
      ? sql`ALTER TABLE ${copy} ADD CONSTRAINT ${name} ${constraintDefinition(expected)}`
      : sql`CREATE INDEX ${name} ON ${copy} ${indexDefinition(expected)}`;
  return sql`CREATE TABLE ${copy} (LIKE ${qualified(schema, collection)}); ${added}`;
}

/** The table that a foreign key references. */
function targetOf(definition: string): string | undefined {
  const parsed = parseConstraint(definition);
  return typeof parsed === 'string' ? undefined : parsed.references?.table;
}

interface Reference {
  collection: string;
  expected: string;
  target: string;
}

/**
 * A temporary table can only reference temporary tables, so both are copied under their own names, which take
 * precedence.
 */
function withReference(schema: string, { collection, expected, target }: Reference): Sql {
  const copies = [...new Set([collection, target])].map(
    (name) => sql`CREATE TABLE ${scratch(name)} (LIKE ${qualified(schema, name)} INCLUDING INDEXES)`,
  );
  const added = sql`ALTER TABLE ${scratch(collection)} ADD CONSTRAINT ${nameBeside(collection)} ${constraintDefinition(expected)}`;
  return sql`${join(copies, sql`; `)}; SET LOCAL search_path = pg_temp; ${added}`;
}

const NAMES_SQL = join(NAMES.map(literal), sql`, `);

const SPELLING: Record<Pair['kind'], Sql> = {
  constraint: sql`
SELECT pg_catalog.pg_get_constraintdef(c.oid) AS answer FROM pg_catalog.pg_constraint c
 WHERE c.conname IN (${NAMES_SQL}) AND c.connamespace = pg_catalog.pg_my_temp_schema()`,
  index: sql`
SELECT substring(d.text FROM position(' USING ' IN d.text) + 1) AS answer
  FROM pg_catalog.pg_class c, pg_catalog.pg_get_indexdef(c.oid) AS d (text)
 WHERE c.relname IN (${NAMES_SQL}) AND c.relkind = 'i' AND c.relnamespace = pg_catalog.pg_my_temp_schema()`,
};
