/** /history and /projections */
import type { Random } from '../random.js';
import type { World } from '../world.js';
import { at, collectionName, type Context, maybe, type Rules, someField } from './context.js';
import { someObject } from './schema.js';
import { HOSTILE_TEXTS } from './values.js';

const TIMES = [
  'now',
  '2026-11-21',
  '2026-11-21T08:05:03Z',
  '0000-01-01',
  '9999-12-31T23:59:59-14:00',
  '0001-01-01T00:00:00+14:00',
  '2026-02-30',
  '-1',
  '1e3',
  '999999999999999',
  '9999999999999999999',
  '',
];

/** Usually an existing position. */
function pickPosition(random: Random, { head }: World): () => string {
  return () =>
    random.chance(0.8) ? String(Math.max(0, head - random.below(Math.min(head, 30) + 1))) : random.pick(TIMES);
}

const ORDERS = ['asc', 'desc', 'sideways'];
const EXPORTS = ['json', 'yaml', 'csv', 'csv_utf8', 'xml', 'sql', 'pdf'];
const COMMANDS = ['create-collection', 'update-fields', 'apply-diff', 'adopt-tables'];
const TYPES = [
  'collection.created',
  'field.updated',
  'relation.deleted',
  'log.acknowledged',
  'trash.purged',
  'change.opened',
  'account.updated',
  'nothing.happened',
];

function filters(context: Context): [string, string][] {
  const { random, world } = context;
  return maybe(random, {
    collection: [0.2, () => collectionName(context)],
    actor: [0.1, () => random.pick(HOSTILE_TEXTS)],
    command: [0.1, () => random.pick(COMMANDS)],
    since: [0.15, pickPosition(random, world)],
    until: [0.15, pickPosition(random, world)],
    after: [0.2, pickPosition(random, world)],
    limit: [0.4, () => String(random.below(30))],
    subject: [0.05, () => random.pick(['log', 'log:7', 'change', 'user', ':', 'x'])],
  });
}

const HISTORY: Rules = {
  'GET /history/events': {
    weight: 4,
    make(context) {
      const { random, world } = context;
      const more = maybe(random, {
        field: [0.1, () => someField(context).field],
        type: [0.1, () => random.pick(TYPES)],
        batch: [0.1, () => random.some(world.batches) ?? 'no uuid'],
        order: [0.2, () => random.pick(ORDERS)],
      });
      return { path: '/history/events', query: [...filters(context), ...more] };
    },
  },
  'GET /history/events/{position}': {
    weight: 1,
    make: ({ random, world }) => ({ path: at`/history/events/${pickPosition(random, world)()}` }),
  },
  'GET /history/batches': {
    weight: 3,
    make(context) {
      const { random } = context;
      const more = maybe(random, {
        field: [0.1, () => someField(context).field],
        type: [0.1, () => random.pick(TYPES)],
        order: [0.3, () => random.pick(ORDERS)],
        q: [0.2, () => random.pick([...HOSTILE_TEXTS, collectionName(context), '%', '_'])],
      });
      return { path: '/history/batches', query: [...filters(context), ...more] };
    },
  },
  'GET /history/changes': {
    weight: 3,
    make: ({ random, world }) => ({
      path: '/history/changes',
      query: maybe(random, {
        after: [0.7, pickPosition(random, world)],
        order: [0.5, () => random.pick(ORDERS)],
        limit: [0.5, () => String(random.below(120))],
      }),
    }),
  },
  'GET /history/schema': {
    weight: 2,
    make: (context) => ({
      path: '/history/schema',
      query: maybe(context.random, {
        at: [0.8, pickPosition(context.random, context.world)],
        parts: [0.4, () => context.random.pick(['collections', 'fields,relations', 'fields', '', 'tables'])],
        collections: [0.3, () => collectionName(context)],
      }),
    }),
  },
  'GET /history/collections/{id}': {
    weight: 2,
    make: (context) => ({
      path: at`/history/collections/${collectionName(context)}`,
      query: maybe(context.random, {
        after: [0.3, pickPosition(context.random, context.world)],
        limit: [0.5, () => '20'],
      }),
    }),
  },
  'GET /history/objects/{kind}/{id}': {
    weight: 0.5,
    make: (context) => ({
      path: `/history${someObject(context)}`,
      query: maybe(context.random, {
        after: [0.3, pickPosition(context.random, context.world)],
        limit: [0.5, () => '20'],
      }),
    }),
  },
  'GET /history/snapshot': {
    weight: 3,
    make: ({ random, world }) => ({
      path: '/history/snapshot',
      query: maybe(random, { at: [0.8, pickPosition(random, world)], export: [0.4, () => random.pick(EXPORTS)] }),
    }),
  },
  'GET /history/diff': {
    weight: 5,
    make: ({ random, world }) => ({
      path: '/history/diff',
      query: maybe(random, { from: [0.2, pickPosition(random, world)], to: [0.9, pickPosition(random, world)] }),
    }),
  },
  'GET /history/verify': { weight: 0.3, make: () => ({ path: '/history/verify' }) },
  'POST /history/acknowledge': { weight: 0.5, make: () => ({ path: '/history/acknowledge' }) },
  'GET /history/export': { weight: 0.2, make: () => ({ path: '/history/export' }) },
  'GET /history/checkpoint': { weight: 0.5, make: () => ({ path: '/history/checkpoint' }) },
  'GET /history/checkpoint/keys': { weight: 0.3, make: () => ({ path: '/history/checkpoint/keys' }) },
  'POST /history/checkpoint/keys': { weight: 0.1, make: () => ({ path: '/history/checkpoint/keys' }) },
  'GET /history/stream': {
    weight: 1,
    make: ({ random, world }) => ({
      path: '/history/stream',
      query: maybe(random, {
        after: [0.5, pickPosition(random, world)],
        subject: [0.5, () => random.pick(['change', 'change:x', 'policy', 'log:1', ':'])],
      }),
      ...(random.chance(0.3) && { headers: { 'Last-Event-ID': pickPosition(random, world)() } }),
    }),
  },
};

const PROJECTIONS: Rules = {
  'GET /projections': { weight: 1, make: () => ({ path: '/projections' }) },
  'GET /projections/verify': { weight: 0.5, make: () => ({ path: '/projections/verify' }) },
  'POST /projections/{name}/rebuild': {
    weight: 0.5,
    make: ({ random }) => ({
      path: at`/projections/${random.pick(['tables', 'metadata', 'indexes', 'concurrent-indexes', 'nothing'])}/rebuild`,
    }),
  },
};

export const HISTORY_AND_PROJECTIONS: Rules = { ...HISTORY, ...PROJECTIONS };
