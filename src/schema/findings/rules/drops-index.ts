import type { Rule } from '../model.js';
import { isDeletion } from '../../model/events.js';
import { sized } from './common.js';

export const dropsIndex: Rule = {
  code: 'DROPS_INDEX',
  level: 'note',
  title: 'Index is dropped',
  what: 'An index is dropped from an existing table.',
  why: 'Queries that used it read the whole table. Dropping it takes a short exclusive lock.',
  safer: 'Check in pg_stat_user_indexes whether it is used.',
  levels: 'Depends on the size of the table; at most `warn`.',
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
    const message = `${statement.summary}: queries that use it will read the whole table`;
    return { message, field, object, ...sized(planned, dropped.table ?? collection, 'warn') };
  },
};
