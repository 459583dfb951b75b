/**
 * How PostgreSQL spells a definition of ours today. It rewrites constraints and indexes when a column of theirs changes
 * its type (`(v)::text <> 'x'` → `v <> 'x'`), and the fold keeps the text they were made of: PostgreSQL is asked to
 * spell that in a copy of the table that is taken back.
 */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { isObject, jsonEqual } from '../../schema/json.js';
import type { Need } from '../../schema/extras.js';
import type { Json } from '../../schema/model.js';
import { describedType } from '../ddl/create-need.js';
import { createDomain } from '../ddl/domain.js';
import { type Sql, constraintDefinition, ident, indexDefinition, qualified, sql } from '../ddl/sql.js';
import type { Difference } from './difference.js';

/** Without the differences that are none but in spelling. Inside a transaction; it is left as it was. */
export async function withoutSpellings(
  client: pg.ClientBase,
  schema: string,
  differences: readonly Difference[],
): Promise<Difference[]> {
  const real: Difference[] = [];
  for (const difference of differences) {
    const pair = spelledTwice(difference);
    const domain = domainOf(difference);
    const isSame = pair !== null && (await spelled(client, schema, pair)) === pair.found;
    if (!isSame && !(domain !== null && (await isSpelled(client, schema, domain)))) real.push(difference);
  }
  return real;
}

interface Pair {
  kind: 'constraint' | 'index';
  collection: string;
  /** Ours. */
  wanted: string;
  /** The catalog's. */
  found: string;
}

function spelledTwice({ collection, member, expected, found }: Difference): Pair | null {
  const kind = member.startsWith('constraint ') ? 'constraint' : member.startsWith('index ') ? 'index' : null;
  const [ours, theirs] = [definitionOf(expected), definitionOf(found)];
  if (kind === null || ours === null || theirs === null || !jsonEqual(ours.rest, theirs.rest)) return null;
  return { kind, collection, wanted: ours.definition, found: theirs.definition };
}

function definitionOf(side: Json | undefined): { definition: string; rest: object } | null {
  if (!isObject(side)) return null;
  const { definition, ...rest } = side;
  return typeof definition === 'string' ? { definition, rest } : null;
}

type DomainNeed = Extract<Need, { kind: 'domain' }>;

/** Of a table's needs, where it is there. */
function domainOf({ member, expected, found }: Difference): DomainNeed | null {
  return member.startsWith('domain ') && isObject(expected) && isObject(found)
    ? (expected as unknown as DomainNeed)
    : null;
}

const NAME = ident('dps_spelling');
const COPY = qualified('pg_temp', 'dps_spelling_of');

async function spelled(client: pg.ClientBase, schema: string, pair: Pair): Promise<string | undefined> {
  const copy = sql`CREATE TABLE ${COPY} (LIKE ${qualified(schema, pair.collection)}); ${addition(pair)}`;
  return tried<string>(client, copy, SPELLING[pair.kind]);
}

/** Whether the domain that is there is as ours would be. */
async function isSpelled(client: pg.ClientBase, schema: string, domain: DomainNeed): Promise<boolean> {
  const [there, ours] = [describedType(qualified(schema, domain.name)), describedType(COPY)];
  return (await tried<boolean>(client, createDomain(COPY, domain), sql`SELECT ${there} = ${ours} AS answer`)) === true;
}

/** What the question answers after the statements, which are taken back. undefined: PostgreSQL doesn't take them. */
async function tried<T>(client: pg.ClientBase, statements: Sql, question: Sql): Promise<T | undefined> {
  await client.query('SAVEPOINT dps_spelling');
  try {
    await client.query(statements);
    const { rows } = await client.query<{ answer: T }>(question);
    return rows[0]?.answer;
  } catch (error) {
    // That others were in the way says nothing about the spelling.
    if (isLocked(error)) throw error;
    return undefined;
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT dps_spelling; RELEASE SAVEPOINT dps_spelling');
  }
}

function addition({ kind, wanted }: Pair): Sql {
  return kind === 'constraint'
    ? sql`ALTER TABLE ${COPY} ADD CONSTRAINT ${NAME} ${constraintDefinition(wanted)}`
    : sql`CREATE INDEX ${NAME} ON ${COPY} ${indexDefinition(wanted)}`;
}

const SPELLING: Record<Pair['kind'], Sql> = {
  constraint: sql`
SELECT pg_catalog.pg_get_constraintdef(c.oid) AS answer FROM pg_catalog.pg_constraint c
 WHERE c.conname = 'dps_spelling' AND c.connamespace = pg_catalog.pg_my_temp_schema()`,
  index: sql`
SELECT substring(d.text FROM position(' USING ' IN d.text) + 1) AS answer
  FROM pg_catalog.pg_class c, pg_catalog.pg_get_indexdef(c.oid) AS d (text)
 WHERE c.relname = 'dps_spelling' AND c.relnamespace = pg_catalog.pg_my_temp_schema()`,
};
