/* Plans the objects that must exist before a table, and the sequences that its columns own. */
import { extrasOf, type CollectionNode, type State } from '../../schema/model/state.js';
import { splitQualifiedId } from '../../schema/model/object-ids.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { managedTypeOf } from '../../schema/sql-text/object-table.js';
import { type Need, isIdentity, type Collation, type Domain } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel, needsOfNode, ownerOf, schemaOfNeed } from '../../schema/model/order.js';
import { type DatabaseObject, type Change, type Costs, type Step, step } from './step.js';
import {
  type Sql,
  block,
  ident,
  qualified,
  sql,
  join,
  literal,
  scratch,
  attributeType,
  collationName,
  constraintDefinition,
  expression,
  typeName,
} from './sql.js';
import { tableOf } from './keys-and-indexes.js';
import { SEQUENCE_TAIL } from './object-sql.js';
import { type TypeParts, attributeChanges, labelChanges } from '../../schema/sql-text/types-and-sequences.js';
import { renderAllOptions, sequenceOptions, alterSequence } from './sequence.js';

/* CREATE COLLATION. PostgreSQL cannot alter the definition of a collation. */

const PROVIDERS: Record<Collation['provider'], Sql> = {
  libc: sql`PROVIDER = libc`,
  icu: sql`PROVIDER = icu`,
  builtin: sql`PROVIDER = builtin`,
};

/**
 * Returns CREATE COLLATION, which fails if the name exists.
 * @param name qualified
 */
export function createCollation(name: Sql, collation: Collation): Sql {
  const { provider, locale, lc_collate, lc_ctype, deterministic, rules } = collation;
  const parts = [
    PROVIDERS[provider],
    clause(sql`LOCALE`, locale),
    clause(sql`LC_COLLATE`, lc_collate),
    clause(sql`LC_CTYPE`, lc_ctype),
    deterministic === false ? sql`DETERMINISTIC = false` : null,
    clause(sql`RULES`, rules),
  ];
  return sql`CREATE COLLATION ${name} (${join(
    parts.filter((part) => part !== null),
    sql`, `,
  )})`;
}

const clause = (words: Sql, text: string | undefined): Sql | null =>
  text === undefined ? null : sql`${words} = ${literal(text)}`;

/**
 * SQL for a row `c` of pg_collation as a JSON document with the members of Collation. It uses only columns that the
 * release has: the ICU locale column moved twice, and rules were added in PostgreSQL 16.
 */
export const collationDocument: Sql = sql`pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'provider', CASE c.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
    'locale', CASE WHEN c.collprovider <> 'c'
      THEN coalesce(pg_catalog.to_jsonb(c) ->> 'colllocale'::text, pg_catalog.to_jsonb(c) ->> 'colliculocale'::text, c.collcollate::text)
      WHEN c.collcollate = c.collctype THEN c.collcollate::text END,
    'lc_collate', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collcollate::text END,
    'lc_ctype', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collctype::text END,
    'deterministic', nullif(c.collisdeterministic, true), 'rules', pg_catalog.to_jsonb(c) ->> 'collicurules'::text))`;

/** Returns SQL for that document of the collation with a name. Null if the collation does not exist. */
export const describeCollation = (name: Sql): Sql =>
  sql`(SELECT ${collationDocument} FROM pg_catalog.pg_collation c WHERE c.oid = pg_catalog.to_regcollation(${literal(name)})::oid)`;

/*
 * Creates a missing type, sequence or extension. An object that the tables already used is changed as far as
 * PostgreSQL allows. An object that existed before the tables is not changed and must match.
 */

/* CREATE DOMAIN and ALTER DOMAIN. */

/**
 * Returns statements that create a domain. CREATE DOMAIN does not accept NOT VALID checks, so those are added
 * afterwards.
 */
export function createDomain(name: Sql, { type, collation, not_null, default: value, checks = [] }: Domain): Sql {
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

/**
 * Returns statements that change a domain. The base type and the collation do not change.
 * @param isExact false if someone may have changed the domain by hand
 */
export function alterDomain(old: Domain, now: Domain, name: Sql, { isExact = false } = {}): Sql[] {
  const changes: Sql[] = [];
  if (old.default !== now.default) {
    changes.push(now.default === undefined ? sql`DROP DEFAULT` : sql`SET DEFAULT ${expression(now.default)}`);
  }
  if (old.not_null !== now.not_null) changes.push(now.not_null === true ? sql`SET NOT NULL` : sql`DROP NOT NULL`);
  changes.push(...checkChanges(old.checks ?? [], now.checks ?? [], isExact));
  return changes.map((change) => sql`ALTER DOMAIN ${name} ${change}`);
}

function checkChanges(before: readonly Check[], after: readonly Check[], isExact: boolean): Sql[] {
  const isIn = (checks: readonly Check[]) => (check: Check) => checks.some((each) => jsonEqual(check, each));
  const [oldOnly, newOnly] = [before.filter((each) => !isIn(after)(each)), after.filter((each) => !isIn(before)(each))];
  const dropped = new Set([...oldOnly, ...(isExact ? [] : newOnly)].map((check) => check.name));
  return [
    ...[...dropped].map((name) => sql`DROP CONSTRAINT IF EXISTS ${ident(name)}`),
    ...newOnly.map((check) => sql`ADD ${checkOf(check)}`),
  ];
}

/* Changes a type that is an object of its own. */

interface TypeChange {
  text: Sql;
  summary: string;
  /** True if PostgreSQL reads the rows of all tables that use the type. Existing values may then prevent the change. */
  isChecked?: boolean;
  /** True if values of an attribute are lost. */
  losesData?: boolean;
  /** True if PostgreSQL allows the use of a label only after the commit. */
  addsLabel?: boolean;
}

/** Returns the changes of a type that `isReplaceableType` accepts. */
export function alterType(
  name: Sql,
  { name: label, old, now }: { name: string; old: TypeParts; now: TypeParts },
): TypeChange[] {
  if (old.form === 'enum' && now.form === 'enum')
    return changeLabels(name, label, labelChanges(old.labels, now.labels));
  if (old.form === 'domain' && now.form === 'domain')
    return alterDomain(old.domain, now.domain, name, { isExact: true }).map((text) => ({
      text,
      summary: `change domain ${label}`,
      isChecked: /^ALTER DOMAIN .* (?:ADD CONSTRAINT|SET NOT NULL)/s.test(text),
    }));
  if (old.form === 'composite' && now.form === 'composite')
    return changeAttributes(name, label, attributeChanges(old, now));
  return [];
}

function changeLabels(name: Sql, type: string, changes: ReturnType<typeof labelChanges>): TypeChange[] {
  if (changes === null) return [];
  return [
    ...changes.renamed.map(([from, to]) => ({
      text: sql`ALTER TYPE ${name} RENAME VALUE ${literal(from)} TO ${literal(to)}`,
      summary: `rename label ${from} of ${type} to ${to}`,
    })),
    ...changes.added.map(([label, before]) => ({
      text: sql`ALTER TYPE ${name} ADD VALUE ${literal(label)}${before === undefined ? sql`` : sql` BEFORE ${literal(before)}`}`,
      summary: `add label ${label} to ${type}`,
      addsLabel: true,
    })),
  ];
}

function changeAttributes(name: Sql, type: string, changes: ReturnType<typeof attributeChanges>): TypeChange[] {
  if (changes === null) return [];
  const alter = (action: Sql): Sql => sql`ALTER TYPE ${name} ${action}`;
  return [
    ...changes.dropped.map((each) => ({
      text: alter(sql`DROP ATTRIBUTE ${ident(each.name)}`),
      summary: `drop attribute ${each.name} of ${type}`,
      losesData: true,
    })),
    ...changes.changed.map((each) => ({
      text: alter(sql`ALTER ATTRIBUTE ${ident(each.name)} TYPE ${attributeType(each.type)}`),
      summary: `change the type of attribute ${each.name} of ${type}`,
    })),
    ...changes.added.map((each) => ({
      text: alter(sql`ADD ATTRIBUTE ${ident(each.name)} ${attributeType(each.type)}`),
      summary: `add attribute ${each.name} to ${type}`,
    })),
  ];
}

/** Returns the definition of a type in the needs of a table. Undefined for other needs. */
export function definitionOfNeed(need: Need): string | undefined {
  const name = ident(need.name);
  if (need.kind === 'enum') return sql`CREATE TYPE ${name} AS ENUM (${join(need.labels.map(literal), sql`, `)})`;
  return need.kind === 'domain' ? createDomain(name, need) : undefined;
}

/** Returns the managed enum or domain of a column in the form of a need. Empty for all other types. */
export function managedTypeAsNeed(state: State, dataType: string): Need[] {
  const object = managedTypeOf(state, dataType);
  const parsed = parseDefinition(object?.definition ?? '');
  if (object === undefined || typeof parsed === 'string' || parsed.type === null) return [];
  const { type } = parsed;
  const { schema, name } = splitQualifiedId(object.id);
  const place = { name, ...(schema !== undefined && { schema }) };
  if (type.form === 'enum') return [{ kind: 'enum', ...place, labels: [...type.labels] }];
  return type.form === 'domain' ? [{ kind: 'domain', ...place, ...type.domain }] : [];
}

/* Changes a type or sequence in use to its new definition. */

/**
 * Returns statements that change an object in use to its new definition, each with a final semicolon. Someone may
 * already have changed the object by hand.
 */
export function changeNeed(need: Need, name: Sql, old: Need | undefined): Sql[] {
  switch (need.kind) {
    case 'enum':
      return old?.kind === 'enum' ? newLabels(old.labels, need.labels, name) : [];
    case 'domain':
      return old?.kind === 'domain' ? alterDomain(old, need, name).map((change) => sql`${change};`) : [];
    case 'sequence':
      return old?.kind === 'sequence' ? newOptions(renderAllOptions(old), renderAllOptions(need), name) : [];
    default:
      return [];
  }
}

const newOptions = (old: Sql, now: Sql, name: Sql): Sql[] =>
  old === now ? [] : [alterSequence(sql`${literal(name)}::regclass`, now)];

/**
 * Returns statements that add enum labels. PostgreSQL cannot remove or reorder labels. In that case only the comparison
 * remains.
 */
function newLabels(old: readonly string[], now: readonly string[], name: Sql): Sql[] {
  const oldLabels = new Set(old);
  const kept = now.filter((label) => oldLabels.has(label));
  if (!jsonEqual(kept, [...old])) return [];
  return now.flatMap((label, index) => {
    if (oldLabels.has(label)) return [];
    return [sql`ALTER TYPE ${name} ADD VALUE IF NOT EXISTS ${literal(label)}${placeOf(now[index - 1], old[0])};`];
  });
}

function placeOf(before: string | undefined, first: string | undefined): Sql {
  if (before !== undefined) return sql` AFTER ${literal(before)}`;
  return first === undefined ? sql`` : sql` BEFORE ${literal(first)}`;
}

type CreatableNeed = Exclude<Need, { kind: 'extension' }>;

interface CreateNeed {
  need: Need;
  schema: string;
  /** The table that needs the object. */
  table: Sql;
  /** The definition that tables used until now. */
  old?: Need | undefined;
  /** True if an existing object must match `need`. */
  isCompared: boolean;
  /** The role that owns the new object. Absent or null for the role of the connection. */
  owner?: string | null | undefined;
}

/**
 * Creates the object if it does not exist. There is no exception handler: PostgreSQL allows using new enum labels at
 * once only if no subtransaction created the type.
 */
export function createNeed(creation: CreateNeed): Sql {
  const { need, schema, owner } = creation;
  // The extension's types and functions are found through public, which is in every search path.
  if (need.kind === 'extension') return sql`CREATE EXTENSION IF NOT EXISTS ${ident(need.name)}`;
  const name = nameOf(need, schema);
  const otherwise = [...changeNeed(need, name, creation.old), ...comparison(need, name, creation)];
  const given = owner == null ? sql`` : sql` ALTER ${WORDS[need.kind]} ${name} OWNER TO ${ident(owner)};`;
  const rest = otherwise.length === 0 ? sql`` : sql` ELSE ${join(otherwise, sql` `)}`;
  const body = sql`BEGIN IF ${FOUND[need.kind]}(${literal(name)}) IS NULL THEN ${create(need, name)};${given}${rest} END IF; END`;
  return sql`DO ${literal(body)}`;
}

/** True if the statement may change an existing object. False if it only compares an existing object. */
export const changesExistingObject = ({ need, schema, old }: Pick<CreateNeed, 'need' | 'schema' | 'old'>): boolean =>
  changeNeed(need, nameOf(need, schema), old).length > 0;

/** Returns the qualified name of an object. @param schema the default schema */
const nameOf = (need: Need, schema: string): Sql => qualified(schemaOfNeed(need) ?? schema, need.name);

const WORDS: Record<CreatableNeed['kind'], Sql> = {
  collation: sql`COLLATION`,
  enum: sql`TYPE`,
  domain: sql`DOMAIN`,
  sequence: sql`SEQUENCE`,
};

const FOUND: Record<CreatableNeed['kind'], Sql> = {
  collation: sql`pg_catalog.to_regcollation`,
  enum: sql`pg_catalog.to_regtype`,
  domain: sql`pg_catalog.to_regtype`,
  sequence: sql`pg_catalog.to_regclass`,
};

/** True if the statement adds enum labels, which cannot be used before the commit. */
export const addsLabels = ({ need, old }: Pick<CreateNeed, 'need' | 'old'>): boolean =>
  need.kind === 'enum' && old?.kind === 'enum' && !jsonEqual(need.labels, old.labels);

function create(need: CreatableNeed, name: Sql): Sql {
  switch (need.kind) {
    case 'enum':
      return sql`CREATE TYPE ${name} AS ENUM (${join(need.labels.map(literal), sql`, `)})`;
    case 'collation':
      return createCollation(name, need);
    case 'domain':
      return createDomain(name, need);
    case 'sequence': {
      const { kind: _, schema: __, name: ___, owned_by: ____, ...options } = need;
      return sql`CREATE SEQUENCE ${name} ${sequenceOptions(options)}`;
    }
    default:
      return need satisfies never;
  }
}

/** Returns statements that reject an existing object with a different definition, each with a final semicolon. */
function comparison(need: CreatableNeed, name: Sql, { table, old, isCompared }: CreateNeed): Sql[] {
  if (!isCompared || (old !== undefined && jsonEqual(old, need))) return [];
  if (need.kind === 'enum') {
    const { labels } = need;
    const definition = literal(JSON.stringify({ kind: 'enum', ...(labels.length === 0 ? {} : { labels }) }));
    return [raiseUnlessSame(describeType(name), sql`${definition}::jsonb`)];
  }
  // The expected definition is created as a temporary object, because PostgreSQL can print it only after it exists.
  if (need.kind === 'domain') {
    const compared = raiseUnlessSame(describeType(name), describeType(LIKE));
    return [sql`${createDomain(LIKE, need)};`, compared, sql`DROP DOMAIN ${LIKE};`];
  }
  if (need.kind === 'collation') {
    const compared = raiseUnlessSame(describeCollation(name), describeCollation(LIKE));
    return [sql`${createCollation(LIKE, need)};`, compared, sql`DROP COLLATION ${LIKE};`];
  }
  const others = need.owned_by === undefined || old !== undefined ? [] : [raiseIfOwnedByOthers(name, table)];
  return [raiseUnlessSame(describeSequence(name), literal(renderAllOptions(need))), ...others];
}

const LIKE = scratch('compared');

const raise = (message: string, detail: Sql): Sql =>
  sql`RAISE EXCEPTION ${literal(message)}, ${detail} USING ERRCODE = ${literal('duplicate_object')};`;

const raiseUnlessSame = (existing: Sql, wanted: Sql): Sql =>
  sql`IF ${existing} IS DISTINCT FROM ${wanted} THEN ${raise('it already exists, as %', sql`coalesce(${existing}::text, ${literal('something else')})`)} END IF;`;

/** Rejects a sequence that a column of another table owns. */
function raiseIfOwnedByOthers(name: Sql, table: Sql): Sql {
  const owner = sql`(SELECT d.refobjid::regclass::text FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = pg_catalog.to_regclass(${literal(name)})::oid
    AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
    AND d.refobjid IS DISTINCT FROM pg_catalog.to_regclass(${literal(table)})::oid)`;
  return sql`IF ${owner} IS NOT NULL THEN ${raise('it already exists, and is owned by a column of %', owner)} END IF;`;
}

/** SQL that describes a sequence by its options. Null if the sequence does not exist. */
const describeSequence = (name: Sql): Sql => sql`(SELECT ${SEQUENCE_TAIL}
  FROM pg_catalog.pg_sequence q WHERE q.seqrelid = pg_catalog.to_regclass(${literal(name)})::oid)`;

/** SQL that describes a type as a JSON document. Null if the type does not exist. */
export const describeType = (name: Sql): Sql => sql`(SELECT pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'labels', (SELECT pg_catalog.jsonb_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid),
    'kind', CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' ELSE 'type' END,
    'type', CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END,
    'collation', CASE WHEN t.typtype = 'd' AND t.typcollation <> 0::oid THEN t.typcollation::regcollation::text END,
    'not_null', nullif(t.typnotnull, false), 'default', pg_catalog.pg_get_expr(t.typdefaultbin, 0),
    'checks', (SELECT pg_catalog.jsonb_object_agg(c.conname, pg_catalog.pg_get_constraintdef(c.oid))
      FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c')))
  FROM pg_catalog.pg_type t WHERE t.oid = pg_catalog.to_regtype(${literal(name)})::oid)`;

/** Plans each need once per batch. */
export function createNeeds(change: Change, needs: readonly Need[]): Step[] {
  const { collection } = change.event;
  return needs.flatMap((need) => {
    const { old, isUnchanged } = change.needs.record(need, collection);
    if (isUnchanged) return [];
    const { isCompared } = change.needs;
    const { schema, owner } = change;
    const text = createNeed({ need, schema, owner, table: tableOf(change), old, isCompared });
    const costs: Costs = {
      object: needObject(need),
      ...(changesExistingObject({ need, schema: change.schema, old }) ? { drops: droppedChecks(need, old) } : ENSURES),
      ...costsOf(need, old),
      ...(addsLabels({ need, old }) && { commit: 'before it is used' }),
    };
    return [step(text, `ensure that ${need.kind} ${need.name} exists`, costs)];
  });
}

const ENSURES = { ensures: 'object' } as const;

function needObject(need: Need): DatabaseObject {
  const schema = schemaOfNeed(need);
  return { kind: need.kind, name: need.name, table: null, ...(schema !== undefined && { schema }) };
}

/** Returns domain checks that were removed or changed. */
function droppedChecks(now: Need, old: Need | undefined): DatabaseObject[] {
  if (old?.kind !== 'domain' || now.kind !== 'domain') return [];
  const oldOnly = (old.checks ?? []).filter((check) => !now.checks?.some((each) => jsonEqual(check, each)));
  return oldOnly.map(({ name }) => ({ kind: 'constraint', name, table: null }));
}

/** A changed domain is costly, because PostgreSQL scans the rows of all tables that use it. */
function costsOf(need: Need, old: Need | undefined): Costs {
  const isChanged = old?.kind === 'domain' && !jsonEqual(old, need);
  return isChanged ? { lock: 'SHARE', may_fail: true, lock_entries: 20 } : { lock: 'none', lock_entries: 5 };
}

/** PL/pgSQL that gives a sequence the owner of a table. PostgreSQL requires this before a column can own the sequence. */
const giveLike = (sequence: Sql, table: Sql): Sql =>
  sql`EXECUTE pg_catalog.format('ALTER SEQUENCE %s OWNER TO %I', ${literal(sequence)}, (SELECT pg_catalog.pg_get_userbyid(c.relowner)
      FROM pg_catalog.pg_class c WHERE c.oid = ${literal(table)}::regclass::oid));`;

/** Assigns sequences to the columns that own them. */
export function ownSequences(change: Change, needs: readonly Need[]): Step[] {
  const { collection } = change.event;
  return needs.flatMap((need) => {
    if (need.kind !== 'sequence' || need.owned_by === undefined) return [];
    const column = sql`${tableOf(change)}.${ident(need.owned_by)}`;
    const sequence = nameOf(need, change.schema);
    const assign = sql`ALTER SEQUENCE ${sequence} OWNED BY ${column}`;
    const text =
      change.owner == null
        ? assign
        : sql`DO ${block(sql`BEGIN ${giveLike(sequence, tableOf(change))} ${assign}; END`)}`;
    const summary = `set the owner of sequence ${need.name} to ${collection}.${need.owned_by}`;
    return [step(text, summary, { object: needObject(need), ensures: 'owner', lock: 'none' })];
  });
}

/** Removes the owner of sequences that a column owned and no longer owns. */
export function freeSequences(change: Change, old: readonly Need[], now: readonly Need[]): Step[] {
  const names = new Set(now.flatMap((need) => (ownerOf(need) === undefined ? needLabel(need) : [])));
  const freed = old.filter((need) => ownerOf(need) !== undefined && names.has(needLabel(need)));
  if (freed.length === 0) return [];
  const all = [...change.after.collections.values()].flatMap(needsOfNode);
  const owned = new Set(all.flatMap((need) => (ownerOf(need) === undefined ? [] : needLabel(need))));
  return freed.flatMap((need) => {
    if (owned.has(needLabel(need))) return [];
    const text = sql`ALTER SEQUENCE ${nameOf(need, change.schema)} OWNED BY NONE`;
    const costs = { object: needObject(need), lock: 'none' } as const;
    return [step(text, `remove the owner of sequence ${need.name}`, costs)];
  });
}

/**
 * True if a sequence can be assigned to its column now. The column must exist and must not be recreated at the moment.
 */
export function isReady(need: Need, node: CollectionNode | undefined): boolean {
  return need.kind !== 'sequence' || need.owned_by === undefined || canOwnSequence(node, need.owned_by);
}

function canOwnSequence(node: CollectionNode | undefined, column: string): boolean {
  const schema = node?.fields.get(column)?.schema ?? null;
  return schema !== null && schema.generation_expression === null && !isIdentity(schema);
}

/**
 * Returns the sequences that had to wait for the column (see `isReady`). They may have been created and dropped with
 * the previous column.
 */
export function needsOfColumn({ event, before, after }: Change, field: string): Need[] {
  const [old, node] = [before, after].map(({ collections }) => collections.get(event.collection));
  if (canOwnSequence(old, field) || !canOwnSequence(node, field)) return [];
  const needs = extrasOf(node).needs ?? [];
  return needs.filter((need) => need.kind === 'sequence' && need.owned_by === field);
}
