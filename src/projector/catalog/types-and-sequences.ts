/* Reads sequences that no column owns, and types that are not the row type of a relation. */
import type pg from 'pg';
import { objectKey } from '../../schema/model/objects.js';
import { type AllSequenceOptions, unusualOptions } from '../../schema/model/extras.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { IS_OWN_SEQUENCE, JOIN_USED_TYPE, SEQUENCES_FROM, SEQUENCE_TAIL } from '../ddl/object-sql.js';
import { sequenceOptions } from '../ddl/sequence.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';

const NAME = sql`pg_catalog.format('%I.%I', n.nspname, c.relname)`;

/** SQL for the statements that no snapshot contains. The service never creates a sequence again, so they stay. */
const KEPT = sql`
  SELECT pg_catalog.format('GRANT %s ON SEQUENCE %s TO %s', x.privilege_type, ${NAME},
           CASE x.grantee WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee)::text) END)
    FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantee <> c.relowner
  UNION ALL SELECT pg_catalog.format('ALTER SEQUENCE %s OWNER TO %I', ${NAME}, pg_catalog.pg_get_userbyid(c.relowner))
   WHERE pg_catalog.pg_get_userbyid(c.relowner) <> current_user`;

/** Selects sequences. $1 is the managed schema, $2 the names or null for all. */
const SEQUENCES: Sql = sql`
SELECT c.relname::text AS id, ${SEQUENCE_TAIL} AS query, pg_catalog.format_type(q.seqtypid, NULL) AS type,
  q.seqstart::text AS start, q.seqincrement::text AS increment, q.seqmin::text AS min, q.seqmax::text AS max,
  q.seqcache::text AS cache, q.seqcycle AS cycle,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = 0) AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text), '{}') FROM (${KEPT}) r (text)) AS restoring,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = c.oid AND e.deptype = 'e') AS extension
FROM ${SEQUENCES_FROM}
WHERE n.nspname = $1 AND ${IS_OWN_SEQUENCE} AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
ORDER BY c.relname COLLATE "C"`;

type Row = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'extension'> & AllSequenceOptions;

/** Returns the sequences, keyed by `objectKey`. @param names limits the result; all of the schema if absent */
export async function readSequences(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(SEQUENCES, [schema, names ?? null]);
  return rows.map(({ id, query, comment, restoring, extension, ...options }) => {
    const kind = 'sequence' as const;
    const text = sequenceOptions(unusualOptions(options, 'bigint'));
    const definition = `CREATE SEQUENCE ${quotedName(id)} ${text}`.trimEnd();
    const rest = { comment, restoring, extension, indexes: null, enabled: null, populated: true, uses: [] };
    return [objectKey({ kind, id }), { ...rest, kind, id, query, definition }];
  });
}

const types = OBJECT_CATALOGS.pg_type;

const TYPE_NAME = sql`pg_catalog.format('%I.%I', n.nspname, t.typname)`;

const grantee = (role: Sql): Sql =>
  sql`CASE ${role} WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(${role})::text) END`;

/** SQL condition: the row `d` of pg_default_acl applies to a type that the service creates in the schema of `t`. */
const IS_DEFAULT = sql`(d.defaclobjtype = 'T' AND d.defaclnamespace IN (0::oid, t.typnamespace)
    AND d.defaclrole = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))`;

/** True if privileges must be restored. Otherwise, PUBLIC can use the type, also after it was created again. */
const HAS_PRIVILEGES = sql`(t.typacl IS NOT NULL OR EXISTS (SELECT FROM pg_catalog.pg_default_acl d WHERE ${IS_DEFAULT}))`;

/** SQL for the statements that restore a type after it was created again. */
const RESTORING_TYPE = sql`
  SELECT 0 AS rank, pg_catalog.format('REVOKE ALL ON TYPE %s FROM %s', ${TYPE_NAME}, ${grantee(sql`g.grantee`)}) AS text
    FROM (SELECT 0::oid AS grantee UNION
      SELECT x.grantee FROM pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) x
       WHERE ${IS_DEFAULT} AND x.grantee <> t.typowner) g WHERE ${HAS_PRIVILEGES}
  UNION ALL SELECT 1, pg_catalog.format('GRANT %s ON TYPE %s TO %s%s', x.privilege_type, ${TYPE_NAME}, ${grantee(sql`x.grantee`)},
           CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_catalog.aclexplode(coalesce(t.typacl, pg_catalog.acldefault('T'::"char", t.typowner))) x
   WHERE x.grantee <> t.typowner AND ${HAS_PRIVILEGES}
  UNION ALL SELECT 2, pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', ${TYPE_NAME}, a.attname, d.description)
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_description d
      ON d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objoid = a.attrelid AND d.objsubid = a.attnum
   WHERE a.attrelid = t.typrelid AND t.typrelid <> 0::oid AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT 4, pg_catalog.format('ALTER TYPE %s OWNER TO %I', ${TYPE_NAME}, pg_catalog.pg_get_userbyid(t.typowner))
   WHERE pg_catalog.pg_get_userbyid(t.typowner) <> current_user`;

/** Selects types. $1 is the managed schema, $2 the names or null for all. */
const TYPES: Sql = sql`
SELECT ${types.id}::text AS id, ${types.printed} AS query, t.typtype = 'd' AS "isDomain",
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = t.oid AND d.classoid = 'pg_catalog.pg_type'::regclass::oid AND d.objsubid = 0) AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text ORDER BY r.rank, r.text), '{}') FROM (${RESTORING_TYPE}) r (rank, text)) AS restoring,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('catalog', 'pg_type',
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', NULL)), '[]')
     FROM (SELECT DISTINCT un.oid AS place, un.nspname, ut.typname::text AS name FROM pg_catalog.pg_depend d ${JOIN_USED_TYPE}
            WHERE ut.oid <> t.oid AND ((d.classid = 'pg_catalog.pg_type'::regclass::oid AND d.objid = t.oid)
              OR (d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = nullif(t.typrelid, 0::oid))
              OR (d.classid = 'pg_catalog.pg_constraint'::regclass::oid AND d.objid IN
                (SELECT k.oid FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid)))) u) AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_type'::regclass::oid AND e.objid = t.oid AND e.deptype = 'e') AS extension
FROM ${types.from}
WHERE n.nspname = $1 AND ${types.where} AND ($2::text[] IS NULL OR t.typname = ANY ($2::text[]))
ORDER BY t.typname COLLATE "C"`;

type TypeRow = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'uses' | 'extension'> & {
  isDomain: boolean;
};

/** Returns the types, keyed by `objectKey`. @param names limits the result; all of the schema if absent */
export async function readTypes(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<TypeRow>(TYPES, [schema, names ?? null]);
  return rows.map(({ isDomain, ...row }) => {
    const kind = 'type' as const;
    const definition = `CREATE ${isDomain ? 'DOMAIN' : 'TYPE'} ${quotedName(row.id)} ${row.query}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, definition, indexes: null, enabled: null, populated: true },
    ];
  });
}
