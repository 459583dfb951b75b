import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Check {
  name: string;
  result: string;
  findings: { code: string; message: string; fix: string }[];
}

describe('GET /server/doctor', () => {
  const { api, client } = withService();

  const examined = async (token?: string) => {
    const reply = await client('/server/doctor', token === undefined ? {} : { token });
    return { ...reply, data: (reply.json as { data: { ok: boolean; checks: Check[] } }).data };
  };

  it('returns the findings of dps doctor to all concurrent callers', async () => {
    const collection = {
      collection: 'articles',
      schema: {},
      fields: [{ field: 'title', type: 'string', interface: 'input' }],
    };
    expect((await client('/collections', json(collection))).status).to.equal(200);
    const all = await Promise.all([examined(), examined(), examined()]);
    for (const { status, data, text } of all) {
      expect(status).to.equal(200);
      expect(data.ok, text).to.equal(true);
      expect(data.checks.map(({ name }) => name)).to.include.members(['hash chain', 'migrations', 'notifications']);
    }
    await api.sql('alter table articles alter column title set not null');
    const { data } = await examined();
    expect(data.ok).to.equal(false);
    const [finding] = data.checks.flatMap(({ findings }) => findings);
    expect(finding).to.include({ code: 'TABLES_DIFFER' });
    expect(finding?.message).to.contain('articles.title');
    expect(finding?.fix).to.contain('dps drift');
  });

  it('warns of a proxy that forwards requests and is not trusted', async () => {
    const proxyOf = async () => (await examined()).data.checks.find(({ name }) => name === 'proxy is trusted');
    expect(await proxyOf()).to.deep.equal({ name: 'proxy is trusted', result: 'ok', findings: [] });
    await client('/server/ping', { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    const proxy = await proxyOf();
    expect(proxy?.result).to.equal('warning');
    expect(proxy?.findings.map(({ code }) => code)).to.deep.equal(['PROXY_UNTRUSTED']);
    expect(proxy?.findings[0]?.message).to.contain('127.0.0.1').and.contain('TRUST_PROXY');
  });

  it('is available to auditors, but not to readers', async () => {
    for (const [role, status] of [
      ['auditor', 200],
      ['reader', 403],
    ] as const) {
      const { json: user } = await client('/users', json({ email: `${role}@example.com`, role }));
      const { id } = (user as { data: { id: string } }).data;
      const { json: created } = await client(`/users/${id}/tokens`, json({}));
      expect((await examined((created as { data: { token: string } }).data.token)).status).to.equal(status);
    }
  });
});
