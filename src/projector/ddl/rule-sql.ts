/* Expressions for queries about a rule `r` of pg_rewrite, its table `c` and the namespace `n` of the table. */
import { sql } from './sql.js';
import { idOnTable } from './trigger-sql.js';

export const RULE_ID = idOnTable(sql`r.rulename`);

/** SQL condition: the rule is not the query of a view. */
export const IS_RULE = sql`(r.ev_type <> '1'::"char")`;

export const RULE_EVENT = sql`CASE r.ev_type WHEN '2'::"char" THEN 'UPDATE' WHEN '3'::"char" THEN 'INSERT' ELSE 'DELETE' END`;

/** Matches the output of pg_get_ruledef up to the table, which PostgreSQL qualifies: `CREATE RULE a AS ON INSERT TO b.c`. */
const HEAD = sql`'^CREATE RULE (?:"(?:[^"]|"")*"|[^"\\s]+) AS\\s+ON \\w+ TO (?:"(?:[^"]|"")*"|[^".\\s]+)\\.(?:"(?:[^"]|"")*"|[^"\\s]+)'::text`;

/** SQL for the server's definition after the table, without the semicolon: ` DO INSTEAD NOTHING`. */
export const RULE_TAIL = sql`pg_catalog.rtrim(pg_catalog.regexp_replace(pg_catalog.pg_get_ruledef(r.oid), ${HEAD}, ''::text), ';'::text)`;

/** SQL for the server's definition without the names of the rule and of its table. */
export const RULE_QUERY = sql`('ON '::text || ${RULE_EVENT} || ${RULE_TAIL})`;
