import { durationText } from '../levels.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';

const OF_WHAT_GOES =
  'Let applications stop using it first, and keep it in the trash (KEEP_DELETED) rather than purge it.';
const OF_VALUES = 'For values that the new type does not hold exactly, add a field of the new type beside the old one.';

export const losesData: Rule = {
  code: 'LOSES_DATA',
  level: 'danger',
  title: 'Data is lost',
  what: 'The change drops a table or a column with its values, or converts values that do not come back: rounded numbers, a lost time of day, leading zeros of a text, trailing blanks, duplicate keys of a JSON object.',
  why: 'What is gone is gone from every application at once. What is kept in the trash comes back as long as it is kept there; the rest only from a backup.',
  safer: `${OF_WHAT_GOES} ${OF_VALUES}`,
  levels: '`warn` where it can come back from the trash, `danger` where it is gone for good.',
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
  if (until !== undefined) return { said: `data can come back from the trash until ${until}`, level: 'warn' } as const;
  const mayBeKept = keep !== 0 && dropsData(statement);
  if (!mayBeKept) return { said: 'data is lost for good', level: 'danger' } as const;
  const how = 'where it can be kept there: a dry run says until when, or why not';
  return {
    said: `data goes, and can come back from the trash for ${durationText(keep)} ${how}`,
    level: 'warn',
  } as const;
}
