import type { Rule } from '../model.js';
import { isDeletion } from '../../model/events.js';
import { sized } from './common.js';

export const dropsIndex: Rule = {
  code: 'DROPS_INDEX',
  level: 'note',
  title: 'Index goes',
  what: 'An index of a table that stays is dropped.',
  why: 'Queries that used it read the whole table from then on; and to drop it, everybody is kept out for a moment.',
  safer: 'Look in pg_stat_user_indexes whether anybody uses it.',
  levels: 'By the size of the table, `warn` at most.',
  aliases: {
    squawk: ['require-concurrent-index-deletion', 'ban-drop-index'],
    strong_migrations: ['remove_index'],
    atlas: ['PG102'],
  },
  statement(statement, planned) {
    const dropped = statement.drops.find(({ kind }) => kind === 'index');
    const { collection, field } = statement.source;
    if (dropped === undefined || isDeletion(statement.source)) return undefined;
    const object = { kind: dropped.kind, name: dropped.name };
    const message = `${statement.summary}: queries that use it read the whole table`;
    return { message, field, object, ...sized(planned, dropped.table ?? collection, 'warn') };
  },
};
