/** Generated columns: every type with defaults in every accepted spelling. */
import fc from 'fast-check';
import { character } from '../../support/characters.js';

/** A field type, the members of its column, and a submitted default. */
export interface GivenColumn {
  type: string;
  schema: Record<string, unknown>;
}

/** Text that a database can store and a JSON body can contain. */
export const text = fc.oneof(
  fc.string({ unit: character, maxLength: 40 }).map((value) => value.replaceAll(/[\0\p{Cs}]/gu, '')),
  fc.constantFrom(
    '',
    ' ',
    "it's",
    "''",
    '\\',
    '\\n',
    "a\\'b",
    "E'x'",
    '$1',
    '%s',
    'null',
    'NULL',
    'true',
    '0',
    'now()',
    'CURRENT_DATE',
    '{"a":1}',
    'nextval(x)',
    "'::text",
    '\t\r\n',
    '😀',
  ),
);

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

const date = fc
  .record({
    year: fc.integer({ min: 1, max: 9999 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ year, month, day }) => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`);

const fraction = fc.option(fc.integer({ min: 0, max: 999_999 }), { nil: undefined });

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }), fraction)
  .map(([hour, minute, second, digits]) => {
    const rest = digits === undefined ? '' : `.${pad(digits, 6)}`;
    return `${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${rest}`;
  });

const zone = fc.constantFrom('', 'Z', 'z', '+00', '-00:00', '+02:00', '-0930', '+14');
const separator = fc.constantFrom('T', ' ', 't');
const moment = fc.tuple(date, separator, time).map((parts) => parts.join(''));
/** Offsets may leave the range of writable years. */
const moderate = fc
  .tuple(moment, zone)
  .map((parts) => parts.join(''))
  .filter((value) => !/^(0001|9999)/.test(value));

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const anyCase = (name: string) => fc.constantFrom(name, name.toLowerCase(), name.toUpperCase(), ` ${name} `);
const nothing = fc.constant(null);

const json = fc.jsonValue({ maxDepth: 3, stringUnit: text });
/** JSON text with numbers that every parser reads exactly. */
const jsonText = fc.json({ maxDepth: 3, stringUnit: text }).filter((value) => !/\\u0000/.test(value));

function columnArbitrary(
  type: string,
  default_value: fc.Arbitrary<unknown>,
  schema: Record<string, unknown> = {},
): fc.Arbitrary<GivenColumn> {
  return fc
    .oneof({ weight: 9, arbitrary: default_value }, { weight: 1, arbitrary: nothing })
    .map((value) => ({ type, schema: { ...schema, default_value: value } }));
}

const decimalText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.bigInt({ min: 0n, max: 10n ** 25n }),
    fc.bigInt({ min: 0n, max: 10n ** 12n }),
  )
  .map(([sign, full, part]) => `${sign}${full}.${part}`);

export const givenColumn: fc.Arbitrary<GivenColumn> = fc.oneof(
  columnArbitrary('string', text),
  columnArbitrary('string', text, { data_type: 'varchar', max_length: null }),
  columnArbitrary(
    'string',
    text.map((value) => Array.from(value).slice(0, 3).join('')),
    { data_type: 'char(3)' },
  ),
  columnArbitrary('text', text),
  columnArbitrary('hash', text),
  columnArbitrary('csv', fc.oneof(text, fc.array(text.map((value) => value.replaceAll(',', ''))))),
  columnArbitrary('boolean', fc.constantFrom(true, false, 0, 1, '0', '1', 'true', 'false')),
  columnArbitrary('integer', fc.oneof(fc.integer(), fc.integer().map(String))),
  columnArbitrary('integer', fc.integer({ min: -32768, max: 32767 }), { data_type: 'int2' }),
  columnArbitrary('bigInteger', fc.oneof(fc.maxSafeInteger(), int64.map(String))),
  columnArbitrary('decimal', fc.oneof(decimalText, fc.integer(), fc.double({ noNaN: true, min: -1e9, max: 1e9 })), {
    numeric_precision: null,
    numeric_scale: null,
  }),
  columnArbitrary('decimal', fc.double({ noNaN: true, min: -99998, max: 99998 })),
  columnArbitrary(
    'float',
    fc.oneof(
      fc.double({ noNaN: true, min: -1e37, max: 1e37 }).filter((value) => value === 0 || Math.abs(value) > 1e-36),
      fc.integer(),
    ),
  ),
  columnArbitrary('float', fc.double({ noNaN: true, noDefaultInfinity: true }), { data_type: 'double precision' }),
  columnArbitrary('date', fc.oneof(date, anyCase('now()'), anyCase('CURRENT_TIMESTAMP'), anyCase('CURRENT_DATE'))),
  columnArbitrary('time', fc.oneof(time, anyCase('now()'), anyCase('CURRENT_TIMESTAMP'), anyCase('CURRENT_TIME'))),
  columnArbitrary('dateTime', fc.oneof(moment, date, anyCase('now()'), anyCase('CURRENT_TIMESTAMP'))),
  columnArbitrary('timestamp', fc.oneof(moderate, date, anyCase('now()'), anyCase('CURRENT_TIMESTAMP'))),
  columnArbitrary(
    'uuid',
    fc.oneof(
      fc.uuid(),
      fc.uuid().map((value) => value.toUpperCase()),
      anyCase('gen_random_uuid()'),
    ),
  ),
  columnArbitrary(
    'binary',
    fc.uint8Array({ maxLength: 20 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex').toUpperCase()}`),
  ),
  columnArbitrary(
    'json',
    fc.oneof(
      json.filter((value) => typeof value !== 'string'),
      jsonText,
    ),
  ),
  columnArbitrary(
    'json',
    fc.oneof(
      json.filter((value) => typeof value !== 'string'),
      jsonText,
    ),
    { data_type: 'jsonb' },
  ),
  columnArbitrary('unknown', fc.constantFrom('1 day', '02:03:04', ''), { data_type: 'interval' }).filter(
    ({ schema }) => schema['default_value'] !== '',
  ),
  columnArbitrary('unknown', fc.constantFrom('{}', '{1,2}', '{NULL}'), { data_type: 'integer[]' }),
  columnArbitrary('unknown', fc.constantFrom('101', '111'), { data_type: 'bit(3)' }),
);
