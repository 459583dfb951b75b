import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Plan {
  warnings?: { code: string; message: string }[];
}

const plain = (field: string, schema: object = {}) => ({ field, type: 'string', interface: 'input', schema });

describe('row counts of the trash', () => {
  const { api } = withService({ each: true, consistent: true });

  const gone = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    return api.head();
  };
  const restored = async (position: number): Promise<string[]> => {
    const { warnings = [] } = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, {});
    return warnings.filter(({ code }) => code === 'DATA_RESTORED').map(({ message }) => message);
  };

  it('distinguish one row from several, and stop at a limit', async () => {
    await api.ok('POST', '/collections', { collection: 't', schema: {}, fields: [plain('a'), plain('b')] });
    await api.sql(`INSERT INTO t (a) VALUES ('x'), ('y'), ('z')`);
    const position = await gone('/fields/t/a');
    const field = `restore column a of t from the trash (position ${position}): 1 value is restored`;
    await api.sql(`DELETE FROM t WHERE id > 1; INSERT INTO t (b) VALUES ('new')`);
    expect(await restored(position)).to.deep.equal([
      `${field}, 1 row written since has null, 2 values no longer have a row`,
    ]);
    await api.sql('INSERT INTO t (b) SELECT NULL FROM generate_series(1, 100000)');
    expect(await restored(position)).to.deep.equal([
      `${field}, more than 100,000 rows written since have null, 2 values no longer have a row`,
    ]);
    await api.sql('TRUNCATE t');
    const full = await gone('/collections/t');
    const table = `restore table t from the trash (position ${full}): `;
    expect(await restored(full)).to.deep.equal([`${table}0 rows are restored`]);
    for (const [more, expected] of [
      [1, '1 row is restored'],
      [1_999, '2,000 rows are restored'],
      [98_001, 'more than 100,000 rows are restored'],
    ] as const) {
      await api.sql(`INSERT INTO service_trash_s1.t SELECT FROM generate_series(1, ${more})`);
      expect(await restored(full)).to.deep.equal([table + expected]);
    }
  });

  it('distinguish one row that violates NOT NULL from several, and stop at a limit', async () => {
    const fields = [plain('a', { is_nullable: false }), plain('b')];
    await api.ok('POST', '/collections', { collection: 't', schema: {}, fields });
    await api.sql(`INSERT INTO t (a) VALUES ('x'), ('y')`);
    const position = await gone('/fields/t/a');
    const advice = `so it cannot be NOT NULL. Restore it without that constraint, {"without": ["t_a_not_null"]}, and fill it afterwards.`;
    for (const [more, told, offending] of [
      [1, '1 row was written since "a" was deleted, and has no value for it', { count: 1, more: false }],
      [2, '3 rows were written since "a" was deleted, and have no value for it', { count: 3, more: false }],
      [997, '1000 rows were written since "a" was deleted, and have no value for it', { count: 1_000, more: false }],
      [
        1,
        'more than 1000 rows were written since "a" was deleted, and have no value for it',
        { count: 1_000, more: true },
      ],
    ] as const) {
      await api.sql(`INSERT INTO t (b) SELECT NULL FROM generate_series(1, ${more})`);
      const expected = { status: 422, code: 'DATABASE_REFUSED' } as const;
      const { message, extensions } = await api.refused(expected, 'POST', `/trash/${position}/restore`, {});
      expect(message).to.equal(`${told}, ${advice}`);
      expect(extensions['offending']).to.deep.equal({ kind: 'null', ...offending });
      expect(extensions['without']).to.deep.equal(['t_a_not_null']);
    }
  });

  it('leave rows null in tables that began to inherit after the deletion', async () => {
    await api.ok('POST', '/collections', { collection: 't', schema: {}, fields: [plain('a')] });
    await api.sql(`INSERT INTO t (a) VALUES ('x'), ('y')`);
    const position = await gone('/fields/t/a');
    await api.sql('DELETE FROM t WHERE id = 2; CREATE TABLE kid () INHERITS (t); INSERT INTO kid VALUES (1), (2)');
    expect(await restored(position)).to.deep.equal([
      `restore column a of t from the trash (position ${position}): 1 value is restored, 2 rows written since have null, 1 value no longer has a row`,
    ]);
    await api.ok('POST', `/trash/${position}/restore`, {});
    expect(await api.sql('SELECT id, a FROM ONLY t')).to.deep.equal([{ id: 1, a: 'x' }]);
    expect(await api.sql('SELECT id, a FROM kid')).to.deep.equal([
      { id: 1, a: null },
      { id: 2, a: null },
    ]);
  });
});
