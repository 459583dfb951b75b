import { expect } from 'chai';
import { runCli } from '../../src/cli/command-line.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

describe('dps rename', () => {
  const { service, client: send } = withService();

  async function dps(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(['rename', ...args], {
      environment: { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        read: () => Promise.resolve(''),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  before(async () => {
    const fields = [
      { field: 'title', type: 'string', meta: { interface: 'input', options: { template: 'title' } }, schema: {} },
    ];
    const created = json([
      { collection: 'articles', schema: {}, fields },
      { collection: 'a.b', schema: null },
    ]);
    const { status, text } = await send('/collections', created);
    expect(status, text).to.equal(200);
  });

  it('renames a collection and stores the reason', async () => {
    expect(await dps('articles', 'posts', '--reason', 'they are posts — all of them')).to.deep.equal({
      err: '',
      code: 0,
      out: 'articles is now posts.',
    });
    expect((await send('/collections/posts')).status).to.equal(200);
    const { data } = (await send('/history/batches?limit=1')).json as { data: { reason: string }[] };
    expect(data[0]?.reason).to.equal('they are posts — all of them');
  });

  it('renames a field and lists where the old name is still used', async () => {
    const { code, out, err } = await dps('posts.title', 'headline');
    expect({ code, out }).to.deep.equal({ code: 0, out: 'posts.title is now posts.headline.' });
    expect(err).to.include('NAME_STILL_USED');
    expect((await send('/fields/posts/headline')).status).to.equal(200);
  });

  it('splits at the dot, unless the dot is escaped', async () => {
    expect((await dps('a.b', 'plain')).code).to.equal(2);
    expect((await dps('a%2Eb', 'plain')).out).to.equal('a%2Eb is now plain.');
    expect((await send('/collections/plain')).status).to.equal(200);
  });

  it("prints the service's response as JSON", async () => {
    const { out } = await dps('posts', 'entries', '--json');
    expect((JSON.parse(out) as { data: { collection: string } }).data.collection).to.equal('entries');
  });

  it("prints the service's error, and changes nothing", async () => {
    const { code, err } = await dps('entries', 'plain');
    expect(code).to.equal(2);
    expect(err).to.include('plain');
    expect((await dps('nothing', 'else')).code).to.equal(2);
    expect((await dps('entries')).code).to.equal(2);
    expect((await dps('entries', 'x', '--reason', 'two\nlines')).code).to.equal(2);
    expect((await send('/collections/entries')).status).to.equal(200);
  });
});
