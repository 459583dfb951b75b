/* Findings about objects other than tables. */
import {
  type ObjectName,
  PUBLIC,
  isRelation,
  objectLabel,
  type PrivilegesTarget,
  TARGETS,
  isAlwaysThere,
  isNewType,
  targetOf,
} from '../../model/objects.js';
import type { SchemaObject, Privilege } from '../../model/object-document.js';
import {
  idOnTable,
  idOnTarget,
  isRenamedWithTable,
  isRevokedFromPublic,
  objectNameParts,
  qualifiedId,
  searchedNames,
  splitQualifiedId,
} from '../../model/object-ids.js';
import { findLostPrivileges, heldPrivileges, privilegeWords, privilegesIn } from '../../model/privileges.js';
import { collectionsNeeding } from '../../model/order.js';
import { type State, getObject, getTarget, hasTableAt, hasTableNamed, hasView, tableIdOf } from '../../model/state.js';
import { isSameDefinition, parseDefinition } from '../../sql-text/object-definition.js';
import { collectionOfObject, collectionsOfObject, objectsOn } from '../../sql-text/object-table.js';
import type { RoutineParts } from '../../sql-text/routine.js';
import { levelBySize, sizeText } from '../levels.js';
import { type Observation, type PlannedEvent, type PlannedObjectEvent, type Rule, rolesOf } from '../model.js';

function routineParts(object: SchemaObject | undefined): RoutineParts | null {
  const parsed = object === undefined ? '' : parseDefinition(object.definition);
  return typeof parsed === 'string' ? null : parsed.routine;
}

const subject = ({ kind, id }: ObjectName) => ({ object: { kind, name: id } });

/**
 * Returns the object and the collection of its table, whose rules of the policy apply. A trigger of a view has no
 * collection.
 */
export function subjectOnTable(
  name: ObjectName,
  { batch }: PlannedObjectEvent,
): Pick<Observation, 'object' | 'collection'> {
  const collection = collectionOfObject(batch.after, name) ?? collectionOfObject(batch.before, name);
  return { ...subject(name), ...(collection !== undefined && { collection }) };
}

const VERBS = {
  'object.created': 'create',
  'object.updated': 'change',
  'object.renamed': 'rename',
  'object.deleted': 'drop',
} as const;

/**
 * True if the object is deleted or renamed together with its table, view, function, sequence or type. The findings about
 * that object then apply. A schema stays in the database, and so do default privileges, and a sequence or a type that a
 * table needs.
 */
export function followsTable({ event, batch }: PlannedObjectEvent): boolean {
  if (event.type === 'object.renamed') return isRenamedWithTable(event.subject, event.data.to);
  const { table, target } = objectNameParts(event.subject);
  if (target !== null) return event.type === 'object.deleted' && !isTargetLeft(batch.after, target);
  return event.type === 'object.deleted' && hasRelation(batch.before, table) && !hasRelation(batch.after, table);
}

const isTargetLeft = (state: State, target: PrivilegesTarget): boolean =>
  isAlwaysThere(target) ||
  getTarget(state, target) !== undefined ||
  TARGETS[target.type].kinds.some((kind) => collectionsNeeding(state, { kind, id: target.id }).length > 0);

const hasRelation = (state: State, name: string | null): boolean =>
  name !== null && (hasTableNamed(state, name) || hasView(state, name));

/**
 * Observes objects that a table had when it was deleted, and no longer has when it is restored. The diff that restores a
 * table decides which of them it gets.
 */
function observeLost(
  { event, batch }: PlannedEvent,
  isReported: (object: ObjectName) => boolean,
  consequence: string,
): Observation[] {
  if (event.type !== 'collection.created' || event.data.restored === undefined) return [];
  const { collection } = event;
  const { position, name: formerName } = event.data.restored;
  const now = tableIdOf(event.data.collection);
  const { schema } = splitQualifiedId(now);
  // Renaming a collection of another schema does not rename its table.
  const former = schema === undefined ? qualifiedId({ schema, name: formerName }) : now;
  const lost = batch.deletedWith(position).filter(({ kind, id }) => {
    const { name, table } = objectNameParts({ kind, id });
    return table === former && getObject(batch.after, { kind, id: idOnTable(kind, name, now) }) === undefined;
  });
  return lost.filter(isReported).map((object) => ({
    message: `restore ${JSON.stringify(collection)} without ${objectLabel(object)}: ${consequence}`,
    ...subject(object),
  }));
}

export const securityDefinerSearchPath: Rule = {
  code: 'SECURITY_DEFINER_SEARCH_PATH',
  level: 'warn',
  standing: true,
  title: 'SECURITY DEFINER without search_path',
  what: 'A function or procedure with `SECURITY DEFINER` does not set `search_path`.',
  why: 'It runs with the privileges of its owner, but finds tables and functions by the `search_path` of the caller. A caller can make it use objects of their own.',
  safer:
    'Add `SET search_path = pg_catalog, pg_temp` to the definition, and qualify all other names with their schema.',
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
  what: 'Every role may execute a function or procedure that is created with `SECURITY DEFINER` or changed to it. A change that revokes `EXECUTE` from `PUBLIC` does not have this finding.',
  why: 'PostgreSQL lets every role execute a new function. With `SECURITY DEFINER`, every role then acts with the privileges of its owner.',
  safer:
    'In the same change, create the privileges of `public` on the function with an empty list, and those of the roles that need it.',
  example: {
    unsafe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql SECURITY DEFINER AS $$ SELECT 1 $$',
    safe: 'CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
  },
  object({ old, now }, { batch }) {
    if (!isOpenDefiner(batch.after, now) || routineParts(old)?.isSecurityDefiner === true) return undefined;
    return {
      message: `${objectLabel(now)} has SECURITY DEFINER, and every role may execute it unless its privileges were changed`,
      ...subject(now),
    };
  },
  objectEvent({ event, batch }) {
    const { target } = objectNameParts(event.subject);
    const isGranted = event.type === 'object.deleted' && isRevokedFromPublic(event.subject);
    const now = target !== null && isGranted ? getTarget(batch.after, target) : undefined;
    if (now === undefined || !isOpenDefiner(batch.after, now)) return undefined;
    return {
      message: `${objectLabel(now)} has SECURITY DEFINER, and every role may execute it afterwards`,
      ...subject(now),
    };
  },
};

/** True for a function or procedure with SECURITY DEFINER, unless the log revokes EXECUTE from PUBLIC. */
const isOpenDefiner = (state: State, object: SchemaObject): boolean =>
  routineParts(object)?.isSecurityDefiner === true &&
  getObject(state, { kind: 'privileges', id: idOnTarget(PUBLIC, { type: 'routine', id: object.id }) }) === undefined;

const TRIGGER = 'CREATE TRIGGER audit AFTER UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION audit()';

const OTHER_CODE = 'writes to its table run other code';

export const changesTrigger: Rule = {
  code: 'CHANGES_TRIGGER',
  level: 'note',
  title: 'Changes a trigger',
  what: 'A trigger is created, changed, enabled, disabled, renamed or dropped, or a table is restored without a trigger that it had. If its table or view is renamed or deleted, only the findings about the table apply.',
  why: 'A trigger runs code whenever an application writes rows, and can change or reject them. PostgreSQL runs triggers in the order of their names.',
  safer:
    'Review the function of the trigger together with the change. The policy can require an approval for this finding.',
  example: { unsafe: TRIGGER },
  objectEvent(planned) {
    const { event } = planned;
    if (event.subject.kind !== 'trigger' || followsTable(planned)) return undefined;
    const message = `${VERBS[event.type]} ${objectLabel(event.subject)}: ${OTHER_CODE}`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
  event: (planned) => observeLost(planned, ({ kind }) => kind === 'trigger', OTHER_CODE),
};

const RULE = 'CREATE RULE keep AS ON DELETE TO posts DO INSTEAD NOTHING';

const OTHER_STATEMENTS = 'writes to its table run other statements';

export const changesRule: Rule = {
  code: 'CHANGES_RULE',
  level: 'warn',
  title: 'Changes a rewrite rule',
  what: 'A rule is created, changed, enabled, disabled, renamed or dropped, or a table is restored without a rule that it had. Comments do not count. Each collection that the rule reads or writes has its own finding. If its table or view is renamed or deleted, only the findings about the table apply.',
  why: 'PostgreSQL replaces statements with those of a rule. A rule can discard writes without an error, or write to other tables with the privileges of the owner of its table.',
  safer: 'Use a trigger if possible. The policy can require an approval for this finding.',
  example: { unsafe: RULE },
  objectEvent(planned) {
    const { event, batch } = planned;
    const { subject: name } = event;
    if (name.kind !== 'rule' || followsTable(planned)) return undefined;
    if (event.type === 'object.updated' && event.data.patch.every(({ path }) => path === '/comment')) return undefined;
    const change = `${VERBS[event.type]} ${objectLabel(name)}`;
    const place = subjectOnTable(name, planned);
    const used = [batch.before, batch.after].flatMap((state) => collectionsOfObject(state, name));
    const others = new Set(used.filter((each) => each !== null && each !== place.collection));
    return [
      { message: `${change}: ${OTHER_STATEMENTS}`, ...place },
      ...[...others].map((collection) => ({
        message: `${change}: it reads or writes ${JSON.stringify(collection)}`,
        ...place,
        ...(collection !== null && { collection }),
      })),
    ];
  },
  event: (planned) => observeLost(planned, ({ kind }) => kind === 'rule', OTHER_STATEMENTS),
};

export const triggerOnLargeTable: Rule = {
  code: 'TRIGGER_ON_LARGE_TABLE',
  level: 'warn',
  title: 'Trigger on a large table',
  what: 'A trigger FOR EACH ROW is created on a large existing table, or its definition changes.',
  why: 'PostgreSQL runs its function for every row that a statement writes, so bulk changes to the table take longer. CREATE TRIGGER waits for all running writes, and its lock blocks later ones.',
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

/** Returns the policies of a table after the batch. */
const policiesOn = ({ objects }: State, table: string): SchemaObject[] =>
  objectsOn(objects, table).filter(({ kind }) => kind === 'policy');

const FORCED_ONLY = 'ALTER TABLE posts FORCE ROW LEVEL SECURITY';

/** True if row security of the table is enabled, not only forced. */
function hasRowSecurity(state: State, table: string): boolean {
  const object = getObject(state, { kind: 'row_security', id: table });
  return object !== undefined && !isSameDefinition(object.definition, FORCED_ONLY);
}

const POLICY = 'CREATE POLICY own ON posts USING (owner = current_user)';
const ENABLE = 'ALTER TABLE posts ENABLE ROW LEVEL SECURITY';

const isRowSecurity = ({ kind }: ObjectName): boolean => kind === 'policy' || kind === 'row_security';

const OTHER_ROWS = 'other rows may be visible afterwards';

export const changesRowSecurity: Rule = {
  code: 'CHANGES_ROW_SECURITY',
  level: 'warn',
  title: 'Changes row security',
  what: 'A policy is created, changed, renamed or dropped, row security of a table is enabled, forced or disabled, or a table is restored without those that it had. Comments do not count. If the table is renamed or deleted, only the findings about the table apply.',
  why: 'Policies decide which rows a database role can read and write. A change can show rows to more roles, or hide rows from an application.',
  safer:
    'Review all policies on the table together with the change. The policy of the service can require an approval for this finding.',
  example: { unsafe: POLICY },
  objectEvent(planned) {
    const { event } = planned;
    if (!isRowSecurity(event.subject) || followsTable(planned)) return undefined;
    if (event.type === 'object.updated' && event.data.patch.every(({ path }) => path === '/comment')) return undefined;
    const message = `${VERBS[event.type]} ${objectLabel(event.subject)}: ${OTHER_ROWS}`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
  event: (planned) => observeLost(planned, isRowSecurity, OTHER_ROWS),
};

export const rowSecurityWithoutPolicy: Rule = {
  code: 'ROW_SECURITY_WITHOUT_POLICY',
  level: 'warn',
  standing: true,
  title: 'Row security without a policy',
  what: 'Row security of a table is enabled, but the table has no policy, or the table has policies, but row security is not enabled.',
  why: 'Without a policy, PostgreSQL hides all rows from every role except the owner of the table. Without row security, policies have no effect.',
  safer: 'Create the policies and enable row security in one change.',
  example: { unsafe: ENABLE, safe: `${ENABLE} and ${POLICY}` },
  objectEvent(planned) {
    const { event, batch } = planned;
    const { table } = objectNameParts(event.subject);
    if (!isRowSecurity(event.subject) || table === null || followsTable(planned)) return undefined;
    const [isEnabled, count] = [hasRowSecurity(batch.after, table), policiesOn(batch.after, table).length];
    if (isEnabled === count > 0) return undefined;
    const message = isEnabled
      ? `row security of ${JSON.stringify(table)} is enabled, but the table has no policy`
      : `${JSON.stringify(table)} has ${count} ${count === 1 ? 'policy' : 'policies'}, but row security is not enabled`;
    return { message, ...subjectOnTable({ kind: 'row_security', id: table }, planned) };
  },
};

export const policyAlwaysTrue: Rule = {
  code: 'POLICY_ALWAYS_TRUE',
  level: 'warn',
  standing: true,
  title: 'Policy that is always true',
  what: 'A permissive policy has `USING (true)` or `WITH CHECK (true)`.',
  why: 'Its roles can read or write all rows, whatever the other permissive policies on the table say.',
  safer:
    'Compare a column with the current user or with a setting of the session. Grant only the privileges that the roles need.',
  levels: '`note` for a policy that only allows reading.',
  example: { unsafe: 'CREATE POLICY all_rows ON posts USING (true)', safe: POLICY },
  object({ now }, planned) {
    const parsed = parseDefinition(now.definition);
    const policy = typeof parsed === 'string' ? null : parsed.policy;
    if (policy === null || !policy.isPermissive || !policy.isAlwaysTrue) return undefined;
    const roles = policy.roles.length === 0 ? 'every role' : policy.roles.join(', ');
    const verb = policy.command === 'select' ? 'read' : 'write';
    const message = `${objectLabel(now)} allows ${roles} to ${verb} any row`;
    return { message, ...(verb === 'read' && { level: 'note' as const }), ...subjectOnTable(now, planned) };
  },
};

export const viewBypassesRowSecurity: Rule = {
  code: 'VIEW_BYPASSES_ROW_SECURITY',
  level: 'warn',
  standing: true,
  title: 'View that bypasses row security',
  what: 'A view without `security_invoker`, or a materialized view, reads a table with row security.',
  why: 'PostgreSQL applies the policies to the owner of the view. If that is the owner of the table, the view shows all rows to everyone who may read it.',
  safer: 'Create the view `WITH (security_invoker = true)`, which requires PostgreSQL 15 or newer.',
  example: {
    unsafe: 'CREATE VIEW titles AS SELECT title FROM posts',
    safe: 'CREATE VIEW titles WITH (security_invoker = true) AS SELECT title FROM posts',
  },
  object({ now }, { batch }) {
    const [table] = findBypassedTables(batch.after, now);
    if (table === undefined) return undefined;
    return { message: bypassMessage([now], table), ...subject(now) };
  },
  objectEvent({ event, batch, found }) {
    if (event.subject.kind !== 'row_security' || event.type === 'object.deleted' || found) return undefined;
    const { id: table } = event.subject;
    const views = [...batch.after.objects.values()].flatMap(({ object }) =>
      findBypassedTables(batch.after, object).includes(table) ? [object] : [],
    );
    const [first] = views;
    return first === undefined ? undefined : { message: bypassMessage(views, table), ...subject(first) };
  },
};

function bypassMessage([view, ...others]: readonly SchemaObject[], table: string): string {
  const names = `${view === undefined ? '' : objectLabel(view)}${others.length > 0 ? ` and ${others.length} more` : ''}`;
  const verb = others.length > 0 ? 'read' : 'reads';
  return `${names} ${verb} ${JSON.stringify(table)} with the policies that apply to the owner, not to the user`;
}

/**
 * Returns the tables with row security whose rows the view reads as its owner, as in `qualifiedId`. A definition can name
 * the default schema or omit it.
 */
function findBypassedTables(state: State, view: SchemaObject): string[] {
  const parsed = isRelation(view) ? parseDefinition(view.definition) : '';
  if (typeof parsed === 'string' || parsed.options.split(',').includes('security_invoker=true')) return [];
  return parsed.relations
    .map(({ schema, name }) => {
      const found = searchedNames({ schema, name }).find((each) => hasTableAt(state, each.schema, each.name));
      return qualifiedId(found ?? { schema: undefined, name });
    })
    .filter((table) => hasRowSecurity(state, table));
}

export const roleNeeded: Rule = {
  code: 'ROLE_NEEDED',
  level: 'danger',
  title: 'Role missing from the server',
  what: 'A policy or privileges name a database role that does not exist on this server.',
  why: 'PostgreSQL rejects the whole change until the role exists. The service creates no roles.',
  safer:
    'Create the role on this server before the change, or name another role. To omit privileges, remove their item from the diff, or list their id in `without` of a restore.',
  example: { unsafe: 'CREATE POLICY own ON posts TO editors USING (true) where `CREATE ROLE editors` has not run' },
  object({ now }, planned) {
    const missing = rolesOf(now).filter((role) => planned.batch.missingRoles.has(role));
    if (missing.length === 0) return undefined;
    const names = missing.map((role) => JSON.stringify(role)).join(', ');
    const message = `${objectLabel(now)} needs the role ${names}, which does not exist on this server`;
    return { message, ...subjectOnTable(now, planned) };
  },
};

/* Findings about privileges of roles. */

const isAboutPrivileges = ({ event }: PlannedObjectEvent): boolean => event.subject.kind === 'privileges';

const OTHER_ACCESS = 'the role may read or write other data afterwards';
const OTHER_USE = {
  routine: 'other roles may execute it afterwards',
  sequence: 'other roles may use the sequence afterwards',
  type: 'other roles may use the type afterwards',
  schema: 'other roles may find or create objects in the schema afterwards',
  new: 'other roles may use objects that are created afterwards',
} as const;

/** `"members"`, `"total(integer)"`, `type "status"`, `schema "billing"`, `new tables in schema "billing"` */
function targetName(object: ObjectName): string {
  const { table, target } = objectNameParts(object);
  if (target !== null && isNewType(target.type))
    return `${target.type}${target.id === '' ? '' : ` in schema ${JSON.stringify(target.id)}`}`;
  const word = target === null || target.type === 'routine' ? '' : `${target.type} `;
  return `${word}${JSON.stringify(target?.id ?? table)}`;
}

const GRANT = 'GRANT SELECT ON posts TO editors';

export const changesPrivileges: Rule = {
  code: 'CHANGES_PRIVILEGES',
  level: 'warn',
  title: 'Changes privileges',
  what: 'The change creates, changes or deletes the privileges of a role on a table, view, function, sequence, type or schema, or its default privileges, or restores a table without its privileges. A change that renames or deletes the table, function, sequence or type does not have this finding.',
  why: 'Privileges decide what a database role can read, write and execute. A change can show data to more roles, or break an application.',
  safer: 'Review the change together with all other privileges on the table. A policy can require an approval.',
  example: { unsafe: GRANT },
  objectEvent(planned) {
    const { event } = planned;
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const { target } = objectNameParts(event.subject);
    const consequence = target === null ? OTHER_ACCESS : OTHER_USE[isNewType(target.type) ? 'new' : target.type];
    const message = `${VERBS[event.type]} ${objectLabel(event.subject)}: ${consequence}`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
  event: (planned) => observeLost(planned, ({ kind }) => kind === 'privileges', OTHER_ACCESS),
};

export const publicPrivilege: Rule = {
  code: 'PUBLIC_PRIVILEGE',
  level: 'warn',
  standing: true,
  title: 'Privilege for every role',
  what: 'Privileges on a table, view, sequence or schema, or on new objects, are granted to `PUBLIC`, or `EXECUTE` on a function, `USAGE` on a type or `USAGE` on the schema `public` is granted to it again.',
  why: 'Every database role gets them, including roles that are created later.',
  safer: 'Grant the privileges to one role, and add the roles that need them as members.',
  example: { unsafe: 'GRANT SELECT ON posts TO PUBLIC', safe: GRANT },
  object({ now }, planned) {
    const { name } = objectNameParts(now);
    if (now.kind !== 'privileges' || name !== PUBLIC) return undefined;
    const gained = findLostPrivileges(privilegesIn(now.definition), heldPrivileges(now, undefined));
    if (gained.length === 0) return undefined;
    const message = `every role gets ${privilegeWords(gained)} on ${targetName(now)}`;
    return { message, ...subjectOnTable(now, planned) };
  },
  objectEvent(planned) {
    const { subject, type } = planned.event;
    if (type !== 'object.deleted' || !isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const gained = findLostPrivileges(heldPrivileges(subject, undefined), privilegesIn(planned.old?.definition));
    if (gained.length === 0) return undefined;
    const message = `every role gets ${privilegeWords(gained)} on ${targetName(subject)} again`;
    return { message, ...subjectOnTable(subject, planned) };
  },
};

/** Observes privileges on a dropped table, view, function, sequence or type that are not in the log, so a new object of its name lacks them. */
function observeReplaced({ event: { subject }, batch }: PlannedObjectEvent): Observation[] {
  return batch
    .privilegesBefore(subject)
    .filter((each) => getObject(batch.before, each) === undefined && getObject(batch.after, each) === undefined)
    .map((each) => ({
      message: `${objectLabel(each)} are not managed, and ${objectLabel(subject)} is created without them`,
      object: { kind: subject.kind, name: subject.id },
    }));
}

function findLost({ event: { subject }, batch, old }: PlannedObjectEvent): Privilege[] {
  const { target } = objectNameParts(subject);
  // Nobody had a privilege on a new function or type.
  if (old === undefined && target !== null && !isTargetLeft(batch.before, target)) return [];
  return findLostPrivileges(heldPrivileges(subject, old), heldPrivileges(subject, getObject(batch.after, subject)));
}

export const privilegeLost: Rule = {
  code: 'PRIVILEGE_LOST',
  level: 'warn',
  title: 'Lost privilege',
  what: 'A role loses a privilege on an existing table, view, function, sequence, type or schema, on new objects, on a dropped column, or on a view or function that is created again as another kind.',
  why: 'Applications that connect with this role can no longer run some statements.',
  safer:
    'Check which applications use the role. If the change only replaces the view, keep its privileges in the snapshot.',
  example: { unsafe: 'DELETE /objects/privileges/editors%20on%20posts' },
  objectEvent(planned) {
    const { subject, type } = planned.event;
    if (type === 'object.created' && (isRelation(subject) || targetOf(subject) !== undefined))
      return observeReplaced(planned);
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const lost = findLost(planned);
    if (lost.length === 0) return undefined;
    const { name } = objectNameParts(subject);
    const role = name === PUBLIC ? 'PUBLIC' : JSON.stringify(name);
    const message = `${role} loses ${privilegeWords(lost)} on ${targetName(subject)}`;
    return { message, ...subjectOnTable(subject, planned) };
  },
};
