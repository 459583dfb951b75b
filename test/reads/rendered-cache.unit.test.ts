import { expect } from 'chai';
import { bytes } from '../../src/kernel/bytes.js';
import { createRenderedCache } from '../../src/reads/rendered-cache.js';
import { yieldToEventLoop } from '../../src/kernel/event-loop.js';

describe('rendered answers', () => {
  it('are rendered once per subject and key', async () => {
    const cache = createRenderedCache();
    const [one, other] = [{}, {}];
    let count = 0;
    const render = () => bytes([`body ${(count += 1)}`]);
    const first = await cache.get(one, 'list', render);
    expect(await cache.get(one, 'list', render)).to.equal(first);
    expect((await cache.get(one, 'snapshot', render)).body.toString()).to.equal('body 2');
    expect((await cache.get(other, 'list', render)).body.toString()).to.equal('body 3');
  });

  it('are rendered once for concurrent requests, in time slices', async () => {
    const cache = createRenderedCache();
    const subject = {};
    let count = 0;
    const render = () => {
      count += 1;
      return bytes(slowly(30));
    };
    let slices = 0;
    let done = false;
    const both = Promise.all([cache.get(subject, 'k', render), cache.get(subject, 'k', render)]).finally(() => {
      done = true;
    });
    for (; !done; slices += 1) await yieldToEventLoop();
    const [first, second] = await both;
    expect(first).to.equal(second);
    expect(first.body.toString()).to.equal('x'.repeat(30 * 40_000));
    expect(count).to.equal(1);
    expect(slices).to.be.greaterThan(5);
    expect(cache.size()).to.deep.equal({ answers: 1, bytes: first.body.length });
  });

  it('that fail are rendered again, and every waiting caller is told', async () => {
    const cache = createRenderedCache();
    const subject = {};
    const failing = () => bytes(thatFails());
    const both = await Promise.allSettled([cache.get(subject, 'k', failing), cache.get(subject, 'k', failing)]);
    expect(both.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect((await cache.get(subject, 'k', () => bytes(['fine']))).body.toString()).to.equal('fine');
  });

  it('have a strong tag that only the body makes', async () => {
    const cache = createRenderedCache();
    const tag = async (...texts: string[]): Promise<string> => (await cache.get({}, 'k', () => bytes(texts))).etag;
    expect(await tag('üa')).to.equal(await tag('ü', 'a'));
    expect(await tag('ü')).to.not.equal(await tag('u'));
    expect(await tag('ü')).to.match(/^"[\w-]{43}"$/);
  });

  it('that were used longest ago go when they grow too large', async () => {
    const cache = createRenderedCache({ maxBytes: 10 });
    const subject = {};
    const rendered: string[] = [];
    const get = async (key: string, body: string): Promise<string> => {
      const found = await cache.get(subject, key, () => {
        rendered.push(key);
        return bytes([body]);
      });
      return found.body.toString();
    };
    await get('a', '1234');
    await get('b', '1234');
    await get('a', '1234');
    await get('c', '1234');
    await get('a', '1234');
    await get('b', '1234');
    expect(rendered).to.deep.equal(['a', 'b', 'c', 'b']);
    expect(await get('huge', 'x'.repeat(100))).to.have.length(100);
    await get('huge', '');
    expect(rendered.at(-1)).to.equal('huge');
  });
});

/** Chunks that take a millisecond each. */
function* slowly(chunks: number): Generator<string, void, void> {
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield 'x'.repeat(40_000);
  }
}

function* thatFails(): Generator<string, void, void> {
  yield 'x';
  throw new Error('no');
}
