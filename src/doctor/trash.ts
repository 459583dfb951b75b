/** Finds objects in the trash that do not belong to the service. */
import { OWN_SCHEMA_OID, own } from '../postgres/own-tables.js';
import { COPY } from '../projector/ddl/trash/values.js';
import type { Check } from './check.js';
import { finding } from './finding.js';

/**
 * Position 0 contains copies in preparation (src/projector/online). Kept tables bring their row types, indexes,
 * sequences and TOAST tables.
 */
const STRANGERS = `
  WITH prefix AS (SELECT n.nspname::text || '_trash_' AS text FROM pg_catalog.pg_namespace n WHERE n.oid = ${OWN_SCHEMA_OID}),
  places AS (SELECT n.oid, n.nspname::text AS name, t.kind, t.collection FROM prefix
               JOIN pg_catalog.pg_namespace n ON pg_catalog.starts_with(n.nspname, prefix.text)
                AND n.nspname <> prefix.text || '0'
               LEFT JOIN ${own.trash} t ON n.nspname = prefix.text || t.position::text)
  SELECT p.name FROM places p WHERE p.kind IS NULL
  UNION ALL
  SELECT pg_catalog.format('%s.%s', p.name, c.relname) FROM places p JOIN pg_catalog.pg_class c ON c.relnamespace = p.oid
   WHERE p.kind IS NOT NULL AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
     AND c.relname <> CASE p.kind WHEN 'field' THEN '${COPY}' ELSE p.collection END
  UNION ALL
  SELECT pg_catalog.format('%s.%s', p.name, f.proname) FROM places p JOIN pg_catalog.pg_proc f ON f.pronamespace = p.oid
  ORDER BY 1 LIMIT 6`;

const SHOWN = 5;

export const trash: Check = {
  name: 'nothing else in the trash',
  async run({ pool }) {
    const { rows } = await pool.query<{ name: string }>(STRANGERS);
    if (rows.length === 0) return [];
    const names = rows.slice(0, SHOWN).map(({ name }) => JSON.stringify(name));
    const more = rows.length > SHOWN ? ' and more' : '';
    const message = `There is something in the trash that the service did not put there: ${names.join(', ')}${more}.`;
    return [finding('TRASH_STRANGE', message)];
  },
};
