import { expect } from 'chai';
import { type LocatedColumn, type Unmanaged, createNoParts, toField } from '../../../src/projector/inspect/column.js';
import { needsOf } from '../../../src/projector/inspect/needs.js';
import type { CatalogColumn } from '../../../src/projector/catalog/model.js';
import type { CatalogSequence, Use } from '../../../src/projector/catalog/objects.js';
import type { ColumnExtras } from '../../../src/schema/model/extras.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type ConversionInput, converting } from './converting.js';
import { catalogColumn, catalogSequence } from '../catalog-tables.js';
import { column } from '../columns.js';

interface Read {
  field: Field;
  unmanaged: Unmanaged;
  notes: string[];
}

function read(input: CatalogColumn, options: ConversionInput = {}, placed: Partial<LocatedColumn> = {}): Read {
  const context = converting({ columns: [input] }, options);
  needsOf(context);
  const unmanaged: Unmanaged = [];
  const result = toField(context, { column: input, sort: 3, parts: createNoParts(), ...placed }, unmanaged);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const notes = context.notes.map(({ kind, name, code, message }) => `${kind} ${name} ${code}: ${message}`);
  return { field: result.value, unmanaged, notes };
}

const fieldOf = (...reported: Parameters<typeof read>): Field => {
  const { field, unmanaged, notes } = read(...reported);
  expect({ unmanaged, notes }).to.deep.equal({ unmanaged: [], notes: [] });
  return field;
};
const schemaOf = (...reported: Parameters<typeof read>) => fieldOf(...reported).schema;
const extrasOf = (
  type: string,
  more: Partial<CatalogColumn> = {},
  input: ConversionInput = {},
): ColumnExtras | undefined => schemaOf(catalogColumn('a', type, more), input)?.extras;
const own = { builtIn: false } as const;
const uses = (kind: Use['kind'], more: Partial<Use> = {}, sequences: CatalogSequence[] = []): ConversionInput => ({
  objects: {
    sequences,
    uses: [{ kind, name: 'a', uses: 'function', extension: null, schema: null, what: 'function f()', ...more }],
  },
});

describe('converting a column to a field', () => {
  it('copies all properties and the position', () => {
    const parts = { is_unique: true, is_indexed: true, is_primary_key: false, names: { unique_name: 'u' } };
    const varchar = catalogColumn('a', 'character varying(20)', {
      nullable: false,
      default: "'x'::character varying",
      comment: 'c',
    });
    const field = fieldOf(varchar, {}, { parts });
    expect({ ...field, meta: { sort: field.meta.sort } }).to.deep.equal({
      collection: 't',
      field: 'a',
      type: 'string',
      meta: { sort: 3 },
      schema: {
        data_type: 'character varying',
        max_length: 20,
        numeric_precision: null,
        numeric_scale: null,
        is_unique: true,
        is_indexed: true,
        is_primary_key: false,
        default_value: 'x',
        is_nullable: false,
        generation_expression: null,
        has_auto_increment: false,
        comment: 'c',
        extras: { unique_name: 'u' },
      },
    });
  });

  it('keeps known metadata', () => {
    const known = column('t.a', 'hash', {});
    const like = { like: { fields: [{ ...known, meta: { ...known.meta, note: 'n' } }] } };
    const field = fieldOf(catalogColumn('a', 'character varying(255)'), like);
    expect(field).to.deep.include({ type: 'hash' });
    expect(field.meta).to.include({ note: 'n' });
    // If the type differs, only that is known.
    expect(fieldOf(catalogColumn('a', 'integer'), like)).to.deep.include({ type: 'integer' });
  });

  it('keeps an unnamed type', () => {
    const type = 'timestamp(3) without time zone';
    const known = column('t.a', 'unknown', { data_type: type });
    const schemas = [
      fieldOf(catalogColumn('a', type), { like: { fields: [known] } }),
      fieldOf(catalogColumn('a', type)),
    ];
    expect(schemas.map(({ type: of, schema }) => [of, schema?.data_type, schema?.extras])).to.deep.equal([
      ['unknown', type, undefined],
      ['dateTime', 'timestamp without time zone', { precision: 3 }],
    ]);
  });

  const types: [string, Partial<CatalogColumn>, string, object][] = [
    ['numeric(7,2)', {}, 'decimal', { data_type: 'numeric', numeric_precision: 7, numeric_scale: 2 }],
    ['time(2) without time zone', {}, 'time', { data_type: 'time without time zone', extras: { precision: 2 } }],
    [
      'timestamp(0) with time zone',
      {},
      'timestamp',
      { data_type: 'timestamp with time zone', extras: { precision: 0 } },
    ],
    ['time(2) with time zone', {}, 'unknown', { data_type: 'time(2) with time zone' }],
    ['integer[]', {}, 'unknown', { data_type: 'integer[]' }],
    ['citext', own, 'text', { data_type: 'citext' }],
    ['hstore', own, 'unknown', { data_type: 'hstore' }],
    ['mood[]', own, 'unknown', { data_type: 'mood[]' }],
  ];
  for (const [type, more, name, expected] of types) {
    it(`converts ${type} to ${name}`, () => {
      const field = fieldOf(catalogColumn('a', type, more));
      expect(field.type).to.equal(name);
      expect(field.schema).to.deep.include({ max_length: null, ...expected });
    });
  }

  it('adds extras for further properties', () => {
    expect(extrasOf('text')).to.equal(undefined);
    expect(extrasOf('text', { collation: '"C"' })).to.deep.equal({ collation: '"C"' });
    expect(extrasOf('integer', { identity: 'always', nullable: false })).to.deep.equal({ identity: 'always' });
    expect(extrasOf('text', { generated: { expression: "'x'", kind: 'virtual' } })).to.deep.equal({ virtual: true });
    expect(extrasOf('text', { default: 'lower(CURRENT_USER)' })).to.deep.equal({ default: 'lower(CURRENT_USER)' });
    // The value alone would be written differently.
    expect(schemaOf(catalogColumn('a', 'integer', { default: "'5'::integer" }))).to.include({ default_value: 5 });
    expect(extrasOf('integer', { default: '5::integer' })).to.deep.equal({ default: '5::integer' });
  });

  it('recognizes identities and serials', () => {
    const counts = (more: Partial<CatalogColumn>, options: ConversionInput = {}) =>
      schemaOf(catalogColumn('a', 'integer', { nullable: false, ...more }), options)?.has_auto_increment;
    const sequences = [catalogSequence('t_a_seq', 'integer', { owner: { table: 't', column: 'a' } })];
    expect(counts({})).to.equal(false);
    expect(counts({ identity: 'by default' })).to.equal(true);
    expect(counts({ identity: 'always' })).to.equal(true);
    expect(
      counts(
        { default: "nextval('t_a_seq'::regclass)" },
        uses('default', { uses: 'sequence', schema: 'public', what: 't_a_seq' }, sequences),
      ),
    ).to.equal(true);
  });

  it('names a column that it cannot convert as the database defines it', () => {
    const uuid = catalogColumn('a', 'uuid', { default: "nextval('q'::regclass)" });
    const used = { uses: 'sequence', schema: 'public', what: 'q' } as const;
    const context = converting({ columns: [uuid] }, uses('default', used, [catalogSequence('q', 'bigint')]));
    needsOf(context);
    const result = toField(context, { column: uuid, sort: 1, parts: createNoParts() }, []);
    expect(result).to.deep.equal({
      ok: false,
      problems: [
        {
          code: 'INVALID_PAYLOAD',
          message: `column "a" is defined as uuid DEFAULT nextval('q'::regclass), which the service does not support: change the column in the database, or leave the table unmanaged`,
        },
      ],
    });
  });

  it('records identity sequence options that differ from defaults', () => {
    const sequence = (name: string, more: object = {}) => {
      const attributes = { identity: 'by default', nullable: false, sequence: { schema: 'public', name } } as const;
      return extrasOf('integer', attributes, { objects: { sequences: [catalogSequence(name, 'integer', more)] } });
    };
    expect(sequence('t_a_seq')).to.equal(undefined);
    expect(sequence('t_a_seq', { start: '7', cycle: true })).to.deep.equal({ sequence: { start: '7', cycle: true } });
    expect(sequence('s')).to.deep.equal({ sequence: { name: 's' } });
    expect(sequence('s', { cache: '9' })).to.deep.equal({ sequence: { name: 's', cache: '9' } });
    // A sequence that it owns without using is not an identity's.
    const owns = { sequence: { schema: 'public', name: 's' } };
    expect(extrasOf('integer', owns, { objects: { sequences: [catalogSequence('s', 'bigint')] } })).to.equal(undefined);
  });

  it('records a NOT NULL name that differs from the default', () => {
    const named = (name: string, nullable = false) =>
      extrasOf('integer', { nullable, notNull: { name, parentName: null, more: null } });
    expect(named('t_a_not_null')).to.equal(undefined);
    expect(named('n')).to.deep.equal({ not_null_name: 'n' });
    expect(named('n', true)).to.equal(undefined);
  });

  it('records an inherited NOT NULL name that differs from that of the parent', () => {
    const named = (name: string) =>
      extrasOf('integer', { nullable: false, notNull: { name, parentName: 'parent_a_not_null', more: null } });
    expect(named('parent_a_not_null')).to.equal(undefined);
    expect(named('t_a_not_null')).to.deep.equal({ not_null_name: 't_a_not_null' });
  });
});

describe('unsupported parts of a column', () => {
  const STAYS = 'it stays unchanged and is not included in snapshots';

  it('include a default that uses an unsupported object', () => {
    const { field, unmanaged, notes } = read(catalogColumn('a', 'text', { default: 'f()' }), uses('default'));
    expect(field.schema).to.include({ default_value: null });
    expect(field.schema).to.not.have.property('extras');
    expect({ unmanaged, notes }).to.deep.equal({
      unmanaged: [{ kind: 'default', name: 'a' }],
      notes: [`default a DEFAULT_NOT_REPRESENTED: the default of "a" uses function f(): ${STAYS}`],
    });
  });

  it('include a default that no request could send', () => {
    const { unmanaged, notes } = read(catalogColumn('a', 'text', { default: '(SELECT 1)' }));
    expect(unmanaged).to.deep.equal([{ kind: 'default', name: 'a' }]);
    expect(notes).to.have.length(1);
    expect(read(catalogColumn('a', 'text', { default: 'pg_sleep(1)' })).unmanaged).to.deep.equal(unmanaged);
  });

  it('include a generation expression, and elsewhere the column is ordinary', () => {
    const generated = catalogColumn('a', 'text', { generated: { expression: 'f()', kind: 'stored' } });
    const { field, unmanaged, notes } = read(
      generated,
      uses('generated', { uses: 'collation', what: '"x"', schema: 'other' }),
    );
    expect(field.schema).to.include({ generation_expression: null });
    expect({ unmanaged, notes }).to.deep.equal({
      unmanaged: [{ kind: 'generated', name: 'a' }],
      notes: [
        'generated column a GENERATED_COLUMN_NOT_REPRESENTED: the generation expression of "a" uses collation "x": it stays unchanged, and snapshots contain an ordinary column',
      ],
    });
    expect(read({ ...generated, generated: { expression: 'pg_sleep(1)', kind: 'stored' } }).unmanaged).to.deep.equal(
      unmanaged,
    );
  });

  it('exclude what the log already stores as text', () => {
    const like = { fields: [column('t.a', 'text', { generation_expression: 'x' })] };
    const generatedColumn = catalogColumn('a', 'text', { generated: { expression: 'f()', kind: 'stored' } });
    expect(fieldOf(generatedColumn, { ...uses('generated'), like }).schema).to.include({
      generation_expression: 'f()',
    });
  });

  it('exclude objects in the schema and of extensions', () => {
    const withDefault = catalogColumn('a', 'text', { default: 'lower(CURRENT_USER)' });
    for (const more of [{ extension: 'citext' }, { uses: 'collation', schema: 'public', what: 'c' }] as const) {
      expect(fieldOf(withDefault, uses('default', more)).schema?.extras).to.deep.equal({
        default: 'lower(CURRENT_USER)',
      });
    }
  });

  it('include a NOT NULL that is not inherited', () => {
    const constraint = { name: 'n', parentName: null, more: 'NO INHERIT' };
    const notNull = catalogColumn('a', 'text', { nullable: false, notNull: constraint });
    const { field, notes } = read(notNull);
    expect(field.schema?.extras).to.deep.equal({ not_null_name: 'n' });
    expect(notes).to.deep.equal([
      'constraint n CONSTRAINT_NOT_REPRESENTED: constraint "n": snapshots contain that "a" is NOT NULL, but not that the constraint is NO INHERIT',
    ]);
  });
});
