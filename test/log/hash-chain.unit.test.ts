import { hash } from 'node:crypto';
import { expect } from 'chai';
import { eventHash } from '../support/event-hash.js';
import { GENESIS_HASH } from '../../src/log/head.js';
import type { EventRecord } from '../../src/log/read.js';
import { canonicalJson } from '../../src/kernel/canonical.js';

const EVENT: Omit<EventRecord, 'hash'> = {
  position: 1,
  id: '00000000-0000-4000-8000-000000000001',
  batch: '00000000-0000-4000-8000-000000000002',
  type: 'collection.deleted',
  version: 1,
  collection: 'a "b"',
  field: null,
  data: { b: 1, a: { d: [1, 2], c: 'ü' } },
  actor: { id: '1', name: 'Ada' },
  command: 'delete-collection',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
  occurred_at: '2026-01-01T00:00:00.000Z',
  previous_hash: GENESIS_HASH,
};

describe('eventHash', () => {
  it('is stable across releases, because stored logs depend on it', () => {
    expect(eventHash(EVENT)).to.equal('16df86354906cf99481346ce9c823899585911413a3738017ad93b4640203316');
  });

  it('is stable when optional members are absent', () => {
    expect(eventHash({ ...EVENT, context: undefined, subject: undefined })).to.equal(eventHash(EVENT));
    const all = { ...EVENT, collection: null, context: { b: 1, a: 'x' }, subject: { kind: 'log', id: '7' } };
    // sha256 of the previous hash and the event's canonical JSON, without `hash` and `previous_hash`.
    const { previous_hash, ...members } = all;
    expect(eventHash(all)).to.equal(hash('sha256', previous_hash + canonicalJson(members)));
  });

  it('does not depend on the order of members', () => {
    const data = { a: { c: 'ü', d: [1, 2] }, b: 1 };
    const actor = { name: 'Ada', id: '1' };
    expect(eventHash({ ...EVENT, data, actor })).to.equal(eventHash(EVENT));
  });

  it('covers every member', () => {
    const others: Partial<EventRecord>[] = [
      { position: 2 },
      { id: '00000000-0000-4000-8000-000000000003' },
      { batch: '00000000-0000-4000-8000-000000000003' },
      { type: 'field.deleted' },
      { version: 2 },
      { collection: 'a' },
      { field: 'f' },
      { data: {} },
      { actor: { id: '2', name: 'Ada' } },
      { command: 'other' },
      { reason: '' },
      { request_id: 'r' },
      { ip: '::1' },
      { user_agent: 'curl' },
      { occurred_at: '2026-01-01T00:00:00.001Z' },
      { previous_hash: '1'.repeat(64) },
    ];
    const more: Partial<EventRecord>[] = [
      { collection: null },
      { context: {} },
      { context: { traceparent: 'a' } },
      { subject: { kind: 'log', id: '1' } },
      { subject: { kind: 'log', id: '2' } },
    ];
    const hashes = [...others, ...more].map((other) => eventHash({ ...EVENT, ...other }));
    expect(new Set([...hashes, eventHash(EVENT)]).size).to.equal(others.length + more.length + 1);
    expect(Object.keys(EVENT)).to.have.length(others.length);
  });
});
