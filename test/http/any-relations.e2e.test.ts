import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { key, plain } from './routes/columns.js';

describe('a many-to-any relation', () => {
  const { api } = withService({ each: true, consistent: true });
  beforeEach(async () => {
    for (const collection of ['one', 'many']) {
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [key('id')] });
    }
  });

  it('keeps the name of a collection if it fits', async () => {
    await api.sql(`CREATE TYPE mood AS ENUM ('one')`);
    for (const field of [
      plain('kind', 'string'),
      plain('item', 'string'),
      plain('number', 'integer'),
      plain('flag', 'boolean'),
      plain('doc', 'json'),
      plain('counted', 'integer', { has_auto_increment: true, is_nullable: false }),
      plain('made', 'string', { generation_expression: 'upper(kind)' }),
      plain('long', 'text'),
      plain('short', 'string', { data_type: 'character', max_length: 10 }),
      plain('mood', 'unknown', { data_type: 'mood' }),
    ]) {
      await api.ok('POST', '/fields/many', field);
    }
    const many = {
      many_collection: 'many',
      many_field: 'item',
      one_collection: null,
      one_allowed_collections: ['one'],
    };
    const refused = { status: 400, code: 'INVALID_PAYLOAD', at: 'one_collection_field' };
    for (const name of ['number', 'flag', 'doc', 'counted', 'made', 'id']) {
      const body = { ...many, one_collection_field: name };
      const { message } = await api.refused(refused, 'POST', '/relations', body);
      expect(message).to.match(new RegExp(`"${name}" (is|has) `));
    }
    for (const name of ['long', 'short', 'mood', 'kind']) {
      await api.ok('POST', '/relations', { ...many, one_collection_field: name });
      if (name !== 'kind') await api.ok('DELETE', '/relations/many/item');
    }
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/fields/many/kind', {
      type: 'integer',
      schema: { data_type: 'integer' },
    });
  });
});
