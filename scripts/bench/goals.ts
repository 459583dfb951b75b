/**
 * The goals of the ratios, in one table. `npm run bench -- check` and `npm run bench -- service` compare with them.
 * Goals in milliseconds are not here: they depend on the machine. docs/performance.md has them.
 */
export interface Goal {
  atMost?: number;
  atLeast?: number;
}

const GOALS = {
  create: { atMost: 2.3 },
  patch: { atMost: 4 },
  delete: { atMost: 1 },
  clients: { atLeast: 2.5 },
  streams: { atMost: 1.3 },
  'retrieve, long log': { atLeast: 0.95 },
  'snapshot after a change': { atMost: 1.3 },
  'list after a change': { atMost: 1.3 },
  verify: { atMost: 11 },
  drift: { atMost: 11 },
  apply: { atMost: 1.25 },
  remove: { atMost: 1.4 },
  'no-op diff': { atMost: 1 },
  'small edit': { atMost: 1.5 },
  'adopt, first': { atMost: 2.2 },
  'adopt, again': { atMost: 3 },
  'snapshot, bare Express': { atLeast: 0.6 },
  'list, bare Express': { atLeast: 0.6 },
  'retrieve, bare Express': { atLeast: 0.6 },
  'create among many': { atMost: 1.2 },
  'add a field among many': { atMost: 1.2 },
  merge: { atMost: 3 },
  findings: { atMost: 1.15 },
} satisfies Record<string, Goal>;

export type GoalName = keyof typeof GOALS;

export const goalOf = (name: GoalName): Goal => GOALS[name];
