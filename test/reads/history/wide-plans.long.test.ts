import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { TIME_TO_COUNT } from '../../../src/projector/catalog/table-facts.js';
import { type PlannedEvents, rowsBefore, findBlockingRows } from '../../../src/reads/history/rows-before.js';
import { fold } from '../../../src/schema/fold/evolve.js';
import { initialState } from '../../../src/schema/model/state.js';
import { accept, attempt } from '../../support/given.js';

const TABLES = 8;
const COLUMNS = 1_500;

const fields = Array.from({ length: COLUMNS }, (_, index) => `f_${index}`);
const tables = Array.from({ length: TABLES }, (_, index) => `wide_${index}`);

function planOf(): PlannedEvents {
  let before = initialState();
  for (const collection of tables) {
    const columns = fields.map((field) => ({ field, type: 'integer', meta: { interface: 'input' }, schema: {} }));
    const body = { collection, schema: {}, fields: columns };
    before = accept(before, 'create-collection', { body, concurrentIndexes: false });
  }
  const body = fields.map((field) => ({ field, schema: { is_nullable: false } }));
  const events = tables.flatMap((collection) => {
    const result = attempt(before, 'update-fields', { collection, body, concurrentIndexes: false });
    if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
    return result.value;
  });
  const placed = events.map((event, index) => ({ ...event, position: before.position + index + 1 }));
  return { before, after: fold(placed, before), events };
}

describe('a plan that makes many columns NOT NULL', () => {
  let plan: PlannedEvents;

  before(() => {
    plan = planOf();
  });

  it('is checked once per column', () => {
    const rows = rowsBefore(plan, 'public');
    expect(rows('wide_0')?.column('f_7')).to.deep.include({ name: 'f_7', isNullable: true });
    expect(rows('wide_0')).to.equal(rows('wide_0'));
  });

  it('stops querying at the time limit', async () => {
    let requestCount = 0;
    // Each query takes a while, so that they exceed the time.
    const slow = {
      async query() {
        requestCount += 1;
        await setTimeout(TIME_TO_COUNT / 4);
        return [{ rows: [{ count: 0 }] }];
      },
    } as unknown as pg.Pool;
    expect(await findBlockingRows(slow, 'public', plan)).to.deep.equal([]);
    expect(requestCount).to.be.within(1, 5);
  });
});
