/* Findings about objects other than tables. */
import {
  type ObjectName,
  type SchemaObject,
  isRenamedWithTable,
  isTrigger,
  objectLabel,
  objectNameParts,
} from '../../model/objects.js';
import { type State, collectionOfObject, getObject, hasTableAt } from '../../model/state.js';
import { parseDefinition } from '../../sql-text/object-definition.js';
import type { RoutineParts } from '../../sql-text/routine.js';
import { levelBySize, sizeText } from '../levels.js';
import type { Observation, PlannedObjectEvent, Rule } from '../model.js';

function routineParts(object: SchemaObject | undefined): RoutineParts | null {
  const parsed = object === undefined ? '' : parseDefinition(object.definition);
  return typeof parsed === 'string' ? null : parsed.routine;
}

const subject = ({ kind, id }: ObjectName) => ({ object: { kind, name: id } });

/**
 * Returns the object and the collection of its table, whose rules of the policy apply. A trigger of a view has no
 * collection.
 */
function subjectOnTable(name: ObjectName, { batch }: PlannedObjectEvent): Pick<Observation, 'object' | 'collection'> {
  const collection = collectionOfObject(batch.after, name) ?? collectionOfObject(batch.before, name);
  return { ...subject(name), ...(collection !== undefined && { collection }) };
}

const VERBS = {
  'object.created': 'create',
  'object.updated': 'change',
  'object.renamed': 'rename',
  'object.deleted': 'drop',
} as const;

/** True if the object is deleted or renamed together with its table. The findings about the table apply then. */
function followsTable({ event, batch }: PlannedObjectEvent): boolean {
  if (event.type === 'object.renamed') return isRenamedWithTable(event.subject, event.data.to);
  const { table } = objectNameParts(event.subject);
  return event.type === 'object.deleted' && hasRelation(batch.before, table) && !hasRelation(batch.after, table);
}

const hasRelation = (state: State, name: string | null): boolean =>
  name !== null && (hasTableAt(state, undefined, name) || getObject(state, { kind: 'view', id: name }) !== undefined);

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

const TRIGGER = 'CREATE TRIGGER audit AFTER UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION audit()';

export const changesTrigger: Rule = {
  code: 'CHANGES_TRIGGER',
  level: 'note',
  title: 'Change of a trigger',
  what: 'A trigger is created, changed, renamed or dropped, also its enabled state. If its table or view is renamed or deleted, only the findings about the table apply.',
  why: 'A trigger runs code whenever an application writes rows, and can change or reject them. PostgreSQL runs triggers in the order of their names.',
  safer: 'Read the function of the trigger with the change. The policy can require an approval for this finding.',
  example: { unsafe: TRIGGER },
  objectEvent(planned) {
    const { event } = planned;
    if (!isTrigger(event.subject) || followsTable(planned)) return undefined;
    const message = `${VERBS[event.type]} ${objectLabel(event.subject)}: writes to its table run other code`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
};

export const triggerOnLargeTable: Rule = {
  code: 'TRIGGER_ON_LARGE_TABLE',
  level: 'warn',
  title: 'Trigger on a large table',
  what: 'A trigger FOR EACH ROW is created on a large table that exists already, or gets another definition.',
  why: 'PostgreSQL runs its function for every row that a statement writes, so bulk changes of the table take longer. The lock of CREATE TRIGGER waits for all running writes, and blocks later ones.',
  safer: 'Use FOR EACH STATEMENT with a transition table, or restrict the trigger with WHEN or UPDATE OF.',
  levels:
    '`warn` on a table with more than 10,000 rows or 8 MB, `danger` on one with more than a million rows or 1 GB that is in use.',
  example: {
    unsafe: TRIGGER,
    safe: 'CREATE TRIGGER audit AFTER UPDATE ON posts REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit()',
  },
  object({ old, now }, planned) {
    const parsed = parseDefinition(now.definition);
    if (typeof parsed === 'string' || parsed.trigger?.isForEachRow !== true) return undefined;
    if (old !== undefined && old.definition === now.definition) return undefined;
    const place = subjectOnTable(now, planned);
    const statistics = planned.batch.statistics(place.collection ?? '');
    const level = levelBySize(statistics, 'note');
    if (statistics === undefined || level === 'note') return undefined;
    const message = `${objectLabel(now)} runs its function for every written row (${sizeText(statistics)})`;
    return { message, level, statistics, ...place };
  },
};
