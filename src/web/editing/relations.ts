/** Creates the four kinds of relations, each in one step with all its parts. */
import {
  type Field,
  type ForeignKey,
  type NewRelation,
  type ReferentialAction,
  FOREIGN_KEY_DEFAULTS,
  RELATION_META_DEFAULTS,
} from '../../schema/model/model.js';
import type { DraftEditor } from '../draft/editor.js';
import { newCollection, newField } from './column-defaults.js';

/** The key of a collection, which determines the type of a referencing column. */
export type KeyColumn = Pick<Field, 'type'> & {
  schema: Pick<NonNullable<Field['schema']>, 'data_type' | 'max_length' | 'numeric_precision' | 'numeric_scale'>;
};

interface ManyToOne {
  kind: 'm2o';
  /** The collection with the foreign key. */
  many: string;
  field: string;
  one: string;
  key: KeyColumn;
  /** The alias field that shows the relation on the one side. Empty for none. */
  alias: string;
  onDelete: ReferentialAction;
  required: boolean;
}

interface OneToMany extends Omit<ManyToOne, 'kind'> {
  kind: 'o2m';
}

interface ManyToMany {
  kind: 'm2m';
  collection: string;
  /** The alias field that shows the relation. */
  field: string;
  other: string;
  /** The alias field on the other side. Empty for none. */
  otherField: string;
  junction: string;
  /** The two fields of the junction. */
  ownKey: string;
  otherKey: string;
  keys: { own: KeyColumn; other: KeyColumn };
  sort: string;
  onDelete: ReferentialAction;
}

interface ManyToAny {
  kind: 'm2a';
  collection: string;
  field: string;
  allowed: string[];
  junction: string;
  ownKey: string;
  keys: { own: KeyColumn };
  /** The fields of the junction that store the key and the collection of the item. */
  item: string;
  itemCollection: string;
  sort: string;
  onDelete: ReferentialAction;
}

export type RelationPlan = ManyToOne | OneToMany | ManyToMany | ManyToAny;

/** The name is omitted, because the default name derives from the two ends. */
const foreignKey = (on_delete: ReferentialAction): ForeignKey => ({ ...FOREIGN_KEY_DEFAULTS, on_delete }) as ForeignKey;

type Ends = Pick<NewRelation, 'many_collection' | 'many_field'> & Partial<NewRelation>;

const relation = (ends: Ends): NewRelation => ({ ...RELATION_META_DEFAULTS, schema: null, ...ends });

/**
 * Returns the field of a foreign key. It is indexed, because otherwise each delete of a referenced row reads the whole
 * table.
 */
const keyField = (
  collection: string,
  field: string,
  { type, schema }: KeyColumn,
  more: { required?: boolean; hidden?: boolean } = {},
) => {
  const { data_type, max_length, numeric_precision, numeric_scale } = schema;
  return newField({
    collection,
    field,
    type,
    meta: {
      interface: 'select-dropdown-m2o',
      special: ['m2o'],
      required: more.required ?? false,
      hidden: more.hidden ?? false,
    },
    schema: {
      data_type,
      max_length,
      numeric_precision,
      numeric_scale,
      is_nullable: more.required !== true,
      is_indexed: true,
    },
  });
};

const aliasField = (collection: string, field: string, kind: 'o2m' | 'm2m' | 'm2a') =>
  newField({ collection, field, type: 'alias', meta: { interface: `list-${kind}`, special: [kind] } });

/**
 * Adds a relation, its fields and a junction with its key to the draft. Names are not checked. An existing object is
 * overwritten, except the field of a foreign key, which is used as it is.
 */
export function makeRelation(editor: DraftEditor, plan: RelationPlan): void {
  if (plan.kind === 'm2m') makeManyToMany(editor, plan);
  else if (plan.kind === 'm2a') makeManyToAny(editor, plan);
  else makeManyToOne(editor, plan);
}

/** Creates a many-to-one relation. An existing field is used unchanged. */
function makeManyToOne(editor: DraftEditor, plan: ManyToOne | OneToMany): void {
  const { many, field, one, key, alias, onDelete, required } = plan;
  if (editor.field(many, field) === undefined) editor.put('fields', keyField(many, field, key, { required }));
  if (alias !== '') editor.put('fields', aliasField(one, alias, 'o2m'));
  const ends = {
    many_collection: many,
    many_field: field,
    one_collection: one,
    one_field: alias === '' ? null : alias,
  };
  editor.put('relations', relation({ ...ends, schema: foreignKey(onDelete) }));
}

function makeJunction(editor: DraftEditor, plan: ManyToMany | ManyToAny): void {
  const { junction, sort } = plan;
  editor.put('collections', newCollection(junction, false, { hidden: true, icon: 'import_export' }));
  editor.put('fields', primaryKey(junction, 'bigInteger'));
  if (sort === '') return;
  const meta = { interface: 'input', hidden: true };
  editor.put('fields', newField({ collection: junction, field: sort, type: 'integer', meta }));
}

function makeManyToMany(editor: DraftEditor, plan: ManyToMany): void {
  const { collection, field, other, otherField, junction, ownKey, otherKey, keys, sort, onDelete } = plan;
  makeJunction(editor, plan);
  editor.put('fields', keyField(junction, ownKey, keys.own, { hidden: true }));
  editor.put('fields', keyField(junction, otherKey, keys.other, { hidden: true }));
  editor.put('fields', aliasField(collection, field, 'm2m'));
  if (otherField !== '') editor.put('fields', aliasField(other, otherField, 'm2m'));
  const sort_field = sort === '' ? null : sort;
  const own = { many_collection: junction, many_field: ownKey, one_collection: collection, one_field: field };
  editor.put('relations', relation({ ...own, junction_field: otherKey, sort_field, schema: foreignKey(onDelete) }));
  const there = { many_collection: junction, many_field: otherKey, one_collection: other };
  const one_field = otherField === '' ? null : otherField;
  editor.put('relations', relation({ ...there, one_field, junction_field: ownKey, schema: foreignKey(onDelete) }));
}

function makeManyToAny(editor: DraftEditor, plan: ManyToAny): void {
  const { collection, field, allowed, junction, ownKey, keys, item, itemCollection, sort, onDelete } = plan;
  makeJunction(editor, plan);
  const hidden = { hidden: true };
  editor.put('fields', keyField(junction, ownKey, keys.own, hidden));
  editor.put('fields', newField({ collection: junction, field: item, type: 'string', meta: hidden }));
  editor.put('fields', newField({ collection: junction, field: itemCollection, type: 'string', meta: hidden }));
  editor.put('fields', aliasField(collection, field, 'm2a'));
  const sort_field = sort === '' ? null : sort;
  const own = { many_collection: junction, many_field: ownKey, one_collection: collection, one_field: field };
  editor.put('relations', relation({ ...own, junction_field: item, sort_field, schema: foreignKey(onDelete) }));
  const any = { one_collection: null, one_allowed_collections: allowed, one_collection_field: itemCollection };
  editor.put('relations', relation({ many_collection: junction, many_field: item, ...any, junction_field: ownKey }));
}

export type KeyKind = 'integer' | 'bigInteger' | 'uuid' | 'string';

/** @param kind numbers are auto-increment, UUIDs are generated, and texts must be provided by clients */
export function primaryKey(collection: string, kind: KeyKind, field = 'id'): Field {
  const counts = kind === 'integer' || kind === 'bigInteger';
  return newField({
    collection,
    field,
    type: kind,
    meta: {
      interface: counts ? 'numeric' : 'input',
      hidden: kind !== 'string',
      readonly: kind !== 'string',
      sort: 1,
      ...(kind === 'uuid' && { special: ['uuid'] }),
    },
    schema: {
      is_primary_key: true,
      has_auto_increment: counts,
      ...(kind === 'uuid' && { default_value: 'gen_random_uuid()' }),
    },
  });
}
