/** A diff about partitions says why it cannot be applied. */
import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface FieldDocument {
  collection: string;
  field: string;
  renamed_from?: string;
  type: string;
  meta: { collection: string; field: string };
  schema: {
    name: string;
    table: string;
    data_type: string;
    is_nullable: boolean;
    is_primary_key: boolean;
    is_unique: boolean;
    is_indexed: boolean;
    extras?: object;
  };
}

interface CollectionDocument {
  collection: string;
  meta: { collection: string };
  schema: { name: string; extras?: object };
}

interface Snapshot {
  collections: CollectionDocument[];
  fields: FieldDocument[];
}

interface Diff {
  warnings?: { code: string; collection: string; message: string }[];
}

describe('a diff of a partitioned table', () => {
  const { api } = withService({ each: true, consistent: true });

  beforeEach(async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY, a text NOT NULL, b int) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (id);
      CREATE TABLE leaf PARTITION OF part FOR VALUES FROM (0) TO (50);
      CREATE INDEX ON parts (b); CREATE INDEX ON parts (abs(id))`);
    await api.ok('POST', '/schema/adopt', { tables: ['parts', 'part', 'leaf'] });
  });

  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');

  for (const [renamed, collection, field, parent, todo] of [
    [['parts'], 'part', 'b', 'parts', 'rename this column to "c" too'],
    [['parts', 'part'], 'leaf', 'b', 'part', 'rename this column to "c" too'],
    [['leaf'], 'leaf', 'c', 'part', 'rename the column there too'],
    [['part', 'leaf'], 'part', 'c', 'parts', 'rename the column there too'],
  ] as const)
    it(`is rejected if it renames a column only in ${renamed.join(' and ')}`, async () => {
      const document = await snapshot();
      for (const each of document.fields.filter((one) => one.field === 'b'))
        if ((renamed as readonly string[]).includes(each.collection)) {
          Object.assign(each, { field: 'c', renamed_from: 'b' });
          each.meta.field = each.schema.name = 'c';
        }
      const at = `fields[${document.fields.findIndex((each) => each.collection === collection && each.field === field)}]`;
      const { message } = await api.refused({ status: 409, code: 'IN_USE', at }, 'POST', '/schema/diff', document);
      expect(message).to.equal(`a partition must have the columns of "${parent}": ${todo}`);
    });

  it('is rejected for each column of a new partition that differs from the table', async () => {
    const document = await snapshot();
    const fields = document.fields.filter(({ collection }) => collection === 'leaf');
    const [id, a, b] = fields.map((each) => {
      const meta = { ...each.meta, collection: 'next' };
      const { extras: _, ...schema } = each.schema;
      return { ...each, collection: 'next', meta, schema: { ...schema, table: 'next' } };
    }) as [FieldDocument, FieldDocument, FieldDocument];
    const bound = { partition_of: { table: 'parts', bound: 'FOR VALUES FROM (100) TO (200)' } };
    const { schema: ofLeaf } = document.collections.find(
      ({ collection }) => collection === 'leaf',
    ) as CollectionDocument;
    const [{ definition }] = (ofLeaf.extras as { indexes: [{ definition: string }] }).indexes;
    const extras = { ...bound, indexes: [{ name: 'next_abs', definition }] };
    const table = { collection: 'next', meta: { collection: 'next' }, schema: { name: 'next', extras } };
    const next = { ...document, collections: [...document.collections, table] };
    const other = { ...b, field: 'c', meta: { ...b.meta, field: 'c' }, schema: { ...b.schema, name: 'c' } };
    for (const [columns, field, message] of [
      [[id, b], 'a', 'a partition must have the columns of "parts": column "a" is missing'],
      [[id, a, b, other], 'c', 'a partition must have the columns of "parts": the table has no column with this name'],
      [
        [id, a, { ...b, type: 'text', schema: { ...b.schema, data_type: 'text' } }],
        'b',
        'a partition must have the columns of "parts": the type must be integer, not text',
      ],
      [
        [id, { ...a, schema: { ...a.schema, is_nullable: true, extras: {} } }, b],
        'a',
        'a partition must have the columns of "parts": the column must be NOT NULL',
      ],
      [
        [{ ...id, schema: { ...id.schema, is_primary_key: false, is_unique: false } }, a, b],
        'id',
        'a partition must have the columns of "parts": the column must be part of the primary key',
      ],
      [
        [id, a, { ...b, schema: { ...b.schema, is_indexed: false } }],
        'b',
        'a partition must have the columns of "parts": the column must be indexed',
      ],
    ] as const) {
      const body = { ...next, fields: [...document.fields, ...columns] };
      const refused = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/diff', body);
      expect([refused.extensions.collection, refused.extensions.field, refused.message]).to.deep.equal([
        'next',
        field,
        message,
      ]);
    }
    const whole = { ...next, fields: [...document.fields, id, a, b] };
    const bare = { ...table, schema: { ...table.schema, extras: bound } };
    const { message } = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/diff', {
      ...whole,
      collections: [...document.collections, bare],
    });
    expect(message).to.equal('a partition must have the indexes of "parts": add one for each of "parts_abs_idx"');
    await api.ok('POST', '/schema/apply', await api.ok<Diff>('POST', '/schema/diff', whole));
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
  });

  for (const deleted of [['leaf'], ['part', 'leaf']])
    it(`deletes ${deleted.join(' and ')} before it renames a column, so that the trash keeps the former column`, async () => {
      await api.sql(`INSERT INTO leaf VALUES (1, 'one', 11)`);
      const before = await api.head();
      const { collections, fields, ...rest } = await snapshot();
      for (const each of fields.filter(({ field }) => field === 'b')) {
        Object.assign(each, { field: 'c', renamed_from: 'b' });
        each.meta.field = each.schema.name = 'c';
      }
      const isKept = ({ collection }: { collection: string }): boolean => !deleted.includes(collection);
      const target = { ...rest, collections: collections.filter(isKept), fields: fields.filter(isKept) };
      await api.ok('POST', '/schema/apply', await api.ok<Diff>('POST', '/schema/diff', target));
      await api.ok('POST', '/schema/apply', await api.ok<Diff>('GET', `/history/diff?to=${before}`));
      expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
      expect(await api.sql('SELECT * FROM leaf')).to.deep.equal([{ id: 1, a: 'one', b: 11 }]);
    });

  it('reports a partition that the service does not manage if the table is deleted', async () => {
    await api.sql('CREATE TABLE alien PARTITION OF parts FOR VALUES FROM (200) TO (300)');
    const document = await snapshot();
    const diff = await api.ok<Diff>('POST', '/schema/diff', { ...document, collections: [], fields: [] });
    expect(diff.warnings?.filter(({ code }) => code === 'INHERITED')).to.have.length(1);
    expect(diff.warnings?.find(({ code }) => code === 'INHERITED')).to.include({
      collection: 'parts',
      message:
        'drop table parts: it has the partition alien, which the service does not manage, so the service rejects it. ' +
        'Detach or drop it with SQL first.',
    });
    const { status } = await api.client('/schema/apply', json(diff));
    expect(status).to.equal(422);
    await api.sql('DROP TABLE alien');
    const free = await api.ok<Diff>('POST', '/schema/diff', { ...document, collections: [], fields: [] });
    expect(free.warnings?.map(({ code }) => code)).not.to.include('INHERITED');
    await api.ok('POST', '/schema/apply', free);
  });

  describe('with a new partition', () => {
    beforeEach(async () => {
      await api.sql(`
        CREATE TABLE events (v int NOT NULL, CONSTRAINT small CHECK (v < 1000)) PARTITION BY RANGE (v);
        CREATE TABLE e0 PARTITION OF events FOR VALUES FROM (0) TO (100);
        CREATE TABLE e1 PARTITION OF events FOR VALUES FROM (100) TO (200)`);
      await api.ok('POST', '/schema/adopt', { tables: ['events', 'e0', 'e1'] });
    });

    const SMALL = { name: 'small', definition: 'CHECK ((v < 1000))' };
    const withPartitions = (
      document: Snapshot,
      bounds: Record<string, string>,
      constraints: object[] = [SMALL],
    ): Snapshot => {
      const [v] = document.fields.filter(({ collection }) => collection === 'e0') as [FieldDocument];
      const collections = Object.entries(bounds).map(([collection, bound]) => ({
        collection,
        meta: { collection },
        schema: { name: collection, extras: { partition_of: { table: 'events', bound }, constraints } },
      }));
      const fields = collections.map(({ collection }) => {
        const { extras: _, ...schema } = v.schema;
        return { ...v, collection, meta: { ...v.meta, collection }, schema: { ...schema, table: collection } };
      });
      return {
        ...document,
        collections: [...document.collections, ...collections],
        fields: [...document.fields, ...fields],
      };
    };
    const isFreeOfDrift = async (): Promise<boolean> => (await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok;

    it('is rejected at a bound that overlaps that of an existing or of a new partition', async () => {
      const document = await snapshot();
      const at = `collections[${document.collections.length}].schema.extras.partition_of.bound`;
      const { message } = await api.refused(
        { status: 400, code: 'INVALID_PAYLOAD', at },
        'POST',
        '/schema/diff',
        withPartitions(document, { next: 'FOR VALUES FROM (150) TO (300)' }),
      );
      expect(message).to.equal('the bound overlaps that of "e1": partitions of "events" must not have common values');
      const both = { n2: 'FOR VALUES FROM (250) TO (400)', n1: 'FOR VALUES FROM (200) TO (300)' };
      const second = await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at }, 'POST', '/schema/diff', {
        ...withPartitions(document, both),
      });
      expect(second.message).to.contain('overlaps that of "n1"');
      expect(second.extensions.collection).to.equal('n2');
    });

    it('may have the bounds of partitions that the same diff deletes', async () => {
      const document = await snapshot();
      const remaining = {
        ...document,
        collections: document.collections.filter(({ collection }) => collection !== 'e1'),
        fields: document.fields.filter(({ collection }) => collection !== 'e1'),
      };
      const halves = { low: 'FOR VALUES FROM (100) TO (150)', high: 'FOR VALUES FROM (150) TO (200)' };
      await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', withPartitions(remaining, halves)));
      expect(await isFreeOfDrift()).to.equal(true);
    });

    it('is rejected without the CHECK constraints of its table', async () => {
      const document = await snapshot();
      const bounds = { next: 'FOR VALUES FROM (200) TO (300)' };
      const at = `collections[${document.collections.length}].schema.extras.constraints`;
      for (const [constraints, message, path] of [
        [[], 'a partition must have the CHECK constraints of "events": "small" is missing: CHECK ((v < 1000))', at],
        [
          [{ ...SMALL, definition: 'CHECK ((v < 1000)) NO INHERIT' }],
          'a partition must have the CHECK constraints of "events": "small" must not be NO INHERIT',
          `${at}[0].definition`,
        ],
        [
          [{ ...SMALL, definition: 'CHECK ((v < 1000)) NOT VALID' }],
          'a partition must have the CHECK constraints of "events": "small" must not be NOT VALID or NOT ENFORCED',
          `${at}[0].definition`,
        ],
      ] as const) {
        const body = withPartitions(document, bounds, [...constraints]);
        const refused = await api.refused(
          { status: 400, code: 'INVALID_PAYLOAD', at: path },
          'POST',
          '/schema/diff',
          body,
        );
        expect(refused.message).to.equal(message);
      }
      await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', withPartitions(document, bounds)));
      expect(await isFreeOfDrift()).to.equal(true);
    });

    it('follows CHECK constraints that the same diff adds to its table or removes', async () => {
      const bounds = ['FOR VALUES FROM (200) TO (300)', 'FOR VALUES FROM (300) TO (400)'];
      const other = { name: 'other', definition: 'CHECK ((v <> 7))' };
      for (const [index, constraints] of [[SMALL, other], []].entries()) {
        const document = await snapshot();
        for (const { collection, schema } of document.collections)
          if (collection === 'events') schema.extras = { ...schema.extras, constraints };
        const body = withPartitions(document, { [`next${index}`]: bounds[index] as string }, constraints);
        await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', body));
        expect(await isFreeOfDrift()).to.equal(true);
      }
    });

    it('of the trash is not offered if another partition has its bound', async () => {
      await api.ok('DELETE', '/collections/e1');
      const { position } = (await api.ok<{ data: { position: number }[] }>('GET', '/history/events?order=desc&limit=1'))
        .data[0] as { position: number };
      const body = withPartitions(await snapshot(), { next: 'FOR VALUES FROM (150) TO (300)' });
      await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', body));
      const refused = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `/trash/${position}/restore`);
      expect(refused.message).to.contain('the bound overlaps that of "next"');
    });
  });

  describe('with an index of several columns', () => {
    const INDEX = 'USING btree (b, id)';
    const withIndexes = async (names: Record<string, string[]>): Promise<Snapshot> => {
      const document = await snapshot();
      for (const { collection, schema } of document.collections) {
        const { indexes = [], ...extras } = (schema.extras ?? {}) as { indexes?: { definition: string }[] };
        const kept = indexes.filter(({ definition }) => definition !== INDEX);
        const own = (names[collection] ?? []).map((name) => ({ name, definition: INDEX }));
        schema.extras = { ...extras, indexes: [...kept, ...own] };
      }
      return document;
    };
    const change = async (names: Record<string, string[]>): Promise<void> => {
      await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', await withIndexes(names)));
      expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
    };
    const refused = async (names: Record<string, string[]>): Promise<string[]> => {
      const { status, text } = await api.client('/schema/diff', json(await withIndexes(names)));
      expect(status, text).to.equal(400);
      const { errors } = JSON.parse(text) as {
        errors: { message: string; extensions: { path: string; collection: string } }[];
      };
      for (const { extensions } of errors)
        expect(extensions.path).to.match(/^collections\[\d+\]\.schema\.extras\.indexes$/);
      return errors.map(({ message, extensions }) => `${extensions.collection}: ${message}`).sort();
    };
    const all = { parts: ['i'], part: ['i_part'], leaf: ['i_leaf'] };

    it('creates, renames and drops the indexes of the table and of its partitions together', async () => {
      await change(all);
      expect(await api.sql(`SELECT count(*)::int AS n FROM pg_indexes WHERE indexdef LIKE '%(b, id)'`)).to.deep.equal([
        { n: 3 },
      ]);
      await change({ parts: ['j'], part: ['j_part'], leaf: ['j_leaf'] });
      await change({});
      await change({ leaf: ['i_leaf'] });
      await change({ part: ['i_part'], leaf: ['i_leaf', 'i_other'] });
      await change(all);
    });

    it('creates them together with CHECK constraints', async () => {
      const document = await withIndexes(all);
      const constraints = [{ name: 'positive', definition: 'CHECK ((b > 0))' }];
      for (const { collection, schema } of document.collections)
        if (collection in all) schema.extras = { ...schema.extras, constraints };
      await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', document));
      expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
    });

    it('is rejected if a partition has no equal index', async () => {
      const message = (table: string, index: string): string =>
        `a partition must have the indexes of "${table}": add one with the definition of "${index}", ${INDEX}`;
      expect(await refused({ parts: ['i'] })).to.deep.equal([`part: ${message('parts', 'i')}`]);
      expect(await refused({ parts: ['i'], part: ['i_part'] })).to.deep.equal([`leaf: ${message('part', 'i_part')}`]);
    });

    it('is rejected if PostgreSQL would drop an index that remains, or not drop one alone', async () => {
      await change(all);
      expect(await refused({ part: ['i_part'], leaf: ['i_leaf'] })).to.deep.equal([
        'part: PostgreSQL drops index "i_part" with index "i" of "parts": remove it too',
      ]);
      expect(await refused({ parts: ['i'], part: ['i_part'] })).to.deep.equal([
        'leaf: index "i_leaf" belongs to index "i_part" of "part", and PostgreSQL drops it only with that',
      ]);
      expect(await refused({ ...all, leaf: ['renamed'] })).to.deep.equal([
        'leaf: index "i_leaf" belongs to index "i_part" of "part", and PostgreSQL drops it only with that',
      ]);
    });
  });

  describe('with CHECK constraints', () => {
    const CHECK = { name: 'positive', definition: 'CHECK ((b > 0))' };
    const withCheck = async (tables: readonly string[], isThere: boolean): Promise<Diff> => {
      const document = await snapshot();
      for (const { collection, schema } of document.collections)
        if (tables.includes(collection)) schema.extras = { ...schema.extras, constraints: isThere ? [CHECK] : [] };
      return api.ok<Diff>('POST', '/schema/diff', document);
    };

    for (const tables of [['parts'], ['parts', 'part', 'leaf']])
      it(`changes those of all partitions if the diff changes ${tables.join(', ')}`, async () => {
        for (const isThere of [true, false]) {
          await api.ok('POST', '/schema/apply', await withCheck(tables, isThere));
          expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
          const rows = await api.sql(`SELECT conrelid::regclass::text FROM pg_constraint WHERE conname = 'positive'`);
          expect(rows).to.have.length(isThere ? 3 : 0);
        }
      });

    it('is rejected for a token whose scope does not contain the partitions', async () => {
      const { id } = (await api.ok<{ data: { id: string } }>('GET', '/users/me')).data;
      const scope = { actions: ['read', 'propose', 'apply'], collections: ['parts'] };
      const { data } = await api.ok<{ data: { token: string } }>('POST', `/users/${id}/tokens`, {
        name: 'scoped',
        scope,
      });
      const { hash, diff } = (await withCheck(['parts'], true)) as Diff & { hash: string; diff: object };
      const reply = await api.client('/schema/apply', { ...json({ hash, diff }), token: data.token });
      expect(reply.status, reply.text).to.equal(403);
    });
  });
});
