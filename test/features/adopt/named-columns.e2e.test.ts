import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Item {
  collection: string;
  field: string;
  type: string;
  schema: { extras?: { constraints?: { name: string }[]; indexes?: { name: string }[] } } | null;
  [member: string]: unknown;
}
interface Snapshot {
  collections: Item[];
  fields: Item[];
}

describe('dropping a column that other objects name', () => {
  const { api } = withService({ each: true, consistent: true });
  beforeEach(async () => {
    await api.sql('CREATE TABLE k8 (id int PRIMARY KEY, q int, h int, CHECK (q > 0), CHECK (h > 0))');
    await api.sql('CREATE INDEX k8i ON k8 (h, q)');
    await api.ok('POST', '/schema/adopt', { tables: ['k8'] });
  });

  const ALIAS = (field: Item) => ({ ...field, type: 'alias', schema: null, meta: { special: ['no-data'] } });
  const WAYS: [what: string, of: (fields: Item[]) => object[]][] = [
    ['becomes an alias', (fields) => fields.map((each) => (each.field === 'q' ? ALIAS(each) : each))],
    ['is not there', (fields) => fields.filter(({ field }) => field !== 'q')],
  ];

  const withoutExtras = (collections: Item[]) =>
    collections.map(({ schema, ...rest }) => {
      const { extras: _, ...output } = schema ?? {};
      return { ...rest, schema: output };
    });

  for (const [what, source] of WAYS) {
    it(`drops objects if the snapshot omits them: objects that ${what}`, async () => {
      const { collections, fields, ...rest } = await api.ok<Snapshot>('GET', '/schema/snapshot');
      const desired = { ...rest, collections: withoutExtras(collections), fields: source(fields) };
      const diff = await api.ok<{ data: object }>('POST', '/schema/diff', desired);
      await api.ok('POST', '/schema/apply', diff);
      const names = await api.sql<{ name: string }>(
        `SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND conrelid = 'k8'::regclass`,
      );
      expect(names).to.deep.equal([{ name: 'k8_h_check' }]);
      expect((await api.ok<{ diff: object }>('POST', '/schema/diff', desired)).diff).to.deep.equal({
        collections: [],
        fields: [],
        relations: [],
      });
    });

    it(`is rejected with the location if the snapshot contains them: objects that ${what}`, async () => {
      const { collections, fields, ...rest } = await api.ok<Snapshot>('GET', '/schema/snapshot');
      const extras = 'collections[0].schema.extras';
      const places = { at: `${extras}.constraints[1]`, also: [`${extras}.indexes[0]`] };
      const desired = { ...rest, collections, fields: source(fields) };
      const { message } = await api.refused(
        { status: 400, code: 'INVALID_PAYLOAD', ...places },
        'POST',
        '/schema/diff',
        desired,
      );
      expect(message).to.include('"k8_q_check" uses "q"');
    });
  }
});
