import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { initialState } from '../../../src/schema/model/state.js';
import { accept } from '../../support/given.js';

const EXTRAS = {
  indexes: [
    { name: 'by_title', definition: 'USING btree (title, id)' },
    { name: 'by_id', definition: 'USING btree (id DESC)' },
  ],
  constraints: [{ name: 'short', definition: 'CHECK (length(title) < 10)' }],
};
const field = (name: string, type: string) => ({ field: name, type, meta: { interface: 'input' } });
const state = accept(initialState(), 'create-collection', {
  body: { collection: 'a', schema: { extras: EXTRAS }, fields: [field('title', 'string'), field('body', 'text')] },
  concurrentIndexes: false,
});

/** The differences from a snapshot with these fields, by table. */
function differences(fields: object[], schema: object): unknown {
  const body = {
    version: 1,
    service: '1',
    vendor: 'postgres',
    collections: [{ collection: 'a', schema }],
    fields: fields.map((each) => ({ collection: 'a', ...each })),
    relations: [],
  };
  const result = runToEnd(compareSnapshot(state, body, { force: false, mode: 'mirror', release: '1' }));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return JSON.parse(JSON.stringify(result.value.diff));
}

const ID = { field: 'id' };

describe('a column missing from a snapshot', () => {
  it('drops its indexes and checks if the snapshot omits them', () => {
    const diff = differences([ID, field('body', 'text')], {}) as Record<
      string,
      { diff: { kind: string; path: unknown[] }[] }[]
    >;
    expect(diff['fields']?.map((each) => each.diff)).to.have.length(1);
    const output = diff['collections']?.[0]?.diff.map(({ kind, path, ...rest }) => ({
      kind,
      path: path.slice(2),
      ...rest,
    }));
    const [byTitle, byId] = EXTRAS.indexes;
    expect(output, 'two became one, and that is the other').to.deep.equal([
      { kind: 'D', path: ['constraints'], lhs: EXTRAS.constraints },
      { kind: 'A', path: ['indexes'], index: 1, item: { kind: 'D', lhs: byId } },
      { kind: 'E', path: ['indexes', 0, 'name'], lhs: byTitle?.name, rhs: byId?.name },
      { kind: 'E', path: ['indexes', 0, 'definition'], lhs: byTitle?.definition, rhs: byId?.definition },
    ]);
  });

  it('keeps its indexes and checks while it exists', () => {
    const diff = differences([ID, field('title', 'string'), field('body', 'text')], {});
    expect(diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('keeps its indexes and checks when another column is dropped', () => {
    const diff = differences([ID, field('title', 'string')], {}) as Record<string, unknown[]>;
    expect(diff['collections']).to.deep.equal([]);
    expect(diff['fields']).to.have.length(1);
  });
});
