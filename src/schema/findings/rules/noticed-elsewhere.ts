/** Findings that the planning creates directly: about the trash, names, preparations and the policy. */
import { CHANGES_POLICY, LOOSENS_POLICY } from '../../model/policy.js';
import type { Rule } from '../model.js';

const dataRestored: Rule = {
  code: 'DATA_RESTORED',
  level: 'note',
  shownOnly: true,
  title: 'Data is restored',
  what: 'The created object is in the trash and is restored with its rows.',
  why: 'Applications see the rows as they were before the deletion.',
  safer: 'To start with an empty object, purge it from the trash first.',
};

const dataNotRestored: Rule = {
  code: 'DATA_NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Recreated empty',
  what: 'A table or column of this name had data before. It is created without that data, which is permanently deleted or does not fit.',
  why: 'The schema looks as before, but applications find no data in it.',
  safer: 'Restore it from the trash while it is there, or from a backup.',
};

const rowsInTheWay: Rule = {
  code: 'ROWS_IN_THE_WAY',
  level: 'warn',
  shownOnly: true,
  title: 'Existing rows violate it',
  what: 'Existing rows have null in a column that becomes NOT NULL, or have no target for a new foreign key.',
  why: 'The whole change fails while such rows exist.',
  safer: 'Update or delete the rows before the change, or remove the entry from the diff.',
};

const dataNotKept: Rule = {
  code: 'DATA_NOT_KEPT',
  level: 'danger',
  title: 'Not kept in the trash',
  what: 'The trash cannot keep a deleted object. The message gives the reason.',
  why: 'The object is permanently deleted when the change is applied. Only a backup can restore it.',
  safer: 'Apply the change online if the message says so, which copies many rows first, or remove the named obstacle.',
};

const notRestored: Rule = {
  code: 'NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Not restored with it',
  what: 'An object that belonged to the restored object is not restored: its other side is deleted, or its name is in use.',
  why: 'The restored object is incomplete.',
  safer: 'Create the named relation, group or key again if it is still needed.',
};

const leavesPublication: Rule = {
  code: 'LEAVES_PUBLICATION',
  level: 'warn',
  title: 'Leaves a publication',
  what: 'A table that moves to the trash is removed from its publications.',
  why: 'Subscribers no longer receive its rows, even after it is restored.',
  safer: 'After a restore, add it again: `ALTER PUBLICATION … ADD TABLE`.',
};

const actsWhilePrepared: Rule = {
  code: 'ACTS_WHILE_PREPARED',
  level: 'warn',
  shownOnly: true,
  title: 'Takes effect before the change',
  what: 'An online change applies to new rows as soon as its preparation starts.',
  why: 'Writes that violate the new rule fail before the schema shows it.',
  safer: 'Make sure that applications follow the rule before the preparation starts.',
};

const looksRenamed: Rule = {
  code: 'LOOKS_RENAMED',
  level: 'warn',
  shownOnly: true,
  title: 'Looks like a rename',
  what: 'An object is deleted and one with the same definition is created.',
  why: 'The data is deleted, and the new object is empty.',
  safer: 'Set `renamed_from` in the snapshot, as the message shows, or rename the object. Both keep the data.',
  example: {
    unsafe: 'a snapshot without `articles`, and with `posts` of the same fields',
    safe: '{"collection": "posts", "renamed_from": "articles"}',
  },
};

const nameStillUsed: Rule = {
  code: 'NAME_STILL_USED',
  level: 'warn',
  title: 'An old name is still used',
  what: 'The old name of a renamed object is still used in an option, a condition or a function body.',
  why: 'PostgreSQL and the service cannot rewrite it there. Its next use fails.',
  safer: 'Change the named locations together with the rename.',
  aliases: { strong_migrations: ['rename_column', 'rename_table'] },
};

const renamedFromNothing: Rule = {
  code: 'RENAMED_FROM_NOTHING',
  level: 'note',
  shownOnly: true,
  title: 'The old name does not exist',
  what: 'A snapshot sets `renamed_from` to a name that does not exist. The object is created.',
  why: 'That is intended in an empty environment. Elsewhere the old name may be misspelled.',
  safer: 'Check the spelling of the old name.',
};

const loosensPolicy: Rule = {
  code: LOOSENS_POLICY,
  level: 'warn',
  title: 'Loosens the policy',
  what: 'The new policy may let through a change that the present policy stops. The message lists the locations.',
  why: 'Whoever can loosen the policy can make any change that the policy was to stop.',
  safer:
    'Open a change request for the new policy (`POST /changes` with `policy`, or `dps policy propose`), so that others see it first.',
  levels: 'The member `policy_changes` of the present policy says what is done about it.',
  example: { unsafe: 'PUT /policy {"approvals": 1}, where it was 2', safe: 'PUT /policy {"approvals": 3}' },
};

const changesPolicy: Rule = {
  code: CHANGES_POLICY,
  level: 'note',
  title: 'Changes the policy',
  what: 'The new policy is at least as strict as the present policy.',
  why: 'Changes that were allowed may be stopped from now on.',
  safer:
    'Open a change request for the new policy (`POST /changes` with `policy`, or `dps policy propose`), so that others see it first.',
  levels: 'The member `policy_changes` of the present policy says what is done about it.',
};

export const NOTICED: readonly Rule[] = [
  dataRestored,
  dataNotRestored,
  rowsInTheWay,
  dataNotKept,
  notRestored,
  leavesPublication,
  actsWhilePrepared,
  looksRenamed,
  nameStillUsed,
  renamedFromNothing,
  loosensPolicy,
  changesPolicy,
];
