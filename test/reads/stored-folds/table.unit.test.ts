/** The format of a stored fold. Omitted members keep their meaning within one format number. */
import { expect } from 'chai';
import type { CollectionNode } from '../../../src/schema/model/state.js';
import { FOLD_FORMAT, readState, writeState } from '../../../src/reads/stored-folds.js';

const LINES = [
  '[{},{"data_type":"integer","is_nullable":false}]',
  '["plain","1",{},null,[["a","2","string",{},0],["b","3","integer",{"note":"n"},1],["c","4","alias",{"special":["o2m"]},null],["d","5","string",{},0]],[]]',
  '["other","6",[{"note":"no other member"}],{"name":"other","comment":null},[["e","7","string",[{"note":"x"}],[{"data_type":"text"}]]],[]]',
];

const COLLECTION_META = {
  icon: null,
  note: null,
  display_template: null,
  hidden: false,
  singleton: false,
  translations: null,
  archive_field: null,
  archive_app_filter: true,
  archive_value: null,
  unarchive_value: null,
  sort_field: null,
  accountability: 'all',
  color: null,
  item_duplication_fields: null,
  sort: null,
  group: null,
  collapse: 'open',
  preview_url: null,
  versioning: false,
};

const FIELD_META = {
  special: null,
  interface: null,
  options: null,
  display: null,
  display_options: null,
  readonly: false,
  hidden: false,
  sort: null,
  width: 'full',
  translations: null,
  note: null,
  conditions: null,
  group: null,
  required: false,
  validation: null,
  validation_message: null,
};

const COLUMN = {
  data_type: 'character varying',
  default_value: null,
  max_length: null,
  numeric_precision: null,
  numeric_scale: null,
  is_nullable: true,
  is_unique: false,
  is_indexed: false,
  is_primary_key: false,
  generation_expression: null,
  has_auto_increment: false,
  comment: null,
};

describe('the text of a stored fold', () => {
  it('has a format number that changes with its meaning', () => {
    expect(FOLD_FORMAT, 'raise it, and write what the new format says down here').to.equal(3);
  });

  it('names everything it leaves out', async () => {
    const state = await readState(LINES, 9);
    expect(state.position).to.equal(9);
    expect([...state.collections.keys()]).to.deep.equal(['plain', 'other']);
    const [plain, other] = [...state.collections.values()] as [CollectionNode, CollectionNode];
    expect(plain.collection).to.deep.equal({ collection: 'plain', meta: COLLECTION_META, schema: null });
    expect(plain.identities).to.deep.equal({
      collection: '1',
      fields: new Map([
        ['a', '2'],
        ['b', '3'],
        ['c', '4'],
        ['d', '5'],
      ]),
    });
    const field = (name: string, type: string, meta: object, schema: object | null) => ({
      collection: 'plain',
      field: name,
      type,
      meta: { ...FIELD_META, ...meta },
      schema: schema && { ...COLUMN, ...schema },
    });
    expect([...plain.fields.values()]).to.deep.equal([
      field('a', 'string', {}, {}),
      field('b', 'integer', { note: 'n' }, { data_type: 'integer', is_nullable: false }),
      field('c', 'alias', { special: ['o2m'] }, null),
      field('d', 'string', {}, {}),
    ]);
    // Equal columns share one value in memory.
    expect(plain.fields.get('d')?.schema).to.equal(plain.fields.get('a')?.schema);
    expect(other.collection).to.deep.equal({
      collection: 'other',
      meta: { note: 'no other member' },
      schema: { name: 'other', comment: null },
    });
    expect(other.fields.get('e')).to.deep.include({ meta: { note: 'x' }, schema: { data_type: 'text' } });
  });

  it('is written as read, except for newly known column kinds', async () => {
    const [kinds = '', plain, other = ''] = LINES;
    expect(await writeState(await readState(LINES, 9))).to.deep.equal([
      kinds.replace(/\]$/, ',[{"data_type":"text"}]]'),
      plain,
      other.replace('[{"data_type":"text"}]', '2'),
    ]);
  });

  it('rejects unknown column kinds', async () => {
    const fault = await readState(['[]', LINES[1] ?? ''], 9).catch((error: unknown) => error);
    expect(fault).to.have.property('message', 'no column of kind 0 exists');
  });
});
