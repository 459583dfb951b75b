import { expect } from 'chai';
import { adoptSpelling } from '../../../src/projector/inspect/convert.js';
import type { EqualityCheck } from '../../../src/projector/inspect/needs.js';
import type { ColumnExtras, TableExtras } from '../../../src/schema/model/extras.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type CollectionNode, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { column, created, tableOf } from '../columns.js';

function nodeOf(fields: Field[], extras?: TableExtras): CollectionNode {
  const state = follow(initialState(), [created('t', fields)]);
  const node = state.collections.get('t');
  if (node === undefined) throw new Error('no collection');
  return { ...node, collection: { ...tableOf('t'), schema: { comment: null, ...(extras && { extras }) } } };
}

/** All members but these equal the log's. */
const allBut =
  (members: readonly string[], field?: string): EqualityCheck =>
  (member, source) =>
    source !== field || !members.includes(member);

/** The existing extras in the log's representation. */
function aligned(extras: TableExtras, known: TableExtras, ...members: string[]): TableExtras | undefined {
  const { collection } = nodeOf([], extras);
  const converted = { collection, fields: [], relations: [] };
  return adoptSpelling(nodeOf([], known), converted, allBut(members)).collection.schema?.extras;
}

const text = (more: ColumnExtras = {}, schema: object = {}): Field => {
  const field = column('t.a', 'text');
  return {
    ...field,
    schema: { ...field.schema, ...schema, ...(Object.keys(more).length > 0 && { extras: more }) },
  } as Field;
};

function alignedField(field: Field, known: Field, ...members: string[]): Field['schema'] | undefined {
  const { collection } = nodeOf([]);
  const converted = { collection, fields: [field], relations: [] };
  const { fields } = adoptSpelling(nodeOf([known]), converted, allBut(members, 'a'));
  return fields[0]?.schema;
}

describe('the extras of a table', () => {
  const inCatalog: TableExtras = {
    primary_key: { name: 'k', columns: ['id'], definition: 'PRIMARY KEY (id)' },
    constraints: [{ name: 'c', definition: 'CHECK ((a > 0))' }],
    indexes: [{ name: 'i', definition: 'USING btree (a)' }],
    partition_by: 'LIST (a)',
    partition_of: { table: 'p', bound: "FOR VALUES IN ('1')" },
    needs: [{ kind: 'domain', name: 'd', type: 'text' }],
  };
  const known: TableExtras = {
    primary_key: { name: 'k', columns: ['id'], definition: 'primary key (id)' },
    constraints: [{ name: 'c', definition: 'check (a > 0)' }],
    indexes: [{ name: 'i', definition: 'using btree (a)' }],
    partition_by: 'list (a)',
    partition_of: { table: 'p', bound: "for values in ('1')" },
    needs: [{ kind: 'domain', name: 'd', type: 'varchar' }],
  };

  it("use the log's representation", () => {
    expect(aligned(inCatalog, known)).to.deep.equal(known);
  });

  const members: [string, keyof TableExtras][] = [
    ['constraint k', 'primary_key'],
    ['constraint c', 'constraints'],
    ['index i', 'indexes'],
    ['partition_by', 'partition_by'],
    ['partition_of', 'partition_of'],
    ['domain d', 'needs'],
  ];
  for (const [member, name] of members) {
    it(`use the catalog's representation if they differ: ${member}`, () => {
      expect(aligned(inCatalog, known, member)).to.deep.equal({ ...known, [name]: inCatalog[name] });
    });
  }

  it("use the catalog's representation for unknown names", () => {
    expect(aligned(inCatalog, {})).to.deep.equal(inCatalog);
    const other = { ...known, primary_key: { name: 'l', columns: ['id'], definition: 'x' } };
    expect(aligned(inCatalog, other)?.primary_key).to.deep.equal(inCatalog.primary_key);
    const moved = { ...known, primary_key: { name: 'k', columns: ['a'], definition: 'x' } };
    expect(aligned(inCatalog, moved)?.primary_key).to.deep.equal(inCatalog.primary_key);
    expect(aligned({}, { primary_key: { name: 'k', columns: ['id'] } })).to.equal(undefined);
  });

  it('are the same object without differences', () => {
    const node = nodeOf([], known);
    const again = adoptSpelling(node, { ...nodeOf([], inCatalog), fields: [], relations: [] }, () => true);
    expect(again.collection.schema).to.equal(node.collection.schema);
  });
});

describe('a field', () => {
  it("uses the log's representation without differences", () => {
    const [there, ours] = [text({ default: 'lower(x)' }), text({ default: 'LOWER(x)' })];
    expect(alignedField(there, ours)).to.equal(ours.schema);
    expect(alignedField(there, ours, 'schema.default_value')).to.deep.equal(there.schema);
    const [computed, known] = ['a + 1', 'a+1'].map((generation_expression) => text({}, { generation_expression })) as [
      Field,
      Field,
    ];
    expect(alignedField(computed, known)).to.equal(known.schema);
    expect(alignedField(computed, known, 'schema.generation_expression')).to.deep.equal(computed.schema);
  });

  it('shows a default as SQL only if the log does', () => {
    const [value, words] = [text({}, { default_value: 'x' }), text({ default: "'x'::text" })];
    expect(alignedField(value, words)).to.equal(words.schema);
    expect(alignedField(words, value)).to.equal(value.schema);
    expect(alignedField(value, words, 'schema.default_value')).to.deep.equal(value.schema);
  });

  const names: [string, ColumnExtras, ColumnExtras][] = [
    ['identity sequence', { sequence: { name: 's' } }, { sequence: { name: 'r' } }],
    ['not null name', { not_null_name: 'n' }, { not_null_name: 'm' }],
    ['collation', { collation: '"C"' }, { collation: 'pg_catalog."C"' }],
  ];
  for (const [member, there, ours] of names) {
    it(`keeps members that are compared only if recorded: ${member}`, () => {
      expect(alignedField(text(there), text(ours))?.extras).to.deep.equal(ours);
      expect(alignedField(text(there), text())).to.not.have.property('extras');
      expect(alignedField(text(), text(ours))?.extras).to.deep.equal(ours);
      expect(alignedField(text(there), text(ours), member)?.extras).to.deep.equal(there);
    });
  }

  it('keeps the spelling of its type', () => {
    const [there, ours] = [text(), text({}, { data_type: 'pg_catalog.text' })];
    expect(alignedField(there, ours)).to.equal(ours.schema);
    expect(alignedField(there, ours, 'schema.data_type')).to.deep.equal(there.schema);
  });

  it('uses the catalog for everything else', () => {
    const there = text({ identity: 'always' }, { comment: 'there' });
    expect(alignedField(there, text({}, { comment: 'ours' }))).to.deep.equal(there.schema);
    const alias = column('t.a', 'alias', null);
    expect(alignedField(there, alias)).to.equal(there.schema);
    expect(alignedField(alias, there)).to.equal(null);
  });
});
