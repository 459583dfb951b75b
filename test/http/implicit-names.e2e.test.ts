/** Implicit names of PostgreSQL: it would evade a collision, and the snapshot could not be applied elsewhere. */
import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { plain } from './routes/columns.js';

const TAKEN = { status: 409, code: 'ALREADY_EXISTS' };

describe('an implicit name of PostgreSQL', () => {
  const { api } = withService();

  const create = (collection: string) => ['POST', '/collections', { collection, schema: {} }] as const;

  for (const [table, sequence] of [
    ['ts', 'ts_id_seq'],
    ['a_b_c', 'a_b_c_id_seq'],
  ] as const) {
    it(`cannot be used by a collection and a sequence at the same time: ${sequence}`, async () => {
      await api.ok(...create(sequence));
      const { message, extensions } = await api.refused(TAKEN, ...create(table));
      expect(message).to.include(`"${sequence}" is already the name of the table`);
      expect(extensions).to.deep.include({ field: 'id', taken: [{ name: sequence, kind: 'table' }] });
      await api.ok('DELETE', `/collections/${sequence}`);
      await api.ok(...create(table));
      const second = await api.refused(TAKEN, ...create(sequence));
      expect(second.message).to.equal(
        `"${sequence}" is already the name of a sequence in the database. Choose another name.`,
      );
      for (const names of [
        [table, sequence],
        [sequence, table],
      ]) {
        await api.ok('DELETE', `/collections/${table}`);
        const both = names.map((collection) => ({ collection, schema: {} }));
        await api.refused(TAKEN, 'POST', '/collections', both);
        await api.ok(...create(table));
      }
      await api.ok('POST', '/collections', { collection: sequence, schema: null });
      await api.ok('DELETE', `/collections/${sequence}`);
      const [{ name } = { name: '' }] = await api.sql<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relname = '${sequence}'`,
      );
      expect(name).to.equal(sequence);
    });
  }

  it('cannot be used by a foreign key and a NOT NULL constraint at the same time', async () => {
    await api.ok(...create('fn'));
    await api.ok('POST', '/fields/fn', plain('a', 'integer'));
    await api.ok('POST', '/fields/fn', plain('c', 'integer', { is_nullable: false, default_value: 1 }));
    const body = {
      collection: 'fn',
      field: 'a',
      related_collection: 'fn',
      schema: { constraint_name: 'fn_c_not_null' },
    };
    const { extensions } = await api.refused(TAKEN, 'POST', '/relations', body);
    expect(extensions).to.deep.include({
      path: 'schema.constraint_name',
      taken: [{ name: 'fn_c_not_null', kind: 'NOT NULL' }],
    });
    await api.ok('DELETE', '/fields/fn/c');
    await api.ok('POST', '/relations', body);
    const column = plain('c', 'integer', { is_nullable: false, default_value: 1 });
    await api.refused(TAKEN, 'POST', '/fields/fn', column);
  });
});
