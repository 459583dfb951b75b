import { indexKeys } from '../../sql-text/columns.js';
import type { Rule } from '../model.js';
import { added } from './common.js';

/** An index rarely benefits from more columns. */
const ENOUGH = 3;

export const indexOfManyColumns: Rule = {
  code: 'INDEX_OF_MANY_COLUMNS',
  level: 'note',
  standing: true,
  title: 'Index of many columns',
  what: 'A non-unique index has more than three columns.',
  why: 'The first columns narrow a search. Each further column makes the index larger and every write slower.',
  safer: 'Keep the most selective columns and omit the others.',
  aliases: { strong_migrations: ['add_index_columns'] },
  event: (planned) =>
    added(planned, 'indexes').flatMap(({ name, unique, definition }) =>
      unique !== true && indexKeys(definition).length > ENOUGH
        ? [
            {
              message: `index ${name} of ${planned.event.collection} has ${indexKeys(definition).length} columns`,
              object: { kind: 'index', name },
            },
          ]
        : [],
    ),
};
