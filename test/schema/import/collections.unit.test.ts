import { expect } from 'chai';
import { alias, file, folder, key, names, read, table } from './read.js';

describe('imported collections', () => {
  it('keep given members and leave others absent', () => {
    const result = read(
      file({
        collections: [
          {
            collection: 'a',
            meta: { note: 'n', id: 4 },
            schema: { name: 'a', sql: 'CREATE …', comment: '' },
          },
          folder('f'),
          { collection: 'g', meta: null, schema: null },
        ],
        fields: [key('a')],
      }),
    );
    expect(result.collections).to.deep.equal([
      { collection: 'a', meta: { note: 'n' }, schema: { comment: null } },
      { collection: 'f', meta: {} },
      { collection: 'g', schema: null },
    ]);
  });

  it('are tables if they have columns, regardless of missing members', () => {
    const result = read(
      file({
        collections: [{ collection: 'a' }, { collection: 'b' }, { collection: 'c' }],
        fields: [key('a'), { collection: 'b', field: 'x', type: 'string' }, alias('c.x')],
      }),
    );
    expect(result.collections.map(({ schema }) => schema)).to.deep.equal([{}, {}, undefined]);
    expect(result.warnings).to.deep.equal(['FIELD_LEFT_OUT c.x']);
  });

  it('are tables if a relation references them, in every format of the relation', () => {
    const collections = ['a', 'b', 'c', 'd'].map((collection) => ({ collection }));
    const relations = [
      { collection: 'x', field: 'y', related_collection: 'a' },
      { many_collection: 'x', many_field: 'y', one_collection: 'b' },
      { collection: 'x', field: 'y', meta: { one_collection: 'c' } },
    ];
    const { collections: imported } = read({ ...file({ collections }), relations });
    expect(imported.map(({ schema }) => schema)).to.deep.equal([{}, {}, {}, undefined]);
  });

  it('are used once if repeated, and unknown members are reported once', () => {
    const result = read(
      file({
        collections: [table('a', { foo: 1 }), table('a'), { ...table('b', { foo: 2 }), bar: 1 }],
        fields: [key('a'), key('b')],
      }),
    );
    expect(names(result.collections)).to.deep.equal(['a', 'b']);
    expect(result.warnings).to.deep.equal(['MEMBER_LEFT_OUT', 'DUPLICATE_LEFT_OUT a', 'MEMBER_LEFT_OUT']);
  });

  it('lose invalid values and references to missing objects, with warnings', () => {
    const meta = {
      accountability: 'bogus',
      hidden: 1,
      sort: 1.5,
      sort_field: 'nope',
      archive_field: 'id',
      group: 'gone',
    };
    const result = read(file({ collections: [table('a', meta)], fields: [key('a')] }));
    expect(result.collections[0]?.['meta']).to.deep.equal({
      hidden: true,
      sort_field: null,
      archive_field: 'id',
      group: null,
    });
    expect(result.warnings).to.deep.equal([
      'VALUE_LEFT_OUT a',
      'VALUE_LEFT_OUT a',
      'REFERENCE_LEFT_OUT a',
      'REFERENCE_LEFT_OUT a',
    ]);
    const merged = read(file({ collections: [table('a', meta)], fields: [key('a')] }), {
      exists: (collection, field) => collection === 'gone' || field === 'nope',
    });
    expect(merged.collections[0]?.['meta']).to.include({ sort_field: 'nope', group: 'gone' });
  });

  it('break cycles of groups', () => {
    const result = read(
      file({
        collections: [
          folder('a', { group: 'b' }),
          folder('b', { group: 'c' }),
          folder('c', { group: 'b' }),
          folder('d', { group: 'd' }),
        ],
      }),
    );
    expect(result.collections.map(({ meta }) => (meta as { group: unknown }).group)).to.deep.equal([
      'b',
      null,
      'b',
      null,
    ]);
    expect(result.warnings).to.deep.equal(['REFERENCE_LEFT_OUT b', 'REFERENCE_LEFT_OUT d']);
  });
});
