/** Generated valid schemas with hostile names, groups, aliases and relations of every kind. */
import fc from 'fast-check';
import { Draft } from '../../src/schema/transition/draft.js';
import { invariantProblems } from '../../src/schema/invariants/index.js';
import type { Collection, Field } from '../../src/schema/model/model.js';
import { holdsText } from '../../src/schema/sql-text/data-types.js';
import {
  defaultPrimaryKey,
  readNewCollection,
  readNewField,
  readNewRelation,
} from '../../src/schema/normal-form/index.js';
import type { Result } from '../../src/kernel/problem.js';
import { type State, initialState, primaryKeyOf } from '../../src/schema/model/state.js';
import type { Json } from '../../src/kernel/json.js';
import { runToEnd } from '../../src/kernel/resumable.js';

const HOSTILE = [
  'a b',
  "it's",
  'a"b',
  '"',
  '$$',
  '%I',
  'select',
  '__proto__',
  'constructor',
  'é'.repeat(31),
  'back\\slash',
  'a_b',
];
const COLLECTIONS = ['articles', 'authors', 'tags', 'a', 'a_b', 'b', ...HOSTILE.slice(0, 8)];
const FIELDS = ['title', 'b', 'a_b', 'c', 'sort', 'status', 'ref', 'other_ref', 'kind', ...HOSTILE];

export const collectionName = fc.constantFrom(...COLLECTIONS);
export const fieldName = fc.constantFrom(...FIELDS);

const text = fc.constantFrom('', 'note', "it's", 'a\\b', '"quoted"', 'ü€🎉', '$1', '%s');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const jsonValue = fc.constantFrom<Json>(
  {},
  { a: 1 },
  { choices: [{ text: 'A', value: 'a' }, { text: 'B' }] },
  { n: { m: [1, 2, [3]] } },
);
const options = fc.oneof(
  jsonValue,
  fc.constant(null),
  fc.constant(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Json),
);

export const collectionMeta = fc.record(
  {
    icon: maybe(text),
    note: maybe(text),
    hidden: fc.boolean(),
    singleton: fc.boolean(),
    translations: maybe(
      fc.constantFrom<Json>(
        [{ language: 'de-DE', translation: 'Artikel' }],
        [],
        [{ language: 'a' }, { language: 'b' }],
      ),
    ),
    accountability: fc.constantFrom('all', 'activity', null),
    sort: maybe(fc.integer({ min: 0, max: 9 })),
    collapse: fc.constantFrom('open', 'closed', 'locked'),
    versioning: fc.boolean(),
  },
  { requiredKeys: [] },
);

export const fieldMeta = fc.record(
  {
    interface: maybe(text),
    options,
    hidden: fc.boolean(),
    sort: maybe(fc.integer({ min: 0, max: 9 })),
    note: maybe(text),
  },
  { requiredKeys: [] },
);

export const columnFlags = fc.record(
  { is_nullable: fc.boolean(), is_unique: fc.boolean(), is_indexed: fc.boolean(), comment: maybe(text) },
  { requiredKeys: [] },
);

/** A column: its type and fitting members. */
export const column = fc.oneof(
  fc.record({
    type: fc.constant('string'),
    schema: fc.record({ max_length: fc.constantFrom(50, 255), default_value: maybe(text) }, { requiredKeys: [] }),
  }),
  fc.record({ type: fc.constant('text'), schema: fc.record({ default_value: maybe(text) }, { requiredKeys: [] }) }),
  fc.record({
    type: fc.constant('integer'),
    schema: fc.record(
      { default_value: maybe(fc.integer({ min: -5, max: 5 })), data_type: fc.constantFrom('integer', 'smallint') },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('bigInteger'),
    schema: fc.record(
      { default_value: fc.constantFrom(null, 7, '9223372036854775807', '-9007199254740993') },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('boolean'),
    schema: fc.record({ default_value: maybe(fc.boolean()) }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('float'),
    schema: fc.record(
      { default_value: fc.constantFrom(null, 0.5, -1, 1e10), data_type: fc.constantFrom('real', 'double precision') },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('decimal'),
    schema: fc.record(
      {
        numeric_precision: fc.constantFrom(10, 12),
        numeric_scale: fc.constantFrom(0, 5),
        default_value: fc.constantFrom(null, 3, '7'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('timestamp'),
    schema: fc.record(
      { default_value: fc.constantFrom(null, 'now()', 'CURRENT_TIMESTAMP', '2020-01-01T00:00:00Z') },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('dateTime'),
    schema: fc.record({ default_value: fc.constantFrom(null, '2020-01-01T10:11:12.5') }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('date'),
    schema: fc.record({ default_value: fc.constantFrom(null, '2020-02-29', 'CURRENT_DATE') }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('json'),
    schema: fc.record(
      {
        default_value: fc.constantFrom<Json>(null, { a: [1] }, [], '"text"'),
        data_type: fc.constantFrom('json', 'jsonb'),
        is_unique: fc.constant(false),
        is_indexed: fc.constant(false),
      },
      { requiredKeys: ['is_unique', 'is_indexed'] },
    ),
  }),
  fc.record({
    type: fc.constant('uuid'),
    schema: fc.record(
      { default_value: fc.constantFrom(null, 'gen_random_uuid()', '00000000-0000-4000-8000-000000000000') },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    type: fc.constant('csv'),
    schema: fc.record({ default_value: fc.constantFrom<Json>(null, 'a,b') }, { requiredKeys: [] }),
  }),
);

export const field = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fieldName, column, fieldMeta, columnFlags).map(([name, { type, schema }, meta, input]) => {
      const indexable = type === 'json' ? {} : input;
      return { field: name, type, meta, schema: { ...indexable, ...schema } };
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fieldName, fieldMeta)
      .map(([name, meta]) => ({ field: name, type: 'alias', meta, schema: null })),
  },
);

const primaryKey = fc.constantFrom<Json>(
  null,
  { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
  { field: 'id', type: 'uuid', schema: { is_primary_key: true, default_value: 'gen_random_uuid()' } },
  { field: 'key', type: 'string', schema: { is_primary_key: true, max_length: 100 } },
  { field: 'id', type: 'bigInteger', schema: { is_primary_key: true } },
);

const table = fc.record({
  name: collectionName,
  meta: collectionMeta,
  comment: maybe(text),
  key: primaryKey,
  fields: fc.uniqueArray(field, { selector: (each) => each.field, maxLength: 5 }),
});

/** Objects that connect tables, picked by index and used if they fit. */
const thread = fc.record({
  many: fc.nat(20),
  one: fc.nat(20),
  name: fc.constantFrom('ref', 'other_ref', 'parent', 'x y'),
  alias: fc.boolean(),
  any: fc.boolean(),
  foreignKey: fc.boolean(),
  onDelete: fc.constantFrom('NO ACTION', 'SET NULL', 'CASCADE'),
  group: fc.boolean(),
  weak: fc.boolean(),
});

type Table = typeof table extends fc.Arbitrary<infer T> ? T : never;
type Thread = typeof thread extends fc.Arbitrary<infer T> ? T : never;

/** A valid state at position 0, built through the readers of requests. */
export const schemaState: fc.Arbitrary<State> = fc
  .record({
    tables: fc.uniqueArray(table, { selector: (each) => each.name, maxLength: 5 }),
    folders: fc.uniqueArray(fc.record({ name: fc.constantFrom('f1', 'f 2', "f'3"), meta: collectionMeta }), {
      selector: (each) => each.name,
      maxLength: 3,
    }),
    threads: fc.array(thread, { maxLength: 6 }),
  })
  .map(({ tables, folders, threads }) => {
    const draft = new Draft(initialState());
    for (const { name, meta } of folders)
      draft.putCollection(must(readNewCollection({ collection: name, meta, schema: null }, [], own)));
    for (const each of tables) addTable(draft, each);
    for (const each of threads)
      weave(
        draft,
        each,
        tables.map((one) => one.name),
        folders.map((one) => one.name),
      );
    const state = draft.toState();
    const problems = runToEnd(invariantProblems(state, draft.touched));
    if (problems.length > 0) throw new Error(`the generator made an invalid schema: ${JSON.stringify(problems)}`);
    return state;
  });

const own = { imported: false } as const;

function must<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(`the generator made something invalid: ${JSON.stringify(result.problems)}`);
}

function addTable(draft: Draft, { name, meta, comment, key, fields }: Table): void {
  draft.putCollection(must(readNewCollection({ collection: name, meta, schema: { comment } }, [], own)));
  const first =
    key === null ? defaultPrimaryKey(name) : must(readNewField({ ...(key as object), collection: name }, [], own));
  draft.putField(first);
  for (const each of fields) {
    if (each.field !== first.field) draft.putField(must(readNewField({ ...each, collection: name }, [], own)));
  }
}

function weave(draft: Draft, thread: Thread, tables: string[], folders: string[]): void {
  if (tables.length === 0) return;
  const many = tables[thread.many % tables.length] as string;
  const one = tables[thread.one % tables.length] as string;
  if (thread.group && folders.length > 0) group(draft, many, folders[thread.one % folders.length] as string);
  if (thread.weak) nameFields(draft, many);
  if (draft.get(many)?.fields.has(thread.name)) return;
  if (thread.any) manyToAny(draft, many, thread, tables);
  else manyToOne(draft, many, one, thread);
}

function group(draft: Draft, child: string, parent: string): void {
  const { collection } = draft.get(child) as { collection: Collection };
  draft.putCollection({ ...collection, meta: { ...collection.meta, group: parent } });
}

function nameFields(draft: Draft, name: string): void {
  const node = draft.get(name);
  const last = [...(node?.fields.keys() ?? [])].at(-1) ?? null;
  const { collection } = node as { collection: Collection };
  draft.putCollection({ ...collection, meta: { ...collection.meta, archive_field: last, sort_field: last } });
  const alias = [...(node?.fields.values() ?? [])].find((each) => each.schema === null);
  const column = [...(node?.fields.values() ?? [])].find((each) => each.schema !== null);
  if (alias && column) draft.putField({ ...column, meta: { ...column.meta, group: alias.field } });
}

function manyToOne(draft: Draft, many: string, one: string, { name, alias, foreignKey, onDelete }: Thread): void {
  const key = primaryKeyOf(draft.get(one) as never)[0] as Field;
  const like = {
    ...key.schema,
    is_primary_key: false,
    is_unique: false,
    is_nullable: true,
    has_auto_increment: false,
    default_value: null,
  };
  draft.putField(must(readNewField({ collection: many, field: name, type: key.type, schema: like }, [], own)));
  const aliasName = `${name}_list`;
  const free = alias && !draft.get(one)?.fields.has(aliasName);
  if (free)
    draft.putField(must(readNewField({ collection: one, field: aliasName, type: 'alias', schema: null }, [], own)));
  const relation = {
    many_collection: many,
    many_field: name,
    one_collection: one,
    one_field: free ? aliasName : null,
    schema: foreignKey ? { on_delete: onDelete } : null,
  };
  draft.putRelation(must(readNewRelation(relation, [], own)));
}

function manyToAny(draft: Draft, many: string, { name }: Thread, tables: string[]): void {
  draft.putField(must(readNewField({ collection: many, field: name, type: 'string' }, [], own)));
  if (!draft.get(many)?.fields.has('kind'))
    draft.putField(must(readNewField({ collection: many, field: 'kind', type: 'string' }, [], own)));
  const kind = draft.get(many)?.fields.get('kind')?.schema;
  if (!kind || kind.generation_expression !== null || !holdsText(kind.data_type)) return;
  const relation = {
    many_collection: many,
    many_field: name,
    one_collection: null,
    one_allowed_collections: tables.slice(0, 2),
    one_collection_field: 'kind',
    schema: null,
  };
  draft.putRelation(must(readNewRelation(relation, [], own)));
}
