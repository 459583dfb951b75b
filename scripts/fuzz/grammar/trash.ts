/** /trash */
import type { Context, Rules } from './context.js';
import { at, maybe, newName, randomTrialFlags } from './context.js';
import { json } from '../world.js';
import { HOSTILE_TEXTS } from './values.js';

/** Usually the position of a deletion, because any of the last events may be one. */
const position = ({ random, world: { head } }: Context): string =>
  random.chance(0.9)
    ? String(Math.max(1, head - random.below(40)))
    : random.pick(['0', '-1', 'x', '99999999999999999999', '1e3']);

const restoreBody = (context: Context): unknown => ({
  ...(context.random.chance(0.5) && { as: newName(context) }),
  ...(context.random.chance(0.2) && { without: [context.random.pick(HOSTILE_TEXTS), 'articles_author_foreign'] }),
});

export const TRASH: Rules = {
  'GET /trash': {
    weight: 1,
    make: ({ random }) => ({
      path: '/trash',
      query: maybe(random, {
        offset: [0.3, () => random.pick(['0', '1', '-1', '1e9', '999999999999999'])],
        limit: [0.3, () => random.pick(['0', '2', '', 'all', '999999999999999'])],
        meta: [0.2, () => random.pick(['*', 'total_count', 'filter_count,total_count', 'none'])],
      }),
    }),
  },
  'GET /trash/{position}': { weight: 1, make: (context) => ({ path: at`/trash/${position(context)}` }) },
  'POST /trash/{position}/restore': {
    weight: 3,
    make: (context) => ({
      path: at`/trash/${position(context)}/restore`,
      query: randomTrialFlags(context),
      ...(context.random.chance(0.6) && { body: json(restoreBody(context)) }),
    }),
  },
  'DELETE /trash/{position}': {
    weight: 1,
    make: (context) => ({ path: at`/trash/${position(context)}`, query: randomTrialFlags(context) }),
  },
};
