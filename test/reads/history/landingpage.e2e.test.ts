import { expect } from 'chai';
import { corpusIsThere, historyFiles } from '../../corpus/corpus.js';
import { type TestService, startService } from '../../support/service.js';
import { type Client, clientOf, json } from '../../support/client.js';

describe('ten steps of a real schema', () => {
  let service: TestService;
  let send: Client;
  const taken: { position: number; text: string }[] = [];

  before(async function () {
    if (!corpusIsThere()) return this.skip();
    service = await startService();
    send = clientOf(service);
    for (const { name, text } of historyFiles()) {
      const diff = await send('/schema/diff?force', {
        ...json({}),
        headers: { 'content-type': 'application/yaml' },
        body: text,
      });
      expect(diff.status, `${name}: ${diff.text.slice(0, 500)}`).to.equal(200);
      await apply(diff.json);
      taken.push(await current());
    }
  });

  after(() => service?.stop());

  async function apply(diff: unknown): Promise<void> {
    const reply = await send('/schema/apply', json(diff));
    expect(reply.status, reply.text.slice(0, 500)).to.equal(204);
  }

  async function current(): Promise<{ position: number; text: string }> {
    const { text, headers } = await send('/schema/snapshot');
    return { position: Number(headers.get('x-log-position')), text };
  }

  const withoutIds = (text: string | undefined): string => (text ?? '').replaceAll(/\{"id":\d+,/g, '{');

  it('shows each step byte for byte', async () => {
    expect(taken).to.have.length(10);
    for (const [index, { position, text }] of taken.entries()) {
      const then = await send(`/history/snapshot?at=${position}`);
      expect(then.text === text, `step ${index + 1}`).to.equal(true);
    }
  });

  it('reverts to step 2 and forward to step 10 with an equal result', async () => {
    await apply((await send(`/history/diff?to=${taken[1]?.position}`)).json);
    expect(withoutIds((await current()).text) === withoutIds(taken[1]?.text), 'step 2').to.equal(true);
    await apply((await send(`/history/diff?to=${taken[9]?.position}`)).json);
    expect(withoutIds((await current()).text) === withoutIds(taken[9]?.text), 'step 10').to.equal(true);
    const verified = await send('/projections/verify');
    expect((verified.json as { data: { ok: boolean } }).data.ok, verified.text.slice(0, 1000)).to.equal(true);
    expect(((await send('/history/verify')).json as { data: { ok: boolean } }).data.ok).to.equal(true);
  });
});
