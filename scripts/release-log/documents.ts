/** Documents that are created through the API. */

const plain = (field: string, type: string, schema: object = {}, meta: object = {}) => ({
  field,
  type,
  meta: { interface: 'input', ...meta },
  schema,
});

const alias = (field: string, meta: object = {}) => ({
  field,
  type: 'alias',
  meta: { interface: 'list-o2m', ...meta },
  schema: null,
});

const TRANSLATIONS = [
  { language: 'de-DE', translation: 'Bücher "1"' },
  { language: 'ja', translation: '本' },
];

/** All metadata members of a collection. */
const EVERY_META = {
  icon: 'book',
  note: 'it\'s a "note"\n\twith \\ and 🎉',
  display_template: '{{titel}}',
  hidden: true,
  translations: TRANSLATIONS,
  archive_field: 'status',
  archive_app_filter: false,
  archive_value: 'archived',
  unarchive_value: 'draft',
  sort_field: 'ordnung',
  accountability: 'activity',
  color: '#6644FF',
  item_duplication_fields: ['titel'],
  sort: 3,
  group: 'ordner',
  collapse: 'closed',
  preview_url: 'https://example.com/{{id}}?a=b',
  versioning: true,
};

export const COLLECTIONS = [
  { collection: 'ordner', schema: null, meta: { icon: 'folder', collapse: 'locked' } },
  {
    collection: 'articles',
    schema: { comment: 'articles' },
    fields: [
      plain('title', 'string', { max_length: 200 }, { required: true, width: 'half' }),
      plain('body', 'text', { is_nullable: true }, { width: 'fill' }),
      plain('words', 'integer', { default_value: 1 }, { width: 'half-left' }),
      plain('status', 'string', { default_value: 'draft' }, { width: 'half-space' }),
      plain('right', 'boolean', {}, { width: 'half-right' }),
      plain('parent', 'integer'),
      plain('author', 'uuid', { is_indexed: true }),
      plain('dropped_by_hand', 'json'),
      alias('comments'),
      alias('tags'),
    ],
  },
  {
    collection: 'Bücher "1"',
    meta: EVERY_META,
    schema: {},
    fields: [
      plain('isbn', 'string', { is_primary_key: true, max_length: 13 }),
      plain('titel', 'string', {}, { translations: TRANSLATIONS, special: ['a', 'b'] }),
      plain('status', 'string'),
      plain('ordnung', 'integer'),
      alias('gruppe', { special: ['alias', 'no-data', 'group'], interface: 'group-detail' }),
      plain(
        'preis',
        'decimal',
        { numeric_precision: 12, numeric_scale: 3, default_value: '0.500' },
        { group: 'gruppe' },
      ),
      plain('größer', 'decimal', { generation_expression: 'preis * 2' }),
      plain('when', 'timestamp', { default_value: 'now()' }),
      plain('day', 'date', { default_value: '2026-02-28' }),
      plain('time', 'time'),
      plain('moment', 'dateTime'),
      plain('key', 'uuid', { default_value: 'gen_random_uuid()' }),
      plain('document', 'json', { default_value: { a: ['"', null, 1.5, true], 'ü 🎉': {} } }),
      plain('flag', 'boolean', { default_value: false, is_nullable: false }),
      plain('real', 'float', { data_type: 'double precision', default_value: 0.1 }),
      plain('bytes', 'binary'),
      plain('many', 'csv'),
      plain('hash', 'hash', { is_unique: true }),
      plain('big', 'bigInteger', { default_value: '-9223372036854775808' }),
    ],
  },
  {
    collection: 'one',
    meta: { singleton: true, accountability: null },
    schema: {},
    fields: [plain('x', 'string', { comment: 'it\'s "x"' })],
  },
  { collection: 'tags', schema: {}, fields: [plain('name', 'string', { is_unique: true }), alias('articles')] },
  {
    collection: 'articles_tags',
    schema: {},
    fields: [plain('article', 'integer'), plain('tag', 'integer'), plain('sort', 'integer')],
  },
  {
    collection: 'comments',
    schema: {},
    fields: [plain('article', 'integer', { default_value: 1 }), plain('by_hand', 'integer'), plain('text', 'text')],
  },
  { collection: 'anything', schema: {}, fields: [plain('kind', 'string'), plain('item', 'string')] },
  { collection: 'doomed', schema: {}, fields: [plain('article', 'integer')] },
  { collection: 'old_name', schema: {}, fields: [plain('article', 'integer'), plain('again', 'integer')] },
];

/** Fields added later, by collection. */
export const FIELDS: [collection: string, field: object][] = [
  [
    'one',
    plain(
      'everything',
      'string',
      {},
      {
        display: 'formatted-value',
        display_options: { bold: true },
        options: { placeholder: 'a\nb', iconRight: null },
        readonly: true,
        hidden: true,
        sort: 7,
        width: 'full',
        note: '\'; DROP TABLE "x"; --',
        validation: { everything: { _regex: '^\\w+$' } },
        validation_message: 'Not “so”.',
        conditions: [{ name: 'c', rule: {}, readonly: true }],
      },
    ),
  ],
  ['one', alias('divider', { interface: 'presentation-divider', special: ['alias', 'no-data'] })],
  ['comments', { ...plain('日本語', 'string'), backfill: { expression: 'lower', field: 'text' } }],
];

export const RELATIONS = [
  {
    many_collection: 'comments',
    many_field: 'article',
    one_collection: 'articles',
    one_field: 'comments',
    sort_field: 'by_hand',
    one_deselect_action: 'delete',
    schema: { on_delete: 'CASCADE', on_update: 'RESTRICT' },
  },
  {
    many_collection: 'articles',
    many_field: 'parent',
    one_collection: 'articles',
    schema: { on_delete: 'SET NULL', on_update: 'SET NULL' },
  },
  {
    many_collection: 'articles',
    many_field: 'author',
    one_collection: 'service_users',
    schema: { constraint_name: 'who wrote "it"', on_delete: 'RESTRICT' },
  },
  {
    many_collection: 'articles_tags',
    many_field: 'article',
    one_collection: 'articles',
    one_field: 'tags',
    junction_field: 'tag',
    sort_field: 'sort',
    schema: { on_delete: 'CASCADE' },
  },
  {
    many_collection: 'articles_tags',
    many_field: 'tag',
    one_collection: 'tags',
    one_field: 'articles',
    junction_field: 'article',
    schema: { on_delete: 'CASCADE' },
  },
  {
    many_collection: 'anything',
    many_field: 'item',
    one_collection: null,
    one_collection_field: 'kind',
    one_allowed_collections: ['articles', 'tags'],
  },
  { many_collection: 'doomed', many_field: 'article', one_collection: 'articles' },
  {
    many_collection: 'old_name',
    many_field: 'article',
    one_collection: 'articles',
    schema: { on_update: 'SET DEFAULT', on_delete: 'SET DEFAULT' },
  },
  { many_collection: 'old_name', many_field: 'again', one_collection: 'articles', schema: null },
];
