/** Which foreign keys of the catalog are relations. */
import { expect } from 'chai';
import { foreignKeysOf } from '../../../src/projector/inspect/keys.js';
import type { CatalogConstraint, CatalogTable } from '../../../src/projector/catalog/model.js';
import type { NewRelation } from '../../../src/schema/model/model.js';
import { catalogColumn, catalogConstraint, catalogReference, catalogTable } from '../catalog-tables.js';
import { column, relationCreated } from '../columns.js';
import { type ConversionInput, converting } from './converting.js';

const COLUMNS = [catalogColumn('id', 'integer'), catalogColumn('a', 'integer'), catalogColumn('u', 'uuid')];
const KEY = catalogConstraint('t_pkey', 'primary key', { columns: ['id'] });

function relationsFrom(constraints: CatalogConstraint[], input: ConversionInput = { managed: ['other'] }) {
  const { relations, others } = foreignKeysOf(
    converting({ columns: COLUMNS, constraints: [KEY, ...constraints] }, input),
  );
  return { relations, others: others.map(({ name }) => name) };
}

const relation = (more: Partial<NewRelation> = {}): NewRelation => ({
  many_collection: 't',
  many_field: 'a',
  one_collection: 'other',
  one_field: null,
  one_collection_field: null,
  one_allowed_collections: null,
  junction_field: null,
  sort_field: null,
  one_deselect_action: 'nullify',
  schema: { constraint_name: 'f', on_update: 'NO ACTION', on_delete: 'NO ACTION' },
  ...more,
});

const keyed = (name: string, type = 'integer', columns = ['id']): CatalogTable =>
  catalogTable(name, {
    columns: [catalogColumn('id', type), catalogColumn('x', 'integer')],
    constraints: [catalogConstraint('k', 'primary key', { columns })],
  });

describe('a foreign key that becomes a relation', () => {
  it('references a managed or adopted key, or its own table', () => {
    const key = catalogReference('f', 'a', 'other');
    expect(relationsFrom([key])).to.deep.equal({ relations: [relation()], others: [] });
    expect(relationsFrom([key], { together: [keyed('other')] })).to.deep.equal({ relations: [relation()], others: [] });
    expect(relationsFrom([catalogReference('f', 'a', 't')], {})).to.deep.equal({
      relations: [relation({ one_collection: 't' })],
      others: [],
    });
  });

  it("may reference the service's users", () => {
    const { references, ...key } = catalogReference('f', 'u', 'service_users');
    const own = { ...key, references: { ...references, schema: null } } as CatalogConstraint;
    expect(relationsFrom([own], {})).to.deep.equal({
      relations: [relation({ many_field: 'u', one_collection: 'service_users' })],
      others: [],
    });
    // A table with that name in the managed schema is another table.
    expect(relationsFrom([{ ...key, references }], {})).to.deep.equal({ relations: [], others: ['f'] });
    expect(relationsFrom([{ ...own, columns: ['a'] }], {})).to.deep.equal({ relations: [], others: ['f'] });
  });

  it('keeps its actions and deferrability', () => {
    const { references } = catalogReference('f', 'a', 'other');
    const rules = { ...references, onUpdate: 'CASCADE', onDelete: 'SET NULL' } as CatalogConstraint['references'];
    const definition = 'FOREIGN KEY (a) REFERENCES other(id) ON UPDATE CASCADE ON DELETE SET NULL';
    const schema = { constraint_name: 'f', on_update: 'CASCADE', on_delete: 'SET NULL' } as const;
    expect(
      relationsFrom([catalogReference('f', 'a', 'other', { references: rules, definition })]).relations,
    ).to.deep.equal([relation({ schema })]);
    const waiting: [Partial<CatalogConstraint>, string][] = [
      [{ deferrable: true, definition: 'FOREIGN KEY (a) REFERENCES other(id) DEFERRABLE' }, 'INITIALLY IMMEDIATE'],
      [
        {
          deferrable: true,
          initiallyDeferred: true,
          definition: 'FOREIGN KEY (a) REFERENCES other(id) DEFERRABLE INITIALLY DEFERRED',
        },
        'INITIALLY DEFERRED',
      ],
    ];
    for (const [more, deferrable] of waiting) {
      expect(relationsFrom([catalogReference('f', 'a', 'other', more)]).relations[0]?.schema).to.deep.include({
        deferrable,
      });
    }
  });

  it('is the existing relation of its column, or else the first key', () => {
    const keys = ['f', 'g'].map((name) => catalogReference(name, 'a', 'other'));
    expect(relationsFrom(keys).others).to.deep.equal(['g']);
    const like = {
      fields: [column('t.a', 'integer')],
      relations: [relationCreated('t.a', 'other', { constraint_name: 'g' })],
    };
    expect(relationsFrom(keys, { managed: ['other'], like })).to.deep.equal({
      relations: [relation({ schema: { constraint_name: 'g', on_update: 'NO ACTION', on_delete: 'NO ACTION' } })],
      others: ['f'],
    });
  });

  it('keeps metadata while its target is the same', () => {
    const created = relationCreated('t.a', 'other');
    const { data } = created as { data: { relation: NewRelation } };
    const known = { one_field: 'ts', junction_field: 'j', sort_field: 's', one_deselect_action: 'delete' } as const;
    const event = { ...created, data: { relation: { ...data.relation, ...known } } } as typeof created;
    const like = { fields: [column('t.a', 'integer')], relations: [event] };
    expect(relationsFrom([catalogReference('f', 'a', 'other')], { managed: ['other'], like }).relations).to.deep.equal([
      relation(known),
    ]);
    expect(
      relationsFrom([catalogReference('f', 'a', 'another')], { managed: ['another'], like }).relations,
    ).to.deep.equal([relation({ one_collection: 'another' })]);
  });
});

describe('a foreign key that stays outside relations', () => {
  const { references } = catalogReference('f', 'a', 'other');
  const to = (more: object) => ({ references: { ...references, ...more } as CatalogConstraint['references'] });
  const others: [string, Partial<CatalogConstraint>, ConversionInput?][] = [
    ['of two columns', { columns: ['a', 'id'] }],
    ['of none', { columns: [] }],
    ['without a target', { references: null }],
    ['of a column that is not there', { columns: ['gone'] }],
    ['of a column of another type', { columns: ['u'] }],
    ['to another column', to({ columns: ['x'] })],
    ['to another schema', to({ schema: 'elsewhere' })],
    ['that matches in full', to({ match: 'full' })],
    ['that was not validated', { validated: false }],
    ['that is not enforced', { definition: 'FOREIGN KEY (a) REFERENCES other(id) NOT ENFORCED' }],
    ['to what is not managed', {}, {}],
    ['to a folder', {}, { folders: ['other'] }],
    ['to a table without a key', {}, { together: ['other'] }],
    ['to a key of two columns', {}, { together: [keyed('other', 'integer', ['id', 'x'])] }],
    ['to a key of another type', {}, { together: [keyed('other', 'uuid')] }],
    [
      'that the log has in words',
      {},
      { managed: ['other'], like: { extras: { constraints: [{ name: 'f', definition: 'x', references: 'other' }] } } },
    ],
  ];
  for (const [words, more, input] of others) {
    it(words, () => {
      expect(relationsFrom([catalogReference('f', 'a', 'other', more)], input)).to.deep.equal({
        relations: [],
        others: ['f'],
      });
    });
  }

  it('is of any other kind', () => {
    expect(relationsFrom([catalogConstraint('c', 'check', { columns: ['a'] })])).to.deep.equal({
      relations: [],
      others: [],
    });
  });
});
