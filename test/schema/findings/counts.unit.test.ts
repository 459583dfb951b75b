/** The number of findings for whole new schemas: noisy rules become visible here. */
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { initialState } from '../../../src/schema/model/state.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { readReleaseLog } from '../../support/release-log.js';
import { LIBRARY, edit } from './diffs.js';

/** The level, the code, and the number of locations. */
function countsOf(snapshot: object): string[] {
  const full = { ...structuredClone(snapshot), version: 1, service: '0.1.0', vendor: 'postgres' };
  const { findings } = edit(initialState(), (empty) => Object.assign(empty, full));
  return findings.map(({ code, level, places = [''] }) => `${level} ${code} ${places.length}`).sort();
}

describe('findings of whole schemas', () => {
  it('are empty for a small plain schema', () => {
    expect(countsOf(runToEnd(snapshotOf(LIBRARY, '0.1.0')))).to.deep.equal([]);
  });

  it('have one entry per code, and one for each table without a key', () => {
    expect(countsOf(readReleaseLog('0.1.0').snapshots.at(-1)?.snapshot ?? {})).to.deep.equal([
      'note CASCADE_DELETES 1',
      'note CREATES_EXTENSION 1',
      'note CREATES_TYPE 1',
      'note FOREIGN_KEY_WITHOUT_INDEX 10',
      'note JSON_NOT_JSONB 2',
      'note KEY_MAY_OVERFLOW 12',
      'note NAME_NEEDS_QUOTES 10',
      'note RESERVED_NAME 4',
      'note SERIAL_COLUMN 4',
      'note TIME_WITHOUT_ZONE 1',
      'warn NO_PRIMARY_KEY 1',
      'warn NO_PRIMARY_KEY 1',
      'warn NO_PRIMARY_KEY 1',
      'warn NO_PRIMARY_KEY 1',
    ]);
  });
});
