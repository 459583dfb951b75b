/** /trash */
import type { Context, Rules } from './context.js';
import { at } from './context.js';

/** Mostly the position of some deletion, as any of the last events may be one. */
const position = ({ random, world: { head } }: Context): string =>
  random.chance(0.9)
    ? String(Math.max(1, head - random.below(40)))
    : random.pick(['0', '-1', 'x', '99999999999999999999', '1e3']);

export const TRASH: Rules = {
  'GET /trash': { weight: 1, make: () => ({ path: '/trash' }) },
  'GET /trash/{position}': { weight: 1, make: (context) => ({ path: at`/trash/${position(context)}` }) },
  'DELETE /trash/{position}': { weight: 1, make: (context) => ({ path: at`/trash/${position(context)}` }) },
};
