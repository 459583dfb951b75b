/**
 * Defines a schema for each kind of managed document. Their types, member order, defaults, checks, forms and API
 * descriptions derive from it. Event payloads have their own schemas (`fold/event-schemas.ts`), because a released
 * event never changes.
 *
 * In normal form every member is present and derived members are absent. Responses add the derived members
 * (`meta.collection`, `meta.field`, `schema.name`, `schema.table`, `schema.is_generated`, `schema.foreign_key_table`,
 * `schema.foreign_key_column`), and requests may contain them. Paths in a diff are equal in both forms.
 */
import { z } from 'zod';
import type { Json } from '../../kernel/json.js';
import { columnExtras, tableExtras } from './extras.js';

/** Facts about a member that its type does not show. */
interface Member {
  /** The value in a new document. Absent if every new document must contain the member. */
  initial?: unknown;
  /**
   * Describes the expected form. Follows the member's name: "must be true or false". Absent if the member has no own
   * check.
   */
  message?: string;
  /** The shape in requests, if it is wider than the shape of the document. */
  accepts?: z.ZodType;
  /** Converts a value of other vendors. */
  imported?: (value: unknown) => unknown;
  /** Converts an accepted value to the value in the document. */
  normal?: (value: unknown) => unknown;
  input?: FormInput;
}

/** The input of a member in the admin app. */
export interface FormInput {
  section: string;
  /** The position in the section. */
  position: number;
  label: string;
  kind: InputKind;
  help?: string;
  /** The values of a choice. An empty value means null. */
  options?: readonly (string | { value: string; label: string })[];
}

export type InputKind =
  | 'text'
  | 'area'
  | 'code'
  | 'number'
  | 'flag'
  | 'choice'
  | 'interface'
  | 'display'
  /** The options of the interface or the display. */
  | 'interface-options'
  | 'display-options'
  | 'icon'
  | 'color'
  | 'json'
  | 'words'
  | 'translations'
  /** The name of a field of the collection. */
  | 'field'
  | 'alias'
  | 'collection';

/** A registry of zod would do the same, but its types take minutes to check with a shape in the metadata. */
const members = new WeakMap<z.core.$ZodType, Member>();

/** Returns the facts about a member besides its shape. */
export const memberOf = (shape: z.core.$ZodType): Member => members.get(shape) ?? {};

function member<S extends z.ZodType>(shape: S, about: Member): S {
  members.set(shape, about);
  return shape;
}

/** Describes the input of a member: its label, kind and position. */
const input =
  (section: string) =>
  (position: number, label: string, kind: InputKind, more: Pick<FormInput, 'help' | 'options'> = {}): FormInput => ({
    section,
    position,
    label,
    kind,
    ...more,
  });

const isZeroOrOne = (value: unknown): boolean => value === 0 || value === 1;

/** A boolean. Other vendors may send 0 and 1. */
const flag = (initial: boolean, form?: FormInput) =>
  member(z.boolean(), {
    initial,
    message: 'must be true or false',
    imported: (value) => (isZeroOrOne(value) ? value === 1 : value),
    ...(form && { input: form }),
  });

const numberAsText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

const text = (form?: FormInput) =>
  member(z.string().nullable(), {
    initial: null,
    message: 'must be a string or null',
    imported: numberAsText,
    ...(form && { input: form }),
  });

/** A comment in the database. An empty text becomes null, because PostgreSQL does not store empty comments. */
const comment = (form: FormInput) =>
  member(z.string().nullable(), {
    ...memberOf(text(form)),
    normal: (value) => (value === '' ? null : value),
  });

/** The name of another object. A later check of the whole schema finds names that do not exist. */
const name = (form?: FormInput) =>
  member(z.string().min(1).nullable(), {
    initial: null,
    message: 'must be a non-empty string (a name) or null',
    ...(form && { input: form }),
  });

export const MAX_SORT = 2_147_483_647;

const sort = (form: FormInput) =>
  member(z.int32().nullable(), {
    initial: null,
    message: `must be an integer from -2147483648 to ${MAX_SORT}, or null`,
    // -0 and 0 are the same number, even in JSON text.
    normal: (value) => (value === 0 ? 0 : value),
    input: form,
  });

const json = (shape: z.ZodType, message: string, form: FormInput) =>
  member(shape as z.ZodType<Json>, { initial: null, message, input: form });

const object = z.looseObject({});

const objectOrNull = (form: FormInput) => json(object.nullable(), 'must be an object or null', form);

const listOrNull = (form: FormInput) => json(z.array(z.unknown()).nullable(), 'must be an array or null', form);

const structureOrNull = (form: FormInput) =>
  json(z.union([z.array(z.unknown()), object]).nullable(), 'must be an array, an object or null', form);

const translations = (form: FormInput) =>
  json(
    z.union([z.array(object), object]).nullable(),
    'must be an object (one name per language), an array of objects, or null',
    form,
  );

/** Lists the values in a message: `must be "a", "b" or null`. */
const oneOf = (values: readonly (string | null)[]): string =>
  `must be ${values.map((value) => JSON.stringify(value)).join(', ')}`.replace(/, ([^,]*)$/, ' or $1');

/** One of several values, with exact spelling. */
const choiceMember = <const V extends string>(values: readonly V[], initial: V, more: Member) =>
  member(z.enum(values as [V, ...V[]]), { initial, message: oneOf(values), ...more });

const look = input('Appearance');
const tree = input('Position in the tree');
const items = input('Items');
const archive = input('Archive');

const ACCOUNTABILITIES = ['all', 'activity'] as const;

export const collectionMeta = z.strictObject({
  icon: text(look(1, 'Icon', 'icon')),
  note: text(look(3, 'Note', 'area', { help: 'Describes the purpose. Visible to all users.' })),
  display_template: text(
    look(4, 'Display template', 'text', {
      help: 'How an item is displayed, for example {{ title }} by {{ author.name }}',
    }),
  ),
  hidden: flag(false, tree(4, 'Hidden', 'flag', { help: 'Shown only when hidden collections are displayed' })),
  singleton: flag(false, items(1, 'Singleton (one item only)', 'flag')),
  translations: translations(look(5, 'Translated names', 'translations')),
  archive_field: name(archive(1, 'Archive field', 'field')),
  archive_app_filter: member(z.boolean(), {
    initial: true,
    message: 'must be true or false (or the strings "true", "false")',
    accepts: z.union([z.boolean(), z.enum(['true', 'false'])]),
    normal: (value) => value === true || value === 'true',
    input: archive(4, 'Hide archived items by default', 'flag'),
  }),
  archive_value: text(archive(2, 'Archive value', 'text')),
  unarchive_value: text(archive(3, 'Unarchive value', 'text')),
  sort_field: name(items(3, 'Sort field', 'field')),
  accountability: member(z.enum(ACCOUNTABILITIES).nullable(), {
    initial: 'all',
    message: oneOf([...ACCOUNTABILITIES, null]),
    input: items(4, 'Accountability', 'choice', {
      options: [
        { value: 'all', label: 'Activity and revisions' },
        { value: 'activity', label: 'Activity' },
        { value: '', label: 'Nothing' },
      ],
    }),
  }),
  color: text(look(2, 'Color', 'color')),
  item_duplication_fields: listOrNull(
    items(6, 'Duplicated fields', 'words', { help: 'Fields that are copied with an item. Leave empty for all.' }),
  ),
  sort: sort(tree(2, 'Sort order', 'number', { help: 'Position within its group, smallest first' })),
  group: name(tree(1, 'Parent group', 'collection')),
  collapse: choiceMember(['open', 'closed', 'locked'], 'open', {
    input: tree(3, 'Nested collections', 'choice', {
      options: [
        { value: 'open', label: 'Open by default' },
        { value: 'closed', label: 'Closed by default' },
        { value: 'locked', label: 'Always open' },
      ],
    }),
  }),
  preview_url: text(items(5, 'Preview URL', 'text', { help: 'https://example.com/{{ slug }}' })),
  versioning: flag(false, items(2, 'Content versioning', 'flag')),
});

export type CollectionMeta = z.infer<typeof collectionMeta>;

const identifier = z.string();

export const collectionMetaDocument = z.strictObject({ collection: identifier, ...collectionMeta.shape });

export const tableDocument = z.strictObject({
  /** The name of the table. Equal to the name of the collection, except outside the default schema. */
  name: identifier,
  /** The schema in PostgreSQL. Absent for the default schema, whose name differs between instances. */
  schema: identifier.optional(),
  /** The table's comment. */
  comment: comment(input('Table')(1, 'Comment in the database', 'area')),
  /** Properties that fields and relations cannot express. Absent if there are none. */
  extras: tableExtras.optional(),
});
/** `schema` and `name` are both present or both absent. Requests set them when a table is created or moved. */
export const tableSchema = tableDocument.partial({ name: true });

export type TableSchema = z.infer<typeof tableSchema>;

/** A table or, if `schema` is null, a folder that only groups collections. */
export interface Collection {
  collection: string;
  meta: CollectionMeta;
  schema: TableSchema | null;
}

export const collectionDocument = z.strictObject({
  collection: identifier,
  meta: collectionMetaDocument,
  schema: tableDocument.nullable(),
});

export const FIELD_WIDTHS = ['half', 'half-left', 'half-right', 'half-space', 'full', 'fill'] as const;

const inForm = input('Position in the form');
const rules = input('Rules');

export const fieldMeta = z.strictObject({
  special: member(z.array(z.string()).nullable(), {
    initial: null,
    message: 'must be an array of strings, or null',
    // Other vendors may send a comma-separated text.
    imported: (value) => (typeof value === 'string' ? value.split(',').flatMap((item) => item.trim() || []) : value),
    input: rules(5, 'Special', 'words', { help: 'How values are processed: uuid, date-created, cast-json …' }),
  }),
  interface: text(look(1, 'Interface', 'interface', { help: 'How users enter a value' })),
  options: objectOrNull(look(2, 'Interface options', 'interface-options')),
  display: text(look(3, 'Display', 'display', { help: 'How lists show a value' })),
  display_options: objectOrNull(look(4, 'Display options', 'display-options')),
  readonly: flag(false, inForm(5, 'Read only', 'flag')),
  hidden: flag(false, inForm(4, 'Hidden', 'flag')),
  sort: sort(inForm(2, 'Sort order', 'number', { help: 'Smallest first' })),
  width: choiceMember(FIELD_WIDTHS, 'full', {
    accepts: z.enum(FIELD_WIDTHS).nullable(),
    normal: (value) => value ?? 'full',
    input: inForm(1, 'Width', 'choice', { options: FIELD_WIDTHS }),
  }),
  translations: translations(look(6, 'Translated names', 'translations')),
  note: text(look(5, 'Note', 'area')),
  conditions: structureOrNull(rules(4, 'Conditions', 'json', { help: 'Options that depend on other fields' })),
  /** The alias field of the same collection that contains this field. */
  group: name(inForm(3, 'Parent group', 'alias', { help: 'An alias field that groups others' })),
  required: flag(false, rules(1, 'Required in forms', 'flag')),
  validation: structureOrNull(rules(2, 'Validation', 'json', { help: 'A filter that values must match' })),
  validation_message: text(rules(3, 'Validation message', 'text')),
});

export type FieldMeta = z.infer<typeof fieldMeta>;

export const fieldMetaDocument = z.strictObject({
  collection: identifier,
  field: identifier,
  ...fieldMeta.shape,
});

const ofType = input('Type');
const flags = input('Flags');
const texts = input('Texts');

/** An integer that only some data types allow. The check of the data type decides. */
const integerOrNull = (form: FormInput) => member(z.int().nullable(), { initial: null, input: form });

/** The column of a field. Members that do not apply to the type are null. */
export const columnDocument = z.strictObject({
  name: identifier,
  table: identifier,
  /** The name from PostgreSQL's format_type without length or precision: `character varying`, `integer`. */
  data_type: member(z.string(), { input: ofType(4, 'PostgreSQL type', 'code') }),
  /** A literal of the type. For temporal and uuid types also a supported function. Null means no default. */
  default_value: member(z.unknown() as unknown as z.ZodType<Json>, { initial: null }),
  max_length: integerOrNull(ofType(1, 'Max length', 'number', { help: 'Characters' })),
  numeric_precision: integerOrNull(ofType(2, 'Precision', 'number', { help: 'Total number of digits' })),
  numeric_scale: integerOrNull(ofType(3, 'Scale', 'number', { help: 'Digits after the decimal point' })),
  is_nullable: flag(true, flags(1, 'Nullable', 'flag', { help: 'Off: the field is required in every row' })),
  is_unique: flag(false, flags(2, 'Unique', 'flag')),
  is_indexed: flag(false, flags(3, 'Indexed', 'flag')),
  is_primary_key: flag(false, flags(4, 'Primary key', 'flag')),
  is_generated: flag(false),
  generation_expression: member(z.string().nullable(), {
    initial: null,
    message: 'must be a scalar SQL expression, or null',
    accepts: z
      .string()
      .refine((value) => value.trim() !== '')
      .nullable(),
    input: texts(1, 'Generated from', 'code', { help: 'An SQL expression that uses other columns of the row' }),
  }),
  has_auto_increment: flag(false, flags(5, 'Auto-increment', 'flag')),
  comment: comment(texts(2, 'Comment in the database', 'area')),
  foreign_key_table: z.string().nullable(),
  foreign_key_column: z.string().nullable(),
  /** Properties that the other members cannot express. Absent if there are none. */
  extras: columnExtras.optional(),
});
export const columnSchema = columnDocument.omit({
  name: true,
  table: true,
  is_generated: true,
  foreign_key_table: true,
  foreign_key_column: true,
});

export type ColumnSchema = z.infer<typeof columnSchema>;

/** The data types that hold text. */
export const TEXT_TYPES: ReadonlySet<string> = new Set(['character varying', 'character', 'text', 'citext']);

/** A column or, with type `alias` and `schema` null, a field that exists only in the metadata. */
export interface Field {
  collection: string;
  field: string;
  type: string;
  meta: FieldMeta;
  schema: ColumnSchema | null;
}

export const fieldDocument = z.strictObject({
  collection: identifier,
  field: identifier,
  type: z.string(),
  meta: fieldMetaDocument,
  schema: columnDocument.nullable(),
});

export const REFERENTIAL_ACTIONS = ['NO ACTION', 'SET NULL', 'SET DEFAULT', 'CASCADE', 'RESTRICT'] as const;
export type ReferentialAction = (typeof REFERENTIAL_ACTIONS)[number];

export const DEFERRABLES = ['INITIALLY IMMEDIATE', 'INITIALLY DEFERRED'] as const;
export type Deferrable = (typeof DEFERRABLES)[number];

const key = input('Foreign key');

const action = (form: FormInput) =>
  choiceMember(REFERENTIAL_ACTIONS, 'NO ACTION', {
    imported: (value) => (typeof value === 'string' ? value.toUpperCase() : value),
    input: { ...form, options: REFERENTIAL_ACTIONS.map((value) => ({ value, label: value.toLowerCase() })) },
  });

export const foreignKeyDocument = z.strictObject({
  constraint_name: member(z.string(), {
    message: 'must be the name of the constraint, as a string',
    input: key(4, 'Foreign key name', 'text'),
  }),
  table: identifier,
  column: identifier,
  foreign_key_table: z.string(),
  foreign_key_column: z.string().nullable(),
  on_update: action(key(2, 'On update', 'choice')),
  on_delete: action(key(1, 'On delete', 'choice')),
  /** Absent means NOT DEFERRABLE. */
  deferrable: member(z.enum(DEFERRABLES).optional(), {
    input: key(3, 'Constraint check', 'choice', {
      options: [
        { value: '', label: 'immediate, not deferrable' },
        ...DEFERRABLES.map((value) => ({ value, label: `deferrable, ${value.toLowerCase()}` })),
      ],
    }),
  }),
});
export const foreignKey = foreignKeyDocument.omit({
  table: true,
  column: true,
  foreign_key_table: true,
  foreign_key_column: true,
});

export type ForeignKey = z.infer<typeof foreignKey>;

const relationForm = input('Relation');

/** A relation, identified by (many_collection, many_field). `id` is the position of its relation.created event. */
export const relationMembers = z.strictObject({
  id: z.int(),
  many_collection: identifier,
  many_field: identifier,
  /** Null for many-to-any relations. */
  one_collection: name(),
  one_field: name(),
  one_collection_field: name(),
  one_allowed_collections: member(
    z
      .array(z.string().min(1))
      .refine((names) => new Set(names).size === names.length)
      .meta({ uniqueItems: true })
      .nullable(),
    {
      initial: null,
      message: 'must be an array of distinct collection names, or null',
      input: relationForm(3, 'Related collections', 'words'),
    },
  ),
  junction_field: name(),
  sort_field: name(relationForm(2, 'Sort field', 'field')),
  one_deselect_action: choiceMember(['nullify', 'delete'], 'nullify', {
    input: relationForm(1, 'When an item is deselected', 'choice', {
      options: [
        { value: 'nullify', label: 'Set the field to null' },
        { value: 'delete', label: 'Delete the item' },
      ],
    }),
  }),
});

/** A relation. `schema` is null if the relation exists only in the metadata. */
export type Relation = z.infer<typeof relationMembers> & { schema: ForeignKey | null };

export type NewRelation = Omit<Relation, 'id'>;

export const relation = relationMembers.extend({ schema: foreignKey.nullable() });

/** A relation in responses of /relations: the flat members and the nested ones for Directus clients. */
export const relationDocument = relationMembers.extend({
  schema: foreignKeyDocument.nullable(),
  collection: identifier,
  field: identifier,
  related_collection: z.string().nullable(),
  meta: relationMembers,
});

/** The names of the members, in the order of responses. */
export const membersOf = <S extends z.ZodObject>(shape: S): (keyof z.infer<S> & string)[] => Object.keys(shape.shape);

const namesAddedTo = (document: z.ZodObject, own: z.ZodObject): string[] =>
  membersOf(document).filter((name) => !Object.hasOwn(own.shape, name));

/** Members of responses that are derived from others. */
export const DERIVED_MEMBERS = {
  collection: {
    meta: namesAddedTo(collectionMetaDocument, collectionMeta),
    schema: ['name'],
  },
  field: {
    meta: namesAddedTo(fieldMetaDocument, fieldMeta),
    schema: namesAddedTo(columnDocument, columnSchema),
  },
} as const;

/** Members of a relation except id and foreign key, in display order. */
export const RELATION_MEMBERS = membersOf(relationMembers.omit({ id: true }));

/** Returns the members that have a value in a new document, with these values. */
function initialValues<T extends object>({ shape }: z.ZodObject): Readonly<T> {
  const values = Object.entries(shape).map(([name, inner]) => [name, memberOf(inner).initial]);
  return Object.freeze(Object.fromEntries(values.filter(([, value]) => value !== undefined)) as T);
}

/** The metadata of a collection without explicit values. */
export const COLLECTION_META_DEFAULTS = initialValues<CollectionMeta>(collectionMeta);
/** The metadata of a field without explicit values. */
export const FIELD_META_DEFAULTS = initialValues<FieldMeta>(fieldMeta);
/** A column without explicit values. Its type decides the data type, the length and the precision. */
export const COLUMN_DEFAULTS = initialValues<Omit<ColumnSchema, 'data_type' | 'extras'>>(columnSchema);
/** The members of a relation that can change, without the foreign key. */
export type RelationMeta = Omit<NewRelation, 'many_collection' | 'many_field' | 'schema'>;
export const RELATION_META_DEFAULTS = initialValues<RelationMeta>(relationMembers);
/** A foreign key without explicit values, except its name. */
export const FOREIGN_KEY_DEFAULTS = initialValues<Omit<ForeignKey, 'constraint_name' | 'deferrable'>>(foreignKey);
