import { expect } from 'chai';
import { json } from '../support/client.js';
import { asSuperuser } from '../support/postgres.js';
import { spawnService } from '../support/process.js';
import { withService } from '../support/with-service.js';

interface Health {
  status: string;
  checks: Record<string, { ok: boolean; message?: string }>;
}

interface Examined {
  name: string;
  findings: { code: string; message: string }[];
}

for (const schema of ['public', 'An app']) {
  describe(`the managed schema ${schema}, renamed by hand`, () => {
    const quoted = `"${schema}"`;
    const { service, client } = withService({
      settings: { DB_SCHEMA: schema },
      atEnd: () => asSuperuser(service.databaseUrl, `ALTER SCHEMA elsewhere RENAME TO ${quoted}`),
    });
    const position = async () => (await client('/collections')).headers.get('x-log-position');

    before(async () => {
      await client('/collections', json({ collection: 'a', schema: {} }));
      await asSuperuser(service.databaseUrl, `INSERT INTO ${quoted}.a DEFAULT VALUES`);
      await asSuperuser(service.databaseUrl, `ALTER SCHEMA ${quoted} RENAME TO elsewhere`);
    });

    it('rejects every change and appends nothing', async () => {
      const before = await position();
      const changes = [
        client('/collections/a', { method: 'DELETE' }),
        client('/collections/a?purge', { method: 'DELETE' }),
        client('/collections/a', json({ meta: { note: 'x' } }, 'PATCH')),
        client('/collections', json({ collection: 'f', schema: null })),
        client('/collections', json({ collection: 'b', schema: {} })),
        client('/policy', json({ approvals: 2 }, 'PUT')),
        client('/projections/tables/rebuild', { method: 'POST' }),
      ];
      for (const change of changes) {
        const { status, codes, text } = await change;
        expect([status, codes], text).to.deep.equal([503, ['UNAVAILABLE']]);
        expect(text).to.contain(`\\"${schema}\\"`).and.contain('ALTER SCHEMA');
      }
      expect(await position()).to.equal(before);
    });

    it('is reported in health without names, and can still be read', async () => {
      const { status, json: health } = await client('/server/health', { token: null });
      expect(status).to.equal(503);
      const { database, log } = (health as Health).checks;
      expect(database?.ok).to.equal(false);
      expect(database?.message).to.contain('renamed or dropped');
      expect(log).to.deep.equal({ ok: true });
      expect((await client('/collections/a')).status).to.equal(200);
      const drift = (await client('/schema/drift')).json as { ok: boolean };
      expect(drift.ok).to.equal(false);
      const { data } = (await client('/server/doctor')).json as { data: { checks: Examined[] } };
      const privileges = data.checks.find(({ name }) => name === 'privileges on the schemas');
      expect(privileges?.findings.map(({ code }) => code)).to.deep.equal(['SCHEMA_NOT_WRITABLE']);
      expect(privileges?.findings[0]?.message).to.contain(`"${schema}" no longer exists`);
    });

    it('stops a start, which creates no other schema', async () => {
      const start = spawnService({ DATABASE_URL: service.databaseUrl, DB_SCHEMA: schema, DATA_DIR: 'unused' });
      const { code, stderr } = await start.ended();
      expect(code).to.equal(2);
      expect(stderr).to.contain(`"${schema}"`).and.contain('renamed or dropped').and.not.contain('    at ');
    });
  });
}
