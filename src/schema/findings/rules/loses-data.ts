import { durationText } from '../levels.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';

const OF_WHAT_GOES =
  'First change applications to stop using it. Keep it in the trash (KEEP_DELETED) instead of purging it.';
const OF_VALUES = 'If the new type cannot hold every value exactly, add a field of the new type beside the old one.';

export const losesData: Rule = {
  code: 'LOSES_DATA',
  level: 'danger',
  title: 'Data is lost',
  what: 'The change drops a table or column with its values, or converts values irreversibly: rounded numbers, a lost time of day, leading zeros, trailing blanks, duplicate JSON keys.',
  why: 'Every application loses the data at once. Data in the trash can be restored for a limited time, everything else only from a backup.',
  safer: `${OF_WHAT_GOES} ${OF_VALUES}`,
  levels: '`warn` if the trash keeps the data, `danger` if the loss is permanent.',
  example: { unsafe: 'DELETE /fields/articles/body?purge', safe: 'DELETE /fields/articles/body' },
  aliases: {
    squawk: ['ban-drop-table', 'ban-drop-column'],
    strong_migrations: ['remove_column'],
    atlas: ['DS102', 'DS103'],
  },
  statement(statement, planned) {
    if (!statement.loses_data) return undefined;
    const { said, level } = loss(statement, planned);
    const safer = { text: dropsData(statement) ? OF_WHAT_GOES : OF_VALUES };
    return { message: `${statement.summary}: ${said}`, level, field: statement.source.field, safer };
  },
};

const dropsData = ({ drops }: PlannedStatement): boolean =>
  drops.some(({ kind }) => kind === 'table' || kind === 'column');

/** Statements that contain a retention time belong to a plan whose data loss was already checked. */
function loss(statement: PlannedStatement, { batch: { keep } }: PlannedEvent) {
  const { kept_until: until } = statement;
  if (until !== undefined) return { said: `data is restorable from the trash until ${until}`, level: 'warn' } as const;
  const mayBeKept = keep !== 0 && dropsData(statement);
  if (!mayBeKept) return { said: 'data is permanently lost', level: 'danger' } as const;
  const how = 'if the trash can keep it (a dry run checks that)';
  return {
    said: `data is deleted, restorable from the trash for ${durationText(keep)} ${how}`,
    level: 'warn',
  } as const;
}
