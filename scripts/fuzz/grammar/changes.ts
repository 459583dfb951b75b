/** /changes */
import { at, collectionName, type Context, maybe, type Rules } from './context.js';
import { HOSTILE_TEXTS } from './values.js';

const STATES = ['queued', 'preparing', 'prepared', 'applied', 'failed', 'withdrawn', 'open'];

/** Tables are small here, so that nothing is ever prepared: none of these is there. */
const changeId = ({ random }: Context): string =>
  random.chance(0.6) ? '7b0b6c6e-0000-4000-8000-000000000000' : random.pick(HOSTILE_TEXTS);

export const CHANGES: Rules = {
  'GET /changes': {
    weight: 1,
    make: (context) => ({
      path: '/changes',
      query: maybe(context.random, {
        state: [0.3, () => context.random.pick(STATES)],
        collection: [0.3, () => collectionName(context)],
        limit: [0.3, () => String(context.random.below(9))],
        offset: [0.2, () => String(context.random.below(9))],
        meta: [0.2, () => '*'],
      }),
    }),
  },
  'GET /changes/{id}': { weight: 1, make: (context) => ({ path: at`/changes/${changeId(context)}` }) },
  'POST /changes/{id}/withdraw': {
    weight: 1,
    make: (context) => ({ path: at`/changes/${changeId(context)}/withdraw` }),
  },
};
