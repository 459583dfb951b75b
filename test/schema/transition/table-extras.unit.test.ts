import { expect } from 'chai';
import type { TableSchema } from '../../../src/schema/model/model.js';
import {
  withExtras,
  withNeeds,
  withoutColumns,
  withoutConstraints,
  withoutOthers,
  withoutReferences,
} from '../../../src/schema/transition/cascade.js';

const CHECK = { name: 'positive', definition: 'CHECK ((rank > 0))' };
const KEY = { name: 'to_authors', definition: 'FOREIGN KEY (author) REFERENCES authors(id)', references: 'authors' };
const INDEX = { name: 'ranked', definition: 'USING btree (rank, title)' };
const OTHER = { name: 'titled', definition: 'USING btree (title)' };
const OWNED = { kind: 'sequence', name: 'numbers', owned_by: 'rank' } as const;
const FREE = { kind: 'sequence', name: 'letters' } as const;
const ENUM = { kind: 'enum', name: 'mood', labels: ['sad'] } as const;

const extras = { constraints: [CHECK, KEY], indexes: [INDEX, OTHER], needs: [OWNED, FREE, ENUM] };
const FULL = { comment: 'c', extras } as unknown as TableSchema;
const BARE: TableSchema = { comment: null };

describe('updating the extras of a table', () => {
  it('drops foreign keys to dropped tables', () => {
    expect(withoutReferences(FULL, (name) => name === 'authors')).to.deep.equal({
      comment: 'c',
      extras: { ...extras, constraints: [CHECK] },
    });
    expect(withoutReferences(FULL, (name) => name === 'others')).to.equal(FULL);
    expect(withoutReferences(BARE, () => true)).to.equal(BARE);
  });

  it('drops removed constraints, and the list with the last one', () => {
    expect(withoutConstraints(FULL, () => true).extras).to.deep.equal({ indexes: extras.indexes, needs: extras.needs });
    expect(withoutConstraints(FULL, () => false)).to.equal(FULL);
    const single: TableSchema = { comment: 'c', extras: { constraints: [CHECK] } };
    expect(withoutConstraints(single, () => true)).to.deep.equal({ comment: 'c' });
  });

  it('drops what names a dropped column', () => {
    const without = (column: string): TableSchema => withoutColumns(FULL, (each) => each === column);
    expect(without('rank').extras).to.deep.equal({ constraints: [KEY], indexes: [OTHER], needs: [FREE, ENUM] });
    expect(without('author').extras).to.deep.equal({ ...extras, constraints: [CHECK] });
    expect(without('title').extras).to.deep.equal({ constraints: extras.constraints, needs: extras.needs });
    expect(without('id')).to.equal(FULL);
    expect(withoutColumns(BARE, () => true)).to.equal(BARE);
    const sequence = { comment: null, extras: { needs: [OWNED] } } as unknown as TableSchema;
    expect(withoutColumns(sequence, (each) => each === 'rank')).to.deep.equal(BARE);
  });

  it('drops unwanted constraints and indexes', () => {
    const desired = (more: object): TableSchema => ({ comment: 'c', extras: more });
    expect(withoutOthers(FULL, FULL)).to.equal(FULL);
    expect(withoutOthers(FULL, desired({ ...extras, indexes: [OTHER] })).extras).to.deep.equal({
      ...extras,
      indexes: [OTHER],
    });
    const changed = { ...CHECK, definition: 'CHECK ((rank > 1))' };
    expect(withoutOthers(FULL, desired({ ...extras, constraints: [changed, KEY] })).extras).to.deep.equal({
      ...extras,
      constraints: [KEY],
    });
    expect(withoutOthers(FULL, BARE).extras).to.deep.equal({ needs: extras.needs });
    expect(withoutOthers(BARE, FULL)).to.equal(BARE);
  });

  it('adds the types and sequences that the target needs', () => {
    expect(withNeeds(FULL, FULL)).to.equal(FULL);
    expect(withNeeds(FULL, BARE)).to.equal(FULL);
    expect(withNeeds(BARE, FULL)).to.deep.equal({ comment: null, extras: { needs: extras.needs } });
    const [domain] = [{ kind: 'domain', name: 'mood', type: 'text' } as const];
    const desired = { comment: 'c', extras: { needs: [ENUM, domain] } } as unknown as TableSchema;
    expect(withNeeds(FULL, desired).extras?.needs).to.deep.equal([OWNED, FREE, ENUM, domain]);
  });

  it('yields none if all are empty', () => {
    expect(withExtras(FULL, { constraints: [], indexes: [] })).to.deep.equal({ comment: 'c' });
    expect(withExtras(FULL, { constraints: [], partition_by: 'LIST (a)' })).to.deep.equal({
      comment: 'c',
      extras: { partition_by: 'LIST (a)' },
    });
  });
});
