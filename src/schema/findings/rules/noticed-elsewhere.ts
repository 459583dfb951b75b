/** Findings that the planning creates directly: about the trash, names, preparations and the policy. */
import { CHANGES_POLICY, LOOSENS_POLICY } from '../../model/policy.js';
import type { Rule } from '../model.js';

const dataRestored: Rule = {
  code: 'DATA_RESTORED',
  level: 'note',
  shownOnly: true,
  title: 'Data comes back',
  what: 'What is made was deleted before, is kept in the trash, and comes back with its rows.',
  why: 'Applications see the rows as they were when it was deleted.',
  safer: 'Nothing to do; to begin empty, purge it from the trash first.',
};

const dataNotRestored: Rule = {
  code: 'DATA_NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Made again, and empty',
  what: 'A table or a column of this name held data before. It is made again without it: the data is gone for good, or does not fit.',
  why: 'The schema looks as it did, and applications find nothing in it.',
  safer: 'Restore it from the trash while it is kept there, or from a backup.',
};

export const rowsInTheWay: Rule = {
  code: 'ROWS_IN_THE_WAY',
  level: 'warn',
  shownOnly: true,
  title: 'Rows are in the way',
  what: 'Rows of now have no value for a column that becomes NOT NULL, or point at nothing where a foreign key comes.',
  why: 'PostgreSQL refuses the whole change as long as they are there.',
  safer: 'Give them a value, or delete them, before the change; or leave the entry out of the diff.',
};

const dataNotKept: Rule = {
  code: 'DATA_NOT_KEPT',
  level: 'danger',
  title: 'Not kept in the trash',
  what: 'Something is deleted and can not be kept in the trash; the message says why.',
  why: 'It is gone when the change is applied, and comes back only from a backup.',
  safer:
    'Prepare the change online where it says so (many rows are copied then), or mend what keeps it from the trash.',
};

const notRestored: Rule = {
  code: 'NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Does not come back with it',
  what: 'Something that belonged to what is restored stays away: its other side is gone, or its name is taken.',
  why: 'What is restored is less than what was deleted.',
  safer: 'Make the named relation, group or key by hand where it is still needed.',
};

const leavesPublication: Rule = {
  code: 'LEAVES_PUBLICATION',
  level: 'warn',
  title: 'Leaves a publication',
  what: 'A table that goes to the trash leaves the publications that it is in.',
  why: 'Subscribers get none of its rows any more, also when it is restored.',
  safer: 'After a restore, take it in again: `ALTER PUBLICATION … ADD TABLE`.',
};

const actsWhilePrepared: Rule = {
  code: 'ACTS_WHILE_PREPARED',
  level: 'warn',
  shownOnly: true,
  title: 'Acts from the first step on',
  what: 'What is prepared online holds for new rows from the beginning of its preparation, not only after the change.',
  why: 'Applications that write rows which break the new rule are refused earlier than the schema says.',
  safer: 'Let applications keep the rule before it is prepared.',
};

export const looksRenamed: Rule = {
  code: 'LOOKS_RENAMED',
  level: 'warn',
  shownOnly: true,
  title: 'Looks like a rename',
  what: 'Something goes and something of the same shape comes.',
  why: 'Said this way, its data goes, and the new one is empty.',
  safer: 'Say `renamed_from` in the snapshot, as the message shows, or rename it: the data stays.',
  example: {
    unsafe: 'a snapshot without `articles`, and with `posts` of the same fields',
    safe: '{"collection": "posts", "renamed_from": "articles"}',
  },
};

const nameStillUsed: Rule = {
  code: 'NAME_STILL_USED',
  level: 'warn',
  title: 'An old name is still used',
  what: 'Something is renamed, and its old name still stands in an option, in a condition, or in the body of a function.',
  why: 'PostgreSQL and the service can not rewrite it there; it fails when it is used next.',
  safer: 'Change the named places together with the rename.',
  aliases: { strong_migrations: ['rename_column', 'rename_table'] },
};

const renamedFromNothing: Rule = {
  code: 'RENAMED_FROM_NOTHING',
  level: 'note',
  shownOnly: true,
  title: 'Nothing has the old name',
  what: 'A snapshot says `renamed_from` of something that is not there: it is made new.',
  why: 'In an empty environment that is meant; elsewhere the old name may be misspelt.',
  safer: 'Look whether the old name is spelled as it is there.',
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
