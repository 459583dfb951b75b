/** Each deletion keeps its objects in a schema of its own, named after the position of its event. */
import type { Change } from '../change.js';
import { block, literal, sql, trash } from '../sql.js';
import { type Step, step, tableObject } from '../step.js';

/** The schema of a position. Only its owner may use it, whatever the default privileges are. */
export function createTrashSchema({ event }: Change, position: number): Step[] {
  const schema = trash(position);
  const body = sql`DECLARE g text; BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE oid = ${literal(schema)}::regnamespace::oid AND nspacl IS NULL)
    THEN RETURN; END IF;
    FOR g IN SELECT DISTINCT CASE WHEN a.grantee = 0::oid THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
       WHERE n.oid = ${literal(schema)}::regnamespace::oid AND a.grantee <> n.nspowner
    LOOP EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA %s FROM %s', ${literal(schema)}, g); END LOOP; END`;
  const costs = { object: tableObject(event.collection), lock: 'none', lock_entries: 2 } as const;
  return [
    step(sql`CREATE SCHEMA ${schema}`, `make room in the trash for position ${position}`, costs),
    step(sql`DO ${block(body)}`, `keep others out of it`, costs),
  ];
}

/** Drops the schema of `createTrashSchema` when it is empty. */
export function dropTrashSchema({ event }: Change, position: number): Step {
  const costs = { object: tableObject(event.collection), lock: 'none', lock_entries: 2 } as const;
  return step(sql`DROP SCHEMA ${trash(position)}`, `leave no room in the trash for position ${position}`, costs);
}
