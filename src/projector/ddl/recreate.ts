/* Plans changes in which generated columns are recreated. */
import type { Resumable } from '../../kernel/resumable.js';
import {
  type ColumnField,
  hasColumn,
  getRelation,
  extrasOf,
  type CollectionNode,
  relationsTo,
} from '../../schema/model/state.js';
import { type Statement, type Change, fieldNameOf, isNew, type Step, statementsOf, step } from './step.js';
import { addColumn, dropColumn, alterColumn } from './alter-column.js';
import { hasForeignKey, type ForeignKeyRelation, primaryKeyColumns } from './create-table.js';
import { type DeferredForeignKey, addForeignKey, dropForeignKey, isInheritedRelation } from './relation.js';
import { label, tableOf, addPrimaryKey, dropPrimaryKey } from './keys-and-indexes.js';
import { ident, sql, type Sql, join, literal } from './sql.js';
import {
  constraintColumns,
  indexColumns,
  keyDefinition,
  targetColumns,
  expressionColumns,
} from '../../schema/sql-text/definitions.js';
import {
  type Constraint,
  type Index,
  addConstraint,
  createIndex,
  dropConstraint,
  dropIndex,
  isInherited,
} from './extras.js';
import { objectNames } from './column.js';
import { columnType } from '../../schema/normal-form/index.js';
import type { Field } from '../../schema/model/model.js';
import { isRename } from '../../schema/model/events.js';

/*
 * Groups events that affect generated columns. PostgreSQL rejects dropping or retyping a column that a generated
 * column reads, and needs all inputs to exist when it creates one. The events of a batch do not follow such an order.
 * Generated columns that change, or whose inputs change, are therefore dropped before the first event on a field of
 * their collection. They are added again after the last event, with all dependent objects. Their values are computed,
 * so nothing is lost. (SET EXPRESSION would avoid this only from PostgreSQL 17 on, and only for the expression.)
 */

type FieldChange = Change<'field.created' | 'field.updated' | 'field.deleted'>;

/** Consecutive events on the fields of one collection, and the generated columns that must be recreated. */
interface FieldRun {
  changes: readonly FieldChange[];
  first: FieldChange;
  last: FieldChange;
  from: CollectionNode;
  to: CollectionNode;
  /** Names of the fields that are planned as a whole instead of event by event. */
  recreated: ReadonlySet<string>;
}

/** Checks whether PostgreSQL computes the column. Identity columns do not count. */
export function isGenerated(field: Field | undefined): field is ColumnField {
  return hasColumn(field) && field.schema.generation_expression !== null;
}

/** Returns the runs of a batch that recreate generated columns. */
export function fieldRuns(changes: readonly Change[]): FieldRun[] {
  const runs: FieldRun[] = [];
  const gathered = new Map<string, FieldChange[]>();
  const close = (collection: string): void => {
    const run = toRun(gathered.get(collection) ?? []);
    if (run !== null) runs.push(run);
    gathered.delete(collection);
  };
  for (const change of changes) {
    const { collection } = change.event;
    if (isFieldChange(change)) {
      const run = gathered.get(collection) ?? [];
      gathered.set(collection, run);
      run.push(change);
    } else if (isRename(change.event)) [...gathered.keys()].forEach(close);
    else if (gathered.size > 0) [collection, ...referencedTables(change)].forEach(close);
  }
  for (const collection of gathered.keys()) close(collection);
  return runs;
}

/**
 * Returns the tables that foreign keys of the event's table reference. Their keys must exist when those foreign keys
 * change.
 */
function referencedTables({ event, before, after }: Change): string[] {
  const nodes = [before, after].flatMap(({ collections }) => collections.get(event.collection) ?? []);
  const relation = (node: CollectionNode) => node.relations.get(fieldNameOf(event))?.one_collection ?? [];
  return nodes
    .flatMap((node) => [
      relation(node),
      (extrasOf(node).constraints ?? []).flatMap(({ references }) => references ?? []),
    ])
    .flat();
}

const isFieldChange = (change: Change): change is FieldChange =>
  change.event.type.startsWith('field.') && !isRename(change.event);

function toRun(changes: readonly FieldChange[]): FieldRun | null {
  const [first, last] = [changes[0], changes.at(-1)];
  const from = first?.before.collections.get(first.event.collection);
  const to = last?.after.collections.get(last.event.collection);
  if (first === undefined || last === undefined || from === undefined || to === undefined) return null;
  const generated = findEverGenerated(changes, from);
  if (generated.size === 0) return null;
  const disturbed = findDisturbedColumns(changes, generated);
  const recreated = new Set([...generated].filter((name) => !isUndisturbed(name, { from, to }, disturbed)));
  return recreated.size === 0 ? null : { changes, first, last, from, to, recreated };
}

/** Returns the fields that are generated columns at any time during the run. */
function findEverGenerated(changes: readonly FieldChange[], from: CollectionNode): Set<string> {
  const names = new Set([...from.fields.values()].filter(isGenerated).map(({ field }) => field));
  for (const { event, after } of changes) {
    const name = fieldNameOf(event);
    if (isGenerated(after.collections.get(event.collection)?.fields.get(name))) names.add(name);
  }
  return names;
}

interface Span {
  from: CollectionNode;
  to: CollectionNode;
}

/** Returns the columns that an event replaces, removes or retypes, even if the end result is the same. */
function findDisturbedColumns(changes: readonly FieldChange[], generated: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { event, before, after } of changes) {
    const name = fieldNameOf(event);
    const [old, now] = [before, after].map(({ collections }) => collections.get(event.collection)?.fields.get(name));
    const same = hasColumn(old) && hasColumn(now) && columnType(old.schema) === columnType(now.schema);
    if (!same) names.add(name);
    else if (generated.has(name) && !isComputedAlike(old, now)) names.add(name);
  }
  return names;
}

export const isComputedAlike = (old: ColumnField, now: ColumnField): boolean =>
  old.schema.generation_expression === now.schema.generation_expression &&
  old.schema.extras?.virtual === now.schema.extras?.virtual;

function isUndisturbed(name: string, { from, to }: Span, disturbed: ReadonlySet<string>): boolean {
  const field = to.fields.get(name);
  if (disturbed.has(name) || !isGenerated(field) || !isGenerated(from.fields.get(name))) return false;
  return [...expressionColumns(field.schema.generation_expression ?? '')].every((column) => !disturbed.has(column));
}

/*
 * Finds what is recreated with generated columns beyond their fields: a primary key, constraints and indexes that
 * name them, and foreign keys that depend on those. PostgreSQL would drop them silently with a column, so they are
 * dropped by name and created again. Objects that are not in the log cause a rejection.
 */

/* Rejects dropping columns with unmanaged dependents, because PostgreSQL drops those silently. */

/* Plans a run in which generated columns are recreated. The comment on groups of events above explains why. */

function refuseUnmanagedDependents(change: Change, node: CollectionNode, columns: ReadonlySet<string>): Step[] {
  const { collection } = change.event;
  if (columns.size === 0 || isNew(change, collection)) return [];
  const dependents = dependentsQuery(tableOf(change), [...columns], [...objectNames(node)]);
  const body = sql`DECLARE found text; BEGIN
    ${dependents}
    IF found IS NOT NULL THEN RAISE EXCEPTION 'other objects depend on its columns'
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = found; END IF; END`;
  const names = [...columns].join(', ');
  const summary = `check that no other object depends on ${names} of ${collection}`;
  return [step(sql`DO ${literal(body)}`, summary, { lock: 'none', lock_entries: 1 })];
}

/**
 * Lists the dependents, one per line, in the words of PostgreSQL's own errors. Constraints and indexes of the log are
 * recreated, but not their comments and settings. A column's own NOT NULL (`n`) is recreated with it. Tables that
 * inherit a column from no other parent lose theirs too.
 */
function dependentsQuery(table: Sql, columns: readonly string[], own: readonly string[]): Sql {
  const root = sql`pg_catalog.to_regclass(${literal(table)})::oid`;
  const theirs = sql`a.attname::text = ANY (${list(columns)}) AND (a.attrelid = ${root} OR NOT a.attislocal AND a.attrelid IN (SELECT f.oid FROM family f)
    AND a.attinhcount::bigint = (SELECT pg_catalog.count(*) FROM pg_catalog.pg_inherits i JOIN family f ON f.oid = i.inhparent WHERE i.inhrelid = a.attrelid))`;
  return sql`WITH RECURSIVE family AS (
      SELECT c.oid FROM pg_catalog.pg_class c WHERE c.oid = ${root} AND c.relkind = 'r'
      UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN family f ON i.inhparent = f.oid
    ), columns AS (
      SELECT a.*, t.typstorage FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE ${theirs}
    ), going AS (
      SELECT attname, d.classid, d.objid, pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS what,
             coalesce(o.conname, i.relname)::text AS name, coalesce(nullif(o.conindid, 0::oid), i.oid) AS index
        FROM columns JOIN pg_catalog.pg_depend d
          ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = attrelid AND d.refobjsubid = attnum
        LEFT JOIN pg_catalog.pg_constraint o ON o.oid = d.objid AND d.classid = 'pg_catalog.pg_constraint'::regclass::oid
        LEFT JOIN pg_catalog.pg_class i ON i.oid = d.objid AND d.classid = 'pg_catalog.pg_class'::regclass::oid
       WHERE d.deptype = 'a' AND d.classid <> 'pg_catalog.pg_attrdef'::regclass::oid AND o.contype IS DISTINCT FROM 'n'
    ), others AS (
      SELECT attname, what FROM going WHERE name IS NULL OR name <> ALL (${list(own)})
      UNION SELECT attname, 'comment on ' || pg_catalog.pg_describe_object(c.classoid, c.objoid, 0)
        FROM going JOIN pg_catalog.pg_description c ON c.objsubid = 0 AND (c.classoid = classid AND c.objoid = objid
             OR c.classoid = 'pg_catalog.pg_class'::regclass::oid AND c.objoid = index)
      UNION SELECT attname, 'replica identity, clustering or tablespace of ' || what FROM going
        JOIN pg_catalog.pg_index x ON x.indexrelid = index JOIN pg_catalog.pg_class c ON c.oid = index
       WHERE x.indisreplident OR x.indisclustered OR c.reltablespace <> 0::oid
      UNION SELECT attname, 'privilege ' || p.privilege_type || ' of '
                            || CASE p.grantee WHEN 0::oid THEN 'PUBLIC' ELSE 'role ' || pg_catalog.pg_get_userbyid(p.grantee)::text END
        FROM columns, pg_catalog.aclexplode(attacl) p
      UNION SELECT attname, 'setting of the column' FROM columns
       WHERE attoptions IS NOT NULL OR coalesce(attstattarget, -1) <> -1 OR attcompression <> '' OR attstorage <> typstorage
      -- The comment on the table's own column is in the log, and recreated with it.
      UNION SELECT c.attname, 'comment on column ' || c.attrelid::regclass || '.' || c.attname FROM columns c
       WHERE c.attrelid <> ${root} AND pg_catalog.col_description(c.attrelid, c.attnum) IS NOT NULL
      UNION SELECT attname, 'security label' FROM columns JOIN pg_catalog.pg_seclabel l
         ON l.classoid = 'pg_catalog.pg_class'::regclass::oid AND l.objoid = attrelid AND l.objsubid = attnum
    )
    SELECT pg_catalog.string_agg(what || ' depends on column ' || attname::text, pg_catalog.chr(10) ORDER BY attname, what) INTO found FROM others;`;
}

const list = (names: readonly string[]): Sql => sql`ARRAY[${join(names.map(literal), sql`, `)}]::text[]`;

interface Recreation {
  recreatesKey: boolean;
  /** Foreign keys that depend on dropped keys. */
  relations: readonly ForeignKeyRelation[];
  /** Foreign keys that are not relations, and those of the table itself that use a dropped column. */
  references: readonly DeferredForeignKey[];
  drop(): Statement[];
  /** Runs after the columns exist again. Recreates everything but foreign keys. */
  recreate(): Statement[];
}

/**
 * @param dropped columns that the run drops and recreates
 * @param added columns that the run adds at its end
 */
function planRecreation(run: FieldRun, dropped: ReadonlySet<string>, added: ReadonlySet<string>): Recreation {
  const names = (columns: Iterable<string>): boolean => [...columns].some((column) => dropped.has(column));
  const { constraints = [], indexes = [] } = extrasOf(run.from);
  const own = constraints.filter(({ definition }) => names(constraintColumns(definition)));
  const kept = own.filter(({ references }) => references === undefined);
  const ownIndexes = indexes.filter(({ definition }) => names(indexColumns(definition)));
  const recreatesKey = names(keyNames(run.from)) || [...keyNames(run.to)].some((column) => added.has(column));
  const uniques = uniqueSets(run.from, { recreatesKey, constraints: kept, indexes: ownIndexes });
  const rests = (columns: readonly string[]): boolean =>
    names(columns) || uniques.some((unique) => columns.every((column) => unique.has(column)));
  const relations = relationsOn(run, rests);
  const references = dropped.size === 0 && !recreatesKey ? [] : referencesOn(run, own, rests);
  return {
    recreatesKey,
    relations,
    references,
    drop: () => [
      ...statementsOf(run.first, [
        ...refuseUnmanagedDependents(run.first, run.from, dropped),
        ...relations.map((relation) => dropForeignKey(run.first, relation)),
      ]),
      ...references.flatMap(({ change, constraint }) => statementsOf(change, [dropConstraint(change, constraint)])),
      ...statementsOf(run.first, [
        ...(recreatesKey ? dropPrimaryKey(run.first, run.from) : []),
        ...kept.map((each) => dropConstraint(run.first, each)),
        ...ownIndexes.map((each) => dropIndex(run.first, each)),
      ]),
    ],
    recreate: () =>
      statementsOf(run.last, [
        ...(recreatesKey ? addPrimaryKey(run.last, run.to) : []),
        ...kept.map((each) => addConstraint(run.last, each)),
        ...ownIndexes.map((each) => createIndex(run.last, each)),
        ...relations
          .filter((relation) => keepsForeignKey(run, relation))
          .map((relation) => addForeignKey(run.last, relation)),
      ]),
  };
}

/** Returns the columns of the primary key, including INCLUDE columns. */
function keyNames(node: CollectionNode): Set<string> {
  const definition = extrasOf(node).primary_key?.definition;
  return new Set([
    ...primaryKeyColumns(node),
    ...(definition === undefined ? [] : keyDefinition(definition).including),
  ]);
}

interface RecreatedObjects {
  recreatesKey: boolean;
  constraints: readonly Constraint[];
  indexes: readonly Index[];
}

/**
 * Returns the column sets of dropped keys that can support a foreign key. Only PostgreSQL knows which of several equal
 * keys a foreign key uses, so each of them counts.
 */
function uniqueSets(
  node: CollectionNode,
  { recreatesKey, constraints, indexes }: RecreatedObjects,
): ReadonlySet<string>[] {
  return [
    ...(recreatesKey ? [keyNames(node)] : []),
    ...constraints.map(({ definition }) => new Set(keyDefinition(definition).keys)).filter(({ size }) => size > 0),
    ...indexes.filter(({ unique }) => unique === true).map(({ definition }) => indexColumns(definition)),
  ];
}

type IsUntouched = (columns: readonly string[]) => boolean;

function relationsOn({ first: { before, event }, from }: FieldRun, rests: IsUntouched): ForeignKeyRelation[] {
  const key = primaryKeyColumns(from);
  if (key.length === 0 || !rests(key)) return [];
  const relations = relationsTo(before, event.collection).filter(hasForeignKey);
  return relations.filter((relation) => !isInheritedRelation(before, relation));
}

function referencesOn(run: FieldRun, own: readonly Constraint[], rests: IsUntouched): DeferredForeignKey[] {
  const foreignKeys: DeferredForeignKey[] = [];
  const { first, from } = run;
  for (const [collection, node] of first.before.collections) {
    // The statement concerns the other table but is attributed to the event that requires it.
    const change = { ...first, event: { ...first.event, collection, field: null } } as Change;
    for (const constraint of extrasOf(node).constraints ?? []) {
      const { references, definition } = constraint;
      if (references === undefined || isInherited(change, constraint)) continue;
      const points = references === first.event.collection && rests(targetColumns(definition));
      if (points || (node === from && own.includes(constraint))) foreignKeys.push({ change, constraint });
    }
  }
  return foreignKeys;
}

/** Checks whether the run keeps the foreign key of the relation. */
const keepsForeignKey = ({ last }: FieldRun, { many_collection, many_field }: ForeignKeyRelation): boolean =>
  hasForeignKey(last.after.collections.get(many_collection)?.relations.get(many_field));

/** A run with its progress: which recreated fields currently have a column. */
export interface RecreatedRun extends Pick<FieldRun, 'first' | 'last' | 'recreated'>, Pick<Recreation, 'recreatesKey'> {
  /** Statements before the first event. */
  drop(): Statement[];
  /** Statements for an event on a recreated field. */
  step(change: Change): Statement[];
  /** Statements after the last event. */
  recreate(): Statement[];
  /** Dropped foreign keys, which are recreated last. */
  references: readonly DeferredForeignKey[];
}

/** Returns the runs. Each run is stored under the index of each of its events. */
export function* planRecreatedRuns(changes: readonly Change[]): Resumable<ReadonlyMap<number, RecreatedRun>> {
  const runs = new Map<number, RecreatedRun>();
  for (const run of fieldRuns(changes)) {
    yield;
    const existing = new Set<string>();
    const parts = planRecreation(run, findDropped(run), added(run));
    const recreated = {
      ...run,
      recreatesKey: parts.recreatesKey,
      references: parts.references,
      drop: () => [...parts.drop(), ...planDrops(run, existing)],
      step: (change: Change) => statementsOf(change, planRecreated(change, existing)),
      recreate: () => [...planAdditions(run, parts), ...parts.recreate()],
    };
    for (const { index } of run.changes) runs.set(index, recreated);
  }
  return runs;
}

/** Returns the recreated fields that have a column before the run and still have one at its end. */
function findDropped({ changes, recreated, from, to }: FieldRun): Set<string> {
  const isDropped = (field: ColumnField): boolean => {
    const steps = changes.filter(({ event }) => event.field === field.field);
    const [next, ...later] = steps.map((change) => fieldOf(change.after, change, field.field));
    const keeps = isGenerated(field) ? hasColumn(next) && !isGenerated(next) : true;
    return !keeps || [next, ...later].some((each) => isGenerated(each));
  };
  const fields = [...from.fields.values()].filter(hasColumn);
  return new Set(
    fields
      .filter((field) => recreated.has(field.field) && hasColumn(to.fields.get(field.field)) && isDropped(field))
      .map(({ field }) => field),
  );
}

const added = ({ recreated, to }: FieldRun): Set<string> =>
  new Set([...recreated].filter((name) => isGenerated(to.fields.get(name))));

function planRecreated(change: Change, existing: Set<string>): Step[] {
  const name = fieldNameOf(change.event);
  const old = fieldOf(change.before, change, name);
  const now = fieldOf(change.after, change, name);
  const had = existing.has(name);
  if (!hasColumn(now) || isGenerated(now)) {
    existing.delete(name);
    return had && hasColumn(old) ? [dropColumn(change, old)] : [];
  }
  existing.add(name);
  return had && hasColumn(old)
    ? alterColumn(change as Change<'field.updated'>, withoutExpression(old), now)
    : addColumn(change, now);
}

const fieldOf = (state: Change['before'], { event }: Change, name: string) =>
  state.collections.get(event.collection)?.fields.get(name);

const withoutExpression = (field: ColumnField): ColumnField => ({
  ...field,
  schema: { ...field.schema, generation_expression: null },
});

/**
 * Plans the statements before the first event: they drop generated columns. A column that becomes plain keeps its
 * values.
 */
function planDrops(run: FieldRun, existing: Set<string>): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.from.fields.values()) {
    if (!run.recreated.has(field.field) || !hasColumn(field)) continue;
    if (field.schema.generation_expression === null) {
      existing.add(field.field);
      continue;
    }
    const own = run.changes.find(({ event }) => event.field === field.field);
    const change = describeField(own ?? run.first, field.field);
    const next = own === undefined ? undefined : fieldOf(own.after, own, field.field);
    if (hasColumn(next) && !isGenerated(next)) {
      existing.add(field.field);
      statements.push(...statementsOf(change, [dropExpression(change, field)]));
    } else statements.push(...statementsOf(change, [dropColumn({ ...change, before: run.first.before }, field)]));
  }
  return statements;
}

/** Plans the statements after the last event: they add the columns that are generated then, in field order. */
function planAdditions(run: FieldRun, { recreatesKey }: Recreation): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.to.fields.values()) {
    if (!run.recreated.has(field.field) || !isGenerated(field)) continue;
    const own = run.changes.findLast(({ event }) => event.field === field.field);
    const change = { ...describeField(own ?? run.last, field.field), after: run.last.after, recreatesKey };
    const keys = keyOf(run, field).map((relation) => addForeignKey(change, relation));
    statements.push(...statementsOf(change, [...addColumn(change, field), ...keys]));
  }
  return statements;
}

const describeField = (change: Change, field: string): Change => ({ ...change, about: field });

function dropExpression(change: Change, field: ColumnField): Step {
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(field.field)} DROP EXPRESSION IF EXISTS`;
  return step(text, `keep the values of ${label(field)}`, { lock: 'ACCESS EXCLUSIVE' });
}

/** Returns the foreign key that was dropped with the column and is still wanted. */
function keyOf({ first, last, from }: FieldRun, { collection, field }: ColumnField) {
  if (!isGenerated(from.fields.get(field))) return [];
  const stood = hasForeignKey(getRelation(first.before, collection, field));
  return [getRelation(last.after, collection, field)].filter(hasForeignKey).filter(() => stood);
}
