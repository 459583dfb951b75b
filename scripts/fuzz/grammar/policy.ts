/** /policy */
import { RULES } from '../../../src/schema/findings/rules/index.js';
import { ACTIONS } from '../../../src/schema/policy.js';
import { json } from '../world.js';
import { type Context, flag, maybe, newName, type Rules } from './context.js';
import { randomSnapshot } from './schema.js';
import { HOSTILE_TEXTS } from './values.js';

type Doc = Record<string, unknown>;

const SHOWN = ['off', 'note', 'warn'];

/** Blocking rules apply to few collections, so that other changes continue. */
function policy(context: Context): Doc {
  const { random } = context;
  const stopped = { pattern: `${newName(context)}*`, findings: actions(context, ACTIONS) };
  return {
    ...(random.chance(0.8) && { findings: actions(context, SHOWN) }),
    ...(random.chance(0.4) && { collections: [stopped] }),
    ...(random.chance(0.2) && { approvals: random.pick([1, 2, 0, 1.5]) }),
    ...(random.chance(0.2) && { author_may_approve: random.chance(0.5) }),
    ...(random.chance(0.05) && { requires_reason: random.chance(0.5) }),
    ...(random.chance(0.1) && { online_above_rows: random.pick([1_000_000, null, -1]) }),
  };
}

function actions({ random }: Context, among: readonly string[]): Doc {
  const codes = Array.from({ length: random.below(3) }, () => random.pick(RULES).code);
  if (random.chance(0.05)) codes.push(random.pick(HOSTILE_TEXTS));
  return Object.fromEntries(codes.map((code) => [code, random.pick([...among])]));
}

const acknowledgement = ({ random }: Context): Doc => ({
  code: random.pick(RULES).code,
  place: random.pick(HOSTILE_TEXTS),
});

export const POLICY: Rules = {
  'GET /policy': {
    weight: 1,
    make: ({ random }) => ({
      path: '/policy',
      query: maybe(random, { at: [0.3, () => random.pick(['0', '3', 'now', '2020-01-01'])] }),
    }),
  },
  'PUT /policy': { weight: 1, make: (context) => ({ path: '/policy', body: json(policy(context)) }) },
  'POST /policy/test': {
    weight: 1,
    make(context) {
      const { random, world } = context;
      const diff = random.some(world.diffs);
      const change = diff === undefined || random.chance(0.6) ? { snapshot: randomSnapshot(context) } : { diff };
      const value = {
        ...change,
        ...(random.chance(0.4) && { policy: policy(context) }),
        ...(random.chance(0.2) && { acknowledge: [acknowledgement(context)] }),
      };
      const query = maybe(random, { online: [0.3, flag(random)], force: [0.3, flag(random)] });
      return { path: '/policy/test', query, body: json(value) };
    },
  },
};
