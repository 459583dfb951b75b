/** Known headers with valid and invalid values. */
import type { Random } from './random.js';
import type { World } from './world.js';

/** The new value of a header. */
type Header = (random: Random, world: World) => string;

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const pick =
  (...values: string[]): Header =>
  (random) =>
    random.pick(values);

export const HEADERS: Record<string, Header> = {
  'If-Match': (random, { hashes }) =>
    random.pick([
      `"${random.some(hashes) ?? 'x'}"`,
      `"${hashes.at(-1) ?? 'x'}"`,
      `W/"${hashes.at(-1) ?? 'x'}"`,
      '*',
      '"',
      'x',
      '',
      '"a", "b"',
    ]),
  'If-None-Match': (random, { hashes }) =>
    random.pick([`"${hashes.at(-1) ?? 'x'}"`, `"${hashes.at(-1) ?? 'x'}-br"`, '*', '"a", W/"b"', ',', '"']),
  'Idempotency-Key': (random) =>
    random.pick([`key ${random.below(1_000_000)}`, `key ${random.below(20)}`, '', ' ', 'x'.repeat(256), latin1('ü')]),
  'X-Reason': pick(
    'because',
    '',
    'x'.repeat(1_000),
    'x'.repeat(1_001),
    latin1('ü€🎉'),
    '\xff\xfe',
    "'); DROP TABLE x; --",
    '%00',
  ),
  'X-Request-Id': pick('mine', '', 'x'.repeat(129), '../../x', latin1('ü'), '<script>'),
  'Accept-Encoding': pick(
    'gzip',
    'br',
    'gzip, br',
    'identity',
    '*;q=0',
    'identity;q=0',
    'gzip;q=0.5, br;q=x',
    'deflate',
    ',,;',
    'br;q=0, gzip;q=1, *;q=0.1',
  ),
  'Content-Encoding': pick('gzip', 'br', 'deflate', 'identity', 'compress', '', 'x, y'),
  Accept: pick('*/*', 'application/json', 'text/html', 'application/xml;q=0', ''),
  'Last-Event-ID': pick('0', '1', '-1', '1-00000000', 'x', '99999999999'),
  'X-Log-Position-At-Least': pick('0', '1', '999999999', 'x', '1-00000000'),
  traceparent: pick('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-x', 'ff-0', ''),
  'X-Forwarded-For': pick('10.0.0.1', '::1', 'x', '1.2.3.4, 5.6.7.8', latin1('ü')),
  'User-Agent': pick('', 'x'.repeat(2_000), latin1('ü🎉'), '\xff'),
  Cookie: pick('refresh_token=x', 'dps_refresh=x; ;=', 'x'.repeat(5_000)),
  Origin: pick('null', 'https://elsewhere.example', 'x'),
  Range: pick('bytes=0-1', 'bytes=x'),
  Authorization: pick(
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'bearer x y',
    `Bearer ${'x'.repeat(3_000)}`,
    latin1('Bearer ü'),
  ),
};
