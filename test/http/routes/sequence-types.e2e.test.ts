import { expect } from 'chai';
import pg from 'pg';
import { createDatabase } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';

describe('the sequence of an identity column with a different type', () => {
  const { api } = withService();

  for (const [column, type, more] of [
    ['integer', 'bigint', {}],
    ['integer', 'bigint', { start: '3000000000', name: 'its own' }],
    ['bigInteger', 'smallint', { increment: '-1' }],
  ] as const) {
    it(`${type} for a column of type ${column}, ${JSON.stringify(more)}: is created, added, and exported`, async () => {
      const sequence = { type, ...more };
      const id = {
        field: 'id',
        type: column,
        interface: 'input',
        schema: { is_primary_key: true, has_auto_increment: true, extras: { sequence } },
      };
      await api.ok('POST', '/collections', { collection: 'counted', schema: {}, fields: [id] });
      const read = await api.ok<{ data: { schema: { extras: { sequence: unknown } } } }>('GET', '/fields/counted/id');
      expect(read.data.schema.extras.sequence).to.include(sequence);
      const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
      expect(data.ok).to.equal(true);

      const { text } = await api.client('/history/snapshot?export=sql');
      const other = await createDatabase();
      const client = new pg.Client({ connectionString: other.connectionString });
      await client.connect();
      const SEQUENCE = `SELECT seqtypid::regtype::text AS type, seqstart::text, seqincrement::text, seqmin::text, seqmax::text
        FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence('counted', 'id')::regclass`;
      try {
        await client.query(text);
        expect((await client.query(SEQUENCE)).rows).to.deep.equal(await api.sql(SEQUENCE));
      } finally {
        await client.end();
        await other.drop();
      }
      await api.ok('DELETE', '/collections/counted');
    });
  }
});
