/**
 * Operators that a hostile user could create in searched schemas: they match better than PostgreSQL's own where
 * arguments are converted or polymorphic. A statement that resolves to one fails, by its type or when it is called.
 */
import { asSuperuser } from './postgres.js';

const TYPES = `text varchar bpchar name "char" int2 int4 int8 float4 float8 numeric oid regclass regtype regproc regprocedure
  regcollation regnamespace regrole jsonb json uuid xid xid8 pg_lsn bool timestamptz timestamp interval bytea text[] name[]
  int2[] int4[] int8[] oid[] uuid[] "char"[] jsonb[] int2vector oidvector`;

const OPERATORS = '= <> < > <= >= || + - * / % ^ & | ~ !~ ~* !~* ~~ !~~ @> <@ && ? -> ->> #> #>> ^@';

const toTextArray = (text: string): string =>
  `'{${text.trim().replaceAll('"', '\\"').split(/\s+/).join(',')}}'::text[]`;

const PLANT = `
DO $do$
DECLARE l text; r text; o text;
BEGIN
  FOREACH l IN ARRAY ${toTextArray(TYPES)} LOOP
    FOREACH r IN ARRAY ${toTextArray(TYPES)} LOOP
      EXECUTE pg_catalog.format($f$CREATE FUNCTION public.decoy(%s, %s) RETURNS point LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''a decoy is called in %%'', pg_catalog.current_query(); END'$f$, l, r);
      FOREACH o IN ARRAY ${toTextArray(OPERATORS)} LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_operator p WHERE p.oprname OPERATOR(pg_catalog.=) o::name
          AND p.oprnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::regnamespace::oid
          AND p.oprleft OPERATOR(pg_catalog.=) l::regtype::oid AND p.oprright OPERATOR(pg_catalog.=) r::regtype::oid);
        EXECUTE pg_catalog.format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.decoy)', o, l, r);
      END LOOP;
    END LOOP;
  END LOOP;
END
$do$`;

/** Creates tens of thousands of them in `public`, which takes some seconds. */
export async function plantDecoys(connectionString: string): Promise<void> {
  await asSuperuser(connectionString, PLANT);
}
