import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, type Reply, clientOf, json } from '../../support/client.js';
import { blocksOf } from '../../support/documents.js';
import { dps } from '../../support/dps.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';
import { type TestService, startService } from '../../support/service.js';

const SUBJECT = 'repo:shop/schema:ref:refs/heads/main';

const dataOf = <T>({ status, text, json: body }: Reply): T => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (body as { data: T }).data;
};

describe('dps trust and dps exchange', () => {
  let provider: OpenIdProvider;
  let service: TestService;
  let send: Client;
  let folder: string;

  before(async () => {
    provider = await startOpenIdProvider();
    service = await startService();
    send = clientOf(service);
    await provider.register(service.url);
    folder = await mkdtemp(join(tmpdir(), 'dps-trust-'));
    for (const collection of ['shop_orders', 'hr_people'])
      dataOf(await send('/collections', json({ collection, schema: {} })));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await service.stop();
    await provider.stop();
  });

  const run = (line: string[], environment: Record<string, string> = {}) =>
    dps(line, { DPS_URL: service.url, DPS_TOKEN: service.adminToken, HOME: folder, ...environment });
  const ok = async (line: string[], environment: Record<string, string> = {}): Promise<string> => {
    const { code, out, err } = await run(line, environment);
    expect(code, `${line.join(' ')}: ${out} ${err}`).to.equal(0);
    return out;
  };
  let tokens = 0;
  const idToken = (audience = service.url): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    const jti = String((tokens += 1));
    return provider.signed({ iss: provider.issuer, aud: audience, sub: SUBJECT, iat, exp: iat + 300, jti });
  };
  const trust = async (scope: object): Promise<void> => {
    const rule = { name: 'ci', issuer: provider.issuer, audience: service.url, claims: { sub: SUBJECT }, scope };
    await writeFile(join(folder, 'trust.json'), JSON.stringify({ rules: [rule] }));
    expect(await ok(['trust', 'set', join(folder, 'trust.json')])).to.contain(`sub=${SUBJECT}`);
  };
  const exchanged = async (): Promise<string> => {
    const environment = { DPS_TOKEN: '', DPS_ID_TOKEN: await idToken() };
    return (await ok(['exchange'], environment)).trim();
  };
  const addField = async (directory: string, collection: string, field: string): Promise<void> => {
    const file = join(directory, 'collections', `${collection}.yaml`);
    const content = await readFile(file, 'utf8');
    await writeFile(
      file,
      content.replace('\nfields:\n', `\nfields:\n  - field: ${field}\n    type: string\n    schema: {}\n`),
    );
  };
  const fieldsOf = async (collection: string): Promise<string[]> =>
    dataOf<{ field: string }[]>(await send(`/fields/${collection}`)).map(({ field }) => field);

  it('show the rules in the format of "set"', async () => {
    await trust({ role: 'admin', actions: ['read'] });
    const shown = await ok(['trust', '--json']);
    await writeFile(join(folder, 'again.json'), shown);
    expect(JSON.parse(await ok(['trust', 'set', join(folder, 'again.json'), '--json']))).deep.equal(JSON.parse(shown));
    await writeFile(join(folder, 'empty.json'), '{"rules":[]}');
    expect(await ok(['trust', 'set', join(folder, 'empty.json')])).to.equal('No trust rules.');
  });

  it('accept the rules of the documentation', async () => {
    const blocks = ['docs/security.md', 'docs/git.md']
      .flatMap(blocksOf)
      .filter(({ language, content }) => language === 'json' && content.includes('"rules"'));
    expect(blocks).to.have.length(2);
    for (const { content } of blocks) {
      const file = join(folder, 'documented.json');
      await writeFile(file, content);
      const submitted = JSON.parse(content) as { rules: { name: string }[] };
      const shown = JSON.parse(await ok(['trust', 'set', file, '--json'])) as typeof submitted;
      expect(shown.rules.map(({ name }) => name)).deep.equal(submitted.rules.map(({ name }) => name));
    }
  });

  it('read the ID token from a variable, a file or GitHub', async () => {
    await trust({ role: 'admin', actions: ['read'] });
    const nothing = { DPS_TOKEN: '' };
    const file = join(folder, 'id-token');
    await writeFile(file, `${await idToken()}\n`);
    const made = JSON.parse(await ok(['exchange', '--id-token-file', file, '--json'], nothing)) as { token: string };
    expect(await exchanged()).to.match(/^dps_/);
    expect((await send('/users/me', { token: made.token })).status).to.equal(200);
    const requests: (string | undefined)[] = [];
    const github = createServer((req, res) => {
      requests.push(req.headers.authorization);
      const audience = new URL(req.url ?? '', 'http://github').searchParams.get('audience') ?? '';
      void idToken(audience).then((value) => res.end(JSON.stringify({ value })));
    });
    github.listen(0, '127.0.0.1');
    await once(github, 'listening');
    const address = `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?version=1`;
    const asked = { ...nothing, ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret' };
    try {
      expect(await ok(['exchange'], asked)).to.match(/^dps_/);
      const other = await run(['exchange', '--audience', 'https://other.example.com'], asked);
      expect([other.code, other.err]).to.satisfy(([code, err]: [number, string]) => code === 2 && /audience/.test(err));
      expect(requests).deep.equal(['Bearer secret', 'Bearer secret']);
    } finally {
      github.close();
      github.closeAllConnections();
      await once(github, 'close');
    }
    const none = await run(['exchange'], nothing);
    expect(none.code).to.equal(2);
    expect(none.err).to.contain('DPS_ID_TOKEN').and.to.contain('id-token: write');
  });

  it('let a pipeline plan and push without the action "history"', async () => {
    const directory = join(folder, 'schema');
    await ok(['pull', directory]);
    await addField(directory, 'shop_orders', 'note');
    await trust({ role: 'admin', actions: ['read', 'propose', 'apply'] });
    const environment = { DPS_TOKEN: await exchanged() };
    const planned = await run(['plan', directory], environment);
    expect([planned.code, planned.out]).to.satisfy(([code, out]: [number, string]) => code === 1 && /note/.test(out));
    await ok(['push', directory, '--yes'], environment);
    expect(await fieldsOf('shop_orders')).to.include('note');
    expect((await run(['plan', directory], environment)).code).to.equal(0);
  });

  it('let a pipeline plan and push within a scope of collections', async () => {
    const directory = join(folder, 'part');
    await trust({ role: 'admin', actions: ['read', 'propose', 'apply'], collections: ['shop_*'] });
    const environment = { DPS_TOKEN: await exchanged() };
    await ok(['pull', directory], environment);
    await addField(directory, 'shop_orders', 'colour');
    const people = await fieldsOf('hr_people');
    await send('/fields/hr_people', json({ field: 'born', type: 'date', schema: {} }));
    const planned = await run(['plan', directory], environment);
    expect(planned.code, planned.err).to.equal(1);
    expect(planned.out).to.contain('colour').and.not.to.contain('hr_people').and.not.to.contain('born');
    await ok(['push', directory, '--yes'], environment);
    expect(await fieldsOf('shop_orders')).to.include('colour');
    expect(await fieldsOf('hr_people')).deep.equal([...people, 'born']);
    expect((await run(['plan', directory], environment)).code).to.equal(0);
    // Files of other collections are outside the scope.
    const whole = join(folder, 'whole');
    await ok(['pull', whole]);
    const rejected = await run(['plan', whole], environment);
    expect(rejected.code).to.equal(2);
    expect(rejected.err).to.contain('The scope of this token does not contain the collection');
  });
});
