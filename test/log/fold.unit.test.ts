import { expect } from 'chai';
import { LogDivergedError, type Point, foldPage, createStartPoint } from '../../src/log/fold.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { UnreadableEventError } from '../../src/schema/fold/upcasting.js';
import type { StoredEvent } from '../../src/schema/model/events.js';

const HASH = 'a'.repeat(64);

const event = (position: number, previous_hash: string): StoredEvent => ({
  position,
  id: '00000000-0000-4000-8000-000000000001',
  batch: '00000000-0000-4000-8000-000000000002',
  type: 'collection.deleted',
  version: 1,
  collection: 'a',
  field: null,
  data: {},
  actor: { id: '1', name: 'Ada' },
  command: 'delete-collection',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
  salt: null,
  commitment: HASH,
  occurred_at: '2026-01-01T00:00:00.000Z',
  previous_hash,
  hash: HASH,
});

/** A point after the event at `position`. */
const at = (position: number): Point => ({
  ...createStartPoint(),
  head: { position, hash: HASH, occurred_at: '2026-01-01T00:00:00.000Z' },
});

const errorOf = (from: Point, events: StoredEvent[]): unknown => {
  try {
    runToEnd(foldPage(from, events));
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

describe('an event that does not follow its predecessor', () => {
  it('is unreadable at the beginning of the log', () => {
    const error = errorOf(createStartPoint(), [event(2, HASH)]);
    expect(error).to.be.instanceOf(UnreadableEventError);
    expect(error).to.include({ position: 1 });
  });

  it('means a diverged log after any folded position', () => {
    for (const position of [1, 7]) {
      const error = errorOf(at(position), [event(position + 1, 'b'.repeat(64))]);
      expect(error).to.be.instanceOf(LogDivergedError);
      expect(error).to.include({ position: position + 1 });
    }
  });
});
