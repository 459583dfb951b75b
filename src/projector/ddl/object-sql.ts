/* Expressions for queries about the objects of a schema: their ids and their definitions. */
import { SEARCHED } from '../../schema/model/object-ids.js';
import { EXECUTE, PUBLIC, USAGE } from '../../schema/model/objects.js';
import { type Sql, sql, join, literal } from './sql.js';

/* Expressions for queries about a trigger `t` of pg_trigger, its table `c` and the namespace `n` of the table. */

/** SQL for a name with double quotes unless it is plain. */
const quoteUnlessPlain = (name: Sql): Sql => sql`CASE WHEN ${name}::text ~ '^[a-z_][a-z0-9_]*$'::text THEN ${name}::text
    ELSE '"' || pg_catalog.replace(${name}::text, '"', '""') || '"' END`;

/**
 * SQL for the name of a relation as in `qualifiedId` of src/schema/model/objects.ts.
 * @param place.schema the name of its schema
 * @param place.usual the name of the default schema
 */
export const qualifiedIdSql = (name: Sql, { schema, usual }: Record<'schema' | 'usual', Sql>): Sql =>
  sql`CASE WHEN ${schema} = ${usual} THEN ${name}::text ELSE ${quoteUnlessPlain(schema)} || '.' || ${quoteUnlessPlain(name)} END`;

/** SQL for the id of an object of the table `c`, like `idOnTable` of src/schema/model/objects.ts. */
const idOnTable = (name: Sql): Sql => sql`(${quoteUnlessPlain(name)} || ' on ' || ${quoteUnlessPlain(sql`c.relname`)})`;

/** SQL for the id of the privileges of a role on the table, view or sequence `c`, like `idOnTarget` of that file. */
export const idOnRelation = (role: Sql): Sql =>
  sql`(${quoteUnlessPlain(role)} || ' on ' || CASE c.relkind WHEN 'S'::"char" THEN 'sequence ' ELSE '' END || ${quoteUnlessPlain(sql`c.relname`)})`;

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

/* Expressions for queries about a rule `r` of pg_rewrite, its table `c` and the namespace `n` of the table. */

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

/* Expressions for queries about a row `policy` of pg_policy, and about row security of a table `c`. */

/** SQL for the id of a policy on the table `c`. */
export const POLICY_ID: Sql = idOnTable(sql`policy.polname`);

const ROLES = sql`(SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' ORDER BY r.rolname COLLATE "C")
    FROM pg_catalog.pg_roles r WHERE r.oid = ANY (policy.polroles))`;

/** SQL for the definition of a policy after the table: `FOR SELECT TO a USING (…)`. Defaults are left out. */
export const POLICY_TAIL: Sql = sql`pg_catalog.concat_ws(' ',
    CASE WHEN NOT policy.polpermissive THEN 'AS RESTRICTIVE' END,
    CASE policy.polcmd WHEN 'r' THEN 'FOR SELECT' WHEN 'a' THEN 'FOR INSERT' WHEN 'w' THEN 'FOR UPDATE' WHEN 'd' THEN 'FOR DELETE' END,
    'TO ' || ${ROLES},
    'USING (' || pg_catalog.pg_get_expr(policy.polqual, policy.polrelid) || ')',
    'WITH CHECK (' || pg_catalog.pg_get_expr(policy.polwithcheck, policy.polrelid) || ')')`;

/** SQL condition: a switch of the table is on. */
export const HAS_ROW_SECURITY: Sql = sql`(c.relkind IN ('r', 'p') AND (c.relrowsecurity OR c.relforcerowsecurity))`;

/** SQL for the definition of row security after the table. */
export const ROW_SECURITY_TAIL: Sql = sql`pg_catalog.concat_ws(', ',
    CASE WHEN c.relrowsecurity THEN 'ENABLE ROW LEVEL SECURITY' END,
    CASE WHEN c.relforcerowsecurity THEN 'FORCE ROW LEVEL SECURITY' END)`;

/* Expressions for queries about a statistics object `s` of pg_statistic_ext, its table `c` and their namespace `n`. */

/** Statistics objects whose table is in the same namespace. */
export const STATISTICS_FROM: Sql = sql`pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace AND n.oid = c.relnamespace`;

/** SQL for the kinds in parentheses. Null for all kinds, and for one expression, which has no kinds. */
const KIND_NAMES = sql`(SELECT '(' || pg_catalog.string_agg(k.name, ', ' ORDER BY k.name) || ')'
    FROM (VALUES ('d'::"char", 'ndistinct'), ('f'::"char", 'dependencies'), ('m'::"char", 'mcv')) k (letter, name)
   WHERE k.letter = ANY (s.stxkind) HAVING count(*) < 3)`;

/**
 * SQL for the definition after the name, from the parts of pg_get_statisticsobjdef. That function writes the schema of
 * the table only if it is not in search_path.
 */
export const STATISTICS_TAIL: Sql = sql`pg_catalog.concat_ws(' ', ${KIND_NAMES}, 'ON', pg_catalog.pg_get_statisticsobjdef_columns(s.oid),
    'FROM', pg_catalog.quote_ident(c.relname))`;

/* Expressions for queries about a sequence `c` of pg_class, its row `q` of pg_sequence and its namespace `n`. */

export const SEQUENCES_FROM: Sql = sql`pg_catalog.pg_sequence q JOIN pg_catalog.pg_class c ON c.oid = q.seqrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace`;

/** SQL condition: no column owns the sequence. A definition cannot contain UNLOGGED. */
export const IS_OWN_SEQUENCE: Sql = sql`(c.relpersistence = 'p'::"char" AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = c.oid
      AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.deptype IN ('a', 'i')))`;

/** SQL for all options of a sequence. Its current value is not part of them. */
export const SEQUENCE_TAIL: Sql = sql`pg_catalog.format(
    'AS %s START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s %s', pg_catalog.format_type(q.seqtypid, NULL),
    q.seqstart, q.seqincrement, q.seqmin, q.seqmax, q.seqcache, CASE WHEN q.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END)`;

/**
 * SQL for the catalog in which a relation `uc` is found, by its name in KINDS. Sequences are objects of their own kind.
 */
export const RELATION_CATALOG: Sql = sql`CASE uc.relkind WHEN 'S'::"char" THEN 'pg_sequence' WHEN 'c'::"char" THEN 'pg_type' ELSE 'pg_class' END`;

/* Expressions for queries about a type `t` of pg_type and its namespace `n`. */

export const TYPES_FROM: Sql = sql`pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace`;

/** SQL condition: an enum, a domain, a range type, or a composite type that is not the row type of a relation. */
const isOwnType = (letter: Sql, relation: Sql): Sql => sql`(${letter} IN ('e', 'd', 'r')
    OR (${letter} = 'c' AND EXISTS (SELECT FROM pg_catalog.pg_class own WHERE own.oid = ${relation} AND own.relkind = 'c')))`;

export const IS_OWN_TYPE: Sql = isOwnType(sql`t.typtype`, sql`t.typrelid`);

const LABELS = sql`coalesce((SELECT pg_catalog.string_agg(pg_catalog.quote_literal(l.enumlabel), ', ' ORDER BY l.enumsortorder)
    FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid), '')`;

/** SQL for COLLATE. Null for the collation of the type itself. */
const collate = (collation: Sql, type: Sql): Sql => sql`(SELECT 'COLLATE ' || ${collation}::regcollation::text
    FROM pg_catalog.pg_type ct WHERE ct.oid = ${type} AND ${collation} NOT IN (0::oid, ct.typcollation))`;

const DOMAIN_CHECKS = sql`(SELECT pg_catalog.string_agg(pg_catalog.format('CONSTRAINT %I %s', k.conname, pg_catalog.pg_get_constraintdef(k.oid)), ' ' ORDER BY k.conname COLLATE "C")
    FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')`;

const ATTRIBUTES = sql`coalesce((SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', pg_catalog.quote_ident(a.attname),
      pg_catalog.format_type(a.atttypid, a.atttypmod), ${collate(sql`a.attcollation`, sql`a.atttypid`)}), ', ' ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped), '')`;

const RANGE_OPTIONS = sql`(SELECT pg_catalog.concat_ws(', ', 'SUBTYPE = ' || pg_catalog.format_type(r.rngsubtype, NULL),
      CASE WHEN NOT o.opcdefault THEN pg_catalog.format('SUBTYPE_OPCLASS = %I', o.opcname) END,
      (SELECT 'COLLATION = ' || r.rngcollation::regcollation::text FROM pg_catalog.pg_type ct
        WHERE ct.oid = r.rngsubtype AND r.rngcollation NOT IN (0::oid, ct.typcollation)),
      CASE WHEN r.rngcanonical <> 0::oid THEN 'CANONICAL = ' || r.rngcanonical::regproc::text END,
      CASE WHEN r.rngsubdiff <> 0::oid THEN 'SUBTYPE_DIFF = ' || r.rngsubdiff::regproc::text END,
      (SELECT pg_catalog.format('MULTIRANGE_TYPE_NAME = %I', m.typname) FROM pg_catalog.pg_type m
        WHERE m.oid = r.rngmultitypid AND m.typname::text <> CASE WHEN t.typname::text ~ 'range'::text
          THEN pg_catalog.regexp_replace(t.typname::text, 'range'::text, 'multirange'::text) ELSE t.typname::text || '_multirange' END))
    FROM pg_catalog.pg_range r JOIN pg_catalog.pg_opclass o ON o.oid = r.rngsubopc WHERE r.rngtypid = t.oid)`;

/** SQL for the definition of a type after its name. */
export const TYPE_TAIL: Sql = sql`CASE t.typtype
    WHEN 'e' THEN pg_catalog.format('AS ENUM (%s)', ${LABELS})
    WHEN 'd' THEN pg_catalog.concat_ws(' ', 'AS', pg_catalog.format_type(t.typbasetype, t.typtypmod), ${collate(sql`t.typcollation`, sql`t.typbasetype`)},
      'DEFAULT ' || pg_catalog.pg_get_expr(t.typdefaultbin, 0), CASE WHEN t.typnotnull THEN 'NOT NULL' END, ${DOMAIN_CHECKS})
    WHEN 'c' THEN pg_catalog.format('AS (%s)', ${ATTRIBUTES})
    ELSE pg_catalog.format('AS RANGE (%s)', ${RANGE_OPTIONS}) END`;

/**
 * SQL that joins the type `ut` and its namespace `un` to rows `d` of pg_depend. An array counts as its element type, and a
 * multirange as its range type.
 */
export const JOIN_USED_TYPE: Sql = sql`
    JOIN pg_catalog.pg_type rt ON d.refclassid = 'pg_catalog.pg_type'::regclass::oid AND rt.oid = d.refobjid
    JOIN pg_catalog.pg_type ut ON ut.oid = coalesce((SELECT r.rngtypid FROM pg_catalog.pg_range r WHERE r.rngmultitypid = rt.oid),
      (SELECT e.oid FROM pg_catalog.pg_type e WHERE e.oid = rt.typelem AND e.typarray = rt.oid), rt.oid)
      AND ${isOwnType(sql`ut.typtype`, sql`ut.typrelid`)}
    JOIN pg_catalog.pg_namespace un ON un.oid = ut.typnamespace`;

/* Expressions for queries about a function, procedure or aggregate `p` of pg_proc and its namespace `n`. */

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

/*
 * Expressions for queries about the privileges `granted` of one role on a table, a function, a sequence, a type, a schema or
 * new objects, and its namespace `n`. `granted.used` is the catalog of that object, by its name in KINDS, or pg_namespace or
 * pg_default_acl.
 */

/**
 * The privileges that the owner of `c` has granted, on the relation and on columns. Without an access control list, the
 * owner has all privileges, and nobody else has any.
 */
const GRANTS: Sql = sql`
    SELECT x.grantee, x.privilege_type, NULL::name AS "column", x.is_grantable
      FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantor = c.relowner
    UNION ALL SELECT x.grantee, x.privilege_type, a.attname, x.is_grantable
      FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) x
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND x.grantor = c.relowner`;

const ON_RELATIONS: Sql = sql`
  SELECT 'pg_catalog.pg_class'::regclass::oid AS catalog, CASE c.relkind WHEN 'S'::"char" THEN 'pg_sequence' ELSE 'pg_class' END AS used,
         c.oid, c.relnamespace AS namespace, c.relname AS name,
         NULL::text AS routine, c.relowner AS owner, g.grantee, g.role, g.list, ${idOnRelation(sql`g.role`)} AS id, false AS initial
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL (
      SELECT e.grantee, CASE e.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(e.grantee)::text END AS role,
             pg_catalog.json_agg(e.element ORDER BY e.privilege_type COLLATE "C", e.of_columns, e.is_grantable)::text AS list
        FROM (SELECT g.grantee, g.privilege_type, g."column" IS NOT NULL AS of_columns, g.is_grantable,
                     pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', g.privilege_type,
                       'columns', pg_catalog.json_agg(g."column" ORDER BY g."column") FILTER (WHERE g."column" IS NOT NULL),
                       'grantable', CASE WHEN g.is_grantable THEN true END)) AS element
                FROM (${GRANTS}) g GROUP BY 1, 2, 3, 4) e
       GROUP BY e.grantee) g
   WHERE c.relkind IN ('r', 'p', 'v', 'm') OR c.relkind = 'S' AND ${IS_OWN_SEQUENCE}`;

/** SQL for the id of the privileges of a role on a routine `p`, like `idOnTarget` of src/schema/model/objects.ts. */
export const idOnRoutine = (role: Sql): Sql => sql`(${quoteUnlessPlain(role)} || ' on ' || ${ROUTINE_ID})`;

/** SQL condition: PostgreSQL did not create the routine `p` itself, for a range type. */
export const IS_OWN_ROUTINE: Sql = sql`NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'i')`;

/** SQL for the id of the privileges of a role on a type `t`, like `idOnTarget` of src/schema/model/object-ids.ts. */
export const idOnType = (role: Sql): Sql =>
  sql`(${quoteUnlessPlain(role)} || ' on type ' || ${quoteUnlessPlain(sql`t.typname`)})`;

/**
 * Without an access control list, PUBLIC has EXECUTE on a function and USAGE on a type. Only the opposite is an object. It
 * has an empty list, and does not exist while any role grants the privilege to PUBLIC.
 */
const usesOf = ({ list, owner, name }: Record<'list' | 'owner' | 'name', Sql>): Sql => sql`
      SELECT x.grantee, pg_catalog.pg_get_userbyid(x.grantee)::text AS role,
             pg_catalog.json_build_array(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', ${name},
               'grantable', CASE WHEN x.is_grantable THEN true END)))::text AS list
        FROM pg_catalog.aclexplode(${list}) x WHERE x.grantor = ${owner} AND x.grantee <> 0::oid
      UNION ALL SELECT 0::oid, ${literal(PUBLIC)}, '[]'
       WHERE NOT EXISTS (SELECT FROM pg_catalog.aclexplode(${list}) x WHERE x.grantee = 0::oid)`;

const ON_ROUTINES: Sql = sql`
  SELECT 'pg_catalog.pg_proc'::regclass::oid, 'pg_proc', p.oid, p.pronamespace, p.proname, ${ROUTINE_ID}, p.proowner, g.grantee, g.role, g.list, ${idOnRoutine(sql`g.role`)}, false
    FROM pg_catalog.pg_proc p CROSS JOIN LATERAL (${usesOf({ list: sql`p.proacl`, owner: sql`p.proowner`, name: literal(EXECUTE) })}) g
   WHERE p.proacl IS NOT NULL AND ${IS_OWN_ROUTINE}`;

const ON_TYPES: Sql = sql`
  SELECT 'pg_catalog.pg_type'::regclass::oid, 'pg_type', t.oid, t.typnamespace, t.typname, NULL::text, t.typowner, g.grantee, g.role, g.list, ${idOnType(sql`g.role`)}, false
    FROM pg_catalog.pg_type t CROSS JOIN LATERAL (${usesOf({ list: sql`t.typacl`, owner: sql`t.typowner`, name: literal(USAGE) })}) g
   WHERE t.typacl IS NOT NULL AND ${IS_OWN_TYPE}`;

/** SQL for the id of the privileges of a role on a schema `s`, like `idOnTarget` of src/schema/model/object-ids.ts. */
export const idOnSchema = (role: Sql): Sql =>
  sql`(${quoteUnlessPlain(role)} || ' on schema ' || ${quoteUnlessPlain(sql`s.nspname`)})`;

/** SQL for the names of what an access control list grants to PUBLIC. */
const ofPublic = (list: Sql): Sql => sql`ARRAY(SELECT x.privilege_type FROM pg_catalog.aclexplode(${list}) x
    WHERE x.grantee = 0::oid ORDER BY x.privilege_type COLLATE "C")`;

/** SQL for the access control list that PostgreSQL gave a schema `s` when it created the database. Null for others. */
export const INITIAL_PRIVILEGES: Sql = sql`(SELECT i.initprivs FROM pg_catalog.pg_init_privs i
    WHERE i.classoid = 'pg_catalog.pg_namespace'::regclass::oid AND i.objoid = s.oid AND i.objsubid = 0)`;

/**
 * PUBLIC has privileges on the schema public from the beginning. They are listed even if PUBLIC has none, and are `initial`
 * if they never changed.
 */
const ON_SCHEMAS: Sql = sql`
  SELECT 'pg_catalog.pg_namespace'::regclass::oid, 'pg_namespace', s.oid, s.oid, s.nspname, NULL::text, s.nspowner, g.grantee, g.role, g.list, ${idOnSchema(sql`g.role`)},
         g.grantee = 0::oid AND ${ofPublic(sql`s.nspacl`)} = ${ofPublic(INITIAL_PRIVILEGES)}
    FROM pg_catalog.pg_namespace s CROSS JOIN LATERAL (
      SELECT x.grantee, CASE x.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END AS role,
             pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', x.privilege_type,
               'grantable', CASE WHEN x.is_grantable THEN true END)) ORDER BY x.privilege_type COLLATE "C")::text AS list
        FROM pg_catalog.aclexplode(s.nspacl) x WHERE x.grantor = s.nspowner GROUP BY x.grantee
      UNION ALL SELECT 0::oid, ${literal(PUBLIC)}, '[]'
       WHERE s.nspname = ${literal(SEARCHED)} AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(s.nspacl) x
         WHERE x.grantee = 0::oid AND x.grantor = s.nspowner)) g`;

/** SQL condition: the service manages the row `d` of pg_default_acl, if it manages objects. */
export const ARE_OWN_DEFAULTS: Sql = sql`(d.defaclobjtype IN ('r', 'S', 'f', 'T')
    AND d.defaclrole = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))`;

/**
 * Without a row for all schemas, PUBLIC can use new functions and types. Only the opposite is an object. Default privileges
 * for all schemas are listed in each of them.
 */
const ON_NEW_OBJECTS: Sql = sql`
  SELECT 'pg_catalog.pg_default_acl'::regclass::oid, 'pg_default_acl', d.oid, s.oid, ''::name, NULL::text, d.defaclrole, g.grantee, g.role, g.list,
         ${quoteUnlessPlain(sql`g.role`)} || ' on new ' || CASE d.defaclobjtype WHEN 'r' THEN 'tables' WHEN 'S' THEN 'sequences' WHEN 'f' THEN 'functions' ELSE 'types' END
           || CASE d.defaclnamespace WHEN 0::oid THEN '' ELSE ' in schema ' || ${quoteUnlessPlain(sql`s.nspname`)} END, false
    FROM pg_catalog.pg_default_acl d JOIN pg_catalog.pg_namespace s ON d.defaclnamespace IN (0::oid, s.oid)
   CROSS JOIN LATERAL (
      SELECT x.grantee, CASE x.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END AS role,
             pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', x.privilege_type,
               'grantable', CASE WHEN x.is_grantable THEN true END)) ORDER BY x.privilege_type COLLATE "C")::text AS list
        FROM pg_catalog.aclexplode(d.defaclacl) x
       WHERE x.grantee <> 0::oid OR d.defaclnamespace <> 0::oid OR d.defaclobjtype IN ('r', 'S') GROUP BY x.grantee
      UNION ALL SELECT 0::oid, ${literal(PUBLIC)}, '[]'
       WHERE d.defaclnamespace = 0::oid AND d.defaclobjtype IN ('f', 'T')
         AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(d.defaclacl) x WHERE x.grantee = 0::oid)) g
   WHERE ${ARE_OWN_DEFAULTS}`;

/** Lists of privileges as JSON, one for each role: `[{"name": "UPDATE", "columns": ["name"]}]`. */
export const PRIVILEGES_FROM: Sql = sql`(${ON_RELATIONS} UNION ALL ${ON_ROUTINES} UNION ALL ${ON_TYPES} UNION ALL ${ON_SCHEMAS} UNION ALL ${ON_NEW_OBJECTS}) granted
    JOIN pg_catalog.pg_namespace n ON n.oid = granted.namespace`;

/** SQL condition: the privileges belong to a role other than the owner and the account of the service. */
export const IS_PRIVILEGES: Sql = sql`(granted.grantee <> granted.owner
    AND pg_catalog.pg_get_userbyid(granted.grantee) <> current_user)`;

export const PRIVILEGES_ID: Sql = sql`granted.id`;

/**
 * SQL for the name of a row `d` of pg_default_acl: `tables of app in public: SELECT to editors`. A global row replaces the
 * default, so it can also grant nothing. The privileges of the role itself are left out.
 */
export const DEFAULT_PRIVILEGES: Sql = sql`pg_catalog.format('%s of %s%s: %s',
    CASE d.defaclobjtype WHEN 'r' THEN 'tables' WHEN 'S' THEN 'sequences' WHEN 'f' THEN 'functions' WHEN 'T' THEN 'types'
      WHEN 'n' THEN 'schemas' ELSE 'large objects' END, pg_catalog.pg_get_userbyid(d.defaclrole),
    (SELECT ' in ' || dn.nspname::text FROM pg_catalog.pg_namespace dn WHERE dn.oid = d.defaclnamespace),
    coalesce((SELECT pg_catalog.string_agg(g.privileges || ' to ' || g.role, ', ' ORDER BY g.role) FROM (
      SELECT CASE x.grantee WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END AS role,
             pg_catalog.string_agg(x.privilege_type, ', ' ORDER BY x.privilege_type) AS privileges
        FROM pg_catalog.aclexplode(d.defaclacl) x WHERE x.grantee <> d.defaclrole GROUP BY x.grantee) g), 'none'))`;
