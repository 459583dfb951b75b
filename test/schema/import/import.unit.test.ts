import { expect } from 'chai';
import { importSnapshot } from '../../../src/schema/import/import-snapshot.js';
import { pathsOf } from '../normal-form/read.js';
import { column, file, find, key, names, read, relation, table, SYSTEM } from './read.js';

describe('imported snapshots', () => {
  it('report problems at their location if they are invalid', () => {
    expect(pathsOf(importSnapshot([], SYSTEM))).to.deep.equal(['']);
    expect(pathsOf(importSnapshot({ collections: {}, fields: null }, SYSTEM))).to.deep.equal(['collections', 'fields']);
    for (const part of ['collections', 'fields', 'relations']) {
      for (const value of [{}, 'x', 0, null])
        expect(pathsOf(importSnapshot({ [part]: value }, SYSTEM))).to.deep.equal([part]);
    }
    const wrong = {
      collections: ['x', { meta: {} }, table('service_flows')],
      fields: [{ collection: 'a' }],
      relations: [],
    };
    expect(pathsOf(importSnapshot(wrong, SYSTEM))).to.have.members([
      'collections[0]',
      'collections[1].collection',
      'collections[2].collection',
      'fields[0].field',
    ]);
  });

  it('report nothing about missing parts', () => {
    const result = importSnapshot({ version: 1, directus: '11.0.0', collections: [table('a')] }, SYSTEM);
    expect(result).to.have.nested.property('value.fields', undefined);
    expect(result).to.have.nested.property('value.relations', undefined);
  });

  describe('system', () => {
    it('objects are skipped with a warning each', () => {
      const result = read(
        file({
          collections: [table('a'), table('directus_users'), table('DIRECTUS_x')],
          fields: [key('a'), key('DIRECTUS_x'), column('directus_users.nick', 'string')],
          relations: [relation('directus_users.nick', 'a'), relation('a.id', 'directus_files')],
          systemFields: [{ collection: 'directus_activity', field: 'timestamp', schema: { is_indexed: true } }],
        }),
      );
      expect(names(result.collections)).to.deep.equal(['a', 'DIRECTUS_x']);
      expect(names(result.fields)).to.deep.equal(['a.id', 'DIRECTUS_x.id']);
      expect(result.relations).to.deep.equal([]);
      expect(result.warnings).to.deep.equal([
        'SYSTEM_FIELDS_LEFT_OUT',
        'SYSTEM_COLLECTION_LEFT_OUT directus_users',
        'SYSTEM_FIELD_LEFT_OUT directus_users.nick',
        'RELATION_LEFT_OUT directus_users.nick',
        'RELATION_LEFT_OUT a.id',
      ]);
    });

    it('collections of this service are referenced by their name here, without fields', () => {
      const author = column('a.author', 'string', { data_type: 'char', max_length: 36 });
      const result = read(
        file({
          collections: [table('a')],
          fields: [key('a'), author],
          relations: [relation('a.author', 'directus_users', { one_field: 'articles' })],
        }),
      );
      expect(result.relations[0]).to.include({ one_collection: 'service_users', one_field: null });
      expect(find(result.fields, 'a.author')).to.deep.include({ type: 'uuid' });
      expect(find(result.fields, 'a.author')['schema']).to.include({ data_type: 'uuid', max_length: null });
      expect(result.warnings).to.deep.equal(['REFERENCE_LEFT_OUT a.author', 'TYPE_CHANGED a.author']);
    });
  });

  it('objects of our own releases are kept', () => {
    const ours = {
      version: 1,
      service: '0.0.1',
      vendor: 'postgres',
      collections: [
        {
          collection: 'a',
          meta: { note: 'n' },
          schema: { name: 'a', comment: 'c', extras: { partition_by: 'LIST (x)' } },
        },
      ],
      fields: [
        {
          collection: 'a',
          field: 'id',
          type: 'unknown',
          meta: {},
          schema: { data_type: 'timestamp(3) without time zone', is_primary_key: true, extras: { collation: '"C"' } },
        },
      ],
      relations: [{ id: 3, many_collection: 'a', many_field: 'id', one_collection: 'service_users', schema: null }],
    };
    expect(read(ours)).to.deep.equal({
      collections: [
        { collection: 'a', meta: { note: 'n' }, schema: { comment: 'c', extras: { partition_by: 'LIST (x)' } } },
      ],
      fields: [
        {
          collection: 'a',
          field: 'id',
          type: 'unknown',
          meta: {},
          schema: {
            data_type: 'timestamp(3) without time zone',
            max_length: null,
            numeric_precision: null,
            numeric_scale: null,
            is_primary_key: true,
            extras: { collation: '"C"' },
          },
        },
      ],
      relations: [{ many_collection: 'a', many_field: 'id', one_collection: 'service_users', schema: null }],
      warnings: [],
    });
  });
});
