import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type SharedBytes, bytes } from '../../src/kernel/bytes.js';
import { createJoiner, createRenderedCache } from '../../src/reads/rendered-cache.js';
import { yieldToEventLoop } from '../../src/kernel/event-loop.js';
import { type Resumable, runToEnd } from '../../src/kernel/resumable.js';
import { runAsRead } from '../../src/kernel/scheduler.js';
import { until } from '../support/until.js';

function workFor(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

describe('a joiner', () => {
  const piece = fc.constantFrom(...Array.from({ length: 8 }, (_, index) => Buffer.from(`piece ${index}`)));
  const body = fc.array(
    fc.record({ before: fc.constantFrom('[', '{"a":['), pieces: fc.array(piece, { maxLength: 99 }) }),
  );

  it('joins the same bytes with the same digest, regardless of earlier joins', () => {
    fc.assert(
      fc.property(fc.array(body, { minLength: 1 }), (bodies) => {
        const join = createJoiner();
        for (const sections of bodies) {
          const { body: joined, digest } = runToEnd(join(sections, '}'));
          const text = sections.map(({ before, pieces }) => before + pieces.map(String).join(',')).join('');
          expect(String(joined)).to.equal(`${text}}`);
          expect(joined.length).to.equal(text.length + 1);
          expect(digest).to.equal(runToEnd(createJoiner()(sections, '}')).digest);
        }
      }),
    );
  });

  it('changes the digest with any piece, and joins again only the group of that piece', () => {
    const join = createJoiner();
    const pieces = Array.from({ length: 1_000 }, (_, index) => Buffer.from(`piece ${index}`));
    const before = runToEnd(join([{ before: '[', pieces }], ']'));
    const changed = pieces.with(500, Buffer.from('changed'));
    const after = runToEnd(join([{ before: '[', pieces: changed }], ']'));
    expect(after.digest).not.to.equal(before.digest);
    const shared = after.body.parts.filter((part) => before.body.parts.includes(part));
    expect(after.body.parts.length - shared.length).to.be.at.most(2);
  });

  it('joins large pieces in a step each', () => {
    const large = Buffer.alloc(1024 * 1024, ' ');
    const steps = createJoiner()([{ before: '[', pieces: Array.from({ length: 20 }, () => large) }], ']');
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).to.be.at.least(20);
  });
});

describe('rendered responses', () => {
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

  it('are rendered once for concurrent requests in time slices', async () => {
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
    expect(cache.size()).to.include({ answers: 1, bytes: first.body.length });
    await cache.get(subject, 'another', () => bytes(['x']));
    expect(cache.size(), 'there is room for both').to.have.property('answers', 2);
  });

  it('stop when no caller waits, and start again for the next caller', async () => {
    const cache = createRenderedCache();
    const subject = {};
    const gone = new Set<string>();
    let [steps, begun, released] = [0, 0, 0];
    const render = function* (): Resumable<Buffer> {
      begun += 1;
      try {
        for (let step = 0; step < 50; step += 1) {
          steps += 1;
          workFor(3);
          yield;
        }
      } finally {
        released += 1;
      }
      return Buffer.from('whole');
    };
    const ask = (caller: string) =>
      runAsRead(
        caller,
        () => gone.has(caller),
        () => cache.get(subject, 'k', render).then(String, (error: unknown) => (error as Error).name),
      );
    const both = [ask('ann'), ask('ben')];
    await until('it is under way', () => steps > 2);
    gone.add('ann');
    const before = steps;
    await until('it goes on for the other', () => steps > before + 2);
    gone.add('ben');
    expect(await Promise.all(both)).to.deep.equal(['AbandonedError', 'AbandonedError']);
    expect([steps < 50, begun, released]).to.deep.equal([true, 1, 1]);
    await ask('cid');
    expect([begun, released]).to.deep.equal([2, 2]);
  });

  it('are rendered again after a failure that all waiting callers receive', async () => {
    const cache = createRenderedCache();
    const subject = {};
    const failing = () => bytes(failingTexts());
    const both = await Promise.allSettled([cache.get(subject, 'k', failing), cache.get(subject, 'k', failing)]);
    expect(both.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect((await cache.get(subject, 'k', () => bytes(['fine']))).body.toString()).to.equal('fine');
  });

  it('have a strong tag from their body', async () => {
    const cache = createRenderedCache();
    const tag = async (...texts: string[]): Promise<string> => (await cache.get({}, 'k', () => bytes(texts))).etag;
    expect(await tag('üa')).to.equal(await tag('ü', 'a'));
    expect(await tag('ü')).to.not.equal(await tag('u'));
    for (const text of ['', 'ü', 'x'.repeat(2 ** 20 + 1)]) {
      expect(await tag(text)).to.equal(`"${createHash('sha256').update(text).digest('base64url')}"`);
    }
  });

  it('are evicted, least recently used first', async () => {
    const cache = createRenderedCache({ maxBytes: 10 });
    const subject = {};
    const rendered: string[] = [];
    const get = async (key: string, body: string): Promise<string> => {
      const content = await cache.get(subject, key, () => {
        rendered.push(key);
        return bytes([body]);
      });
      return content.body.toString();
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

describe('encoded responses', () => {
  const codings: string[] = [];
  const encode = (body: Buffer | SharedBytes, coding: string): Promise<Buffer> => {
    codings.push(coding);
    return Promise.resolve(Buffer.from(`${coding} of ${body.toString()}`));
  };
  beforeEach(() => void codings.splice(0));

  it('are encoded once for concurrent callers, and counted with their source', async () => {
    const cache = createRenderedCache();
    const answer = await cache.get({}, 'k', () => bytes(['1234']));
    expect(cache.size()).to.include({ answers: 1, bytes: 4 });
    const requested = [answer.encoded('gzip', encode), answer.encoded('gzip', encode), answer.encoded('br', encode)];
    expect((await Promise.all(requested)).map(String)).to.deep.equal(['gzip of 1234', 'gzip of 1234', 'br of 1234']);
    expect(await answer.encoded('gzip', encode)).to.equal(await requested[0]);
    expect(codings).to.deep.equal(['gzip', 'br']);
    expect(cache.size()).to.include({ answers: 1, bytes: 4 + 12 + 10 });
  });

  it('are encoded again after a failure', async () => {
    const answer = await createRenderedCache().get({}, 'k', () => bytes(['1234']));
    const failing = (): Promise<Buffer> => Promise.reject(new Error('no'));
    expect(await answer.encoded('gzip', failing).catch((error: Error) => error.message)).to.equal('no');
    expect(String(await answer.encoded('gzip', encode))).to.equal('gzip of 1234');
  });

  it('evict others, and are not counted after their source is gone', async () => {
    const cache = createRenderedCache({ maxBytes: 20 });
    const subject = {};
    const get = (key: string) => cache.get(subject, key, () => bytes([`${key}234`]));
    const [a, b] = [await get('a'), await get('b')];
    expect(cache.size()).to.include({ answers: 2, bytes: 8 });
    await b.encoded('gzip', encode);
    expect(cache.size(), 'as much as there may be').to.include({ answers: 2, bytes: 20 });
    await b.encoded('br', encode);
    expect(cache.size(), 'the oldest is gone').to.include({ answers: 1, bytes: 26 });
    await a.encoded('gzip', encode);
    expect(cache.size(), 'and no longer counted').to.include({ answers: 1, bytes: 26 });
    expect(await get('b')).to.equal(b);
    expect(await get('a')).not.to.equal(a);
    expect(cache.size()).to.include({ answers: 1, bytes: 4 });
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

function* failingTexts(): Generator<string, void, void> {
  yield 'x';
  throw new Error('no');
}
