import { expect } from 'chai';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import {
  type Objects,
  catalogConstraint,
  catalogColumn,
  catalogIndex,
  catalogReference,
  catalogSequence,
} from '../catalog-tables.js';
import { column, relationCreated } from '../columns.js';
import { type Compared, ID, KEY, differences, text, there } from './compared.js';
describe('a table equal to the log', () => {
  const same: [string, Compared][] = [
    [
      'with constraints and indexes that are not managed',
      {
        extras: {
          unmanaged: [
            { kind: 'constraint', name: 'c' },
            { kind: 'index', name: 'i' },
          ],
        },
        table: {
          constraints: [KEY, catalogConstraint('c', 'check')],
          indexes: [catalogIndex('i', ['id'])],
        },
      },
    ],
    [
      'with the indexes of its constraints',
      { table: { indexes: [catalogIndex('t_pkey', ['id'], { unique: true, constraint: 't_pkey' })] } },
    ],
    [
      'with an index that is still to be built',
      { fields: [text({ is_indexed: true })], columns: [there()], pending: ['a'] },
    ],
    [
      'with an index that is being built',
      {
        fields: [text({ is_indexed: true })],
        columns: [there()],
        table: { indexes: [catalogIndex('t_a_index', ['a'], { valid: false })] },
        pending: ['a'],
      },
    ],
    [
      'with what is kept in words',
      {
        extras: {
          primary_key: { name: 't_pkey', columns: ['id'], definition: 'PRIMARY KEY (id) INCLUDE (id)' },
          constraints: [{ name: 'c', definition: 'CHECK ((id > 0))' }],
          indexes: [
            { name: 'i', unique: true, definition: 'USING btree (id, id)' },
            { name: 'j', definition: 'USING hash (id)' },
          ],
        },
        table: {
          constraints: [
            { ...KEY, definition: 'PRIMARY KEY (id) INCLUDE (id)' },
            catalogConstraint('c', 'check', { columns: ['id'], definition: 'CHECK ((id > 0))' }),
          ],
          indexes: [
            catalogIndex('i', ['id', 'id'], { unique: true }),
            catalogIndex('j', ['id'], { method: 'hash', tail: 'USING hash (id)', plain: false }),
          ],
        },
      },
    ],
    [
      'with relations, of which one waits for the end and one points at the service',
      {
        fields: [column('a', 'integer'), column('u', 'uuid')],
        relations: [
          relationCreated('t.a', 'other', { deferrable: 'INITIALLY DEFERRED' }),
          relationCreated('t.u', 'service_users', { on_delete: 'SET NULL' }),
        ],
        columns: [catalogColumn('a', 'integer'), catalogColumn('u', 'uuid')],
        table: {
          constraints: [
            KEY,
            catalogReference('t_a_foreign', 'a', 'other', { deferrable: true, initiallyDeferred: true }),
            catalogReference('t_u_foreign', 'u', 'service_users', {
              references: {
                schema: null,
                table: 'service_users',
                columns: ['id'],
                onUpdate: 'NO ACTION',
                onDelete: 'SET NULL',
                match: 'simple',
              },
            }),
          ],
        },
      },
    ],
  ];
  for (const [words, compared] of same) {
    it(words, () => {
      expect(differences(compared)).to.deep.equal([]);
    });
  }
});

describe('a table that differs from the log', () => {
  const other: [string, Compared, ...unknown[][]][] = [
    ['by a comment', { table: { comment: 'x' } }, [null, 'schema.comment', null, 'x']],
    [
      'by a check',
      { table: { constraints: [KEY, catalogConstraint('c', 'check', { columns: ['id'], definition: 'CHECK (id)' })] } },
      ['id', 'constraint c', null, { kind: 'check', columns: ['id'], definition: 'CHECK (id)' }],
    ],
    [
      'by parts of the log that went, by names that were left out once',
      {
        fields: [text({ is_unique: true, is_indexed: true })],
        extras: {
          unmanaged: [
            { kind: 'constraint', name: 't_a_unique' },
            { kind: 'index', name: 't_a_index' },
          ],
        },
        columns: [there()],
        table: {
          constraints: [KEY, catalogConstraint('t_a_unique', 'check', { definition: 'CHECK (a)' })],
          indexes: [catalogIndex('t_a_index', ['a'], { method: 'hash' })],
        },
      },
      [
        'a',
        'constraint t_a_unique',
        { kind: 'unique', columns: ['a'] },
        { kind: 'check', columns: [], definition: 'CHECK (a)' },
      ],
      [
        'a',
        'index t_a_index',
        { method: 'btree', unique: false, valid: true, columns: ['a'] },
        { method: 'hash', unique: false, valid: true, columns: ['a'] },
      ],
    ],
    [
      'by a key in words',
      {
        extras: { primary_key: { name: 't_pkey', columns: ['id'], definition: 'PRIMARY KEY (id) INCLUDE (a)' } },
        table: { constraints: [{ ...KEY, definition: 'PRIMARY KEY (id)' }] },
      },
      [null, 'constraint t_pkey', { definition: 'PRIMARY KEY (id) INCLUDE (a)' }, { definition: 'PRIMARY KEY (id)' }],
    ],
    [
      'by an index that failed',
      {
        fields: [text({ is_indexed: true })],
        columns: [there()],
        table: { indexes: [catalogIndex('t_a_index', ['a'], { valid: false })] },
      },
      [
        'a',
        'index t_a_index',
        { method: 'btree', unique: false, valid: true, columns: ['a'] },
        { method: 'btree', unique: false, valid: false, columns: ['a'] },
      ],
    ],
    [
      'by an index of two columns',
      { table: { indexes: [catalogIndex('i', ['id', 'a'])] } },
      [
        null,
        'index i',
        null,
        { method: 'btree', unique: false, valid: true, columns: ['id', 'a'], definition: 'USING btree (id, a)' },
      ],
    ],
    [
      'by an index in words that is unique no more',
      {
        extras: { indexes: [{ name: 'i', unique: true, definition: 'USING btree (id)' }] },
        table: { indexes: [catalogIndex('i', ['id'])] },
      },
      [
        null,
        'index i',
        { unique: true, valid: true, definition: 'USING btree (id)' },
        { unique: false, valid: true, definition: 'USING btree (id)' },
      ],
    ],
    [
      'by a unique constraint that waits',
      {
        fields: [text({ is_unique: true })],
        columns: [there()],
        table: { constraints: [KEY, catalogConstraint('t_a_unique', 'unique', { columns: ['a'], deferrable: true })] },
      },
      [
        'a',
        'constraint t_a_unique',
        { kind: 'unique', columns: ['a'] },
        { kind: 'unique', columns: ['a'], deferrable: 'INITIALLY IMMEDIATE' },
      ],
    ],
    [
      'by an exclusion of two columns that was not validated',
      {
        table: {
          constraints: [
            KEY,
            catalogConstraint('x', 'exclusion', {
              columns: ['id', 'a'],
              definition: 'EXCLUDE (id WITH =, a WITH =)',
              validated: false,
              deferrable: true,
              initiallyDeferred: true,
            }),
          ],
        },
      },
      [
        null,
        'constraint x',
        null,
        {
          kind: 'exclusion',
          columns: ['id', 'a'],
          definition: 'EXCLUDE (id WITH =, a WITH =)',
          validated: false,
          deferrable: 'INITIALLY DEFERRED',
        },
      ],
    ],
    [
      'by a key of two columns',
      {
        fields: [column('id', 'integer', { is_primary_key: true, is_nullable: false })],
        extras: { primary_key: { name: 'k', columns: ['id', 'a'] } },
        columns: [],
        table: { columns: [{ ...ID, identity: null }] },
      },
      [null, 'constraint k', { kind: 'primary key', columns: ['id', 'a'] }, null],
      ['id', 'constraint t_pkey', null, { kind: 'primary key', columns: ['id'] }],
    ],
    [
      'by a constraint in words',
      {
        extras: { constraints: [{ name: 'c', definition: 'CHECK ((id > 0))' }] },
        table: { constraints: [KEY, catalogConstraint('c', 'check', { definition: 'CHECK ((id > 1))' })] },
      },
      [null, 'constraint c', { definition: 'CHECK ((id > 0))' }, { definition: 'CHECK ((id > 1))' }],
    ],
    ['by how it is divided', { table: { partitionKey: 'LIST (a)' } }, [null, 'partition_by', null, 'LIST (a)']],
    [
      'by being a part',
      { table: { partitionOf: { schema: 'public', table: 'p', bound: 'DEFAULT' } } },
      [null, 'partition_of', null, { table: 'p', bound: 'DEFAULT' }],
    ],
  ];
  for (const [words, compared, ...expected] of other) {
    it(words, () => {
      expect(differences(compared)).to.deep.equal(expected);
    });
  }
});

describe('the needs of a table', () => {
  const needed = (needs: TableExtras['needs'], objects: Objects = {}): unknown[] =>
    differences({ extras: { needs: needs ?? [] }, objects });
  const libc = { provider: 'libc', locale: 'C' } as const;

  it('may exist without being used', () => {
    expect(
      needed(
        [
          { kind: 'extension', name: 'citext' },
          { kind: 'collation', name: 'c', ...libc },
          { kind: 'enum', name: 'e', labels: ['x'] },
          { kind: 'domain', name: 'd', type: 'text' },
          { kind: 'sequence', name: 's', start: '3' },
        ],
        {
          extensions: ['citext'],
          collations: new Map([['c', libc]]),
          typeNames: ['e', 'd'],
          sequences: [catalogSequence('s', 'bigint', { start: '3' })],
        },
      ),
    ).to.deep.equal([]);
  });

  it('are matched by name among the used ones', () => {
    const uses = ['r', 's'].map((what) => ({
      kind: 'default' as const,
      name: 'a',
      uses: 'sequence' as const,
      extension: null,
      schema: 'public',
      what,
    }));
    const sequences = [catalogSequence('r', 'bigint'), catalogSequence('s', 'bigint', { cache: '2' })];
    expect(needed([{ kind: 'sequence', name: 's', cache: '2' }], { uses, sequences })).to.deep.equal([]);
  });

  it('are reported if they are missing', () => {
    expect(
      needed([
        { kind: 'extension', name: 'citext' },
        { kind: 'collation', name: 'c', ...libc },
        { kind: 'enum', name: 'e', labels: ['x'] },
        { kind: 'sequence', name: 's' },
      ]),
    ).to.deep.equal([
      [null, 'extension citext', { kind: 'extension', name: 'citext' }, null],
      [null, 'collation c', { kind: 'collation', name: 'c', ...libc }, null],
      [null, 'enum e', { kind: 'enum', name: 'e', labels: ['x'] }, null],
      [null, 'sequence s', { kind: 'sequence', name: 's' }, null],
    ]);
  });

  it('are reported if they differ', () => {
    expect(
      needed([{ kind: 'sequence', name: 's' }], { sequences: [catalogSequence('s', 'bigint', { cache: '5' })] }),
    ).to.deep.equal([
      [null, 'sequence s', { kind: 'sequence', name: 's' }, { kind: 'sequence', name: 's', cache: '5' }],
    ]);
    expect(
      needed([{ kind: 'collation', name: 'c', ...libc }], {
        collations: new Map([['c', { provider: 'icu', locale: 'C' }]]),
      }),
    ).to.deep.equal([
      [
        null,
        'collation c',
        { kind: 'collation', name: 'c', ...libc },
        { kind: 'collation', name: 'c', provider: 'icu', locale: 'C' },
      ],
    ]);
  });
});
