/** /collections */
import fc from 'fast-check';
import { field } from '../../../test/support/arbitraries.js';
import { json, fieldsOf, type World } from '../world.js';
import { someCollectionMeta, tableExtras } from './columns.js';
import { at, collectionName, type Context, flag, maybe, newName, randomTrialFlags, type Rules } from './context.js';

type Doc = Record<string, unknown>;

const COMMENTS = [null, 'a comment', 'it\'s; -- "commented"'];

function newCollection(context: Context): Doc {
  const { random } = context;
  const meta = { ...someCollectionMeta(context), group: groupOf(context) };
  const collection = newName(context);
  if (random.chance(0.15)) return { collection, schema: null, meta };
  const fields = random.sample(fc.uniqueArray(field, { selector: (each) => each.field, maxLength: 5 }));
  const named = fields.map((each) => ({
    ...each,
    interface: each.meta.interface ?? 'input',
    meta: without(each.meta),
  }));
  return {
    collection,
    schema: {
      ...(random.chance(0.3) && { comment: random.pick(COMMENTS) }),
      ...(random.chance(0.15) && { extras: tableExtras(context, ['id', ...fields.map((each) => each.field)]) }),
    },
    ...(random.chance(0.85) && { fields: named }),
    ...(random.chance(0.5) && { meta }),
  };
}

const without = (meta: Doc): Doc =>
  Object.fromEntries(Object.entries(meta).filter(([member]) => member !== 'interface'));

const folders = ({ snapshot }: World): string[] =>
  snapshot.collections.filter(({ schema }) => schema === null).map(({ collection }) => collection);

const groupOf = ({ random, world }: Context): string | null =>
  random.chance(0.4) ? (random.some(folders(world)) ?? null) : null;

function metaChange(context: Context, collection: string): Doc {
  const { random, world } = context;
  const fields = fieldsOf(world, collection);
  return {
    ...someCollectionMeta(context),
    ...(random.chance(0.2) && { group: groupOf(context) }),
    ...(random.chance(0.2) && { sort_field: random.some(fields)?.field ?? null }),
    ...(random.chance(0.2) && { archive_field: random.some(fields)?.field ?? null }),
    ...(random.chance(0.1) && { item_duplication_fields: fields.map((each) => each.field).slice(0, 2) }),
  };
}

const MEMBERS = ['collection', 'meta', 'schema', 'collection,meta', 'meta.note', 'nothing'];

const list = ({ random }: Context): [string, string][] =>
  maybe(random, {
    offset: [0.2, () => String(random.below(20))],
    limit: [0.2, () => String(random.below(20))],
    meta: [0.2, () => random.pick(['*', 'total_count', 'filter_count', 'total_count,filter_count', 'x'])],
    fields: [0.1, () => random.pick(MEMBERS)],
  });

export const COLLECTIONS: Rules = {
  'GET /collections': { weight: 3, make: (context) => ({ path: '/collections', query: list(context) }) },
  'POST /collections': {
    weight: 14,
    make(context) {
      const { random } = context;
      const value = random.chance(0.12) ? [newCollection(context), newCollection(context)] : newCollection(context);
      const query = maybe(random, { concurrentIndexCreation: [0.1, flag(random)] });
      return { path: '/collections', query, body: json(value) };
    },
  },
  'PATCH /collections': {
    weight: 3,
    make(context) {
      const names = [...new Set([collectionName(context), collectionName(context)])];
      return {
        path: '/collections',
        body: json(names.map((collection) => ({ collection, meta: metaChange(context, collection) }))),
      };
    },
  },
  'GET /collections/{id}': { weight: 3, make: (context) => ({ path: at`/collections/${collectionName(context)}` }) },
  'GET /collections/{id}/table': {
    weight: 0.5,
    make: (context) => ({ path: at`/collections/${collectionName(context)}/table` }),
  },
  'GET /collections/{id}/sample': {
    weight: 0.2,
    make: (context) => ({ path: at`/collections/${collectionName(context)}/sample` }),
  },
  'PATCH /collections/{id}': {
    weight: 6,
    make(context) {
      const name = collectionName(context);
      return { path: at`/collections/${name}`, body: json({ meta: metaChange(context, name) }) };
    },
  },
  'POST /collections/{id}/rename': {
    weight: 4,
    make: (context) => ({
      path: at`/collections/${collectionName(context)}/rename`,
      body: json({ to: context.random.chance(0.9) ? newName(context) : collectionName(context) }),
    }),
  },
  'DELETE /collections/{id}': {
    weight: 5,
    make(context) {
      // Keeps some collections: the fewer exist, the rarer a delete.
      const spare = context.world.snapshot.collections.length < 5;
      const path = at`/collections/${spare ? newName(context) : collectionName(context)}`;
      return { path, query: randomTrialFlags(context) };
    },
  },
};
