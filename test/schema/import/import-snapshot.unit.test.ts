import { expect } from 'chai';
import { readNewField } from '../../../src/schema/normal-form/index.js';
import { initialState } from '../../../src/schema/model/state.js';
import { valueOf } from '../normal-form/read.js';
import { importInto, column, file, find, key, NOTHING, type PeerFile, read, relation, table } from './read.js';

describe('imported primary keys', () => {
  it('are added as foreign keys require if the file lacks them', () => {
    const fields = [column('a.x', 'string'), key('b'), column('b.a_code', 'uuid', { data_type: 'uuid' })];
    const toA = relation('b.a_code', 'a', {}, { foreign_key_table: 'a', foreign_key_column: 'code' });
    const result = read(file({ collections: [table('a'), table('b'), table('c')], fields, relations: [toA] }));
    expect(find(result.fields, 'a.code')).to.deep.include({ type: 'uuid' });
    expect(find(result.fields, 'a.code')['schema']).to.include({
      is_primary_key: true,
      has_auto_increment: false,
      data_type: 'uuid',
    });
    expect(find(result.fields, 'c.id')['schema']).to.include({ is_primary_key: true, has_auto_increment: true });
    expect(result.warnings).to.deep.equal(['PRIMARY_KEY_ADDED a.code', 'PRIMARY_KEY_ADDED c.id']);
  });

  it('are not added if the file is incomplete or ours', () => {
    const fields = [{ collection: 'a', field: 'x', type: 'string', schema: {} }];
    expect(read(file({ collections: [table('a')], fields })).warnings).to.deep.equal([]);
    const ours = {
      version: 1,
      service: '0.0.1',
      vendor: 'postgres',
      collections: [{ collection: 'a', schema: {} }],
      fields: [],
      relations: [],
    };
    expect(read(ours)).to.deep.include({ fields: [], warnings: [] });
  });
});

describe('foreign keys', () => {
  const parts = (fields: Record<string, unknown>[], relations: Record<string, unknown>[]) =>
    file({ collections: [table('a'), table('b')], fields: [key('a'), key('b'), ...fields], relations });

  it('set the column type to that of the referenced key, even transitively', () => {
    const collections = [table('a'), table('b'), table('c')];
    const chain = [
      key('a', 'uuid', { data_type: 'char', max_length: 36 }),
      key('b', 'string', { data_type: 'char', max_length: 36 }),
      column('c.b', 'string', { data_type: 'char', max_length: 36, default_value: 'x' }),
      key('c'),
    ];
    const result = read(
      file({
        vendor: 'mysql',
        collections,
        fields: chain,
        relations: [relation('c.b', 'b'), relation('b.id', 'a')],
      }),
    );
    expect(result.fields.map(({ type }) => type)).to.deep.equal(['uuid', 'uuid', 'uuid', 'integer']);
    expect(find(result.fields, 'c.b')['schema']).to.include({
      data_type: 'uuid',
      max_length: null,
      default_value: null,
    });
    expect(result.warnings).to.deep.equal(['TYPE_CHANGED c.b', 'TYPE_CHANGED b.id']);
  });

  it('keep types that fit, are absent, or need no foreign key', () => {
    const big = column('a.b', 'bigInteger', { data_type: 'bigint' });
    expect(read(parts([big], [relation('a.b', 'b')])).warnings).to.deep.equal([]);
    const text = column('a.b', 'string', { data_type: 'character varying' });
    expect(read(parts([text], [relation('a.b', 'b', {}, null)])).warnings).to.deep.equal([]);
    expect(read(parts([{ collection: 'a', field: 'b', meta: {} }], [relation('a.b', 'b')])).warnings).to.deep.equal([]);
    // The type of b.id is missing, and its default may be a string: an existing column keeps its type.
    const unsaid = { collection: 'b', field: 'id', schema: { is_primary_key: true, data_type: 'char' } };
    const pointing = column('a.c', 'string', { data_type: 'char', max_length: 36 });
    const kept = read(
      file({
        collections: [table('a'), table('b')],
        fields: [key('a'), unsaid, pointing],
        relations: [relation('a.c', 'b')],
      }),
    );
    expect(find(kept.fields, 'a.c')).to.not.have.property('type');
  });

  it('are dropped if the target has no single primary key', () => {
    const fields = [
      key('a'),
      column('a.b', 'integer'),
      key('b'),
      column('b.second', 'integer', { is_primary_key: true }),
    ];
    const result = read(file({ collections: [table('a'), table('b')], fields, relations: [relation('a.b', 'b')] }));
    expect(result.relations[0]).to.include({ schema: null });
    expect(result.warnings).to.deep.equal(['FOREIGN_KEY_LEFT_OUT a.b']);
  });
});

describe('missing key information of a file', () => {
  const char = { data_type: 'char', max_length: 36 };
  const tables = [table('a'), table('b')];

  /** After `whole` was applied, `trimmed` changes nothing. */
  const expectNothing = (
    full: Partial<PeerFile>,
    trimmed: Partial<PeerFile>,
    modes: readonly ('mirror' | 'merge')[] = ['mirror', 'merge'],
  ) => {
    const mysql = { vendor: 'mysql', collections: tables };
    const { state } = importInto(initialState(), file({ ...mysql, ...full }), 'mirror');
    for (const mode of modes) {
      expect(importInto(state, file({ ...mysql, ...full, ...trimmed }), mode).diff, mode).to.deep.equal(NOTHING);
    }
  };

  it('is taken from the instance: the type of the key', () => {
    const fields = [key('a'), column('a.b', 'string', char), key('b', 'uuid', char), column('b.x', 'string', char)];
    const full = { fields, relations: [relation('a.b', 'b')] };
    const pointing = { collection: 'a', field: 'b', type: 'string' };
    for (const unsaid of [{ type: 'uuid' }, { schema: { is_primary_key: true } }, {}, { schema: char }]) {
      const trimmed = [key('a'), pointing, { collection: 'b', field: 'id', ...unsaid }];
      expectNothing(full, { fields: [...trimmed, column('b.x', 'string', char)] });
      expectNothing(full, { fields: [...trimmed, { collection: 'b', field: 'x', type: 'string' }] });
    }
    const { state } = importInto(initialState(), file({ collections: tables, ...full }), 'mirror');
    expect(state.collections.get('a')?.fields.get('b')).to.include({ type: 'uuid' });
  });

  it('is taken from the instance: the sequence of a number that is not an integer', () => {
    const extras = { default: `nextval('q'::regclass)` };
    const present = valueOf(
      readNewField({ collection: 'a', field: 'n', type: 'decimal', schema: { has_auto_increment: true, extras } }, [], {
        imported: false,
      }),
    );
    const input = file({
      collections: [table('a')],
      fields: [key('a'), column('a.n', 'decimal', { data_type: 'numeric', default_value: extras.default })],
    });
    const kept = read(input, { columnOf: () => present });
    expect(find(kept.fields, 'a.n')['schema']).to.include({ default_value: null, has_auto_increment: true });
    expect(kept.warnings).to.deep.equal([]);
    const without = read(input);
    expect(find(without.fields, 'a.n')['schema'])
      .to.include({ default_value: null })
      .and.not.have.property('has_auto_increment');
    expect(without.warnings).to.deep.equal(['DEFAULT_LEFT_OUT a.n']);
  });

  it('is taken from the instance: the existence of a key', () => {
    const fields = [column('a.x', 'string'), key('b'), column('b.a_code', 'uuid', { data_type: 'uuid' })];
    const toA = relation('b.a_code', 'a', {}, { foreign_key_table: 'a', foreign_key_column: 'code' });
    const full = { vendor: 'postgres', fields, relations: [toA] };
    const untyped = [fields[0], key('b'), { collection: 'b', field: 'a_code' }] as typeof fields;
    const unsaid = [{ collection: 'a', field: 'x' }, key('b'), { collection: 'b', field: 'a_code' }];
    for (const trimmed of [{ fields: untyped }, { fields: unsaid }]) {
      expectNothing(full, trimmed);
      expectNothing(full, { ...trimmed, relations: [{ collection: 'b', field: 'a_code', related_collection: 'a' }] });
    }
    expectNothing({ fields: [] }, { collections: [{ collection: 'a' }, { collection: 'b' }] });
  });

  it('is taken from the instance: the foreign key and its target', () => {
    const fields = [key('a'), column('a.b', 'string'), key('b')];
    expectNothing(
      { fields, relations: [relation('a.b', 'b', {}, null)] },
      {
        relations: [{ collection: 'a', field: 'b', related_collection: 'b' }],
      },
    );
    const [idOfA, toKey, idOfB, other] = [
      key('a'),
      column('a.b', 'string', char),
      key('b', 'uuid', char),
      column('b.y', 'text'),
    ];
    const toB = { fields: [idOfA, toKey, idOfB, other], relations: [relation('a.b', 'b')] };
    expectNothing(toB, { relations: [{ collection: 'a', field: 'b' }] });
    expectNothing(toB, { relations: [{ collection: 'a', field: 'b', schema: { foreign_key_table: 'b' } }] });
    const toUsers = { ...toB, relations: [relation('a.b', 'directus_users')] };
    expectNothing(toUsers, { relations: [{ collection: 'a', field: 'b' }] });
    // In a merge, only the instance may have the key.
    expectNothing(toB, { fields: [idOfA, toKey, other] }, ['merge']);
  });
});
