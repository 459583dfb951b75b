/** Fields, and the extras of columns and tables. */
import { collectionMeta, field, fieldMeta, columnFlags, column } from '../../../test/support/arbitraries.js';
import { type Context, newName } from './context.js';
import { HOSTILE_SQL } from './values.js';
import { fieldsOf, tablesOf } from '../world.js';

type Doc = Record<string, unknown>;

export const someCollectionMeta = ({ random }: Context): Doc => random.sample(collectionMeta);
export const someFieldMeta = ({ random }: Context): Doc => random.sample(fieldMeta);

const ELSE: readonly Doc[] = [
  { type: 'integer', schema: { has_auto_increment: true } },
  { type: 'string', schema: { data_type: 'char(10)' } },
  { type: 'timestamp', schema: { extras: { precision: 3 } } },
  { type: 'time', schema: { extras: { precision: 0 } } },
  { type: 'text', schema: { extras: { collation: '"C"' } } },
  { type: 'text', schema: { extras: { collation: 'pg_catalog."POSIX"' } } },
  { type: 'text', schema: { extras: { default: `lower('X')` } } },
  { type: 'timestamp', schema: { extras: { default: `now() + '1 day'::interval` } } },
  { type: 'uuid', schema: { extras: { default: 'gen_random_uuid()' } } },
  {
    type: 'integer',
    schema: { has_auto_increment: true, extras: { sequence: { start: '5', increment: '-2', cache: '3' } } },
  },
  {
    type: 'bigInteger',
    schema: { has_auto_increment: true, extras: { identity: 'always', sequence: { cycle: true } } },
  },
  { type: 'integer', schema: { is_unique: true, extras: { unique_name: 'mine' } } },
  { type: 'integer', schema: { is_indexed: true, extras: { index_name: 'its index' } } },
  { type: 'integer', schema: { is_nullable: false, extras: { not_null_name: 'not "null"' } } },
  { type: 'integer', schema: { generation_expression: '1 + 1' } },
  { type: 'text', schema: { generation_expression: `upper('a' || 'b')` } },
  { type: 'json', schema: { data_type: 'jsonb', is_indexed: true } },
  { type: 'geometry', schema: {} },
  { type: 'text', schema: { data_type: 'citext' } },
  { type: 'unknown', schema: { data_type: 'inet' } },
  { type: 'binary', schema: {} },
  { type: 'hash', schema: {} },
];

/** A field without its collection. The name may exist already. */
export function someField(context: Context): Doc {
  const { random } = context;
  const column = random.sample(field) as Doc;
  if (random.chance(0.7)) return column;
  return { field: column['field'], meta: someFieldMeta(context), ...random.pick(ELSE) };
}

/** Possible new values of a field. */
export function fieldChange(context: Context, type: string): Doc {
  const { random } = context;
  const kind = random.below(100);
  if (kind < 25) return { meta: someFieldMeta(context) };
  if (kind < 45) return { schema: random.sample(columnFlags) };
  if (kind < 60) return { type, schema: columnExtras(context) };
  if (kind < 72) return { schema: random.pick(CHANGES) };
  if (kind < 90) return random.sample(column);
  return random.pick(ELSE);
}

const CHANGES: readonly Doc[] = [
  { max_length: 10 },
  { max_length: 500 },
  { numeric_precision: 4, numeric_scale: 1 },
  { is_primary_key: true },
  { is_primary_key: false },
  { has_auto_increment: true },
  { has_auto_increment: false },
  { generation_expression: null },
  { generation_expression: '2 * 3' },
  { default_value: null },
  { default_value: 7 },
  { default_value: 'text' },
  { data_type: 'text' },
  { data_type: 'bigint' },
  { comment: 'a comment' },
];

/** Extras of an existing column. */
function columnExtras({ random }: Context): Doc {
  const extras = random.pick<Doc | null>([
    { precision: random.below(8) },
    { collation: random.pick(['"C"', '"POSIX"', 'pg_catalog."C"', '"no such"', 'default']) },
    { default: random.pick([`lower('X')`, `'x' || 'y'`, '1 + 1', 'now()', `'a'::text`]) },
    { default: random.pick(HOSTILE_SQL) },
    { identity: 'always' },
    { sequence: { cache: String(random.below(4)), increment: String(random.below(5) - 2) } },
    { sequence: { min: '-10', max: '10', start: String(random.below(30) - 15) } },
    { sequence: { name: 'a sequence', type: 'bigint' } },
    { virtual: true },
    { primary_key_name: 'pk' },
    null,
    {},
  ]);
  return { extras };
}

/** Extras of a table with these columns. */
export function tableExtras(context: Context, columns: readonly string[]): Doc {
  const { random } = context;
  const one = ident(random.some(columns) ?? 'id');
  const named = ident(newName(context));
  return random.pick<() => Doc>([
    () => ({ constraints: [{ name: `check ${random.below(5)}`, definition: `CHECK (${checkOf(context, one)})` }] }),
    () => ({ constraints: [{ name: `unique ${random.below(5)}`, definition: `UNIQUE (${one}, id)` }] }),
    () => ({ constraints: [{ name: 'excl', definition: `EXCLUDE USING btree (${one} WITH =)` }] }),
    () => foreignKey(context, one),
    () => ({ indexes: [{ name: `index ${random.below(5)}`, definition: `USING btree (${one})` }] }),
    () => ({
      indexes: [
        {
          name: `partial ${random.below(5)}`,
          definition: `USING btree (${one} DESC) WHERE (${checkOf(context, one)})`,
        },
      ],
    }),
    () => ({ indexes: [{ name: 'on text', unique: true, definition: `USING btree (lower((${one})::text))` }] }),
    () => ({
      indexes: [{ name: 'hashed', definition: `USING ${random.pick(['hash', 'gin', 'brin', 'no_such'])} (${one})` }],
    }),
    () => ({
      needs: [{ kind: 'enum', name: `mood ${random.below(3)}`, labels: ['sad', "it's ok"].slice(random.below(2)) }],
    }),
    () => ({
      needs: [
        {
          kind: 'domain',
          name: 'positive',
          type: 'integer',
          checks: [{ name: 'c', definition: `CHECK (${random.pick(['VALUE > 0', ...HOSTILE_SQL])})` }],
        },
      ],
    }),
    () => ({
      needs: [
        {
          kind: 'sequence',
          name: `seq ${random.below(3)}`,
          start: '5',
          ...(random.chance(0.4) && { owned_by: random.some(columns) ?? 'id' }),
        },
      ],
    }),
    () => ({
      needs: [
        {
          kind: 'extension',
          name: random.pick(['citext', 'pg_trgm', 'hstore', 'postgis', 'plpython3u', 'file_fdw', 'a"b']),
        },
      ],
    }),
    () => ({ partition_by: `${random.pick(['RANGE', 'LIST', 'HASH'])} (${one})` }),
    () => ({ partition_of: { table: named.slice(1, -1), bound: boundOf(context) } }),
    () => ({
      partition_of: { table: random.some(tablesOf(context.world))?.collection ?? 'nowhere', bound: boundOf(context) },
    }),
    () => ({ primary_key: { name: 'both', columns: columns.slice(0, 2) } }),
    () => ({ unmanaged: [{ kind: 'index', name: 'of somebody else' }] }),
    () => ({}),
  ])();
}

export const ident = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function checkOf({ random }: Context, column: string): string {
  if (random.chance(0.3)) return random.pick(HOSTILE_SQL);
  return random.pick([
    `${column} IS NOT NULL`,
    `(${column})::text <> ''`,
    `char_length((${column})::text) < 30`,
    'true',
    `id > 0`,
  ]);
}

function boundOf({ random }: Context): string {
  const bounds = [
    'DEFAULT',
    'FOR VALUES IN (1, 2)',
    `FOR VALUES FROM (MINVALUE) TO (10)`,
    `FOR VALUES IN ('a', NULL)`,
    'FOR VALUES WITH (MODULUS 4, REMAINDER 1)',
  ];
  return random.chance(0.7) ? random.pick(bounds) : `FOR VALUES IN (${random.pick(HOSTILE_SQL)})`;
}

function foreignKey({ random, world }: Context, column: string): Doc {
  const table = random.some(tablesOf(world))?.collection ?? 'nowhere';
  const target = random.some(fieldsOf(world, table))?.field ?? 'id';
  const definition = `FOREIGN KEY (${column}) REFERENCES ${ident(table)}(${ident(target)}) ON DELETE CASCADE`;
  return {
    constraints: [{ name: `key ${random.below(5)}`, definition, ...(random.chance(0.8) && { references: table }) }],
  };
}
