import { expect } from 'chai';
import { runCli } from '../../src/cli/command-line.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

describe('dps trash', () => {
  const { service, client: send, api } = withService();

  async function dps(args: string[], answer?: string): Promise<{ code: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(['trash', ...args], {
      environment: { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        read: () => Promise.resolve(''),
        ...(answer !== undefined && { ask: () => Promise.resolve(answer) }),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  const removed = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    return (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data[0]!.position;
  };

  before(async () => {
    const field = (name: string) => ({ field: name, type: 'string', meta: { interface: 'input' }, schema: {} });
    await send('/collections', json({ collection: 'articles', schema: {}, fields: [field('title'), field('body')] }));
    await api.sql(`INSERT INTO articles (title) VALUES ('a'), ('b')`);
  });

  it('lists deleted objects, previews a restore, and restores', async () => {
    expect(await dps([])).to.deep.equal({ code: 0, out: 'The trash is empty.', err: '' });
    const position = await removed('/fields/articles/title');
    const { out } = await dps(['list']);
    expect(out).to.match(new RegExp(`^${position} +articles\\.title +2 `, 'm'));
    expect(JSON.parse((await dps(['list', '--json'])).out)).to.have.length(1);
    const plan = await dps(['restore', String(position), '--dry-run']);
    expect(plan.out).to.contain('restore the values of articles.title from the trash');
    expect(plan.out).to.contain('! DATA_RESTORED articles.title: ').and.to.contain('2 values are restored');
    const as = ['--as', 'headline', '--reason', 'regretted'];
    expect(await dps(['restore', String(position), ...as])).to.deep.equal({
      code: 0,
      out: 'articles.headline was restored.',
      err: '',
    });
    expect(await api.sql('SELECT headline FROM articles ORDER BY id')).to.deep.equal([
      { headline: 'a' },
      { headline: 'b' },
    ]);
    const { data } = (await send('/history/batches?limit=1')).json as { data: { reason: string }[] };
    expect(data[0]?.reason).to.equal('regretted');
    expect((await dps(['restore', String(position)])).code).to.equal(2);
    expect((await dps(['restore', 'title'])).code).to.equal(2);
    expect((await dps(['restore', '1', '--without', 'x'])).err).to.contain(
      'The trash contains no deletion at position 1',
    );
  });

  it('purges, and asks first at a terminal', async () => {
    const position = await removed('/collections/articles');
    expect(await dps(['purge', String(position)], 'yes')).to.deep.equal({
      code: 2,
      out: '',
      err: 'Nothing was changed.',
    });
    const gone = { code: 0, out: `articles of position ${position} was purged.`, err: '' };
    expect(await dps(['purge', String(position)], 'lose it')).to.deep.equal(gone);
    const again = await dps(['restore', String(position)]);
    expect([again.code, again.err.includes('it was purged at')]).to.deep.equal([2, true]);
  });
});
