import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Plan {
  accepted: boolean;
  errors?: { message: string }[];
}

const plain = (field: string, schema: object = {}) => ({ field, type: 'string', schema, meta: { interface: 'input' } });

describe('the trash after manual changes', () => {
  const { api } = withService();

  it('reports that it keeps nothing of a missing table when its collection is deleted', async () => {
    await api.ok('POST', '/collections', { collection: 'away', schema: {} });
    const snapshot = await api.ok<{ collections: { collection: string }[]; fields: { collection: string }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const others = ({ collection }: { collection: string }) => collection !== 'away';
    const without = {
      ...snapshot,
      collections: snapshot.collections.filter(others),
      fields: snapshot.fields.filter(others),
    };
    const diff = await api.ok<object>('POST', '/schema/diff', without);
    const notKept = async () => {
      const { warnings } = await api.ok<{ warnings: { code: string; message: string }[] }>(
        'POST',
        '/schema/apply?dry_run',
        diff,
      );
      return warnings.filter(({ code }) => code === 'DATA_NOT_KEPT').map(({ message }) => message);
    };
    expect(await notKept()).to.deep.equal([]);
    await api.sql('ALTER TABLE away RENAME TO elsewhere');
    expect(await notKept()).to.deep.equal([
      'drop table away: the trash keeps nothing, because the table does not exist: it was dropped or renamed by hand',
    ]);
  });

  it('rejects restoring a field whose table or primary key was dropped by hand, with its location', async () => {
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
