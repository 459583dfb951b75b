import { expect } from 'chai';
import { prepareEvents } from '../../src/log/append.js';
import { eventHash } from '../support/event-hash.js';
import { emptyHead } from '../../src/log/head.js';
import type { Cause, NewEvent } from '../../src/schema/model/events.js';
import { CAUSE } from '../support/instance.js';

const event = (characters: number): NewEvent => ({
  type: 'collection.updated',
  version: 1,
  collection: 'a',
  field: null,
  data: { patch: [{ op: 'replace', path: '/meta/note', value: 'x'.repeat(characters) }] },
});

describe('events before they are appended', () => {
  it('get the positions, hashes and times after the head', async () => {
    const now = new Date('2026-01-02T03:04:05.678Z');
    const head = { position: 7, hash: 'f'.repeat(64), occurred_at: null };
    const { events, head: next } = await prepareEvents({ head, events: [event(1), event(2)], cause: CAUSE, now });
    expect(events.map(({ position }) => position)).to.deep.equal([8, 9]);
    expect(events.map(({ previous_hash }) => previous_hash)).to.deep.equal([head.hash, events[0]?.hash]);
    expect(next).to.deep.equal({ position: 9, hash: events[1]?.hash, occurred_at: now.toISOString() });
    expect((await prepareEvents({ head, events: [], cause: CAUSE })).head).to.equal(head);
  });

  it('contain their origin without text that PostgreSQL cannot store', async () => {
    const now = new Date('2026-01-02T03:04:05.678Z');
    const batch = '00000000-0000-4000-8000-000000000001';
    const inserting = async (cause: Cause) => {
      const { events, statements } = await prepareEvents({ head: emptyHead(), events: [event(1)], cause, batch, now });
      return { shared: statements[0]?.values?.slice(1), stored: events[0] };
    };
    const actor = JSON.stringify(CAUSE.actor);
    const without = await inserting(CAUSE);
    expect(without.shared).to.deep.equal([
      batch,
      actor,
      'create-collection',
      null,
      null,
      null,
      null,
      null,
      now.toISOString(),
    ]);
    expect(without.stored).not.to.have.property('context');
    const context = { traceparent: 'a' };
    const output = { reason: 'a\0b', request_id: '\ud83d', ip: '::1', user_agent: 'curl \ude00😀' };
    const reported = { reason: 'a\uFFFDb', request_id: '\uFFFD', ip: '::1', user_agent: 'curl \uFFFD😀' };
    const all = await inserting({ actor: { id: '7\0', name: 'A\ud83d' }, command: 'c', ...output, context });
    expect(all.shared).to.deep.equal([
      batch,
      JSON.stringify({ id: '7\uFFFD', name: 'A\uFFFD' }),
      'c',
      ...Object.values(reported),
      JSON.stringify(context),
      now.toISOString(),
    ]);
    expect(all.stored).to.deep.include({ ...reported, context, batch, occurred_at: now.toISOString() });
    expect(all.stored?.hash).to.equal(all.stored && eventHash(all.stored));
  });

  it('are never earlier than the previous one, regardless of the clock', async () => {
    const now = new Date('2026-01-02T03:04:05.678Z');
    const timeAfter = async (occurred_at: string) =>
      (await prepareEvents({ head: { ...emptyHead(), occurred_at }, events: [event(1)], cause: CAUSE, now })).head
        .occurred_at;
    expect(await timeAfter('2026-01-02T03:04:05.679Z')).to.equal('2026-01-02T03:04:05.679Z');
    expect(await timeAfter('2026-01-02T03:04:05.677Z')).to.equal(now.toISOString());
  });
});
