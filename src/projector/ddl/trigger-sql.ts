/* Expressions for queries about a trigger `t` of pg_trigger, its table `c` and the namespace `n` of the table. */
import { type Sql, sql } from './sql.js';

/** SQL for a name with double quotes unless it is plain. */
export const quoteUnlessPlain = (
  name: Sql,
): Sql => sql`CASE WHEN ${name}::text ~ '^[a-z_][a-z0-9_]*$'::text THEN ${name}::text
    ELSE '"' || pg_catalog.replace(${name}::text, '"', '""') || '"' END`;

/** SQL for the id of an object of the table `c`, like `idOnTable` of src/schema/model/objects.ts. */
export const idOnTable = (name: Sql): Sql =>
  sql`(${quoteUnlessPlain(name)} || ' on ' || ${quoteUnlessPlain(sql`c.relname`)})`;

export const TRIGGER_ID = idOnTable(sql`t.tgname`);

/** SQL condition: the trigger is not one that PostgreSQL created itself, for a constraint or for a partition. */
export const IS_OBJECT = sql`(NOT t.tgisinternal AND t.tgparentid = 0::oid)`;

const DEFINITION = sql`pg_catalog.pg_get_triggerdef(t.oid)`;

/** SQL for the text before the trigger's name, and for the text between that name and the table. */
const BEFORE_NAME = sql`pg_catalog.format('CREATE %sTRIGGER %I ', CASE WHEN t.tgconstraint <> 0::oid THEN 'CONSTRAINT ' ELSE '' END, t.tgname)`;
const ON_TABLE = sql`pg_catalog.format(' ON %I.%I ', n.nspname, c.relname)`;

const REST = sql`pg_catalog.substr(${DEFINITION}, pg_catalog.length(${BEFORE_NAME}) + 1)`;

/**
 * SQL for the server's definition without the names of the trigger and of its table: `BEFORE INSERT ON FOR EACH ROW …`.
 * The events end before the first ON outside quotes, because a column of UPDATE OF can have any name.
 */
export const TRIGGER_EVENTS = sql`pg_catalog.substring(${REST}, '^((?:[^"]|"[^"]*")*?) ON '::text)`;
export const TRIGGER_TAIL = sql`pg_catalog.substr(${REST}, pg_catalog.length(${TRIGGER_EVENTS}) + pg_catalog.length(${ON_TABLE}) + 1)`;
export const TRIGGER_QUERY = sql`(${TRIGGER_EVENTS} || ' ON ' || ${TRIGGER_TAIL})`;
