/** Values that have broken services before. */
import type { Random } from '../random.js';

export const HOSTILE_NAMES = [
  'a b',
  "it's",
  'a"b',
  '"',
  '$$',
  '%I',
  'a/b',
  'a.b',
  'a,b',
  'select',
  'constructor',
  '__proto__',
  'toString',
  'é'.repeat(31),
  'x'.repeat(63),
  'back\\slash',
  'service_orders',
  'me',
  'ü€🎉',
];

/** Invalid names for collections and fields. */
export const IMPOSSIBLE_NAMES = [
  '',
  ' lead',
  'x'.repeat(64),
  'é'.repeat(32),
  'nul\u0000',
  '\ud800',
  'new\nline',
  'service_users',
  'service_events',
  'pg_class',
  'ctid',
  'x'.repeat(5_000),
];

export const HOSTILE_TEXTS = [
  '',
  "it's",
  'a"b',
  '\\',
  '$1',
  '%s',
  '\u0000',
  'a\ud800b',
  '\u0001\n\t',
  '\u202e',
  'ü€🎉',
  "'); DROP TABLE service.service_events; --",
  'null',
  'true',
  '0',
  '-0',
  '1e999',
  '99999999999999999999999',
  'now()',
  '2026-02-30',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '../../etc/passwd',
  '{{7*7}}',
  '=1+1',
  '__proto__',
];

/** SQL that must never run. It must be rejected quickly and with its location. */
export const HOSTILE_SQL = [
  "pg_read_file('/etc/hostname')",
  'pg_sleep(20)',
  "query_to_xml('select 1', true, true, '')",
  "set_config('search_path', 'x', false)",
  "lo_from_bytea(0, 'x')",
  "current_setting('data_directory')",
  "nextval('service_events_position_seq')",
  '(SELECT 1)',
  '(SELECT max(position) FROM service.service_events)',
  "repeat('x', 1000000000)",
  'generate_series(1, 10)',
  'array_fill(0, ARRAY[100000000])',
  'sum(1)',
  'row_number() OVER ()',
  '1/0',
  "'x'::regclass",
  '\'1\'::"no such type"',
  'lower(\'X\') COLLATE "de-x-icu"',
  '$1',
  ':x',
  '1; SELECT 2',
  "'unterminated",
  '1 /* comment',
  '1 -- comment',
  `${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
  `1${' + 1'.repeat(5_000)}`,
  "U&'\\0000'",
  "E'\\x00'",
  'CAST(CURRENT_USER AS text)',
  'x.y.z',
  '*',
  '"\u0000"',
  'no_such_column + 1',
  'random() > 0.5',
  'md5(random()::text)',
  'DEFAULT',
  'NULL',
];

const nestedValue = (levels: number): unknown => {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Invalid member names. */
export const ODD_MEMBERS = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toJSON',
  '',
  '0',
  'extra',
  'Type',
  'data',
  'nul\u0000',
  '\ud800',
];

const PLAIN: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  'text',
];

/** A value that is invalid almost everywhere. */
export function oddValue(random: Random): unknown {
  const kind = random.below(100);
  if (kind < 45) return random.pick(PLAIN);
  if (kind < 75) return random.pick(HOSTILE_TEXTS);
  if (kind < 88) return random.pick(HOSTILE_SQL);
  if (kind < 95) return random.pick(IMPOSSIBLE_NAMES);
  return hugeValue(random);
}

function hugeValue(random: Random): unknown {
  const factories: readonly (() => unknown)[] = [
    () => nestedValue(30),
    () => nestedValue(70),
    () => nestedValue(400),
    () => 'x'.repeat(100_000),
    () => '🎉'.repeat(50_000),
    () => Array.from({ length: 3_000 }, () => ({})),
    () => Array.from({ length: 3_000 }, (_, index) => `x${index}`),
    () => Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, index])),
  ];
  return random.pick(factories)();
}
