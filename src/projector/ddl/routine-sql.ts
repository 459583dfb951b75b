/* Expressions for queries about a function, procedure or aggregate `p` of pg_proc and its namespace `n`. */
import { type Sql, join, literal, sql } from './sql.js';

/** SQL for the id of a routine `p`, like `routineId` of src/schema/model/objects.ts. */
export const ROUTINE_ID = sql`CASE WHEN p.proname::text ~ '^[a-z_][a-z0-9_]*$'::text THEN p.proname::text
    ELSE '"' || pg_catalog.replace(p.proname::text, '"', '""') || '"' END || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'`;

/** PostgreSQL accepts FUNCTION for an aggregate where it changes privileges and the owner. */
export const ROUTINE_WORD = sql`CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END`;

/** SQL for the label of the kind of a routine `p`. */
export const ROUTINE_KIND = sql`CASE p.prokind WHEN 'a' THEN 'aggregate' WHEN 'p' THEN 'procedure' ELSE 'function' END`;

/* PostgreSQL prints no definition of an aggregate. These expressions build it from the row `g` of pg_aggregate. */

/**
 * The schema is written if PostgreSQL could find a function of another schema by the name alone. It is never written for
 * an overload in the same schema, which regproc would do.
 */
const supportFunction = (oid: Sql): Sql => sql`(SELECT CASE WHEN pg_catalog.pg_function_is_visible(s.oid)
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc x
        WHERE x.proname = s.proname AND x.pronamespace <> s.pronamespace AND pg_catalog.pg_function_is_visible(x.oid))
    THEN pg_catalog.quote_ident(s.proname) ELSE pg_catalog.format('%I.%I', sn.nspname, s.proname) END
  FROM pg_catalog.pg_proc s JOIN pg_catalog.pg_namespace sn ON sn.oid = s.pronamespace WHERE s.oid = ${oid}::oid)`;

const SORT_OPERATOR = sql`(SELECT CASE WHEN pg_catalog.pg_operator_is_visible(o.oid) THEN o.oprname::text
    ELSE pg_catalog.format('OPERATOR(%I.%s)', sn.nspname, o.oprname) END
  FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace sn ON sn.oid = o.oprnamespace WHERE o.oid = g.aggsortop)`;

/** Null for the default of the kind of aggregate. */
const modification = (
  column: Sql,
): Sql => sql`CASE WHEN ${column} = CASE g.aggkind WHEN 'n' THEN 'r' ELSE 'w' END::"char" THEN NULL
    ELSE CASE ${column} WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END END`;

const type = (oid: Sql): Sql => sql`CASE WHEN ${oid} <> 0::oid THEN pg_catalog.format_type(${oid}, NULL) END`;

const space = (column: Sql): Sql => sql`nullif(${column}, 0)::text`;

/** The options in the order of the manual. An option without a value is omitted. */
const OPTIONS: readonly [name: string, value: Sql][] = [
  ['SFUNC', supportFunction(sql`g.aggtransfn`)],
  ['STYPE', type(sql`g.aggtranstype`)],
  ['SSPACE', space(sql`g.aggtransspace`)],
  ['FINALFUNC', supportFunction(sql`g.aggfinalfn`)],
  ['FINALFUNC_EXTRA', sql`CASE WHEN g.aggfinalextra THEN 'true' END`],
  ['FINALFUNC_MODIFY', modification(sql`g.aggfinalmodify`)],
  ['COMBINEFUNC', supportFunction(sql`g.aggcombinefn`)],
  ['SERIALFUNC', supportFunction(sql`g.aggserialfn`)],
  ['DESERIALFUNC', supportFunction(sql`g.aggdeserialfn`)],
  ['INITCOND', sql`pg_catalog.quote_literal(g.agginitval)`],
  ['MSFUNC', supportFunction(sql`g.aggmtransfn`)],
  ['MINVFUNC', supportFunction(sql`g.aggminvtransfn`)],
  ['MSTYPE', type(sql`g.aggmtranstype`)],
  ['MSSPACE', space(sql`g.aggmtransspace`)],
  ['MFINALFUNC', supportFunction(sql`g.aggmfinalfn`)],
  ['MFINALFUNC_EXTRA', sql`CASE WHEN g.aggmfinalextra THEN 'true' END`],
  ['MFINALFUNC_MODIFY', modification(sql`g.aggmfinalmodify`)],
  ['MINITCOND', sql`pg_catalog.quote_literal(g.aggminitval)`],
  ['SORTOP', SORT_OPERATOR],
  ['PARALLEL', sql`CASE p.proparallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' END`],
  ['HYPOTHETICAL', sql`CASE g.aggkind WHEN 'h' THEN 'true' END`],
];

const AGGREGATE_TAIL = sql`(SELECT pg_catalog.format(E'(%s) (\n%s\n)', coalesce(nullif(pg_catalog.pg_get_function_arguments(p.oid), ''), '*'),
    (SELECT pg_catalog.string_agg(pg_catalog.format('    %s = %s', o.name, o.value), E',\n' ORDER BY o.place)
       FROM (VALUES ${join(
         OPTIONS.map(
           ([name, value], index) => sql`(${literal(String(index).padStart(2, '0'))}, ${literal(name)}, ${value})`,
         ),
         sql`, `,
       )}) AS o (place, name, value) WHERE o.value IS NOT NULL))
  FROM pg_catalog.pg_aggregate g WHERE g.aggfnoid = p.oid)`;

/** SQL for the server's definition of a routine `p` of the namespace `n`, from its arguments on. */
export const ROUTINE_TAIL = sql`CASE p.prokind WHEN 'a' THEN ${AGGREGATE_TAIL}
  ELSE pg_catalog.rtrim(pg_catalog.substr(pg_catalog.pg_get_functiondef(p.oid),
    pg_catalog.length(pg_catalog.format('CREATE OR REPLACE %s %I.%I', ${ROUTINE_WORD}, n.nspname, p.proname)) + 1), E' \n') END`;
