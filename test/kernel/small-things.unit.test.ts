/** Small things that everything rests on: JSON values, texts, times, chunks of text, waiting. */
import { mock } from 'node:test';
import { expect } from 'chai';
import { bytes, emptyTexts, inChunks, withCommas } from '../../src/kernel/bytes.js';
import { createTimeSlice, mapYielding, runYielding } from '../../src/kernel/event-loop.js';
import { NotInTimeError, inTime } from '../../src/kernel/in-time.js';
import { jsonTokens } from '../../src/kernel/json-tokens.js';
import { copyJson, isObject, jsonEqual } from '../../src/kernel/json.js';
import { type Resumable, runToEnd, stepsTo, pausingEvery } from '../../src/kernel/resumable.js';
import { shareNext } from '../../src/kernel/share-next.js';
import { textFault } from '../../src/kernel/text.js';
import { isStorableTime } from '../../src/kernel/time.js';

describe('JSON values', () => {
  const EQUAL: [unknown, unknown][] = [
    [null, null],
    [1, 1],
    ['a', 'a'],
    [[], []],
    [{}, {}],
    [
      { a: 1, b: [1, { c: null }] },
      { b: [1, { c: null }], a: 1 },
    ],
  ];
  const OTHERS: [unknown, unknown][] = [
    [null, {}],
    [{}, null],
    [null, 0],
    [0, false],
    [1, '1'],
    [[], {}],
    [{}, []],
    [[1], [2]],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { toString: undefined }],
    [{ a: [1, 2, 3] }, { a: [1, 2, 4] }],
  ];
  for (const [a, b] of EQUAL)
    it(`${JSON.stringify(a)} is ${JSON.stringify(b)}`, () => expect(jsonEqual(a, b)).equal(true));
  for (const [a, b] of OTHERS) {
    it(`${JSON.stringify(a)} isn't ${JSON.stringify(b)}`, () => {
      expect(jsonEqual(a, b)).to.equal(false);
      expect(jsonEqual(b, a)).to.equal(false);
    });
  }

  it('objects are neither null nor arrays', () => {
    expect([{}, { a: 1 }].every(isObject)).to.equal(true);
    expect([null, [], 'a', 1, undefined].some(isObject)).to.equal(false);
  });

  it('are written token by token down to the third level, as JSON.stringify writes them', () => {
    const value = { a: [{ b: { c: [1] } }, 'é', undefined], left: undefined, d: {}, e: [], f: null };
    const tokens = [...jsonTokens(value)];
    expect(tokens.slice(0, 5)).to.deep.equal(['{"a":', '[', '{"b":', '{"c":[1]}', '}']);
    expect(tokens.join('')).to.equal(JSON.stringify(value));
    expect([...jsonTokens(value, 0)]).to.deep.equal([JSON.stringify(value)]);
    for (const plain of [1, 'a', null, true]) expect([...jsonTokens(plain)]).to.deep.equal([JSON.stringify(plain)]);
    expect([...jsonTokens(undefined)]).to.deep.equal(['null']);
  });

  it('copies share nothing', () => {
    const value = JSON.parse('{"__proto__": {"a": [1]}}') as { ['__proto__']: { a: number[] } };
    const copy = copyJson(value);
    expect(JSON.stringify(copy)).to.equal(JSON.stringify(value));
    expect(copy).not.to.equal(value);
  });
});

describe('text', () => {
  it('that PostgreSQL can store is fine', () => {
    for (const text of ['', 'a', '😀', '\u{10FFFF}', '\u0001']) expect(textFault(text)).to.equal(null);
  });

  it('that it can not store is named by what is wrong', () => {
    expect(textFault('a\0')).to.contain('NUL');
    for (const text of ['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d'])
      expect(textFault(text)).to.contain('surrogate');
  });
});

describe('time', () => {
  it('is stored from the first moment of the year 1 to the last of 9999', () => {
    const CASES: [string, boolean][] = [
      ['0001-01-01T00:00:00.000Z', true],
      ['0000-12-31T23:59:59.999Z', false],
      ['9999-12-31T23:59:59.999Z', true],
      ['+010000-01-01T00:00:00.000Z', false],
      ['2024-02-29T00:00:00Z', true],
      ['no time', false],
    ];
    for (const [text, storable] of CASES) expect(isStorableTime(new Date(text)), text).to.equal(storable);
  });
});

describe('chunks of text', () => {
  function* counted(texts: Iterable<string>): Resumable<number> {
    let size = 0;
    for (const text of texts) {
      size += text.length;
      yield;
    }
    return size;
  }

  it('have commas between those that are not empty', () => {
    expect([...withCommas(['', 'a', '', 'b', 'c', ''])].join('|')).to.equal('|a||,b|,c|');
    expect([...withCommas([])]).to.deep.equal([]);
  });

  it('are empty while the work on their way lasts', () => {
    const texts = emptyTexts(counted(['a', 'bc']));
    expect([texts.next(), texts.next(), texts.next()]).to.deep.equal([
      { done: false, value: '' },
      { done: false, value: '' },
      { done: true, value: 3 },
    ]);
  });

  it('are joined until they are worth it, with a pause for each chunk and every 16 texts', () => {
    const chunks: number[] = [];
    const pausesOf = (texts: string[]): number => [...inChunks(texts, (chunk) => chunks.push(chunk.length))].length;
    expect(pausesOf(Array<string>(40).fill('a'))).to.equal(2);
    expect(chunks.splice(0)).to.deep.equal([40]);
    expect(pausesOf(['a'.repeat(32_767), 'a', 'b'])).to.equal(1);
    expect(chunks.splice(0)).to.deep.equal([32_768, 1]);
    expect(pausesOf([])).to.equal(0);
    expect(chunks).to.deep.equal([0]);
  });

  it('are put together as UTF-8', () => {
    const texts = Array.from({ length: 5_000 }, (_, index) => `${index} é😀,`);
    expect(runToEnd(bytes(texts)).toString()).to.equal(texts.join(''));
  });
});

describe('work in steps', () => {
  function* threeSteps(): Resumable<{ done: string }> {
    for (let step = 0; step < 3; step++) yield;
    return { done: 'all' };
  }

  it('gives its result, in one go or with pauses', async () => {
    expect(runToEnd(threeSteps())).to.deep.equal({ done: 'all' });
    expect(runToEnd(stepsTo(threeSteps()))).to.deep.equal({ done: 'all' });
    expect(runToEnd(stepsTo({ at: 'once' }))).to.deep.equal({ at: 'once' });
    expect(await runYielding(threeSteps())).to.deep.equal({ done: 'all' });
  });

  it('pauses after every so many of what takes turns', () => {
    const pause = pausingEvery(3);
    const pauses = Array.from({ length: 7 }, () => [...pause()].length);
    expect(pauses).to.deep.equal([0, 0, 1, 0, 0, 1, 0]);
  });

  it('lets the event loop run when a slice of 2 ms is over, and not before', async () => {
    let yielded = 0;
    const slice = (isOver: boolean) => ({ isOver: () => isOver, yield: () => ((yielded += 1), Promise.resolve()) });
    await runYielding(threeSteps(), slice(false));
    expect(await mapYielding([1, 2], (each) => each * 2, slice(false))).to.deep.equal([2, 4]);
    expect(yielded).to.equal(0);
    await runYielding(threeSteps(), slice(true));
    expect(yielded).to.equal(3);
    expect(await mapYielding([1, 2], (each) => each * 2, slice(true))).to.deep.equal([2, 4]);
    expect(yielded).to.equal(5);

    let clock = 100;
    const now = mock.method(performance, 'now', () => clock);
    try {
      const own = createTimeSlice();
      clock += 1.9;
      expect(own.isOver()).to.equal(false);
      clock += 0.2;
      expect(own.isOver()).to.equal(true);
      let others = false;
      setImmediate(() => (others = true));
      await own.yield();
      expect([others, own.isOver()]).to.deep.equal([true, false]);
    } finally {
      now.mock.restore();
    }
  });
});

describe('waiting', () => {
  it('ends with the answer, its error, or the limit', async () => {
    expect(await inTime(Promise.resolve(1), 1_000)).to.equal(1);
    const failing = inTime(Promise.reject(new Error('no')), 1_000);
    expect(await failing.catch((error: Error) => error.message)).to.equal('no');
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let ended: unknown;
      void inTime(new Promise(() => undefined), 100).catch((error: unknown) => (ended = error));
      mock.timers.tick(99);
      await new Promise(setImmediate);
      expect(ended).to.equal(undefined);
      mock.timers.tick(1);
      await new Promise(setImmediate);
      expect(ended).to.be.instanceOf(NotInTimeError).with.property('message', 'no answer within 100 ms');
    } finally {
      mock.timers.reset();
    }
  });

  it('for one question is shared by all who came before it began', async () => {
    const asked: ((answer: number) => void)[] = [];
    const ask = shareNext(() => new Promise<number>((resolve) => asked.push(resolve)));
    const first = ask();
    const [second, third] = [ask(), ask()];
    expect(second).to.equal(third).and.not.equal(first);
    expect(asked).to.have.lengthOf(1);
    asked[0]?.(1);
    expect(await first).to.equal(1);
    expect(asked).to.have.lengthOf(2);
    const fourth = ask();
    expect(fourth).not.to.equal(second);
    asked[1]?.(2);
    expect(await Promise.all([second, third])).to.deep.equal([2, 2]);
    asked[2]?.(3);
    expect(await fourth).to.equal(3);
    await new Promise(setImmediate);
    void ask();
    expect(asked, 'nothing is under way any more').to.have.lengthOf(4);
  });

  it('for the next one goes on when the one before failed', async () => {
    let calls = 0;
    const ask = shareNext(() => (++calls === 1 ? Promise.reject(new Error('no')) : Promise.resolve(calls)));
    const [first, second] = [ask(), ask()];
    expect(await first.catch((error: Error) => error.message)).to.equal('no');
    expect(await second).to.equal(2);
  });
});
