import { expect } from 'chai';
import { changed, collection, column, faultsOf, field, valueOf } from './read.js';

type Members = Record<string, unknown>;

const tableWith = (extras: unknown) => collection({ schema: { extras } });
const columnWith = (type: string, extras: unknown, schema: Members = {}) =>
  field({ type, schema: { ...schema, extras } });
const tableFaults = (extras: unknown): string[] => faultsOf(tableWith(extras));
const LONG = 'x'.repeat(64);
const TOO_LONG = 'must be at most 63 bytes in UTF-8: PostgreSQL would truncate it';
const SQL = 'must be valid PostgreSQL: syntax error';

describe('extras of a table', () => {
  it('are kept without empty ones', () => {
    const extras = {
      primary_key: { name: 'own_pkey', columns: ['a', 'b'], definition: 'PRIMARY KEY (a, b) INCLUDE (c)' },
      constraints: [
        { name: 'positive', definition: 'CHECK ((a > 0))' },
        { name: 'to_b', definition: 'FOREIGN KEY (a) REFERENCES b(id)', references: 'b' },
      ],
      indexes: [{ name: 'i', definition: 'USING btree (a)', unique: true }],
      partition_by: 'LIST (a)',
      needs: [
        { kind: 'enum', name: 'mood', labels: ['sad'] },
        { kind: 'sequence', name: 's', owned_by: 'a', start: '5' },
        { kind: 'extension', name: 'ltree' },
      ],
    };
    expect(valueOf(tableWith(extras)).schema?.extras).to.deep.equal(extras);
    expect(valueOf(tableWith({ ...extras, constraints: [], indexes: [], needs: [] })).schema?.extras).to.deep.equal({
      primary_key: extras.primary_key,
      partition_by: 'LIST (a)',
    });
    for (const nothing of [null, {}, { constraints: [] }])
      expect(valueOf(tableWith(nothing)).schema, JSON.stringify(nothing)).to.deep.equal({ comment: null });
    const source = { partition_of: { table: 'b', bound: "FOR VALUES IN ('x')" } };
    expect(valueOf(tableWith(source)).schema?.extras).to.deep.equal(source);
  });

  it('keep sequence options that differ from defaults', () => {
    const sequence = { kind: 'sequence', name: 's' };
    const usual = { type: 'bigint', start: '1', increment: '1', min: '1', max: String(2n ** 63n - 1n), cache: '1' };
    expect(valueOf(tableWith({ needs: [{ ...sequence, ...usual }] })).schema?.extras?.needs).to.deep.equal([sequence]);
    const other = { ...sequence, type: 'integer', increment: '-1', cycle: true };
    expect(valueOf(tableWith({ needs: [other] })).schema?.extras?.needs).to.deep.equal([other]);
  });

  const REFERENCES_B = 'schema.extras.constraints[0].references: references must be "b", as in the definition';
  const refused: [extras: Members, faults: string[]][] = [
    [{ odd: 1 }, ['schema.extras.odd: odd is not a known member']],
    [{ constraints: [{ name: 'c' }] }, ['schema.extras.constraints[0].definition: definition is required']],
    [{ primary_key: { name: LONG, columns: ['a'] } }, [`schema.extras.primary_key.name: name ${TOO_LONG}`]],
    [{ primary_key: { name: 'k', columns: [] } }, ['schema.extras.primary_key.columns: columns must name columns']],
    [{ primary_key: { name: 'k', columns: ['a', LONG] } }, [`schema.extras.primary_key.columns[1]: 1 ${TOO_LONG}`]],
    [
      { primary_key: { name: 'k', columns: ['a'], definition: 'UNIQUE (a)' } },
      ['schema.extras.primary_key.definition: definition must be a primary key'],
    ],
    [
      { primary_key: { name: 'k', columns: ['a'], definition: 'PRIMARY KEY (a, b)' } },
      [`schema.extras.primary_key.definition: definition must name columns of the key: "a"`],
    ],
    [
      { primary_key: { name: 'k', columns: ['a', 'b'], definition: 'PRIMARY KEY (a)' } },
      [`schema.extras.primary_key.definition: definition must name columns of the key: "a", "b"`],
    ],
    [
      { primary_key: { name: 'k', columns: ['a', 'b'], definition: 'PRIMARY KEY (b, a)' } },
      [`schema.extras.primary_key.definition: definition must name columns of the key: "a", "b"`],
    ],
    [
      { primary_key: { name: 'k', columns: ['a'], definition: 'PRIMARY KEY (a' } },
      [`schema.extras.primary_key.definition: definition ${SQL} at end of input`],
    ],
    [
      { constraints: [{ name: LONG, definition: 'CHECK ((a > 0))' }] },
      [`schema.extras.constraints[0].name: name ${TOO_LONG}`],
    ],
    [
      { constraints: [{ name: 'c', definition: 'CHECK a' }] },
      [`schema.extras.constraints[0].definition: definition ${SQL} at or near "a"`],
    ],
    [
      { constraints: [{ name: 'c', definition: 'PRIMARY KEY (a)' }] },
      ['schema.extras.constraints[0].definition: definition must not be a primary key, which has a member of its own'],
    ],
    [{ constraints: [{ name: 'c', definition: 'FOREIGN KEY (a) REFERENCES b(id)' }] }, [REFERENCES_B]],
    [{ constraints: [{ name: 'c', definition: 'FOREIGN KEY (a) REFERENCES b(id)', references: 'x' }] }, [REFERENCES_B]],
    [
      { constraints: [{ name: 'c', definition: 'FOREIGN KEY (a) REFERENCES o.b(id)' }] },
      ['schema.extras.constraints[0].references: references must name the collection'],
    ],
    [
      { constraints: [{ name: 'c', definition: 'CHECK ((a > 0))', references: 'b' }] },
      ['schema.extras.constraints[0].references: references must be null, as in the definition'],
    ],
    [{ indexes: [{ name: LONG, definition: 'USING btree (a)' }] }, [`schema.extras.indexes[0].name: name ${TOO_LONG}`]],
    [
      { indexes: [{ name: 'i', definition: 'btree a' }] },
      [`schema.extras.indexes[0].definition: definition ${SQL} at or near "btree"`],
    ],
    [{ partition_by: 'LIST' }, [`schema.extras.partition_by: partition_by ${SQL} at end of input`]],
    [
      { partition_of: { table: 'x'.repeat(128), bound: 'DEFAULT' } },
      ['schema.extras.partition_of.table: table must be at most 63 bytes in UTF-8: PostgreSQL would truncate it'],
    ],
    [
      { partition_of: { table: 't', bound: 'FOR EVER' } },
      [`schema.extras.partition_of.bound: bound ${SQL} at or near "EVER"`],
    ],
    [
      { needs: [{ kind: 'extension', name: 'plpython3u' }] },
      ['schema.extras.needs[0].name: name must be an extension that PostgreSQL marks as trusted'],
    ],
    [{ needs: [{ kind: 'enum', name: LONG, labels: ['a'] }] }, [`schema.extras.needs[0].name: name ${TOO_LONG}`]],
    [
      { needs: [{ kind: 'sequence', name: 's', owned_by: LONG }] },
      [`schema.extras.needs[0].owned_by: owned_by ${TOO_LONG}`],
    ],
    [
      { needs: [{ kind: 'sequence', name: 's', increment: '0' }] },
      ['schema.extras.needs[0].increment: increment must not be zero'],
    ],
    [
      { needs: [{ kind: 'domain', name: 'd', type: 'no type;' }] },
      ['schema.extras.needs[0].type: type must be the name of a data type as PostgreSQL writes it'],
    ],
    [
      { needs: [{ kind: 'domain', name: 'd', type: 'text', collation: ';' }] },
      ['schema.extras.needs[0].collation: collation must be the name of a collation'],
    ],
    [
      { needs: [{ kind: 'domain', name: 'd', type: 'text', default: 'a;' }] },
      ['schema.extras.needs[0].default: default must be one SQL expression: syntax error at or near ";"'],
    ],
    [
      { needs: [{ kind: 'domain', name: 'd', type: 'text', checks: [{ name: LONG, definition: 'UNIQUE (a)' }] }] },
      [
        `schema.extras.needs[0].checks[0].name: name ${TOO_LONG}`,
        'schema.extras.needs[0].checks[0].definition: definition must be a check',
      ],
    ],
    [
      { needs: [{ kind: 'collation', name: 'c', provider: 'icu' }] },
      ['schema.extras.needs[0].locale: locale is required: the locale, as the provider names it'],
    ],
  ];
  for (const [extras, faults] of refused)
    it(`reject ${JSON.stringify(extras).replaceAll(LONG, 'x…')}`, () =>
      expect(tableFaults(extras)).to.deep.equal(faults));
});

describe('extras of a column', () => {
  const kept: [type: string, schema: Members, extras: Members][] = [
    ['time', {}, { precision: 3 }],
    ['timestamp', {}, { precision: 0 }],
    ['string', {}, { collation: '"C"' }],
    ['text', {}, { collation: '"C"' }],
    ['text', { data_type: 'citext' }, { collation: '"C"' }],
    ['string', { data_type: 'character', max_length: 3 }, { collation: '"C"' }],
    ['unknown', { data_type: 'mood' }, { collation: '"C"' }],
    ['string', {}, { default: 'lower(CURRENT_USER)' }],
    ['integer', { has_auto_increment: true }, { identity: 'always' }],
    ['integer', { generation_expression: 'a + 1' }, { virtual: true }],
    ['integer', { has_auto_increment: true }, { sequence: { name: 's', start: '5' } }],
    ['integer', { is_primary_key: true }, { primary_key_name: 'k' }],
    ['integer', { is_unique: true }, { unique_name: 'u' }],
    ['integer', { is_indexed: true }, { index_name: 'i' }],
    ['integer', { is_nullable: false }, { not_null_name: 'n' }],
    ['integer', { has_auto_increment: true }, { default: "nextval('s'::regclass)" }],
  ];
  for (const [type, schema, extras] of kept)
    it(`are kept if they fit: ${type} ${JSON.stringify({ ...schema, ...extras })}`, () =>
      expect(valueOf(columnWith(type, extras, schema)).schema?.extras).to.deep.equal(extras));

  const lost: [type: string, schema: Members, extras: Members][] = [
    ['date', {}, { precision: 3 }],
    ['integer', {}, { collation: '"C"' }],
    ['uuid', {}, { collation: '"C"' }],
    ['integer', { generation_expression: 'a + 1' }, { default: 'lower(CURRENT_USER)' }],
    ['integer', { has_auto_increment: true }, { default: 'lower(CURRENT_USER)' }],
    ['string', { default_value: 'x' }, { default: 'lower(CURRENT_USER)' }],
    ['integer', {}, { identity: 'always' }],
    ['integer', {}, { virtual: true }],
    ['integer', {}, { sequence: { name: 's' } }],
    ['integer', { is_unique: true }, { primary_key_name: 'k' }],
    ['integer', {}, { unique_name: 'u' }],
    ['integer', { is_primary_key: true }, { unique_name: 'u' }],
    ['integer', { is_unique: true }, { index_name: 'i' }],
    ['integer', {}, { not_null_name: 'n' }],
  ];
  for (const [type, schema, extras] of lost)
    it(`are rejected if they do not fit: ${type} ${JSON.stringify({ ...schema, ...extras })}`, () => {
      const [name = ''] = Object.keys(extras);
      expect(faultsOf(columnWith(type, extras, schema))).to.deep.equal([
        `schema.extras.${name}: ${name} must be omitted: it does not apply to the column`,
      ]);
    });

  it('are rejected as SQL with other content', () => {
    const messagesOf = (type: string, extras: Members, schema: Members = {}) =>
      faultsOf(columnWith(type, extras, schema));
    expect(messagesOf('string', { odd: 1 })).to.deep.equal(['schema.extras.odd: odd is not a known member']);
    expect(messagesOf('time', { precision: 7 })).to.deep.equal([
      'schema.extras.precision: precision must be at most 6',
    ]);
    expect(messagesOf('string', { collation: ';' })).to.deep.equal([
      'schema.extras.collation: collation must be the name of a collation',
    ]);
    expect(messagesOf('string', { default: 'a; b' })).to.deep.equal([
      'schema.extras.default: default must be one SQL expression: syntax error at or near ";"',
    ]);
    for (const [name, schema] of Object.entries({
      primary_key_name: { is_primary_key: true },
      unique_name: { is_unique: true },
      index_name: { is_indexed: true },
      not_null_name: { is_nullable: false },
    }))
      expect(messagesOf('integer', { [name]: LONG }, schema)).to.deep.equal([
        `schema.extras.${name}: ${name} ${TOO_LONG}`,
      ]);
    const counting = { has_auto_increment: true };
    expect(messagesOf('integer', { sequence: { name: LONG } }, counting)).to.deep.equal([
      `schema.extras.sequence.name: name ${TOO_LONG}`,
    ]);
    expect(messagesOf('integer', { sequence: { max: '9999999999' } }, counting)).to.deep.equal([
      'schema.extras.sequence.max: max must be from -2147483648 to 2147483647, the range of type integer',
    ]);
    expect(messagesOf('bigInteger', { sequence: { max: '9999999999' } }, counting)).to.deep.equal([]);
  });

  it('are dropped if empty or default', () => {
    for (const nothing of [null, {}]) expect(column('string', { extras: nothing })).to.deep.equal(column('string'));
    const usual = { has_auto_increment: true, extras: { sequence: { start: '1', increment: '1' } } };
    expect(column('integer', usual)).to.deep.equal(column('integer', { has_auto_increment: true }));
  });

  it('stay while the column changes, as far as they fit', () => {
    const indexed = valueOf(columnWith('string', { index_name: 'i', collation: '"C"' }, { is_indexed: true }));
    const after = (schema: Members) => valueOf(changed(indexed, { schema })).schema?.extras;
    expect(after({ max_length: 5 })).to.deep.equal({ index_name: 'i', collation: '"C"' });
    expect(after({ is_indexed: false })).to.deep.equal({ collation: '"C"' });
    expect(after({ extras: { index_name: 'j' } })).to.deep.equal({ index_name: 'j' });
    expect(after({ extras: null })).to.equal(undefined);
    const number = valueOf(changed(indexed, { type: 'integer', schema: { is_indexed: false } }));
    expect(number.schema).not.to.have.property('extras');
    expect(valueOf(changed(indexed, { schema: { extras: { index_name: 'i', collation: '"C"' } } }))).to.equal(indexed);
  });
});
