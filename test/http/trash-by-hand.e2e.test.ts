/** Fields in the trash of tables that were changed by hand meanwhile. */
import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Plan {
  accepted: boolean;
  errors?: { message: string }[];
}

const plain = (field: string, schema: object = {}) => ({ field, type: 'string', schema, meta: { interface: 'input' } });

describe('the trash of fields beside changes by hand', () => {
  const { api } = withService();

  it('is refused with its place where its table, or the key of that, was taken away by hand', async () => {
    for (const [name, byHand] of [
      ['gone', 'ALTER TABLE gone RENAME TO hidden'],
      ['keyless', 'ALTER TABLE keyless DROP COLUMN id'],
    ] as const) {
      await api.ok('POST', '/collections', {
        collection: name,
        schema: {},
        fields: [plain('a', { is_nullable: false }), plain('b')],
      });
      await api.sql(`INSERT INTO ${name} (a) VALUES ('x')`);
      await api.ok('DELETE', `/fields/${name}/a`);
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      const position = data[0]!.position;
      await api.sql(byHand);
      const tried = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, {});
      expect([tried.accepted, tried.errors?.length]).to.deep.equal([false, 1]);
      const where = { status: 422, code: 'DATABASE_REFUSED' } as const;
      const { extensions } = await api.refused(where, 'POST', `/trash/${position}/restore`, {});
      expect(extensions['collection']).to.equal(name);
    }
  });
});
