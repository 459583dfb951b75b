import { expect } from 'chai';
import fc from 'fast-check';
import { metadataStatements, rebuildMetadata } from '../../../src/projector/metadata/rows.js';
import { sendBatch } from '../../../src/postgres/exchange.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { schemaState } from '../../support/arbitraries.js';
import { follow } from '../../support/given.js';
import { column, created, deleted, relationCreated } from '../columns.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

describe('metadata rows', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
  });
  after(() => projected.stop());

  /** With positions as relation ids, like the log. */
  const reach = (from: State, to: State): State =>
    follow(from, runToEnd(transition(from, to, new Set([...from.collections.keys(), ...to.collections.keys()]))));

  const rows = async () => ({
    collections: await projected.rows('SELECT * FROM service.service_collections ORDER BY 1'),
    fields: await projected.rows('SELECT * FROM service.service_fields ORDER BY 1, 2'),
    relations: await projected.rows('SELECT * FROM service.service_relations ORDER BY 2, 3'),
  });

  it('are the same if every event is projected twice', async () => {
    await fc.assert(
      fc.asyncProperty(schemaState, schemaState, async (first, second) => {
        const a = reach(initialState(), first);
        const b = reach(a, second);
        const write = (...states: Parameters<typeof metadataStatements>) =>
          sendBatch(projected.client, [...metadataStatements(...states)]);
        const names = new Set([...a.collections.keys(), ...b.collections.keys()]);
        await write(initialState(), a, names);
        await write(initialState(), a, names);
        await write(a, b, names);
        const once = await rows();
        await write(a, b, names);
        expect(await rows()).to.deep.equal(once);
        await write(b, initialState(), names);
        expect(await rows()).to.deep.equal({ collections: [], fields: [], relations: [] });
      }),
      { numRuns: 25 },
    );
  });

  it('are not written if they are outside the batch', async () => {
    await projected.project([created('a', [column('x', 'integer')]), created('b')]);
    const before = await projected.rows(`SELECT xmin::text, collection FROM service.service_collections ORDER BY 2`);
    await projected.project([deleted('b')]);
    const after = await projected.rows(`SELECT xmin::text, collection FROM service.service_collections ORDER BY 2`);
    expect(after).to.deep.equal(before.slice(0, 1));
    expect([...metadataStatements(projected.state(), projected.state(), ['a'])]).to.deep.equal([]);
  });

  it('take a handful of statements for any batch', () => {
    const events = Array.from({ length: 300 }, (_, index) => created(`t${index}`, [column('x', 'integer')]));
    const ties = Array.from({ length: 300 }, (_, index) => relationCreated(`t${index}.x`, 't0'));
    const state = initialState();
    const target = follow(state, [...events, ...ties]);
    expect([...metadataStatements(state, target, target.collections.keys())]).to.have.length(3);
    expect([...metadataStatements(target, state, target.collections.keys())]).to.have.length(3);
  });

  it('are restored by a rebuild, while readers see the old ones until the commit', async () => {
    await projected.become(initialState());
    await projected.project([
      created('authors'),
      created('t', [column('author', 'integer'), column('note', 'text', { default_value: "it's", comment: '\\' })]),
      relationCreated('t.author', 'authors'),
    ]);
    const right = await rows();
    await projected.rows(`UPDATE service.service_fields SET type = 'wrong'`);
    await projected.rows(`DELETE FROM service.service_relations`);
    await projected.rows(`INSERT INTO service.service_collections VALUES ('phantom', '{}', NULL)`);
    await projected.rows(
      `INSERT INTO service.service_fields SELECT (jsonb_populate_record(f, '{"field": "phantom"}')).* FROM service.service_fields f WHERE field = 'note'`,
    );
    await projected.client.query('BEGIN');
    expect(await rebuildMetadata(projected.client, projected.state(), 'public')).to.deep.equal({
      collections: 2,
      fields: 4,
      relations: 1,
    });
    const { rows: seen } = await projected.pool.query(`SELECT FROM service.service_fields WHERE type = 'wrong'`);
    expect(seen).to.have.length(5);
    await projected.client.query('COMMIT');
    expect(await rows()).to.deep.equal(right);
    await projected.expectVerified();
  });
});
