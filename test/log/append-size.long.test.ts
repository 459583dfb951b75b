import { expect } from 'chai';
import { prepareEvents } from '../../src/log/append.js';
import { emptyHead } from '../../src/log/head.js';
import type { NewEvent } from '../../src/schema/model/events.js';
import { eventHash } from '../support/event-hash.js';
import { CAUSE } from '../support/instance.js';

const event = (characters: number): NewEvent => ({
  type: 'collection.updated',
  version: 1,
  collection: 'a',
  field: null,
  data: { patch: [{ op: 'replace', path: '/meta/note', value: 'x'.repeat(characters) }] },
});

/** The positions of the events in each INSERT. */
async function inserted(...lengths: number[]): Promise<number[][]> {
  const { statements } = await prepareEvents({ head: emptyHead(), events: lengths.map(event), cause: CAUSE });
  return statements.map(({ values }) =>
    (JSON.parse(String(values?.[0])) as { position: number }[]).map(({ position }) => position),
  );
}

describe('appending large events', () => {
  it('uses one INSERT for short events, and none for no events', async () => {
    expect(await inserted()).to.deep.equal([]);
    expect(await inserted(1, 1, 1)).to.deep.equal([[1, 2, 3]]);
  });

  it('splits events into INSERTs of about eight million characters, in order', async () => {
    const third = 2_700_000;
    expect(await inserted(third, third, third, third, third)).to.deep.equal([[1, 2], [3, 4], [5]]);
  });

  it('uses one INSERT for a longer event', async () => {
    expect(await inserted(1, 9_000_000, 1, 1)).to.deep.equal([[1], [2], [3, 4]]);
    expect(await inserted(9_000_000)).to.deep.equal([[1]]);
  });

  it('hashes a long event in pieces, with the same result, while other work continues', async () => {
    const patch = Array.from({ length: 20_000 }, (_, index) => ({
      op: 'replace' as const,
      path: `/meta/ä${index}`,
      value: { b: index, a: '\ud800"' },
    }));
    const long = { ...event(1), data: { patch } } as NewEvent;
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    const { events, statements } = await prepareEvents({ head: emptyHead(), events: [long], cause: CAUSE });
    clearInterval(counting);
    const [stored] = events;
    const [row] = JSON.parse(String(statements[0]?.values?.[0])) as { data: object }[];
    expect(row?.data).to.deep.equal(JSON.parse(JSON.stringify(long.data)));
    expect(stored && eventHash(stored)).to.equal(stored?.hash);
    expect(turns).to.be.at.least(2);
  });
});
