/* Findings about privileges of roles. */
import { PUBLIC, isRelation, objectLabel, objectNameParts } from '../../model/objects.js';
import { findLostPrivileges, privilegeWords, privilegesIn } from '../../model/privileges.js';
import { getObject } from '../../model/state.js';
import type { Observation, PlannedObjectEvent, Rule } from '../model.js';
import { VERBS, followsTable, observeLost, subjectOnTable } from './objects.js';

const isAboutPrivileges = ({ event }: PlannedObjectEvent): boolean => event.subject.kind === 'privileges';

const OTHER_ACCESS = 'the role may read or write other data afterwards';

const GRANT = 'GRANT SELECT ON posts TO editors';

export const changesPrivileges: Rule = {
  code: 'CHANGES_PRIVILEGES',
  level: 'warn',
  title: 'Change of privileges',
  what: 'The change creates, changes or deletes the privileges of a role on a table or view, or restores a table without its privileges. A change that renames or deletes the table does not have this finding.',
  why: 'Privileges decide what a database role can read and write. A change can show data to more roles, or break an application.',
  safer: 'Review the change together with all other privileges on the table. A policy can require an approval.',
  example: { unsafe: GRANT },
  objectEvent(planned) {
    const { event } = planned;
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const message = `${VERBS[event.type]} ${objectLabel(event.subject)}: ${OTHER_ACCESS}`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
  event: (planned) => observeLost(planned, ({ kind }) => kind === 'privileges', OTHER_ACCESS),
};

export const publicPrivilege: Rule = {
  code: 'PUBLIC_PRIVILEGE',
  level: 'warn',
  standing: true,
  title: 'Privilege for every role',
  what: 'Privileges on a table or view are granted to `PUBLIC`.',
  why: 'Every database role gets them, including roles that are created later.',
  safer: 'Grant the privileges to one role, and add the roles that need them as members.',
  example: { unsafe: 'GRANT SELECT ON posts TO PUBLIC', safe: GRANT },
  object({ now }, planned) {
    const { name, table } = objectNameParts(now);
    if (now.kind !== 'privileges' || name !== PUBLIC) return undefined;
    const message = `every role gets ${privilegeWords(privilegesIn(now.definition))} on ${JSON.stringify(table)}`;
    return { message, ...subjectOnTable(now, planned) };
  },
};

/** Observes privileges on a dropped table or view that are not in the log, so a new view of its name lacks them. */
function observeReplaced({ event: { subject }, batch }: PlannedObjectEvent): Observation[] {
  return batch
    .privilegesBefore(subject.id)
    .filter((each) => getObject(batch.before, each) === undefined && getObject(batch.after, each) === undefined)
    .map((each) => ({
      message: `${objectLabel(each)} are not managed, and ${objectLabel(subject)} is created without them`,
      object: { kind: subject.kind, name: subject.id },
    }));
}

export const privilegeLost: Rule = {
  code: 'PRIVILEGE_LOST',
  level: 'warn',
  title: 'Lost privilege',
  what: 'A role loses a privilege on an existing table or view, on a dropped column, or on a view that is created again as another kind.',
  why: 'Applications that connect with this role can no longer run some statements.',
  safer:
    'Check which applications use the role. If the change only replaces the view, keep its privileges in the snapshot.',
  example: { unsafe: 'DELETE /objects/privileges/editors%20on%20posts' },
  objectEvent(planned) {
    const { event, batch, old } = planned;
    if (event.type === 'object.created' && isRelation(event.subject)) return observeReplaced(planned);
    if (!isAboutPrivileges(planned) || followsTable(planned)) return undefined;
    const lost = findLostPrivileges(
      privilegesIn(old?.definition),
      privilegesIn(getObject(batch.after, event.subject)?.definition),
    );
    if (lost.length === 0) return undefined;
    const { name, table } = objectNameParts(event.subject);
    const role = name === PUBLIC ? 'PUBLIC' : JSON.stringify(name);
    const message = `${role} loses ${privilegeWords(lost)} on ${JSON.stringify(table)}`;
    return { message, ...subjectOnTable(event.subject, planned) };
  },
};
