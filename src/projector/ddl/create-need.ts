/**
 * Makes a type, sequence or extension where it is missing, and otherwise makes sure that it is as it should be. What the
 * table used before is changed to that, as far as PostgreSQL can; what was there before the table is nobody's to change.
 */
import type { Domain, Need } from '../../schema/extras.js';
import { jsonEqual } from '../../schema/json.js';
import { everyOption, sequenceOptions } from './sequence.js';
import {
  type Sql,
  collationName,
  constraintDefinition,
  expression,
  ident,
  join,
  literal,
  qualified,
  sql,
  typeName,
} from './sql.js';

type Made = Exclude<Need, { kind: 'extension' }>;

/** @param old as the table used it before */
export function createNeed(need: Need, schema: string, old?: Need): Sql {
  // Where the extension's own types and functions are looked for: public is in every search path.
  if (need.kind === 'extension') return sql`CREATE EXTENSION IF NOT EXISTS ${ident(need.name)}`;
  const name = qualified(schema, need.name);
  const like = qualified(schema, LIKE);
  const changes = join(changesOf(need, name, old), sql``);
  const fault = literal('it is there already, as %');
  const body = sql`BEGIN
  ${create(need, name)};
EXCEPTION WHEN duplicate_object OR duplicate_table THEN
  ${changes}${create(need, like)};
  IF ${described(need, name)} IS DISTINCT FROM ${described(need, like)} THEN
    RAISE EXCEPTION ${fault}, coalesce(${described(need, name)}::text, ${literal('something else')}) USING ERRCODE = ${literal('duplicate_object')};
  END IF;
  DROP ${KINDS[need.kind]} ${like};
END`;
  return sql`DO ${literal(body)}`;
}

/** What is there is compared with one that is made for it: so PostgreSQL spells both. */
const LIKE = 'service_compared';

const KINDS: Record<Made['kind'], Sql> = { enum: sql`TYPE`, domain: sql`DOMAIN`, sequence: sql`SEQUENCE` };

function create(need: Made, name: Sql): Sql {
  switch (need.kind) {
    case 'enum':
      return sql`CREATE TYPE ${name} AS ENUM (${join(need.labels.map(literal), sql`, `)})`;
    case 'domain':
      return createDomain(name, need);
    case 'sequence': {
      const { kind: _, name: __, owned_by: ___, ...options } = need;
      return sql`CREATE SEQUENCE ${name} ${sequenceOptions(options)}`;
    }
    default:
      return need satisfies never;
  }
}

/** CREATE DOMAIN takes no check that is NOT VALID: those follow. */
function createDomain(name: Sql, { type, collation, not_null, default: value, checks = [] }: Domain): Sql {
  const parts = [sql`CREATE DOMAIN ${name} AS ${typeName(type)}`];
  if (collation !== undefined) parts.push(sql`COLLATE ${collationName(collation)}`);
  if (value !== undefined) parts.push(sql`DEFAULT ${expression(value)}`);
  if (not_null === true) parts.push(sql`NOT NULL`);
  const later: Sql[] = [];
  for (const check of checks) {
    if (check.definition.endsWith(' NOT VALID')) later.push(sql`; ALTER DOMAIN ${name} ADD ${checkOf(check)}`);
    else parts.push(checkOf(check));
  }
  return sql`${join(parts, sql` `)}${join(later, sql``)}`;
}

type Check = NonNullable<Domain['checks']>[number];

const checkOf = ({ name, definition }: Check): Sql =>
  sql`CONSTRAINT ${ident(name)} ${constraintDefinition(definition)}`;

/** One JSON document; null where there is nothing of the kind. */
function described({ kind }: Made, name: Sql): Sql {
  return kind === 'sequence'
    ? sql`(SELECT to_jsonb(q) - 'seqrelid' || jsonb_build_object('seqtypid', pg_catalog.format_type(q.seqtypid, NULL))
    FROM pg_catalog.pg_sequence q WHERE q.seqrelid = to_regclass(${literal(name)}))`
    : sql`(SELECT jsonb_strip_nulls(jsonb_build_object(
      'labels', (SELECT jsonb_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid),
      'kind', CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' ELSE 'type' END,
      'type', CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END,
      'collation', CASE WHEN t.typtype = 'd' AND t.typcollation <> 0 THEN t.typcollation::regcollation::text END,
      'not_null', nullif(t.typnotnull, false), 'default', pg_catalog.pg_get_expr(t.typdefaultbin, 0),
      'checks', (SELECT jsonb_object_agg(c.conname, pg_catalog.pg_get_constraintdef(c.oid))
        FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c')))
    FROM pg_catalog.pg_type t WHERE t.oid = to_regtype(${literal(name)}))`;
}

/** Each ends with a semicolon. They may have been made by hand already. */
function changesOf(need: Made, name: Sql, old: Need | undefined): Sql[] {
  if (old?.kind === 'enum' && need.kind === 'enum') return newLabels(old.labels, need.labels, name);
  if (old?.kind === 'domain' && need.kind === 'domain') return domainChanges(old, need, name);
  if (old?.kind === 'sequence' && need.kind === 'sequence') return newOptions(old, need, name);
  return [];
}

/** PostgreSQL can't take a label away, nor move it: then there is nothing to do but compare. */
function newLabels(old: readonly string[], now: readonly string[], name: Sql): Sql[] {
  const known = new Set(old);
  const kept = now.filter((label) => known.has(label));
  if (!jsonEqual(kept, [...old])) return [];
  return now.flatMap((label, index) => {
    if (known.has(label)) return [];
    return [sql`ALTER TYPE ${name} ADD VALUE IF NOT EXISTS ${literal(label)}${placeOf(now[index - 1], old[0])}; `];
  });
}

function placeOf(before: string | undefined, first: string | undefined): Sql {
  if (before !== undefined) return sql` AFTER ${literal(before)}`;
  return first === undefined ? sql`` : sql` BEFORE ${literal(first)}`;
}

/** Its base type and collation stay. */
function domainChanges(old: Domain, now: Domain, name: Sql): Sql[] {
  const changes: Sql[] = [];
  if (old.default !== now.default) {
    changes.push(now.default === undefined ? sql`DROP DEFAULT` : sql`SET DEFAULT ${expression(now.default)}`);
  }
  if (old.not_null !== now.not_null) changes.push(now.not_null === true ? sql`SET NOT NULL` : sql`DROP NOT NULL`);
  const [before, after] = [old.checks ?? [], now.checks ?? []];
  const isIn = (checks: readonly Check[]) => (check: Check) => checks.some((each) => jsonEqual(check, each));
  const [gone, come] = [before.filter((each) => !isIn(after)(each)), after.filter((each) => !isIn(before)(each))];
  for (const check of [...gone, ...come]) changes.push(sql`DROP CONSTRAINT IF EXISTS ${ident(check.name)}`);
  changes.push(...come.map((check) => sql`ADD ${checkOf(check)}`));
  return changes.map((change) => sql`ALTER DOMAIN ${name} ${change}; `);
}

type Sequence = Extract<Need, { kind: 'sequence' }>;

function newOptions(old: Sequence, now: Sequence, name: Sql): Sql[] {
  const [before, after] = [everyOption(old), everyOption(now)];
  return before === after ? [] : [sql`ALTER SEQUENCE ${name} ${after}; `];
}
