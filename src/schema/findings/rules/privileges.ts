/* Findings about privileges of roles. */
import {
  type ObjectName,
  PUBLIC,
  type Privilege,
  isRelation,
  isRevokedFromPublic,
  isRoutine,
  objectLabel,
  objectNameParts,
} from '../../model/objects.js';
import { findLostPrivileges, heldPrivileges, privilegeWords, privilegesIn } from '../../model/privileges.js';
import { getObject, getRoutine } from '../../model/state.js';
import type { Observation, PlannedObjectEvent, Rule } from '../model.js';
import { VERBS, followsTable, observeLost, subjectOnTable } from './objects.js';

const isAboutPrivileges = ({ event }: PlannedObjectEvent): boolean => event.subject.kind === 'privileges';

const OTHER_ACCESS = 'the role may read or write other data afterwards';
const OTHER_EXECUTION = 'other roles may execute it afterwards';

/** `"members"`, `"total(integer)"` */
function targetName(object: ObjectName): string {
  const { table, routine } = objectNameParts(object);
  return JSON.stringify(routine ?? table);
}

const GRANT = 'GRANT SELECT ON posts TO editors';

export const changesPrivileges: Rule = {
  code: 'CHANGES_PRIVILEGES',
  level: 'warn',
  title: 'Change of privileges',
  what: 'The change creates, changes or deletes the privileges of a role on a table, view or function, or restores a table without its privileges. A change that renames or deletes the table or function does not have this finding.',
  why: 'Privileges decide what a database role can read, write and execute. A change can show data to more roles, or break an application.',
  safer: 'Review the change together with all other privileges on the table. A policy can require an approval.',
  example: { unsafe: GRANT },
  objectEvent(planned) {
    const { event } = planned;
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const consequence = objectNameParts(event.subject).routine === null ? OTHER_ACCESS : OTHER_EXECUTION;
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
  what: 'Privileges on a table or view are granted to `PUBLIC`, or `EXECUTE` on a function is granted to it again.',
  why: 'Every database role gets them, including roles that are created later.',
  safer: 'Grant the privileges to one role, and add the roles that need them as members.',
  example: { unsafe: 'GRANT SELECT ON posts TO PUBLIC', safe: GRANT },
  object({ now }, planned) {
    const { name } = objectNameParts(now);
    if (now.kind !== 'privileges' || name !== PUBLIC || isRevokedFromPublic(now)) return undefined;
    const message = `every role gets ${privilegeWords(privilegesIn(now.definition))} on ${targetName(now)}`;
    return { message, ...subjectOnTable(now, planned) };
  },
  objectEvent(planned) {
    const { subject, type } = planned.event;
    if (type !== 'object.deleted' || !isRevokedFromPublic(subject) || followsTable(planned)) return undefined;
    const message = `every role gets EXECUTE on ${targetName(subject)} again`;
    return { message, ...subjectOnTable(subject, planned) };
  },
};

/** Observes privileges on a dropped table, view or function that are not in the log, so a new object of its name lacks them. */
function observeReplaced({ event: { subject }, batch }: PlannedObjectEvent): Observation[] {
  return batch
    .privilegesBefore(subject.id)
    .filter((each) => getObject(batch.before, each) === undefined && getObject(batch.after, each) === undefined)
    .map((each) => ({
      message: `${objectLabel(each)} are not managed, and ${objectLabel(subject)} is created without them`,
      object: { kind: subject.kind, name: subject.id },
    }));
}

function findLost({ event: { subject }, batch, old }: PlannedObjectEvent): Privilege[] {
  const { routine } = objectNameParts(subject);
  // Nobody had a privilege on a new function.
  if (old === undefined && routine !== null && getRoutine(batch.before, routine) === undefined) return [];
  return findLostPrivileges(heldPrivileges(subject, old), heldPrivileges(subject, getObject(batch.after, subject)));
}

export const privilegeLost: Rule = {
  code: 'PRIVILEGE_LOST',
  level: 'warn',
  title: 'Lost privilege',
  what: 'A role loses a privilege on an existing table, view or function, on a dropped column, or on a view or function that is created again as another kind.',
  why: 'Applications that connect with this role can no longer run some statements.',
  safer:
    'Check which applications use the role. If the change only replaces the view, keep its privileges in the snapshot.',
  example: { unsafe: 'DELETE /objects/privileges/editors%20on%20posts' },
  objectEvent(planned) {
    const { subject, type } = planned.event;
    if (type === 'object.created' && (isRelation(subject) || isRoutine(subject))) return observeReplaced(planned);
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const lost = findLost(planned);
    if (lost.length === 0) return undefined;
    const { name } = objectNameParts(subject);
    const role = name === PUBLIC ? 'PUBLIC' : JSON.stringify(name);
    const message = `${role} loses ${privilegeWords(lost)} on ${targetName(subject)}`;
    return { message, ...subjectOnTable(subject, planned) };
  },
};
