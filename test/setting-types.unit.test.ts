import { expect } from 'chai';
import {
  databaseUrl,
  duration,
  every,
  keeping,
  origins,
  location,
  schemaName,
  secret,
  serviceUrl,
  size,
  token,
  trustProxy,
  wholeNumber,
} from '../src/setting-types.js';

type Type = {
  safeParse(text: string): { success: boolean; data?: unknown; error?: { issues: { message: string }[] } };
};

interface Expected {
  type: Type;
  /** The error for an invalid value. */
  refusal: string;
  takes: Readonly<Record<string, unknown>>;
  refuses: readonly string[];
}

const [KIB, MIB, GIB] = [1_024, 1_048_576, 1_073_741_824];
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const same = (...texts: string[]) => Object.fromEntries(texts.map((text) => [text, text]));

const TYPES: Readonly<Record<string, Expected>> = {
  'a whole number': {
    type: wholeNumber('a number of tries', 2, 500),
    refusal: 'must be a number of tries, an integer from 2 to 500',
    takes: { 2: 2, 500: 500, '007': 7 },
    refuses: ['1', '501', '1234567890', '-3', '2.5', '3 ', ' 3', '1e2', 'ten', '0x10'],
  },
  'a size': {
    type: size,
    refusal: 'must be a size from 1kb to 1gb, such as 32mb',
    takes: { 1024: KIB, '1024b': KIB, '1kb': KIB, '3 KB': 3 * KIB, '32mb': 32 * MIB, '1Gb': GIB, '1073741824': GIB },
    refuses: ['1023', '1073741825', '2gb', '1tb', 'mb', '1.5mb', '-1kb', 'x 1kb', '1kb x', '1 toString'],
  },
  'a time': {
    type: duration,
    refusal: 'must be a time from 1ms to 1440min, such as 10s',
    takes: { 1: 1, '1ms': 1, '2500': 2_500, '10s': 10_000, '2 min': 2 * MINUTE, '1440MIN': DAY, 86400000: DAY },
    refuses: ['0', '0s', '86400001', '1441min', '1h', 's', '1.5s', '-1s', 'in 1s', '1s ago'],
  },
  'how long something is kept': {
    type: keeping,
    refusal: 'must be 0, or a time from 1s to 3650d, such as 7d, 12h or 30min',
    takes: { 0: 0, '0h': 0, '1s': 1_000, '30 min': 30 * MINUTE, '12H': 12 * HOUR, '7d': 7 * DAY, '3650d': 3_650 * DAY },
    refuses: ['1', '3651d', '87601h', '1ms', 'd', '-1d', 'for 1d', '1d!', '1234567890s', '1 constructor'],
  },
  'a database’s address': {
    type: databaseUrl,
    refusal:
      'must look like postgresql://user:password@host:5432/database, or with several hosts: …@one:5432,two:5432/database?target_session_attrs=read-write',
    takes: same('postgres://u:p@h:1/d', 'postgresql://one:1,two:2/d?target_session_attrs=read-write'),
    refuses: ['h/d', 'mysql://h/d', 'postgres:/h'],
  },
  'a schema’s name': {
    type: schemaName,
    refusal: 'must be the name of a schema: 1 to 63 bytes, without quotes, and not a schema of PostgreSQL itself',
    takes: same('s', 'public', 'my schema', 'pg', 'information_schema2', 'Größe', 'x'.repeat(63)),
    refuses: ['', ' s', 'a"b', "a'b", 'a\\b', 'a\tb', 'pg_x', 'information_schema', 'x'.repeat(64), 'ö'.repeat(32)],
  },
  'a service’s address': {
    type: serviceUrl,
    refusal: 'must be the address of a service, such as https://dps.example.com, without user or password',
    takes: same('https://dps.example.com', 'http://h:8055/behind/a/path'),
    refuses: ['dps.example.com', 'ftp://h', 'xhttp://h', 'httpss://h', 'https://u@h', 'https://:p@h', 'https://u:p@h'],
  },
  'a secret that is long enough': {
    type: secret(4),
    refusal: 'must have at least 4 characters',
    takes: same('1234', 'äöüß', '😀😀😀😀', 'x'.repeat(512)),
    refuses: ['', '123', '😀😀😀'],
  },
  'a secret that is short enough': {
    type: secret(4),
    refusal: 'must have at most 512 characters',
    takes: {},
    refuses: ['x'.repeat(513)],
  },
  'a token': {
    type: token,
    refusal: 'must consist of letters, digits and - . _ ~ + / =',
    takes: same('aZ9-._~+/='.repeat(4)),
    refuses: [`${'x'.repeat(40)} `, ` ${'x'.repeat(40)}`, `${'x'.repeat(40)}ä`, `${'x'.repeat(40)},`],
  },
  'the proxies in front': {
    type: trustProxy,
    refusal: 'must be a number of proxies (0 to 20) or their addresses, such as 10.0.0.0/8, loopback',
    takes: {
      0: 0,
      20: 20,
      'loopback,linklocal, uniquelocal': ['loopback', 'linklocal', 'uniquelocal'],
      '10.0.0.1': ['10.0.0.1'],
      '10.0.0.0/32,::1/128': ['10.0.0.0/32', '::1/128'],
      ',::1,': ['::1'],
    },
    refuses: ['', ',', '21', '-1', '10.0.0.0/33', '::1/129', '10.0.0/8', '10.0.0.0/', 'loopback everybody', '::1,all'],
  },
  origins: {
    type: origins,
    refusal: 'must be origins such as https://admin.example.com, separated by commas',
    takes: { '': [], 'https://a.example, http://b.example:81,': ['https://a.example', 'http://b.example:81'] },
    refuses: ['*', 'null', 'https://a.example/', 'ftp://a.example', 'https://A.example', 'https://a.example,b.example'],
  },
  'a place': {
    type: location,
    refusal: 'must be a folder, or an address that begins with http:// or https://',
    takes: same('/a folder', 'C:\\folder', 'http-folder', 'a%zz', 'HTTP://h/a', 'https://u:p%20@h/a?b'),
    refuses: [
      'a\0b',
      'http:',
      'https:/h',
      'http://',
      'HTTP:h',
      's3://b',
      'file:///a',
      'https://%zz@h/',
      'https://:%zz@h/',
    ],
  },
  'how often': {
    type: every,
    refusal: 'must be a number of events, a time, or both, such as 100, 10min or 100,10min',
    takes: {
      1: { events: 1, time: Infinity },
      999999999: { events: 999_999_999, time: Infinity },
      '1ms': { events: Infinity, time: 1 },
      '10min,100': { events: 100, time: 600_000 },
    },
    refuses: [
      '',
      ',',
      '0',
      '01',
      '1000000000',
      '1,2',
      '1s,2s',
      '1s,2s,3',
      '1,2,3s',
      '5,often',
      '1.5',
      '0s',
      '5,2000min',
    ],
  },
};

describe('setting values', () => {
  for (const [what, { type, refusal, takes, refuses }] of Object.entries(TYPES)) {
    it(`${what}: accepted values, their results, and rejected values`, () => {
      for (const [text, value] of Object.entries(takes)) {
        expect(type.safeParse(text), text).to.deep.equal({ success: true, data: value });
      }
      for (const text of refuses) {
        const reported = type.safeParse(text).error?.issues.map(({ message }) => message);
        expect(reported, text).to.include(refusal);
      }
    });
  }
});
