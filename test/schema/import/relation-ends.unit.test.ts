import { expect } from 'chai';
import { EMPTY_INSTANCE, type Instance } from '../../../src/schema/import/reading.js';
import { importSnapshot } from '../../../src/schema/import/import-snapshot.js';
import { valueOf } from '../normal-form/read.js';
import { SYSTEM, alias, column, file, key, read, relation, table } from './read.js';

type Members = Record<string, unknown>;

const FIELDS = [
  key('a'),
  key('b'),
  column('a.x', 'integer'),
  column('a.y', 'integer'),
  column('a.kind', 'string'),
  column('a.made', 'string', { generation_expression: "'b'" }),
  alias('a.al'),
  alias('b.shown'),
];
const PARTS = { collections: [table('a'), table('b'), { collection: 'f', schema: null }], fields: FIELDS };

function readAll(relations: Members[], instance: Partial<Instance> = {}) {
  const known = { ...EMPTY_INSTANCE, ...instance };
  return valueOf(importSnapshot(file({ ...PARTS, relations }), SYSTEM, known));
}
const keptRelations = (options: Members, instance?: Partial<Instance>): Members[] =>
  (readAll([options], instance).relations ?? []) as Members[];
const reasonOf = (...relations: Members[]): string[] =>
  readAll(relations).warnings.map(
    ({ message, code, collection, field }) => `${code} ${collection}.${field}: ${message}`,
  );

const ANY = { one_allowed_collections: ['b'], one_collection_field: 'kind' };

describe('relations of a file', () => {
  const left = (name: string, target: string, reason: string) => {
    const [collection, field] = name.split('.');
    const quoted = `${JSON.stringify(collection)}.${JSON.stringify(field)}`;
    return [
      `RELATION_LEFT_OUT ${name}: The relation of ${quoted}${target && ` to "${target}"`} was skipped: ${reason}.`,
    ];
  };

  it('are skipped with the reason', () => {
    const stays = 'The column is imported without a foreign key';
    expect(reasonOf({ meta: {} })).to.deep.equal(left('?.?', '', 'it does not name its field'));
    expect(reasonOf({ collection: 'a', field: 5 })).to.deep.equal(left('a.?', '', 'it does not name its field'));
    expect(reasonOf(relation('gone.x', 'b'))).to.deep.equal(left('gone.x', 'b', '"gone" is not in the file'));
    expect(reasonOf(relation('a.gone', 'b'))).to.deep.equal(left('a.gone', 'b', 'field "gone" is not in the file'));
    expect(reasonOf(relation('a.al', 'b'))).to.deep.equal(left('a.al', 'b', '"al" has no column'));
    expect(reasonOf(relation('directus_users.x', 'b'))).to.deep.equal(
      left('directus_users.x', 'b', 'it belongs to a system collection'),
    );
    expect(reasonOf(relation('a.x', 'gone'))).to.deep.equal(left('a.x', 'gone', `"gone" is not in the file. ${stays}`));
    expect(reasonOf(relation('a.x', 'f'))).to.deep.equal(left('a.x', 'f', '"f" is a folder'));
    expect(reasonOf(relation('a.x', 'directus_files'))).to.deep.equal(
      left('a.x', 'directus_files', `this service does not have that system collection. ${stays}`),
    );
    const nobody = left('a.x', '', 'it does not name the field that stores the collection of an item');
    for (const pointer of ['x', 'y', 'made', 'al', 'gone', 7]) {
      expect(reasonOf(relation('a.x', null, { ...ANY, one_collection_field: pointer })), String(pointer)).to.deep.equal(
        nobody,
      );
    }
    expect(reasonOf(relation('a.x', null, { one_allowed_collections: null }))).to.deep.equal(
      left('a.x', '', 'it does not name a related collection'),
    );
  });

  it('are read once if repeated', () => {
    const [first, second] = [relation('a.x', 'b'), relation('a.x', 'a')];
    expect(readAll([first, second]).relations)
      .to.have.lengthOf(1)
      .and.to.have.nested.property('[0].one_collection', 'b');
    expect(reasonOf(first, second)).to.deep.equal([
      'DUPLICATE_LEFT_OUT a.x: The relation of "a"."x" to "a" was skipped: the file contains it twice, and the first was imported.',
    ]);
    expect(reasonOf(first, relation('a.y', 'b'))).to.deep.equal([]);
  });

  it('prefer the database part over the metadata', () => {
    const [created] = keptRelations({
      collection: 'a',
      field: 'x',
      related_collection: 'b',
      meta: { one_collection: 'a', many_field: 'y' },
    });
    expect(created).to.include({ many_collection: 'a', many_field: 'x', one_collection: 'b' });
    const [nested] = keptRelations({
      meta: { many_collection: 'a', many_field: 'x', one_collection: 'b', one_field: 'shown' },
    });
    expect(nested).to.deep.equal({ many_collection: 'a', many_field: 'x', one_collection: 'b', one_field: 'shown' });
  });

  it('warn about invalid members by location', () => {
    const { warnings } = read(
      file({ ...PARTS, relations: [{ ...relation('a.x', 'b', { odd: 1, id: 3 }), strange: 2, id: 4 }] }),
    );
    expect(warnings).to.have.lengthOf(2);
    const messages = readAll([{ ...relation('a.x', 'b', { odd: 1 }), strange: 2 }]).warnings.map(
      ({ message }) => message,
    );
    expect(messages[0]).to.contain('strange');
    expect(messages[1]).to.contain('meta.odd');
  });

  it('take the target from the foreign key or the instance if missing', () => {
    const bare = { many_collection: 'a', many_field: 'x' };
    expect(keptRelations({ ...bare, schema: { foreign_key_table: 'b' } })[0]).to.include({ one_collection: 'b' });
    const knows = (one_collection: string | null): Partial<Instance> =>
      ({ relationOf: () => ({ one_collection }) }) as unknown as Partial<Instance>;
    expect(keptRelations(bare, knows('b'))[0]).to.include({ one_collection: 'b' });
    expect(keptRelations(bare, knows('service_users'))[0]).to.include({ one_collection: 'service_users' });
    expect(keptRelations({ ...bare, one_collection: 'a' }, knows('b'))[0]).to.include({ one_collection: 'a' });
    expect(keptRelations({ ...bare, schema: { foreign_key_table: 'a' } }, knows('b'))[0]).to.include({
      one_collection: 'a',
    });
    expect(keptRelations({ ...bare, ...ANY }, knows('b'))[0]).to.include({ one_collection: null });
  });

  it('list each of many collections once, and report skipped ones', () => {
    const [created] = keptRelations(
      relation('a.x', null, { ...ANY, one_allowed_collections: ['b', 5, 'a', 'b', 'directus_users'] }, null),
    );
    expect(created).to.deep.include({ one_collection: null, one_allowed_collections: ['b', 'a', 'service_users'] });
    expect(
      reasonOf(relation('a.x', null, { ...ANY, one_allowed_collections: ['gone', 'b', 'f'] }, null)),
    ).to.deep.equal(
      ['gone', 'f'].map(
        (name) =>
          `REFERENCE_LEFT_OUT a.x: "${name}" was removed from the allowed collections of "a"."x": it was not imported.`,
      ),
    );
    const [half] = keptRelations({ many_collection: 'a', many_field: 'x', one_allowed_collections: ['b'] });
    expect(half).to.deep.equal({
      many_collection: 'a',
      many_field: 'x',
      one_collection: null,
      one_allowed_collections: ['b'],
    });
  });

  it('keep fields that fit their purpose', () => {
    const weak = (meta: Members) => keptRelations(relation('a.x', 'b', meta, null))[0];
    expect(weak({ one_field: 'shown', sort_field: 'y', junction_field: 'kind' })).to.include({
      one_field: 'shown',
      sort_field: 'y',
      junction_field: 'kind',
    });
    expect(weak({ junction_field: 'y', sort_field: 'y' })).to.include({ junction_field: 'y', sort_field: null });
    for (const name of ['', 5, 'gone', 'al']) expect(weak({ sort_field: name })).to.include({ sort_field: null });
    expect(weak({ sort_field: null })).to.include({ sort_field: null });
    expect(reasonOf(relation('a.x', 'b', { sort_field: null }, null))).to.deep.equal([]);
    expect(reasonOf(relation('a.x', 'b', { sort_field: 'gone' }, null))).to.deep.equal([
      'REFERENCE_LEFT_OUT a.x: sort_field of the relation of "a"."x" names "gone", which is not a suitable field of the file. It is set to null.',
    ]);
    expect(keptRelations(relation('a.x', null, { ...ANY, one_field: 'shown' }, null))[0]).to.include({
      one_field: null,
    });
    expect(keptRelations(relation('a.x', 'directus_users', { one_field: 'id' }))[0]).to.include({ one_field: null });
  });

  it('keep the known choices and foreign key members', () => {
    for (const action of ['nullify', 'delete']) {
      expect(keptRelations(relation('a.x', 'b', { one_deselect_action: action }))[0]).to.include({
        one_deselect_action: action,
      });
    }
    for (const action of ['drop', null, 5]) {
      expect(keptRelations(relation('a.x', 'b', { one_deselect_action: action }))[0]).not.to.have.property(
        'one_deselect_action',
      );
    }
    const schemaOf = (schema: unknown) => keptRelations(relation('a.x', 'b', {}, schema as never))[0]?.['schema'];
    expect(schemaOf(undefined)).to.deep.equal({});
    expect(schemaOf(null)).to.equal(null);
    expect(schemaOf('x')).to.equal(null);
    expect(
      schemaOf({ constraint_name: 'k', on_delete: 'cascade', on_update: 'SET NULL', deferrable: true }),
    ).to.deep.equal({
      constraint_name: 'k',
      on_delete: 'CASCADE',
      on_update: 'SET NULL',
      deferrable: true,
    });
    expect(schemaOf({ constraint_name: '', on_delete: 'EXPLODE', on_update: 5 })).to.deep.equal({});
    expect(keptRelations(relation('a.x', null, ANY, {}))[0]?.['schema']).to.equal(null);
    expect(keptRelations({ many_collection: 'a', many_field: 'x', one_collection: 'b' })[0]).not.to.have.property(
      'schema',
    );
  });
});
