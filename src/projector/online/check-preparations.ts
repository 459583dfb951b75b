/** Checks the short transaction performs before it changes anything. */
import { type Sql, block, join, literal, qualified, sql } from '../ddl/sql.js';
import type { Statement } from '../ddl/statement.js';
import type { Using } from './replacement.js';
import { copyTable, copyingOf, lostTable, notedTable, triggerNames } from './copy.js';
import { PREPARATION_LOST } from './preparation-lost.js';
import { preparedName } from './names.js';
import type { Prepared } from './preparables.js';
import type { EngineStep } from './steps.js';

export function check(used: readonly Using[]): Statement {
  const [{ statement }] = used as [Using];
  const rows = used.flatMap(expected);
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
      RAISE EXCEPTION USING MESSAGE = 'what was prepared to ' || lost || ' is not there any more, or not valid', ERRCODE = ${literal(PREPARATION_LOST)};
    END IF; END`;
  const { preparable: _, ...rest } = statement;
  return {
    ...rest,
    sql: sql`DO ${block(body)}`,
    summary: 'make sure that what was prepared is there',
    drops: [],
    lock: 'none',
    locks: [],
    may_fail: false,
    lock_entries: 2 * used.length,
  };
}

/** The location, name, type and origin of each prepared object. */
function expected({ id, schema, prepared, notNullBy, statement }: Using): Sql[] {
  const { what, table, key } = prepared;
  const summary = literal(statement.summary);
  const row = (place: Sql, name: string, type: string): Sql =>
    sql`(${literal(place)}, ${literal(name)}, ${literal(type)}, ${summary})`;
  const place = qualified(schema, table);
  const ours = preparedName(id, key);
  if (what.kind !== 'copy') return [row(place, ours, typeOf(what, notNullBy))];
  const copying = copyingOf({ id, schema }, { table, key, what });
  return [
    ...[copyTable, notedTable, lostTable].map((of) => row(of(copying), ours, 'table')),
    ...triggerNames(copying).map((name) => row(place, name, 'trigger')),
  ];
}

function typeOf(what: Exclude<Prepared['what'], { kind: 'copy' }>, notNullBy: EngineStep['notNullBy']): string {
  switch (what.kind) {
    case 'not null':
      return notNullBy === 'check' ? 'c' : 'n';
    case 'constraint':
      return what.references === null ? 'c' : 'f';
    default:
      return what.kind === 'key' || what.unique ? 'unique' : 'index';
  }
}
