/* Reads sequences that no column owns. */
import type pg from 'pg';
import { objectKey } from '../../schema/model/objects.js';
import { type AllSequenceOptions, unusualOptions } from '../../schema/model/sequence-options.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { IS_OWN_SEQUENCE, SEQUENCES_FROM, SEQUENCE_TAIL } from '../ddl/object-sql.js';
import { sequenceOptions } from '../ddl/sequence.js';
import { type Sql, sql } from '../ddl/sql.js';

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
