/*
 * Removes and reorders labels of an enum, which ALTER TYPE cannot do. One PL/pgSQL block reads the catalog, so it also
 * converts tables in the trash, and restores constraints and indexes that someone created by hand:
 *
 * 1. find the columns of the type, and the generated columns that depend on them
 * 2. reject other objects that use the type or these columns
 * 3. reject values of a removed label
 * 4. drop the constraints, indexes, defaults and generated columns that PostgreSQL cannot convert
 * 5. rename the type, create the new one, convert the columns
 * 6. restore what step 4 dropped, and drop the former type
 */
import { jsonEqual } from '../../kernel/json.js';
import type { ObjectEvent } from '../../schema/model/events.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { splitQualifiedId } from '../../schema/model/object-ids.js';
import { type CollectionNode, type State, extrasOf, getObject, hasColumn } from '../../schema/model/state.js';
import { enumLabels } from '../../schema/sql-text/object-definition.js';
import { usersOfType } from '../../schema/sql-text/object-table.js';
import { textsOfField, textsOfTable } from '../../schema/sql-text/texts.js';
import { defaultExpression } from './column.js';
import { type Sql, block, ident, join, literal, qualified, relationSql, sql, tableIn, trashSchemaName } from './sql.js';
import { type Statement, findOtherLocation } from './step.js';

const labelsOf = (object: SchemaObject | undefined): readonly string[] | undefined =>
  object && enumLabels(object.definition);

interface Column {
  collection: string;
  field: string;
}

/** Returns the columns whose type is the enum or an array of it. */
export const columnsOfEnum = (state: State, type: SchemaObject): Column[] =>
  usersOfType(state, splitQualifiedId(type.id)).flatMap(({ collection, field }) =>
    field === null ? [] : [{ collection, field }],
  );

/**
 * Returns the redefined enums that stay enums, with the index of their event, by the key before the batch. A conversion
 * excludes renames in the same batch. With renames, an enum that no column uses is therefore left out: it is dropped and
 * created again.
 */
export const findConvertedEnums = (
  { before, after, hasRenames }: { before: State; after: State; hasRenames: boolean },
  defined: ReadonlyMap<string, { event: ObjectEvent; index: number }>,
): ReadonlyMap<string, number> =>
  new Map(
    [...defined].flatMap(([key, { event, index }]): [string, number][] => {
      const old = before.objects.get(key)?.object;
      if (old === undefined || labelsOf(old) === undefined || labelsOf(getObject(after, event.subject)) === undefined)
        return [];
      return hasRenames && columnsOfEnum(before, old).length === 0 ? [] : [[key, index]];
    }),
  );

interface EnumChange {
  before: State;
  after: State;
  schema: string;
  /** True if events that follow may replace definitions with a removed label. */
  isReplay?: boolean;
}

export type EnumConversion = Pick<Statement, 'sql' | 'lock' | 'locks' | 'rewrites_table' | 'may_fail' | 'lock_entries'>;

/** @param type the enum before the change */
function convertEnum(change: EnumChange, type: SchemaObject): EnumConversion {
  const { before, after, schema } = change;
  const columns = columnsOfEnum(before, type);
  const { name } = splitQualifiedId(type.id);
  const tables = new Set(columns.map(({ collection }) => collection));
  for (const [collection, node] of before.collections) if (namesType(node, name)) tables.add(collection);
  const hasColumns = columns.length > 0;
  return {
    sql: conversionSql(change, type, [...tables]),
    lock: tables.size > 0 ? 'ACCESS EXCLUSIVE' : 'none',
    locks: [...tables].map((table) => ({
      table,
      lock: 'ACCESS EXCLUSIVE',
      ...findOtherLocation(before, table, schema),
    })),
    rewrites_table: hasColumns,
    may_fail:
      hasColumns && labelsOf(type)?.every((label) => labelsOf(getObject(after, type))?.includes(label)) !== true,
    lock_entries: 5 + 20 * tables.size,
  };
}

/** True if a definition of the table may cast to the type. A table without such a column can do so too. */
function namesType(node: CollectionNode, name: string): boolean {
  if (node.collection.schema === null) return false;
  const texts = [...textsOfTable(extrasOf(node)), ...[...node.fields.values()].flatMap(textsOfField)];
  return texts.some(({ text }) => text.toLowerCase().includes(name.toLowerCase()));
}

/**
 * Returns SQL for the defaults, constraints and indexes that the batch changes: `OID kind name`. The block does not
 * restore them, because they may contain a removed label. Later statements of the batch create them.
 */
function changedParts({ before, after, schema }: EnumChange, tables: readonly string[]): Sql[] {
  return tables.flatMap((collection) => {
    const [old, now] = [before, after].map(({ collections }) => collections.get(collection));
    if (old === undefined || now === undefined) return [];
    const table = sql`${literal(tableIn(before, collection, schema))}::regclass::oid::text`;
    return [...changedNames(old, now)].map((name) => sql`${table} || ${literal(` ${name}`)}`);
  });
}

function changedNames(old: CollectionNode, now: CollectionNode): string[] {
  const fields = [...old.fields.values()].filter(hasColumn).filter((field) => {
    const next = now.fields.get(field.field);
    if (!hasColumn(next)) return true;
    const generated = next.schema.generation_expression;
    if (field.schema.generation_expression !== null)
      return generated !== null && generated !== field.schema.generation_expression;
    return defaultExpression(field, field.schema) !== defaultExpression(next, next.schema);
  });
  const parts = (['constraints', 'indexes'] as const).flatMap((member) =>
    (extrasOf(old)[member] ?? [])
      .filter((each) => !(extrasOf(now)[member] ?? []).some((other) => jsonEqual(each, other)))
      .map(({ name }) => `${member === 'constraints' ? 'constraint' : 'index'} ${name}`),
  );
  return [...fields.map(({ field }) => `column ${field}`), ...parts];
}

/** The name of the former type until the end of the block. */
const FORMER = 'dps_former_type';

/* The queries of the block. They use its variables, see `conversionSql`. A column is written as `OID number`. */

const inCatalog = (
  name: 'attrdef' | 'class' | 'constraint' | 'policy' | 'proc' | 'rewrite' | 'trigger' | 'type',
): Sql => sql`${literal(`pg_catalog.pg_${name}`)}::regclass::oid`;

/** SQL condition: the row `p` of pg_depend refers to the type, to an array of it, or to one of the columns. */
const refersTo = (columns: Sql): Sql => sql`(
  p.refclassid = ${inCatalog('type')} AND p.refobjid = ANY (ARRAY[former, former_array])
  OR p.refclassid = ${inCatalog('class')} AND p.refobjsubid > 0
    AND p.refobjid::text || ' '::text || p.refobjsubid::text = ANY (${columns}))`;

/** SQL condition: this object uses the type or one of the columns. */
const isUser = (own: Sql, oid: Sql, columns: Sql): Sql =>
  sql`EXISTS (SELECT FROM pg_catalog.pg_depend p WHERE p.classid = ${own} AND p.objid = ${oid} AND ${refersTo(columns)})`;

/** SQL condition: a column with one of these numbers in the table is in `columns`. */
const hasOneOf = (numbers: Sql, table: Sql, columns: Sql): Sql =>
  sql`EXISTS (SELECT FROM pg_catalog.unnest(${numbers}) n WHERE ${table}::text || ' '::text || n::text = ANY (${columns}))`;

/** SQL condition: the batch does not change this part of the table. */
const isKept = (table: Sql, kind: 'column' | 'constraint' | 'index', name: Sql): Sql =>
  sql`${table}::text || ${literal(` ${kind} `)}::text || ${name}::text <> ALL (changed)`;

/** SQL condition: the namespace `n` belongs to the trash. */
const IS_TRASH = sql`pg_catalog.starts_with(n.nspname::text, ${trashSchemaName(sql`''`)})`;

const COLUMN = sql`a.attrelid::text || ' '::text || a.attnum::text`;
const COLUMNS = sql`pg_catalog.pg_attribute a WHERE a.attrelid = ANY (tables) AND a.attnum > 0 AND NOT a.attisdropped`;

/** PostgreSQL 14 records what a generated column uses at the column, and later releases at its expression. */
const IS_GENERATED_FROM = sql`(
  a.atttypid = ANY (ARRAY[former, former_array])
  OR EXISTS (
    SELECT FROM pg_catalog.pg_depend p WHERE ${refersTo(sql`converted`)}
      AND (p.classid = ${inCatalog('class')} AND p.objid = a.attrelid AND p.objsubid = a.attnum
        OR p.classid = ${inCatalog('attrdef')} AND p.objid = (
          SELECT d.oid FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum))))`;

/** The view of a rule in the row `p` of pg_depend. */
const VIEW_OF_RULE = sql`pg_catalog.pg_describe_object(
  ${inCatalog('class')}, (SELECT r.ev_class FROM pg_catalog.pg_rewrite r WHERE r.oid = p.objid), 0)`;

/**
 * Selects objects that prevent the conversion. Managed views, functions and other objects were dropped before. The
 * functions of a range type are left out.
 */
const BLOCKERS = sql`
  SELECT CASE WHEN p.classid = ${inCatalog('rewrite')} THEN ${VIEW_OF_RULE}
              ELSE pg_catalog.pg_describe_object(
                p.classid, p.objid, CASE WHEN c.relkind IN ('v', 'm') THEN 0 ELSE p.objsubid END) END AS name
    FROM pg_catalog.pg_depend p
    LEFT JOIN pg_catalog.pg_class c ON p.classid = ${inCatalog('class')} AND c.oid = p.objid
   WHERE p.refclassid = ${inCatalog('type')} AND p.refobjid = ANY (ARRAY[former, former_array]) AND p.deptype <> 'i'
     AND NOT (p.classid = ${inCatalog('proc')} AND EXISTS (
       SELECT FROM pg_catalog.pg_depend o WHERE o.classid = p.classid AND o.objid = p.objid AND o.deptype = 'i'))
     AND NOT (p.classid = ${inCatalog('class')} AND (p.objid = ANY (tables) OR EXISTS (
       SELECT FROM pg_catalog.pg_index i WHERE i.indexrelid = p.objid AND i.indrelid = ANY (tables))))
     AND NOT (p.classid = ${inCatalog('attrdef')} AND EXISTS (
       SELECT FROM pg_catalog.pg_attrdef d WHERE d.oid = p.objid AND d.adrelid = ANY (tables)))
     AND NOT (p.classid = ${inCatalog('constraint')} AND EXISTS (
       SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = p.objid AND k.conrelid = ANY (tables)))
  UNION
  SELECT CASE WHEN p.classid = ${inCatalog('rewrite')} THEN ${VIEW_OF_RULE}
              ELSE pg_catalog.pg_describe_object(p.classid, p.objid, 0) END
    FROM pg_catalog.pg_depend p
   WHERE ${refersTo(sql`affected`)} AND p.refclassid = ${inCatalog('class')}
     AND p.classid = ANY (ARRAY[${join((['rewrite', 'trigger', 'policy', 'proc'] as const).map(inCatalog), sql`, `)}])
  UNION
  SELECT pg_catalog.pg_describe_object(p.classid, p.objid, 0)
    FROM pg_catalog.pg_depend p
   WHERE p.classid = 'pg_catalog.pg_statistic_ext'::regclass::oid AND ${refersTo(sql`generated`)}
  UNION
  SELECT 'the partition key of table ' || t.partrelid::regclass::text
    FROM pg_catalog.pg_partitioned_table t WHERE ${hasOneOf(sql`t.partattrs::int2[]`, sql`t.partrelid`, sql`affected`)}`;

/** Counts the values of a removed label in a column: its value as text, and its table. */
const COUNT_VALUES = literal(sql`
  SELECT count(*), pg_catalog.string_agg(DISTINCT v.label, ', ')
    FROM (SELECT %s AS label FROM ONLY %s r) v WHERE v.label <> ALL ($1)`);

/** Rejects values of a removed label. A forced row security policy can hide some, but then the conversion fails. */
const REJECT_VALUES = sql`
    IF EXISTS (SELECT FROM pg_catalog.pg_enum e WHERE e.enumtypid = former AND e.enumlabel::text <> ALL (labels)) THEN
      FOR col IN
        SELECT a.attname, a.atttypid = former_array AS is_array, c.oid::regclass AS place, c.relname,
               EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.oid = c.relnamespace AND ${IS_TRASH}) AS is_deleted
          FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
         WHERE ${COLUMN} = ANY (converted) ORDER BY is_deleted, c.relname, a.attnum
      LOOP
        EXECUTE pg_catalog.format(${COUNT_VALUES}, pg_catalog.format(
          CASE WHEN col.is_array THEN 'pg_catalog.unnest(r.%I)::text' ELSE 'r.%I::text' END, col.attname), col.place)
          INTO counted, found USING labels;
        IF counted > 0::bigint THEN
          rejected := pg_catalog.array_append(rejected, pg_catalog.format(
            'column "%s" of table "%s"%s has %s %s of a removed label (%s)', col.attname, col.relname,
            CASE WHEN col.is_deleted THEN ' in the trash' ELSE '' END,
            counted, CASE counted WHEN 1 THEN 'value' ELSE 'values' END, found));
        END IF;
      END LOOP;
      IF pg_catalog.cardinality(rejected) > 0 THEN
        RAISE EXCEPTION '%', pg_catalog.array_to_string(rejected, '; ')
          USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
    END IF;`;

/*
 * Statements that drop and restore the parts of tables, by rank: foreign keys (1), other constraints (2), partitions of
 * indexes (3), indexes (4), defaults (5), generated columns (6), comments and settings (0). They are dropped in this
 * order and restored in the opposite one. A constraint is dropped first from the parent, and restored there last.
 */

/** Constraints that PostgreSQL cannot convert, and those of generated columns. Those of partitions follow the parent. */
const CONSTRAINTS = sql`
  SELECT k.* FROM pg_catalog.pg_constraint k
   WHERE k.conrelid = ANY (tables) AND k.conparentid = 0::oid AND (k.conislocal OR k.coninhcount = 0)
     AND (k.contype IN ('c', 'x') AND (
         ${isUser(inCatalog('constraint'), sql`k.oid`, sql`affected`)}
         OR ${isUser(inCatalog('class'), sql`nullif(k.conindid, 0::oid)`, sql`affected`)})
       OR k.contype = 'f' AND ${hasOneOf(sql`k.conkey`, sql`k.conrelid`, sql`affected`)}
       OR k.contype = 'f' AND ${hasOneOf(sql`k.confkey`, sql`k.confrelid`, sql`affected`)}
       OR k.contype IN ('p', 'u') AND ${hasOneOf(sql`k.conkey`, sql`k.conrelid`, sql`generated`)})`;

const IS_KEPT_CONSTRAINT = isKept(sql`k.conrelid`, 'constraint', sql`k.conname`);

const CONSTRAINT_PARTS = sql`
  SELECT CASE k.contype WHEN 'f' THEN 1 ELSE 2 END AS rank,
         (WITH RECURSIVE up (oid) AS (
            SELECT k.conrelid UNION SELECT i.inhparent FROM up JOIN pg_catalog.pg_inherits i ON i.inhrelid = up.oid)
          SELECT count(*) FROM up) AS depth,
         k.conrelid AS own, k.conname::text AS name,
         pg_catalog.format('constraint %s of table %s', k.conname, k.conrelid::regclass) AS label,
         pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) AS dropping,
         CASE WHEN ${IS_KEPT_CONSTRAINT} THEN pg_catalog.format('ALTER TABLE %s ADD CONSTRAINT %I %s',
           k.conrelid::regclass, k.conname, pg_catalog.pg_get_constraintdef(k.oid)) END AS restoring
    FROM constraints k
  UNION ALL
  SELECT 0, 0, k.conrelid, k.conname::text, 'a comment', NULL,
         pg_catalog.format('COMMENT ON CONSTRAINT %I ON %s IS %L',
           k.conname, k.conrelid::regclass, pg_catalog.obj_description(k.oid, 'pg_constraint'))
    FROM constraints k
   WHERE pg_catalog.obj_description(k.oid, 'pg_constraint') IS NOT NULL AND ${IS_KEPT_CONSTRAINT}`;

/** Indexes that PostgreSQL cannot convert. It converts an index whose keys are only columns. */
const INDEXES = sql`
  SELECT i.indexrelid, i.indrelid, i.indisclustered, i.indisreplident, c.relname, c.relispartition, c.reltablespace,
         pg_catalog.format('%I.%I', n.nspname, c.relname) AS place
    FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE i.indrelid = ANY (tables)
     AND NOT EXISTS (
       SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
     AND ((i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
         AND ${isUser(inCatalog('class'), sql`i.indexrelid`, sql`affected`)}
       OR ${hasOneOf(sql`i.indkey::int2[]`, sql`i.indrelid`, sql`generated`)})`;

const IS_KEPT_INDEX = isKept(sql`i.indrelid`, 'index', sql`i.relname`);

const INDEX_PARTS = sql`
  SELECT 4, 0, i.indrelid, i.relname::text, pg_catalog.format('index %s', i.relname),
         CASE WHEN NOT i.relispartition THEN pg_catalog.format('DROP INDEX %s', i.place) END,
         CASE WHEN ${IS_KEPT_INDEX} THEN pg_catalog.pg_get_indexdef(i.indexrelid) END
    FROM indexes i
  UNION ALL
  SELECT s.rank, 0, i.indrelid, i.relname::text, pg_catalog.format('index %s', i.relname), NULL, s.text
    FROM indexes i CROSS JOIN LATERAL (
      SELECT 3 AS rank,
             pg_catalog.format('ALTER INDEX %s ATTACH PARTITION %s', h.inhparent::regclass, i.place) AS text
        FROM pg_catalog.pg_inherits h WHERE h.inhrelid = i.indexrelid
      UNION ALL
      SELECT 0, pg_catalog.format('COMMENT ON INDEX %s IS %L', i.place, d.description)
        FROM pg_catalog.pg_description d
       WHERE d.classoid = ${inCatalog('class')} AND d.objoid = i.indexrelid AND d.objsubid = 0
      UNION ALL
      SELECT 0, pg_catalog.format('ALTER TABLE %s CLUSTER ON %I', i.indrelid::regclass, i.relname)
       WHERE i.indisclustered
      UNION ALL
      SELECT 0, pg_catalog.format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', i.indrelid::regclass, i.relname)
       WHERE i.indisreplident
      UNION ALL
      SELECT 0, pg_catalog.format('ALTER INDEX %s SET TABLESPACE %I', i.place, s.spcname)
        FROM pg_catalog.pg_tablespace s WHERE s.oid = i.reltablespace
      UNION ALL
      SELECT 0, pg_catalog.format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', i.place, a.attnum, a.attstattarget)
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0) s
   WHERE ${IS_KEPT_INDEX}`;

const IS_KEPT_COLUMN = isKept(sql`a.attrelid`, 'column', sql`a.attname`);

const DEFAULT_PARTS = sql`
  SELECT 5, 0, a.attrelid, a.attname::text,
         pg_catalog.format('the default of column %s of table %s', a.attname, a.attrelid::regclass),
         pg_catalog.format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', a.attrelid::regclass, a.attname),
         CASE WHEN ${IS_KEPT_COLUMN} THEN pg_catalog.format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s',
           a.attrelid::regclass, a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid)) END
    FROM pg_catalog.pg_attrdef d
    JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
   WHERE d.adrelid = ANY (tables) AND a.attgenerated = ''::"char"
     AND (${COLUMN} = ANY (converted) OR ${isUser(inCatalog('attrdef'), sql`d.oid`, sql`'{}'::text[]`)})`;

/** The name of a NOT NULL constraint, from PostgreSQL 18 on. */
const NOT_NULL_NAME = sql`(
  SELECT pg_catalog.format(' CONSTRAINT %I', k.conname) FROM pg_catalog.pg_constraint k
   WHERE k.conrelid = a.attrelid AND k.contype = 'n'::"char" AND k.conkey[1] = a.attnum)`;

const GENERATED_COLUMN_PARTS = sql`
  SELECT 6, 0, a.attrelid, pg_catalog.lpad(a.attnum::text, 5, '0'),
         pg_catalog.format('column %s of table %s', a.attname, a.attrelid::regclass),
         pg_catalog.format('ALTER TABLE %s DROP COLUMN %I', a.attrelid::regclass, a.attname),
         CASE WHEN ${IS_KEPT_COLUMN} THEN pg_catalog.format(
           'ALTER TABLE %s ADD COLUMN %I %s%s GENERATED ALWAYS AS (%s) %s%s',
           a.attrelid::regclass, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
           CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation::text END,
           pg_catalog.pg_get_expr(d.adbin, d.adrelid),
           CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END,
           CASE WHEN a.attnotnull THEN coalesce(${NOT_NULL_NAME}, '') || ' NOT NULL' END) END
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
   WHERE ${COLUMN} = ANY (generated) AND a.attinhcount = 0
  UNION ALL
  SELECT 0, 0, a.attrelid, a.attname::text,
         pg_catalog.format('column %s of table %s', a.attname, a.attrelid::regclass), NULL, s.text
    FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL (
      SELECT pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', a.attrelid::regclass, a.attname, d.description) AS text
        FROM pg_catalog.pg_description d
       WHERE d.classoid = ${inCatalog('class')} AND d.objoid = a.attrelid AND d.objsubid = a.attnum
      UNION ALL
      SELECT pg_catalog.format('GRANT %s (%I) ON %s TO %s%s', x.privilege_type, a.attname, a.attrelid::regclass,
               CASE x.grantee WHEN 0::oid THEN 'PUBLIC'
                              ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee)::text) END,
               CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM pg_catalog.aclexplode(a.attacl) x
      UNION ALL
      SELECT pg_catalog.format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s',
               a.attrelid::regclass, a.attname, a.attstattarget)
       WHERE a.attstattarget >= 0) s
   WHERE ${COLUMN} = ANY (generated) AND ${IS_KEPT_COLUMN}`;

const PARTS = join(
  [CONSTRAINT_PARTS, INDEX_PARTS, DEFAULT_PARTS, GENERATED_COLUMN_PARTS],
  sql`
  UNION ALL`,
);

const PART_ROWS = sql`pg_catalog.jsonb_to_recordset(parts)
  AS q (rank int, depth int, own text, name text, label text, dropping text, restoring text)`;

/** Selects the statements that convert the columns of each table. Child tables follow their parent. */
const conversions = (name: Sql): Sql => sql`
  SELECT pg_catalog.format('ALTER TABLE %s %s', a.attrelid::regclass, pg_catalog.string_agg(
           pg_catalog.format('ALTER COLUMN %I TYPE %s%s USING %I::text::%s%s',
             a.attname, ${literal(name)}, s.dimension, a.attname, ${literal(name)}, s.dimension),
           ', ' ORDER BY a.attnum)) AS text
    FROM pg_catalog.pg_attribute a
   CROSS JOIN LATERAL (SELECT CASE WHEN a.atttypid = former_array THEN '[]' ELSE '' END AS dimension) s
   WHERE ${COLUMN} = ANY (converted) AND a.attinhcount = 0 GROUP BY a.attrelid ORDER BY a.attrelid`;

const FAIL_ON_PART = sql`
        RAISE EXCEPTION '%: %', step.label, CASE SQLSTATE WHEN '22P02' THEN 'it uses a removed label' ELSE SQLERRM END
          USING ERRCODE = 'object_not_in_prerequisite_state'`;

function conversionSql(change: EnumChange, type: SchemaObject, collections: readonly string[]): Sql {
  const { before, after, schema } = change;
  const labels = (labelsOf(getObject(after, type)) ?? []).map(literal);
  const name = relationSql(schema, type.id);
  const former = qualified(splitQualifiedId(type.id).schema ?? schema, FORMER);
  const oids = collections.map((each) => sql`pg_catalog.to_regclass(${literal(tableIn(before, each, schema))})::oid`);
  const changed = changedParts(change, collections);
  const body = sql`DECLARE
    former oid := ${literal(name)}::regtype::oid;
    former_array oid := (SELECT t.typarray FROM pg_catalog.pg_type t WHERE t.oid = former);
    labels text[] := ARRAY[${join(labels, sql`, `)}]::text[];
    changed text[] := ARRAY[${join(changed, sql`, `)}]::text[];
    tables oid[]; converted text[]; generated text[]; affected text[];
    rejected text[] := '{}'; col record; step record; blockers text; found text; counted bigint; parts jsonb;
  BEGIN
    SELECT pg_catalog.array_agg(c.oid) INTO tables
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND (c.oid = ANY (ARRAY[${join(oids, sql`, `)}]::oid[]) OR ${IS_TRASH});
    SELECT coalesce(pg_catalog.array_agg(${COLUMN}), '{}') INTO converted FROM ${COLUMNS}
       AND a.atttypid = ANY (ARRAY[former, former_array]) AND a.attgenerated = ''::"char";
    SELECT coalesce(pg_catalog.array_agg(${COLUMN}), '{}') INTO generated FROM ${COLUMNS}
       AND a.attgenerated <> ''::"char" AND ${IS_GENERATED_FROM};
    affected := pg_catalog.array_cat(converted, generated);
    SELECT pg_catalog.string_agg(DISTINCT o.name || ' depends on type ' || former::regtype::text, pg_catalog.chr(10))
      INTO blockers FROM (${BLOCKERS}) o;
    IF blockers IS NOT NULL THEN
      RAISE EXCEPTION 'other objects depend on the type'
        USING ERRCODE = 'dependent_objects_still_exist', DETAIL = blockers;
    END IF;
    ${REJECT_VALUES}
    SELECT pg_catalog.jsonb_agg(q) INTO parts
      FROM (WITH constraints AS (${CONSTRAINTS}), indexes AS (${INDEXES}) ${PARTS}) q;
    FOR step IN
      SELECT q.dropping FROM ${PART_ROWS} WHERE q.dropping IS NOT NULL ORDER BY q.rank, q.depth, q.own, q.name
    LOOP
      EXECUTE step.dropping;
    END LOOP;
    ALTER TYPE ${name} RENAME TO ${ident(FORMER)};
    CREATE TYPE ${name} AS ENUM (${join(labels, sql`, `)});
    FOR step IN ${conversions(name)} LOOP
      EXECUTE step.text;
    END LOOP;
    FOR step IN
      SELECT q.label, q.restoring FROM ${PART_ROWS} WHERE q.restoring IS NOT NULL
       ORDER BY q.rank DESC, q.depth DESC, q.own, q.name
    LOOP
      BEGIN
        EXECUTE step.restoring;
      EXCEPTION WHEN invalid_text_representation OR undefined_function OR undefined_object OR datatype_mismatch THEN
        ${change.isReplay === true ? sql`NULL` : FAIL_ON_PART};
      END;
    END LOOP;
    DROP TYPE ${former};
  END`;
  return sql`DO ${block(body)}`;
}

/** Returns the conversion of an enum in `enums`. Empty for other objects. @param key the key before the batch */
export function conversionOf(
  change: EnumChange,
  enums: ReadonlyMap<string, number>,
  key: string,
): { conversion?: EnumConversion } {
  const type = enums.has(key) ? change.before.objects.get(key)?.object : undefined;
  return type === undefined ? {} : { conversion: convertEnum(change, type) };
}
