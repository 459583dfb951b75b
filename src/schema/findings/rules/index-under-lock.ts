import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const indexUnderLock: Rule = {
  code: 'INDEX_UNDER_LOCK',
  level: 'warn',
  title: 'Index built under a lock',
  what: 'PostgreSQL builds an index in the transaction of the change.',
  why: 'Nobody can write to the table until all its rows are in the index.',
  safer: 'Build it concurrently: apply the change online, or use `concurrentIndexCreation`.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/slug {"schema": {"is_indexed": true}}',
    safe: 'PATCH /fields/articles/slug?concurrentIndexCreation {"schema": {"is_indexed": true}}',
  },
  aliases: { squawk: ['require-concurrent-index-creation'], strong_migrations: ['add_index'], atlas: ['PG101'] },
  statement: (statement, planned) =>
    statement.lock === 'SHARE' && statement.preparable?.kind === 'index' && statement.preparable.unique !== true
      ? lasting(statement, planned, 'PostgreSQL builds its index while nobody can write to the table')
      : undefined,
};
