/* Findings about objects other than tables. */
import { type SchemaObject, objectLabel } from '../../model/objects.js';
import { parseDefinition } from '../../sql-text/object-definition.js';
import type { RoutineParts } from '../../sql-text/routine.js';
import type { Rule } from '../model.js';

function routineParts(object: SchemaObject | undefined): RoutineParts | null {
  const parsed = object === undefined ? '' : parseDefinition(object.definition);
  return typeof parsed === 'string' ? null : parsed.routine;
}

const subject = ({ kind, id }: SchemaObject) => ({ object: { kind, name: id } });

export const securityDefinerSearchPath: Rule = {
  code: 'SECURITY_DEFINER_SEARCH_PATH',
  level: 'warn',
  standing: true,
  title: 'SECURITY DEFINER without search_path',
  what: 'A function or procedure with `SECURITY DEFINER` does not set `search_path`.',
  why: 'It runs with the privileges of its owner, but finds tables and functions by the `search_path` of the caller. A caller can make it use objects of their own.',
  safer: 'Add `SET search_path = pg_catalog, pg_temp` to the definition, and write the schema before other names.',
  example: {
    unsafe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql SECURITY DEFINER AS $$ SELECT 1 $$',
    safe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT 1 $$',
  },
  object({ now }) {
    const routine = routineParts(now);
    if (routine === null || !routine.isSecurityDefiner || routine.setsSearchPath) return undefined;
    return { message: `${objectLabel(now)} has SECURITY DEFINER and does not set search_path`, ...subject(now) };
  },
};

export const securityDefinerPublicExecute: Rule = {
  code: 'SECURITY_DEFINER_PUBLIC_EXECUTE',
  level: 'warn',
  title: 'SECURITY DEFINER for everyone',
  what: 'A new function or procedure has `SECURITY DEFINER`, or an existing one gets it.',
  why: 'PostgreSQL lets every role execute a new function. With `SECURITY DEFINER`, every role then acts with the privileges of its owner.',
  safer: 'After the change, run `REVOKE EXECUTE ON FUNCTION … FROM PUBLIC`, and grant it to the roles that need it.',
  example: {
    unsafe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql SECURITY DEFINER AS $$ SELECT 1 $$',
    safe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
  },
  object({ old, now }) {
    if (routineParts(now)?.isSecurityDefiner !== true || routineParts(old)?.isSecurityDefiner === true)
      return undefined;
    return {
      message: `${objectLabel(now)} has SECURITY DEFINER, and every role may execute it unless its privileges were changed`,
      ...subject(now),
    };
  },
};
