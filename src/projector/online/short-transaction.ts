/** The short transaction: statements that use prepared objects replace slow ones. */
import type { Statement } from '../ddl/step.js';
import { offendingOf } from './plan.js';
import {
  type PreparedStep,
  qualifyInPreparedSchema,
  preparedOf,
  preparedTable,
  type EngineStep,
  readStep,
  stepsOf,
} from './steps.js';
import { type DecidedChange, type PreparationStep, type PreparedStatements, PREPARATION_LOST } from './types.js';
import { type Sql, block, join, literal, qualified, sql, ident, integer, trash } from '../ddl/sql.js';
import {
  copyTable,
  createCopying,
  lostTable,
  notedTable,
  triggerNames,
  dropNotes,
  dropTriggers,
  applyNotes,
  preparedName,
} from './copy.js';
import { postgresName } from '../../schema/model/constraint-names.js';
import { COPY, notePrivileges } from '../ddl/trash.js';

/* The short statements that use prepared objects and replace a slow one. */

interface PreparedUse {
  id: string;
  schema: string;
  statement: Statement;
  prepared: PreparedStep;
  notNullBy: EngineStep['notNullBy'];
}

/**
 * Returns the short statements for a prepared object. They read no rows, except recently noted ones for a copy. They
 * fail if a prepared object is missing.
 */
function planReplacement(using: PreparedUse): Statement[] {
  const { prepared, statement, schema, id } = using;
  const { what } = prepared;
  const table = preparedTable(prepared, schema);
  const ours = preparedName(id, prepared.key);
  const exclusive = {
    lock: 'ACCESS EXCLUSIVE',
    locks: [{ table: prepared.table, ...(prepared.at !== undefined && { at: prepared.at }), lock: 'ACCESS EXCLUSIVE' }],
  } as const;
  const quick = (text: Sql, costs: Pick<Statement, 'lock' | 'locks'> = exclusive): Statement => {
    const { preparable: _, ...rest } = statement;
    return { ...rest, ...costs, sql: text, may_fail: false };
  };
  switch (what.kind) {
    case 'not null':
      return [...notNull(using, quick), quick(statement.sql)];
    case 'index':
      return [
        quick(sql`ALTER INDEX ${qualifyInPreparedSchema(prepared, schema, ours)} RENAME TO ${ident(what.name)}`, {
          lock: 'none',
          locks: [],
        }),
      ];
    case 'key': {
      const type = what.type === 'UNIQUE' ? sql`UNIQUE` : sql`PRIMARY KEY`;
      const index = sql`USING INDEX ${ident(ours)}${what.after}`;
      return [quick(sql`ALTER TABLE ${table} ADD CONSTRAINT ${ident(what.name)} ${type} ${index}`)];
    }
    case 'copy':
      return finishCopy(using, what, quick);
    case 'fill':
      // Rows that are null now were written after the batches. They get no value, like rows that are written after the change.
      return [];
    default:
      return [quick(sql`ALTER TABLE ${table} RENAME CONSTRAINT ${ident(ours)} TO ${ident(what.name)}`)];
  }
}

/**
 * Returns statements that run before the statement itself, which then has no rows or checks to read, even if it also
 * alters the type. The constraint gets the name that PostgreSQL would have chosen.
 */
function notNull({ prepared, schema, id, notNullBy }: PreparedUse, quick: (text: Sql) => Statement): Statement[] {
  const { what, table: collection, at, key } = prepared;
  if (what.kind !== 'not null') return [];
  const table = preparedTable(prepared, schema);
  const ours = ident(preparedName(id, key));
  if (notNullBy === 'check')
    return [
      quick(sql`ALTER TABLE ${table} ALTER COLUMN ${ident(what.column)} SET NOT NULL`),
      quick(sql`ALTER TABLE ${table} DROP CONSTRAINT ${ours}`),
    ];
  return [
    quick(
      renameNotNull({ table, schema: at?.schema ?? schema, ours }, notNullNames(at?.name ?? collection, what.column)),
    ),
  ];
}

/**
 * Returns candidate names in the order in which PostgreSQL tries them. It picks the first one that no constraint of the
 * schema has.
 */
const notNullNames = (table: string, column: string): string[] =>
  Array.from({ length: 100 }, (_, index) => postgresName(table, column, `_not_null${index === 0 ? '' : index}`));

function renameNotNull({ table, schema, ours }: { table: Sql; schema: string; ours: Sql }, names: string[]): Sql {
  const candidates = join(
    names.map((name, index) => sql`(${literal(name)}, ${literal(String(index).padStart(2, '0'))})`),
    sql`, `,
  );
  const body = sql`DECLARE free text; BEGIN
    SELECT w.name INTO STRICT free FROM (VALUES ${candidates}) AS w (name, nth)
      WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace
        WHERE c.conname = w.name AND n.nspname = ${literal(schema)}) ORDER BY w.nth LIMIT 1;
    EXECUTE 'ALTER TABLE ' || ${literal(table)} || ' RENAME CONSTRAINT ' || ${literal(ours)} || ' TO ' || pg_catalog.quote_ident(free);
  END`;
  return sql`DO ${block(body)}`;
}

/** Maximum number of notes to process under the lock. If there are more, they are processed before. */
const FEW_NOTES = 20_000;

/** Brings the copy up to the last write and moves it to the trash. */
function finishCopy(
  { prepared, schema, id }: PreparedUse,
  what: Extract<PreparedStep['what'], { kind: 'copy' }>,
  quick: (text: Sql) => Statement,
): Statement[] {
  const copying = createCopying({ id, schema }, { ...prepared, what });
  const [noted, lost] = [notedTable(copying), lostTable(copying)];
  const few = FEW_NOTES.toLocaleString('en');
  const refuse = sql`DECLARE why text; BEGIN
    why := CASE WHEN EXISTS (SELECT FROM ${lost}) THEN 'a write of ' || ${literal(prepared.table)} || ' could not be noted'
      WHEN EXISTS (SELECT FROM ${noted} WHERE truncated) THEN ${literal(prepared.table)} || ' was truncated since its values were copied'
      WHEN (SELECT count(*) FROM (SELECT FROM ${noted} LIMIT ${integer(String(FEW_NOTES + 1))}) n) > ${integer(String(FEW_NOTES))}
        THEN 'more than ' || ${literal(few)} || ' rows of ' || ${literal(prepared.table)} || ' were written since its values were copied' END;
    IF why IS NOT NULL THEN RAISE EXCEPTION USING MESSAGE = why, ERRCODE = ${literal(PREPARATION_LOST)}; END IF; END`;
  const moved = sql`${trash(what.position)}.${ident(copying.name)}`;
  const copy = qualified(trash(what.position), COPY);
  return [
    sql`DO ${block(refuse)}`,
    applyNotes(copying, integer(String(FEW_NOTES))),
    ...dropTriggers(copying),
    ...dropNotes(copying),
    sql`ALTER TABLE ${copyTable(copying)} SET SCHEMA ${trash(what.position)}`,
    sql`ALTER TABLE ${moved} RENAME TO ${ident(COPY)}`,
    sql`DO ${block(renameConstraints(copy))}`,
    sql`DO ${block(sql`BEGIN ${notePrivileges({ ...copying, copy })} END`)}`,
  ].map(quick);
}

/**
 * PL/pgSQL that gives the constraints of a copy their final names. Until then, temporary names mark them as objects of
 * a request.
 */
const renameConstraints = (copy: Sql): Sql => sql`DECLARE c record; BEGIN
    FOR c IN SELECT k.conname, k.contype, a.attname FROM pg_catalog.pg_constraint k
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND k.contype = 'n' AND a.attnum = k.conkey[1]
        WHERE k.conrelid = pg_catalog.to_regclass(${literal(copy)})::oid LOOP
      EXECUTE pg_catalog.format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', ${literal(copy)}, c.conname,
        CASE c.contype WHEN 'p' THEN ${literal(`${COPY}_pkey`)} ELSE ${literal(`${COPY}_`)} || c.attname::text || '_not_null' END);
    END LOOP; END`;

/* Checks that the short transaction performs before it changes anything. */

function checkPrepared(used: readonly PreparedUse[]): Statement {
  const [{ statement }] = used as [PreparedUse];
  const rows = used.flatMap(expectedRows);
  const body = sql`DECLARE lost text; BEGIN
    SELECT w.summary INTO lost FROM (VALUES ${join(rows, sql`, `)}) AS w (place, name, type, summary)
     WHERE NOT CASE WHEN w.type = 'table' THEN pg_catalog.to_regclass(w.place) IS NOT NULL
       WHEN w.type = 'trigger' THEN EXISTS (
         SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = pg_catalog.to_regclass(w.place)::oid AND t.tgname = w.name
            AND t.tgenabled = 'A')
       WHEN w.type IN ('index', 'unique') THEN EXISTS (
         SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
          WHERE i.indrelid = pg_catalog.to_regclass(w.place)::oid AND c.relname = w.name AND i.indisvalid AND i.indisready
            AND i.indislive AND i.indisunique = (w.type = 'unique'))
       ELSE EXISTS (
         SELECT FROM pg_catalog.pg_constraint WHERE conrelid = pg_catalog.to_regclass(w.place)::oid AND conname = w.name
            AND contype::text = w.type AND convalidated) END LIMIT 1;
    IF lost IS NOT NULL THEN
      RAISE EXCEPTION USING MESSAGE = 'what was prepared to ' || lost || ' no longer exists or is not valid', ERRCODE = ${literal(PREPARATION_LOST)};
    END IF; END`;
  const { preparable: _, ...rest } = statement;
  return {
    ...rest,
    sql: sql`DO ${block(body)}`,
    summary: 'check that the prepared objects exist',
    drops: [],
    lock: 'none',
    locks: [],
    may_fail: false,
    lock_entries: 2 * used.length,
  };
}

/** Returns the location, name, type and origin of each object that a step prepared. */
function expectedRows({ id, schema, prepared, notNullBy, statement }: PreparedUse): Sql[] {
  const { what, key } = prepared;
  const summary = literal(statement.summary);
  const row = (place: Sql, name: string, type: string): Sql =>
    sql`(${literal(place)}, ${literal(name)}, ${literal(type)}, ${summary})`;
  const place = preparedTable(prepared, schema);
  const ours = preparedName(id, key);
  if (what.kind === 'fill') return [];
  if (what.kind !== 'copy') return [row(place, ours, typeOf(what, notNullBy))];
  const copying = createCopying({ id, schema }, { ...prepared, what });
  return [
    ...[copyTable, notedTable, lostTable].map((of) => row(of(copying), ours, 'table')),
    ...triggerNames(copying).map((name) => row(place, name, 'trigger')),
  ];
}

function typeOf(
  what: Exclude<PreparedStep['what'], { kind: 'copy' | 'fill' }>,
  notNullBy: EngineStep['notNullBy'],
): string {
  switch (what.kind) {
    case 'not null':
      return notNullBy === 'check' ? 'c' : 'n';
    case 'constraint':
      return what.references === null ? 'c' : 'f';
    default:
      return what.kind === 'key' || what.unique ? 'unique' : 'index';
  }
}

/** @see PreparationEngine.preparedStatements */
export function preparedStatements(change: DecidedChange, steps: readonly PreparationStep[]): PreparedStatements {
  const stepsByKey = new Map(steps.map(readStep).map((step) => [step.prepared.key, step]));
  const used: PreparedUse[] = [];
  const missing: PreparationStep[] = [];
  const statements = change.statements.flatMap((statement) => {
    const prepared = preparedOf(statement);
    if (prepared === undefined) return [statement];
    const step = stepsByKey.get(prepared.key);
    if (step === undefined) {
      missing.push(...planRemainingSteps(change, { statement, prepared, stepsByKey }));
      return [statement];
    }
    const using = { id: change.id, schema: change.schema, statement, prepared, notNullBy: step.notNullBy };
    if (prepared.what.kind !== 'fill') used.push(using);
    return planReplacement(using);
  });
  if (missing.length > 0) return { kind: 'missing', steps: missing };
  return { kind: 'prepared', statements: used.length === 0 ? statements : [checkPrepared(used), ...statements] };
}

interface PreparedStatement {
  statement: Statement;
  prepared: PreparedStep;
  stepsByKey: ReadonlyMap<string, EngineStep>;
}

/** Plans the other statements of a large table on which something was prepared. */
function planRemainingSteps(
  change: DecidedChange,
  { statement, prepared, stepsByKey }: PreparedStatement,
): PreparationStep[] {
  const other = [...stepsByKey.values()].find(({ prepared: { table } }) => table === prepared.table);
  if (other === undefined) return [];
  const offending = offendingOf(change, statement, prepared);
  return stepsOf({ prepared, statement, size: { rows: null, bytes: null }, notNullBy: other.notNullBy, offending });
}
