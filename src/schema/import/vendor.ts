import { isObject } from '../../kernel/json.js';

const POSTGRES_TYPES: ReadonlySet<unknown> = new Set([
  'character varying',
  'timestamp with time zone',
  'timestamp without time zone',
  'time without time zone',
]);

/** The database a file comes from. Releases before 9.22 don't say, but PostgreSQL's type names give themselves away. */
export function vendorOf(body: Record<string, unknown>): string | undefined {
  const { vendor, fields } = body;
  if (vendor === 'cockroachdb' || vendor === 'redshift') return 'postgres';
  if (typeof vendor === 'string') return vendor;
  const list: unknown[] = Array.isArray(fields) ? fields : [];
  const isPostgres = list.some((field) => {
    const schema = isObject(field) ? field['schema'] : undefined;
    return isObject(schema) && POSTGRES_TYPES.has(schema['data_type']);
  });
  return isPostgres ? 'postgres' : undefined;
}

const NOW = 'CURRENT_TIMESTAMP';

/** What other vendors call the functions a default may be; without their precision and outer parentheses. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['now', NOW],
  ['current_timestamp()', NOW],
  ['getdate()', NOW],
  ['getutcdate()', NOW],
  ['sysdatetime()', NOW],
  ['sysutcdatetime()', NOW],
  ['sysdatetimeoffset()', NOW],
  ['sysdate', NOW],
  ['systimestamp', NOW],
  ['localtimestamp', NOW],
  ["datetime('now')", NOW],
  ['current_date()', 'CURRENT_DATE'],
  ['curdate()', 'CURRENT_DATE'],
  ['current_time()', 'CURRENT_TIME'],
  ['curtime()', 'CURRENT_TIME'],
  ['uuid()', 'gen_random_uuid()'],
  ['newid()', 'gen_random_uuid()'],
  ['newsequentialid()', 'gen_random_uuid()'],
  ['sys_guid()', 'gen_random_uuid()'],
  ['uuid_generate_v4()', 'gen_random_uuid()'],
]);

/** Our spelling of another vendor's function; undefined when the text is none. */
export function vendorFunction(text: string): string | undefined {
  let bare = text.trim().toLowerCase();
  while (bare.startsWith('(') && bare.endsWith(')')) bare = bare.slice(1, -1).trim();
  const plain = bare.replace(/\(\d\)$/, '()');
  return FUNCTIONS.get(plain) ?? (plain === 'current_timestamp' ? NOW : undefined);
}
