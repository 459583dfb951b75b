import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface View {
  kind: 'view' | 'materialized_view';
  id: string;
  definition: string;
  comment: string | null;
  indexes?: { name: string; definition: string; unique?: true }[];
}

interface Snapshot {
  fields: { collection: string; field: string; type: string; schema: { data_type: string } | null }[];
  objects: View[];
}

interface Diff {
  hash: string;
  diff: { collections: object[]; fields: object[]; relations: object[]; objects?: object[] };
}

/** Numbers from 0 to 1 that depend only on the seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Views that read a table or an earlier view. Each has the columns id and total. */
function randomViews(random: () => number): View[] {
  const below = (limit: number): number => Math.floor(random() * limit);
  const views: View[] = [];
  for (const id of ['first', 'Second', 'third', 'fourth', 'fifth']) {
    if (below(4) === 0) continue;
    const earlier = views[below(views.length + 1)];
    const source = earlier === undefined ? 'orders' : `"${earlier.id}"`;
    const total = earlier === undefined ? 'amount' : 'total';
    const query = `SELECT id, ${total} + ${below(3)} AS total FROM ${source} WHERE id > ${below(3)}`;
    const comment = below(2) === 0 ? null : `Comment ${below(3)}`;
    if (below(3) === 0) {
      const indexes = below(2) === 0 ? [] : [{ name: `${id}_total`, definition: 'USING btree (total)' }];
      const definition = `CREATE MATERIALIZED VIEW "${id}" AS ${query}`;
      views.push({ kind: 'materialized_view', id, definition, comment, indexes });
    } else {
      const options = below(2) === 0 ? '' : ' WITH (security_barrier = true)';
      views.push({ kind: 'view', id, definition: `CREATE VIEW "${id}"${options} AS ${query}`, comment });
    }
  }
  return views;
}

const byName = (a: View, b: View): number => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1);

describe('random schemas with views', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  beforeEach(() =>
    api.ok('POST', '/collections', {
      collection: 'orders',
      schema: {},
      fields: [{ field: 'amount', type: 'integer', interface: 'input' }],
    }),
  );

  const snapshot = () => api.client('/schema/snapshot');
  const diffTo = (target: object) => api.ok<Diff>('POST', '/schema/diff', target);
  const NOTHING = { collections: [], fields: [], relations: [] };

  /** The snapshot with other views, and with another type of the column that they read. */
  function withViews(current: Snapshot, objects: View[], type: 'integer' | 'bigInteger'): Snapshot {
    const copy = structuredClone(current);
    const amount = copy.fields.find(({ field }) => field === 'amount');
    if (amount?.schema == null) throw new Error('the column is missing');
    amount.type = type;
    amount.schema.data_type = type === 'integer' ? 'integer' : 'bigint';
    return { ...copy, objects };
  }

  for (const seed of [1, 2, 3])
    it(`are reached by their diff, read as they were, and reached again, with the seed ${seed}`, async () => {
      const random = numbersFrom(seed);
      const past: { position: number; text: string }[] = [];
      for (let round = 0; round < 4; round += 1) {
        const objects = randomViews(random);
        const target = withViews(
          (await snapshot()).json as Snapshot,
          objects,
          round % 2 === 0 ? 'bigInteger' : 'integer',
        );
        await api.ok('POST', '/schema/apply', await diffTo(target));
        const now = await snapshot();
        expect([...(now.json as Snapshot).objects].sort(byName)).to.deep.equal([...objects].sort(byName));
        expect((await diffTo(target)).diff, 'the same snapshot again').to.deep.equal(NOTHING);
        past.push({ position: await api.head(), text: now.text });
      }
      for (const { position, text } of past)
        expect((await api.client(`/history/snapshot?at=${position}`)).text, `position ${position}`).to.equal(text);
      for (const { position, text } of past.reverse()) {
        await api.ok('POST', '/schema/apply', await api.ok<Diff>('GET', `/history/diff?to=${position}`));
        expect((await snapshot()).text, `back to position ${position}`).to.equal(text);
      }
    });
});
