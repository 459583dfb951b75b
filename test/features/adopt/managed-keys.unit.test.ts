import { expect } from 'chai';
import { completeKeys, waitingTables } from '../../../src/projector/inspect/keys.js';
import type { CatalogConstraint, CatalogTable } from '../../../src/projector/catalog/model.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import {
  catalogColumn,
  catalogConstraint,
  catalogObjects,
  catalogReference,
  catalogTable,
} from '../../projector/catalog-tables.js';
import { column, created, relationCreated, tableOf } from '../../projector/columns.js';

const OTHER = catalogTable('other', {
  columns: [catalogColumn('id', 'integer')],
  constraints: [catalogConstraint('other_pkey', 'primary key', { columns: ['id'] })],
});
const LEFT: TableExtras = { unmanaged: [{ kind: 'constraint', name: 'f' }] };

interface ManagedInput {
  extras?: TableExtras;
  constraints?: CatalogConstraint[];
  columns?: CatalogTable['columns'];
  together?: CatalogTable[];
  more?: NewEvent[];
}

function completed({ extras = LEFT, constraints, columns, together = [OTHER], more = [] }: ManagedInput = {}) {
  const state = follow(initialState(), [
    created('t', [column('a', 'integer'), column('b', 'integer')], { extras }),
    ...more,
  ]);
  const table = catalogTable('t', {
    columns: columns ?? ['id', 'a', 'b'].map((name) => catalogColumn(name, 'integer')),
    constraints: constraints ?? [catalogReference('f', 'a', 'other')],
  });
  const common = { schema: 'public', objects: catalogObjects(), state, notes: [] };
  const result = completeKeys([table, OTHER], {
    ...common,
    together: new Map(together.map((each) => [each.name, each])),
  });
  return {
    waiting: waitingTables(state),
    relations: result.relations.map(({ many_field, one_collection }) => `${many_field} -> ${one_collection}`),
    collections: result.collections.map(({ collection, schema }) => [collection, schema?.extras ?? null]),
    notes: common.notes.map(({ message }) => message),
  };
}

describe('a foreign key that waited for its target', () => {
  it('becomes a relation when its target is managed', () => {
    expect(completed()).to.deep.equal({
      waiting: ['t'],
      relations: ['a -> other'],
      collections: [['t', null]],
      notes: [],
    });
  });

  it('becomes a definition in the extras, ordered by name, if it is not a relation', () => {
    const two = catalogReference('f', 'a', 'other', {
      columns: ['a', 'b'],
      definition: 'FOREIGN KEY (a, b) REFERENCES other(id, x)',
    });
    const extras: TableExtras = {
      constraints: [{ name: 'z', definition: 'CHECK ((a > 0))' }],
      unmanaged: [
        { kind: 'constraint', name: 'f' },
        { kind: 'constraint', name: 'g' },
        { kind: 'index', name: 'f' },
      ],
    };
    const there = [two, catalogConstraint('g', 'check', { definition: 'CHECK (f(a))' })];
    expect(completed({ extras, constraints: there })).to.deep.equal({
      waiting: ['t'],
      relations: [],
      collections: [
        [
          't',
          {
            constraints: [
              { name: 'f', definition: two.definition, references: 'other' },
              { name: 'z', definition: 'CHECK ((a > 0))' },
            ],
            unmanaged: [
              { kind: 'constraint', name: 'g' },
              { kind: 'index', name: 'f' },
            ],
          },
        ],
      ],
      notes: [],
    });
  });

  it('is left out and noted if it is unsupported', () => {
    const hidden = catalogReference('f', 'a', 'other', {
      columns: ['a', 'b'],
      definition: 'FOREIGN KEY (a, b) REFERENCES elsewhere.other(id, x)',
    });
    expect(completed({ constraints: [hidden] })).to.deep.equal({
      waiting: ['t'],
      relations: [],
      collections: [],
      notes: [
        'constraint "f" references a table that another table with the same name hides: it stays unchanged and is not included in snapshots',
      ],
    });
    const unknown = catalogReference('f', 'c', 'other', { columns: ['a', 'c'] });
    expect(completed({ constraints: [unknown] }).notes).to.deep.equal([
      'constraint "f" is on a column of t that the log does not contain: it stays unchanged and is not included in snapshots',
    ]);
  });

  it('keeps waiting if its target is not adopted, and ends if it was dropped', () => {
    expect(completed({ together: [] })).to.deep.include({ relations: [], collections: [] });
    expect(completed({ constraints: [] })).to.deep.include({ relations: [], collections: [['t', null]] });
    expect(completed({ extras: {} })).to.deep.equal({ waiting: [], relations: [], collections: [], notes: [] });
    const index: TableExtras = { unmanaged: [{ kind: 'index', name: 'f' }] };
    expect(completed({ extras: index })).to.deep.include({ waiting: [], relations: [], collections: [] });
  });

  it('must be one that the log left out, and no other key of the table', () => {
    const constraints = [catalogReference('f', 'a', 'other'), catalogReference('z', 'b', 'other')];
    expect(completed({ constraints })).to.deep.equal(completed());
    const here = catalogReference('f', 'a', 'other').references;
    const other = catalogReference('f', 'a', 'other', { references: here && { ...here, schema: 'elsewhere' } });
    expect(completed({ constraints: [other] })).to.deep.equal({
      waiting: ['t'],
      relations: [],
      collections: [],
      notes: [],
    });
    // An object with the same name in the log is the same object.
    const known = relationCreated('t.b', 'more', { constraint_name: 'f' });
    expect(completed({ more: [created('more'), known] })).to.deep.include({ relations: [], collections: [] });
    const unknown = catalogReference('f', 'c', 'other');
    expect(completed({ constraints: [unknown] })).to.deep.include({ relations: [], collections: [] });
    expect(completed({ constraints: [unknown] }).notes).to.have.length(1);
    expect(completed({ constraints: [unknown], together: [], more: [created('other')] }).notes).to.deep.equal([]);
  });

  it('references a managed table, and no folder', () => {
    expect(completed({ together: [], more: [created('other')] }).relations).to.deep.equal(['a -> other']);
    const folder = { ...created('other'), data: { collection: tableOf('other', null), fields: [] } } as NewEvent;
    expect(completed({ together: [], more: [folder] })).to.deep.include({ relations: [], collections: [] });
  });

  it('is not a second relation of its column, and needs the same column type', () => {
    const kept = [
      ['t', { constraints: [{ name: 'f', definition: 'FOREIGN KEY (a) REFERENCES other(id)', references: 'other' }] }],
    ];
    const more = [created('more'), relationCreated('t.a', 'more')];
    expect(completed({ more })).to.deep.include({ relations: [], collections: kept });
    const together = [{ ...OTHER, columns: [catalogColumn('id', 'uuid')] }];
    const columns = [catalogColumn('id', 'integer'), catalogColumn('a', 'uuid'), catalogColumn('b', 'integer')];
    expect(completed({ columns, together })).to.deep.include({ relations: [], collections: kept });
  });
});
