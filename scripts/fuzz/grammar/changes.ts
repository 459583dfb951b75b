/** /changes */
import { CHANGE_STATES } from '../../../src/schema/change-requests/model.js';
import { at, collectionName, type Context, flag, maybe, type Rules } from './context.js';
import { randomSnapshot } from './schema.js';
import { HOSTILE_TEXTS } from './values.js';
import { json } from '../world.js';

const STATES = [...CHANGE_STATES, 'x'];

const changeId = ({ random, world }: Context): string =>
  random.chance(0.9)
    ? (random.some(world.changes)?.id ?? '7b0b6c6e-0000-4000-8000-000000000000')
    : random.pick(HOSTILE_TEXTS);

const text = ({ random }: Context): string => (random.chance(0.7) ? 'Why not?' : random.pick(HOSTILE_TEXTS));

/** A proposed change with its title. */
const randomProposal = (context: Context): object => ({
  title: text(context),
  ...(context.random.chance(0.5) && { reason: text(context) }),
  ...(context.random.chance(0.8) ? { snapshot: randomSnapshot(context) } : { diff: { hash: 'x', diff: {} } }),
  ...(context.random.chance(0.2) && { mode: context.random.pick(['mirror', 'merge', 'x']) }),
  ...(context.random.chance(0.2) && { base: context.random.below(9) }),
  ...(context.random.chance(0.2) && { online: true }),
  ...(context.random.chance(0.2) && { purge: context.random.chance(0.5) }),
  ...(context.random.chance(0.2) && { acknowledge: [{ code: 'DATA_LOST', place: text(context) }] }),
});

/** Usually the plan hash of the change request in the path. */
const randomAction = (context: Context, action: string): { path: string; plan: string } => {
  const { random, world } = context;
  const existing = random.chance(0.9) ? random.some(world.changes) : undefined;
  return {
    path: at`/changes/${existing?.id ?? changeId(context)}/${action}`,
    plan: existing?.plan ?? 'f'.repeat(64),
  };
};

const resolved = (context: Context): unknown =>
  context.random.chance(0.5)
    ? [
        {
          place: { part: 'collections', collection: collectionName(context) },
          take: context.random.pick(['ours', 'theirs', 'x']),
        },
      ]
    : [];

/** Soon, or an invalid time. */
const timeOf = ({ random }: Context): string =>
  random.chance(0.5)
    ? new Date(Date.now() + random.below(5_000)).toISOString()
    : random.pick(['2020-01-01T00:00:00Z', '2999-12-31T23:59:60Z', '2026-02-30T00:00:00Z', ...HOSTILE_TEXTS]);

export const CHANGES: Rules = {
  'GET /changes': {
    weight: 1,
    make: (context) => ({
      path: '/changes',
      query: maybe(context.random, {
        state: [0.3, () => context.random.pick(STATES)],
        collection: [0.3, () => collectionName(context)],
        to_approve: [0.2, () => context.random.pick(['', 'true', 'false', 'x'])],
        limit: [0.3, () => String(context.random.below(9))],
        offset: [0.2, () => String(context.random.below(9))],
        meta: [0.2, () => '*'],
      }),
    }),
  },
  'GET /changes/{id}': { weight: 1, make: (context) => ({ path: at`/changes/${changeId(context)}` }) },
  'POST /changes': { weight: 1, make: (context) => ({ path: '/changes', body: json(randomProposal(context)) }) },
  'PATCH /changes/{id}': {
    weight: 0.5,
    make: (context) => ({
      path: at`/changes/${changeId(context)}`,
      body: json(context.random.chance(0.5) ? { title: text(context) } : randomProposal(context)),
    }),
  },
  'POST /changes/{id}/comment': {
    weight: 0.5,
    make: (context) => ({
      path: randomAction(context, 'comment').path,
      body: json({
        comment: text(context),
        ...(context.random.chance(0.3) && { place: { part: 'collections', collection: collectionName(context) } }),
      }),
    }),
  },
  'POST /changes/{id}/approve': {
    weight: 0.7,
    make(context) {
      const { path, plan } = randomAction(context, 'approve');
      return { path, body: json({ plan, ...(context.random.chance(0.3) && { comment: text(context) }) }) };
    },
  },
  'POST /changes/{id}/reject': {
    weight: 0.3,
    make: (context) => ({ path: randomAction(context, 'reject').path, body: json({ comment: text(context) }) }),
  },
  'POST /changes/{id}/prepare': { weight: 0.3, make: (context) => ({ path: randomAction(context, 'prepare').path }) },
  'POST /changes/{id}/apply': {
    weight: 0.8,
    make: (context) => ({
      path: randomAction(context, 'apply').path,
      query: maybe(context.random, { dry_run: [0.2, flag(context.random)] }),
      ...(context.random.chance(0.3) && { body: json({ at: timeOf(context) }) }),
    }),
  },
  'POST /changes/{id}/rebase': {
    weight: 0.5,
    make: (context) => ({
      path: randomAction(context, 'rebase').path,
      ...(context.random.chance(0.3) && { body: json({ resolve: resolved(context) }) }),
    }),
  },
  'POST /changes/{id}/revert': {
    weight: 0.5,
    make: (context) => ({
      path: randomAction(context, 'revert').path,
      ...(context.random.chance(0.5) && { body: json({ title: text(context), resolve: resolved(context) }) }),
    }),
  },
  'POST /changes/{id}/withdraw': {
    weight: 1,
    make: (context) => ({ path: at`/changes/${changeId(context)}/withdraw` }),
  },
};
