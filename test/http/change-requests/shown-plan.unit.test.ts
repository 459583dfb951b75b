import { expect } from 'chai';
import { lossesOf } from '../../../src/http/change-requests/shown-plan.js';
import type { NewEvent } from '../../../src/schema/model/events.js';

const EVENTS = [
  { type: 'collection.created', collection: 'new', field: null },
  { type: 'collection.deleted', collection: 'old', field: null },
  { type: 'field.deleted', collection: 'new', field: 'old' },
  { type: 'field.updated', collection: 'new', field: 'other' },
] as unknown as NewEvent[];

describe('what a change request would lose', () => {
  it('is what it deletes, kept in the trash unless it is purged or nothing is kept there', () => {
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
