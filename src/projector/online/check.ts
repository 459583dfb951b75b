/** What the short transaction makes sure of before it does anything. */
import { block, join, literal, qualified, sql } from '../ddl/sql.js';
import type { Statement } from '../ddl/statement.js';
import type { Using } from './in-its-place.js';
import { triggerNames } from './copy.js';
import { PREPARATION_LOST } from './lost.js';
import { preparedName } from './names.js';
import type { Prepared } from './preparables.js';
import type { EngineStep } from './steps.js';

/** Under the locks, before anything is done: all of it is there, and valid. */
export function check(used: readonly Using[]): Statement {
  const [{ statement }] = used as [Using];
  const rows = used.flatMap(({ id, schema, prepared, notNullBy }) => {
    const { what, table, key } = prepared;
    const place = literal(qualified(schema, table));
    const ours = preparedName(id, key);
    const names = what.kind === 'copy' ? triggerNames({ name: ours }) : [ours];
    return names.map((name) => sql`(${place}, ${literal(name)}, ${literal(typeOf(what, notNullBy))})`);
  });
  const body = sql`DECLARE lost text; BEGIN
    SELECT w.name INTO lost FROM (VALUES ${join(rows, sql`, `)}) AS w (place, name, type)
     WHERE NOT CASE WHEN w.type = 'trigger' THEN EXISTS (
         SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = pg_catalog.to_regclass(w.place) AND t.tgname = w.name
            AND t.tgenabled = 'A')
       WHEN w.type IN ('index', 'unique') THEN EXISTS (
         SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
          WHERE i.indrelid = pg_catalog.to_regclass(w.place) AND c.relname = w.name AND i.indisvalid AND i.indisready
            AND i.indislive AND i.indisunique = (w.type = 'unique'))
       ELSE EXISTS (
         SELECT FROM pg_catalog.pg_constraint WHERE conrelid = pg_catalog.to_regclass(w.place) AND conname = w.name
            AND contype = w.type AND convalidated) END LIMIT 1;
    IF lost IS NOT NULL THEN
      RAISE EXCEPTION USING MESSAGE = 'what was prepared is not there any more, or not valid', ERRCODE = ${literal(PREPARATION_LOST)};
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

function typeOf(what: Prepared['what'], notNullBy: EngineStep['notNullBy']): string {
  switch (what.kind) {
    case 'not null':
      return notNullBy === 'check' ? 'c' : 'n';
    case 'constraint':
      return what.references === null ? 'c' : 'f';
    case 'copy':
      return 'trigger';
    default:
      return what.kind === 'key' || what.unique ? 'unique' : 'index';
  }
}
