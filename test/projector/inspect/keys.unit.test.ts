import { expect } from 'chai';
import type { CatalogConstraint, CatalogTable } from '../../../src/projector/catalog/model.js';
import type { Use } from '../../../src/projector/catalog/objects.js';
import type { ColumnParts } from '../../../src/projector/inspect/column.js';
import { keysOf } from '../../../src/projector/inspect/keys.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import { type ConversionInput, converting } from './converting.js';
import { catalogColumn, catalogConstraint, catalogIndex, catalogReference } from '../catalog-tables.js';

const COLUMNS = ['id', 'a', 'b'].map((name) => catalogColumn(name, 'integer'));

interface ExpectedKeys {
  /** Keyed by column. */
  parts?: Record<string, Partial<ColumnParts>>;
  extras?: Partial<TableExtras>;
  notes?: string[];
}

const NOTHING = { is_unique: false, is_indexed: false, is_primary_key: false, names: {} };

/** The result for the table. */
function keys(
  table: Partial<CatalogTable>,
  input: ConversionInput = {},
  others: CatalogConstraint[] = [],
): Required<ExpectedKeys> {
  const context = converting({ columns: COLUMNS, ...table }, input);
  const { parts, extras } = keysOf(context, others);
  const output = [...parts].filter(([, each]) => JSON.stringify(each) !== JSON.stringify(NOTHING));
  return {
    parts: Object.fromEntries(output),
    extras,
    notes: context.notes.map(({ table: of, kind, name, code, message }) => `${of} ${kind} ${name} ${code}: ${message}`),
  };
}

function expectKeys(expected: ExpectedKeys, ...reported: Parameters<typeof keys>): void {
  const parts = Object.entries(expected.parts ?? {}).map(([name, each]) => [name, { ...NOTHING, ...each }] as const);
  expect(keys(...reported)).to.deep.equal({
    parts: Object.fromEntries(parts),
    extras: { constraints: [], indexes: [], unmanaged: [], ...expected.extras },
    notes: expected.notes ?? [],
  });
}

const key = (name: string, columns: string[], definition = `PRIMARY KEY (${columns.join(', ')})`) =>
  catalogConstraint(name, 'primary key', { columns, definition });
const unique = (name: string, columns: string[], more: Partial<CatalogConstraint> = {}) =>
  catalogConstraint(name, 'unique', { columns, definition: `UNIQUE (${columns.join(', ')})`, ...more });
const check = (name: string, definition: string) => catalogConstraint(name, 'check', { definition });
const use = (kind: Use['kind'], name: string, what: string): Use => ({
  kind,
  name,
  uses: 'function',
  extension: null,
  schema: null,
  what,
});
const STAYS = 'it stays unchanged and is not included in snapshots';

describe('the primary key of a table', () => {
  it('belongs to its field if it has one column, with its name if custom', () => {
    expectKeys({ parts: { id: { is_primary_key: true, is_unique: true } } }, { constraints: [key('t_pkey', ['id'])] });
    expectKeys(
      { parts: { id: { is_primary_key: true, is_unique: true, names: { primary_key_name: 'k' } } } },
      { constraints: [key('k', ['id'])] },
    );
  });

  it('belongs to the table if it has two columns', () => {
    const both = { is_primary_key: true, is_unique: true };
    expectKeys(
      { parts: { a: both, b: both }, extras: { primary_key: { name: 't_pkey', columns: ['b', 'a'] } } },
      { constraints: [key('t_pkey', ['b', 'a'])] },
    );
  });

  it('is stored as a definition if it has further properties', () => {
    const definition = 'PRIMARY KEY (id) DEFERRABLE';
    expectKeys(
      {
        parts: { id: { is_primary_key: true, is_unique: true } },
        extras: { primary_key: { name: 't_pkey', columns: ['id'], definition } },
      },
      { constraints: [key('t_pkey', ['id'], definition)] },
    );
  });

  it('stays in its present representation', () => {
    const parts = { id: { is_primary_key: true, is_unique: true } };
    const constraints = [key('k', ['id'])];
    const known = (primary_key: NonNullable<TableExtras['primary_key']>): ConversionInput => ({
      like: { extras: { primary_key } },
    });
    expectKeys(
      { parts, extras: { primary_key: { name: 'k', columns: ['id'] } } },
      { constraints },
      known({ name: 'k', columns: ['id'] }),
    );
    expectKeys(
      { parts, extras: { primary_key: { name: 'k', columns: ['id'], definition: 'PRIMARY KEY (id)' } } },
      { constraints },
      known({ name: 'k', columns: ['id'], definition: 'x' }),
    );
    expectKeys(
      { parts: { id: { ...parts.id, names: { primary_key_name: 'k' } } } },
      { constraints },
      known({ name: 'other', columns: ['id'], definition: 'x' }),
    );
  });
});

describe('unique constraints', () => {
  it('belong to their field if they have one column, preferring the default name', () => {
    expectKeys({ parts: { a: { is_unique: true } } }, { constraints: [unique('t_a_unique', ['a'])] });
    expectKeys(
      { parts: { a: { is_unique: true, names: { unique_name: 'u' } } } },
      { constraints: [unique('u', ['a'])] },
    );
    expectKeys(
      { parts: { a: { is_unique: true } }, extras: { constraints: [{ name: 'a_first', definition: 'UNIQUE (a)' }] } },
      { constraints: [unique('a_first', ['a']), unique('t_a_unique', ['a'])] },
    );
    expectKeys(
      {
        parts: { id: { is_primary_key: true, is_unique: true } },
        extras: { constraints: [{ name: 'a', definition: 'UNIQUE (id)' }] },
      },
      { constraints: [unique('a', ['id']), key('t_pkey', ['id'])] },
    );
  });

  it('belong to the table if they have further properties', () => {
    const more: Partial<CatalogConstraint>[] = [
      { definition: 'UNIQUE (a) INCLUDE (b)' },
      { definition: 'UNIQUE NULLS NOT DISTINCT (a)' },
      { definition: 'UNIQUE (a) DEFERRABLE', deferrable: true },
      { definition: 'UNIQUE (a, b)', columns: ['a', 'b'] },
    ];
    for (const each of more) {
      const constraint = unique('t_a_unique', ['a'], each);
      const kept = { name: constraint.name, definition: constraint.definition };
      expectKeys({ extras: { constraints: [kept] } }, { constraints: [constraint] });
    }
  });

  it('remain definitions if they are stored as definitions', () => {
    expectKeys(
      { extras: { constraints: [{ name: 'u', definition: 'UNIQUE (a)' }] } },
      { constraints: [unique('u', ['a'])] },
      { like: { extras: { constraints: [{ name: 'u', definition: 'UNIQUE (a)' }] } } },
    );
  });
});

describe('other constraints', () => {
  it('belong to the table, by name', () => {
    expectKeys(
      {
        extras: {
          constraints: [
            { name: 'a', definition: 'EXCLUDE USING btree (a WITH =)' },
            { name: 'b', definition: 'CHECK ((a > 0))' },
          ],
        },
      },
      {
        constraints: [
          check('b', 'CHECK ((a > 0))'),
          catalogConstraint('a', 'exclusion', { definition: 'EXCLUDE USING btree (a WITH =)' }),
        ],
      },
    );
  });

  it('are left out and noted if they use unsupported objects', () => {
    const left = (name: string, why: string): ExpectedKeys => ({
      extras: { unmanaged: [{ kind: 'constraint', name }] },
      notes: [`t constraint ${name} CONSTRAINT_NOT_REPRESENTED: constraint "${name}" ${why}: ${STAYS}`],
    });
    const constraints = [check('c', 'CHECK (f(a))')];
    expectKeys(
      left('c', 'uses function f(integer)'),
      { constraints },
      { objects: { uses: [use('constraint', 'c', 'function f(integer)')] } },
    );
    expectKeys(
      left('c', 'uses operator @@(a)'),
      { constraints },
      { objects: { uses: [use('index', 'c', 'operator @@(a)')] } },
    );
    expectKeys(
      left('c', 'is left out of the log'),
      { constraints: [check('c', 'CHECK ((a > 0))')] },
      { like: { extras: { unmanaged: [{ kind: 'constraint', name: 'c' }] } } },
    );
    expect(keys({ constraints: [check('c', 'CHECK (f(a))')] }).extras).to.deep.include({
      constraints: [],
      unmanaged: [{ kind: 'constraint', name: 'c' }],
    });
    expect(keys({ constraints: [check('c', 'nonsense')] }).extras).to.deep.include({
      constraints: [],
      unmanaged: [{ kind: 'constraint', name: 'c' }],
    });
  });

  it('are compared with the constraint that the log has under the same name', () => {
    const like = { extras: { constraints: [{ name: 'c', definition: 'CHECK ((a > 0))' }] } };
    const converted = keys({ constraints: [check('c', 'nonsense')] }, { like });
    expect(converted.extras).to.deep.include({ constraints: [], unmanaged: [{ kind: 'constraint', name: 'c' }] });
    expect(converted.notes).to.have.length(1);
    const kept = { name: 'c', definition: 'CHECK (f(a))' };
    expectKeys({ extras: { constraints: [kept] } }, { constraints: [check('c', 'CHECK (f(a))')] }, { like });
  });

  it('are kept if they use objects of an extension', () => {
    const uses = [{ ...use('constraint', 'c', 'function f(integer)'), extension: 'citext' }];
    expectKeys(
      { extras: { constraints: [{ name: 'c', definition: 'CHECK ((a > 0))' }] } },
      { constraints: [check('c', 'CHECK ((a > 0))')] },
      { objects: { uses } },
    );
  });
});

describe('foreign keys that are not relations', () => {
  const reference = catalogReference('f', 'a', 'other');
  const kept = { name: 'f', definition: reference.definition, references: 'other' };

  it('belong to the table if their target is managed or adopted', () => {
    expectKeys({ extras: { constraints: [kept] } }, {}, { together: ['other'] }, [reference]);
    expectKeys({ extras: { constraints: [kept] } }, {}, { managed: ['other'] }, [reference]);
    expectKeys({}, { constraints: [reference] }, { managed: ['other'] });
  });

  it('are left out otherwise', () => {
    const left = (why: string): ExpectedKeys => ({
      extras: { unmanaged: [{ kind: 'constraint', name: 'f' }] },
      notes: [`t constraint f CONSTRAINT_NOT_REPRESENTED: constraint "f" ${why}: ${STAYS}`],
    });
    const references = { ...reference.references, schema: 'elsewhere' } as CatalogConstraint['references'];
    const definition = 'FOREIGN KEY (a) REFERENCES elsewhere.other(id)';
    expectKeys(left('references "other", which is not managed'), {}, {}, [reference]);
    expectKeys(left('references "other", which is not managed'), {}, { folders: ['other'] }, [reference]);
    expectKeys(left('references "other", which is not managed'), {}, { managed: ['other'] }, [
      { ...reference, references },
    ]);
    const nonsense = { ...reference, definition: 'nonsense' };
    expect(keys({}, { managed: ['other'] }, [nonsense]).extras.constraints).to.deep.equal([]);
    expectKeys(left('references a table that another table with the same name hides'), {}, { managed: ['other'] }, [
      { ...reference, definition },
    ]);
  });
});

describe('indexes', () => {
  it('belong to their field if they have one column, preferring the default name', () => {
    expectKeys({ parts: { a: { is_indexed: true } } }, { indexes: [catalogIndex('t_a_index', ['a'])] });
    expectKeys(
      { parts: { a: { is_indexed: true, names: { index_name: 'i' } } } },
      { indexes: [catalogIndex('i', ['a'])] },
    );
    expectKeys(
      {
        parts: { a: { is_indexed: true } },
        extras: { indexes: [{ name: 'i', definition: 'USING btree (a)' }] },
      },
      { indexes: [catalogIndex('i', ['a']), catalogIndex('t_a_index', ['a'])] },
    );
  });

  it('belong to their constraint if they have one', () => {
    expectKeys({}, { indexes: [catalogIndex('i', ['a'], { constraint: 'c' })] });
  });

  it('belong to the table, by name, if they have a key, two columns or further properties', () => {
    expectKeys(
      {
        parts: { id: { is_primary_key: true, is_unique: true } },
        extras: {
          indexes: [
            { name: 'i', definition: 'USING btree (id)' },
            { name: 'j', definition: 'USING btree (a, b)' },
            { name: 'k', unique: true, definition: 'USING btree (a)' },
            { name: 'l', definition: 'USING btree (lower(a))' },
          ],
        },
      },
      {
        constraints: [key('t_pkey', ['id'])],
        indexes: [
          catalogIndex('l', [], { columns: [null], tail: 'USING btree (lower(a))', plain: false }),
          catalogIndex('j', ['a', 'b']),
          catalogIndex('k', ['a'], { unique: true }),
          catalogIndex('i', ['id']),
        ],
      },
    );
    expectKeys(
      { extras: { indexes: [{ name: 'i', definition: 'USING btree (a)' }] } },
      { indexes: [catalogIndex('i', ['a'])] },
      { like: { extras: { indexes: [{ name: 'i', definition: 'USING btree (a)' }] } } },
    );
  });

  it('are left out if they are invalid or use unsupported objects', () => {
    const left = (why: string): ExpectedKeys => ({
      extras: { unmanaged: [{ kind: 'index', name: 'i' }] },
      notes: [`t index i INDEX_NOT_REPRESENTED: index "i" ${why}: ${STAYS}`],
    });
    expectKeys(left('is invalid: rebuild it'), { indexes: [catalogIndex('i', ['a'], { valid: false })] });
    expectKeys(
      left('uses function f(integer)'),
      { indexes: [catalogIndex('i', ['a', 'b'])] },
      { objects: { uses: [use('index', 'i', 'function f(integer)'), use('index', 'j', 'function g()')] } },
    );
    expectKeys(
      left('is left out of the log'),
      { indexes: [catalogIndex('i', ['a', 'b'])] },
      { like: { extras: { unmanaged: [{ kind: 'index', name: 'i' }] } } },
    );
    const broken = catalogIndex('i', ['a'], { plain: false, tail: 'nonsense' });
    expect(keys({ indexes: [broken] }).extras).to.deep.include({
      indexes: [],
      unmanaged: [{ kind: 'index', name: 'i' }],
    });
  });
});
