import { expect } from 'chai';
import { lossesOf } from '../../../src/http/change-requests/shown-plan.js';
import type { NewEvent } from '../../../src/schema/model/events.js';

const EVENTS = [
  { type: 'collection.created', collection: 'new', field: null },
  { type: 'collection.deleted', collection: 'old', field: null },
  { type: 'field.deleted', collection: 'new', field: 'old' },
  { type: 'field.updated', collection: 'new', field: 'other' },
] as unknown as NewEvent[];

describe('the losses of a change request', () => {
  it('are its deletions, kept in the trash unless purged or without retention', () => {
    for (const [purge, keepDeleted, kept] of [
      [false, 1, true],
      [false, 0, false],
      [true, 1, false],
      [true, 0, false],
    ] as const) {
      expect(lossesOf({ events: EVENTS, purge }, keepDeleted)).to.deep.equal([
        { collection: 'old', field: null, kept },
        { collection: 'new', field: 'old', kept },
      ]);
    }
  });
});
