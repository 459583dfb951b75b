/** PostgreSQL cannot index virtual columns. */
import { withService } from '../../support/with-service.js';
import { key, plain } from './columns.js';

describe('a virtual generated column', () => {
  const { api } = withService({ consistent: true });

  for (const query of ['', '?concurrentIndexCreation']) {
    it(`cannot be unique or indexed${query && ', nor later'}`, async () => {
      const table = `t${query.length}`;
      const virtual = { generation_expression: 'id * 2', extras: { virtual: true } };
      const invalid = (member: string) => ({ status: 400, code: 'INVALID_PAYLOAD', at: `schema.${member}` });
      await api.ok('POST', '/collections', { collection: table, schema: {}, fields: [key('id')] });
      for (const member of ['is_indexed', 'is_unique']) {
        const body = plain('v', 'integer', { ...virtual, [member]: true });
        await api.refused(invalid(member), 'POST', `/fields/${table}${query}`, body);
        await api.ok(
          'POST',
          `/fields/${table}${query}`,
          plain(member, 'integer', { ...virtual, extras: {}, [member]: true }),
        );
        const change = { schema: { extras: { virtual: true } } };
        await api.refused(invalid(member), 'PATCH', `/fields/${table}/${member}${query}`, change);
      }
    });
  }
});
