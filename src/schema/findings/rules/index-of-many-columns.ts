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
  what: 'An index that is not unique has more than three columns.',
  why: 'The first columns narrow a search down; each further one makes the index larger and every write slower.',
  safer: 'Begin with the columns that tell most rows apart, and leave the others out.',
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
